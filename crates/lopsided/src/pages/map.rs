//! The map of an embedding, with the plain components behind it.

use crate::base::Run;
use crate::base::error::Result;
use crate::base::random::{self, Purpose};
use crate::base::scalar::Scalar;
use crate::data::dataset::{Dataset, Target};
use crate::data::graph::GraphFrame;
use crate::data::samples::{SamplesRef, Side};
use crate::estimators::{KernelSvdModel, Scaling};
use crate::report::{Cloud, Page, Panel};
use crate::solvers::neighbours::NeighbourMap;
use crate::solvers::svd::Svd;
use faer::{Mat, MatRef};
use std::cmp::Reverse;

/// Points that a map has at most.
pub const MOST: usize = 20_000;
/// Components that a map is made from.
const LEADING: usize = 50;
/// Samples whose names are tried to be put beside them.
const NAMED: usize = 30;
/// Fewer samples than this need no map: their plain components are shown.
const FEW: usize = 20;

/// What pages show of an embedding, held or made out of core.
pub(super) struct Shown<'a, T> {
    pub(super) svd: &'a Svd<T>,
    pub(super) scaling: Scaling,
    /// The samples, where they are held.
    pub(super) data: Option<&'a Dataset<T>>,
    /// Whether the rows and the columns are the same samples.
    pub(super) one_set: bool,
}

impl<'a, T: Scalar> From<&'a KernelSvdModel<T>> for Shown<'a, T> {
    fn from(model: &'a KernelSvdModel<T>) -> Self {
        let data = &model.data;
        let alone = data.z.is_none() && data.maps.cols.is_none() && !model.kernel.is_precomputed();
        Shown { svd: &model.svd, scaling: model.scaling, data: Some(data), one_set: data.frame.is_some() || alone }
    }
}

impl<T: Scalar> Shown<'_, T> {
    fn vectors(&self, side: Side) -> MatRef<'_, T> {
        if side == Side::Row { self.svd.u.as_ref() } else { self.svd.v.as_ref() }
    }

    fn frame(&self) -> Option<&GraphFrame> {
        self.data?.frame.as_ref()
    }

    fn id(&self, side: Side, i: usize) -> String {
        self.data.map_or_else(|| i.to_string(), |data| data.id(side, i))
    }
}

/// What a map is made from: the leading components of each side, scaled as those that classes are learned from, U and V of the
/// nodes of a graph, else U·√Σ and V·√Σ, and their rows brought to unit length.
///
/// Both sides stand beside each other where the rows and columns are the same samples, such as the nodes of a graph.
pub fn features<T: Scalar>(model: &KernelSvdModel<T>, sides: &[Side], samples: &[usize]) -> Mat<f64> {
    leading(&model.into(), sides, samples)
}

fn leading<T: Scalar>(shown: &Shown<'_, T>, sides: &[Side], samples: &[usize]) -> Mat<f64> {
    let sigma = &shown.svd.sigma;
    let rank = sigma.len().min(LEADING);
    let power = if shown.frame().is_some() { 0.0 } else { 0.5 };
    let scales: Vec<f64> = sigma[..rank].iter().map(|s| s.as_f64().powf(power)).collect();
    let mut out = Mat::zeros(samples.len(), rank * sides.len());
    for (s, side) in sides.iter().enumerate() {
        let vectors = shown.vectors(*side);
        for (row, &i) in samples.iter().enumerate() {
            let value = |k: usize| vectors[(i, k)].as_f64() * scales[k];
            let length = (0..rank).map(|k| value(k).powi(2)).sum::<f64>().sqrt();
            if length > 0.0 {
                (0..rank).for_each(|k| out[(row, s * rank + k)] = value(k) / length);
            }
        }
    }
    out
}

/// Groups that the samples of both sides are coloured by.
pub(super) struct Groups {
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<u32>,
    pub(super) cols: Vec<u32>,
}

/// One map of samples that are rows and columns, or one of the rows and one of the columns, coloured by their classes or by the
/// groups that are given.
pub(super) fn sections<T: Scalar>(
    page: Page,
    shown: &Shown<'_, T>,
    groups: Option<&Groups>,
    run: &Run,
) -> Result<Page> {
    if shown.svd.sigma.is_empty() {
        return Ok(page.paragraph("All kernel values are zero: there is nothing to show."));
    }
    if groups.is_none() && shown.one_set {
        return one(page, (shown, groups), &[Side::Row, Side::Col], "Map", run);
    }
    let page = one(page.section("Rows"), (shown, groups), &[Side::Row], "Map of the rows", run)?;
    one(page.section("Columns"), (shown, groups), &[Side::Col], "Map of the columns", run)
}

fn one<T: Scalar>(
    page: Page,
    (shown, groups): (&Shown<'_, T>, Option<&Groups>),
    sides: &[Side],
    title: &str,
    run: &Run,
) -> Result<Page> {
    let count = shown.vectors(sides[0]).nrows();
    let samples = if count > MOST {
        random::subset(count, MOST, &mut random::generator(run.seed, Purpose::PageSamples))
    } else {
        (0..count).collect()
    };
    let plain: Vec<Panel> = sides.iter().map(|side| plain(shown, *side, &samples)).collect();
    let (panels, folded) = if count < FEW {
        (plain, Vec::new())
    } else {
        let placed = NeighbourMap::default().place(leading(shown, sides, &samples).as_ref(), run)?;
        let points = (0..samples.len()).map(|i| (placed[(i, 0)], placed[(i, 1)])).collect();
        (vec![Panel { title: title.into(), axes: None, points }], plain)
    };
    let (codes, classes) = match groups {
        Some(groups) => {
            let of = if sides[0] == Side::Row { &groups.rows } else { &groups.cols };
            (Some(samples.iter().map(|&i| of[i]).collect()), groups.names.clone())
        }
        None => colours(shown, sides, &samples),
    };
    let cloud = Cloud {
        names: samples.iter().map(|&i| shown.id(sides[0], i)).collect(),
        prominent: prominent(shown, &samples),
        codes,
        classes,
        panels,
        folded: ("The plain components".into(), folded),
    };
    Ok(page.cloud(&cloud, &caption(shown, sides, count)))
}

fn caption<T: Scalar>(shown: &Shown<'_, T>, sides: &[Side], count: usize) -> String {
    let what = if shown.frame().is_some() { "node" } else { "sample" };
    if count < FEW {
        return format!("A dot is a {what}.");
    }
    let from = if sides.len() == 2 { "as row and as column" } else { "of their side" };
    let part = if count > MOST { format!(" {MOST} of {count} are shown, drawn by the seed.") } else { String::new() };
    let links = match shown.frame() {
        Some(_) => " The names are those of the nodes with the most links.",
        None => "",
    };
    format!(
        "A dot is a {what}; those with like components {from} are near each other, by a neighbour embedding of the first {} \
         components. How far apart groups are means little.{links}{part}",
        shown.svd.sigma.len().min(LEADING)
    )
}

/// Two components of one side.
fn plain<T: Scalar>(shown: &Shown<'_, T>, side: Side, samples: &[usize]) -> Panel {
    let (first, vectors) = (first_component(shown.svd), shown.vectors(side));
    let power = shown.scaling.power();
    let value = |i: usize, k: usize| {
        let sigma = shown.svd.sigma.get(k).map(|s| s.as_f64().powf(power));
        sigma.map_or(0.0, |scale| scale * vectors[(i, k)].as_f64())
    };
    let points = samples.iter().map(|&i| (value(i, first), value(i, first + 1))).collect();
    let (title, letter) = match (side, shown.frame()) {
        (Side::Row, Some(frame)) if frame.rule.links == crate::data::graph::Links::Out => {
            ("As sources of links (U)", "u")
        }
        (Side::Col, Some(frame)) if frame.rule.links == crate::data::graph::Links::Out => {
            ("As targets of links (V)", "v")
        }
        (Side::Row, Some(_)) => ("As targets of links (U)", "u"),
        (Side::Col, Some(_)) => ("As sources of links (V)", "v"),
        (Side::Row, None) => ("As rows (U)", "u"),
        (Side::Col, None) => ("As columns (V)", "v"),
    };
    let axes = (format!("{letter}{}", first + 1), format!("{letter}{}", first + 2));
    Panel { title: title.into(), axes: Some(axes), points }
}

/// The first component worth a picture: without centring the leading one often is a constant.
fn first_component<T: Scalar>(svd: &Svd<T>) -> usize {
    let u = &svd.u;
    if u.ncols() < 3 {
        return 0;
    }
    let sum: f64 = u.col(0).iter().map(|v| v.as_f64()).sum();
    usize::from(sum * sum > 0.9 * u.nrows() as f64)
}

/// Classes of the samples; those without one have a class of their own.
fn colours<T: Scalar>(shown: &Shown<'_, T>, sides: &[Side], samples: &[usize]) -> (Option<Vec<u32>>, Vec<String>) {
    let target = shown.data.and_then(|data| data.y.as_ref()).filter(|_| sides.contains(&Side::Row));
    let Some(Target::Classes { names, codes }) = target else {
        return (None, Vec::new());
    };
    let (mut names, unknown) = (names.clone(), names.len() as u32);
    if samples.iter().any(|&i| codes[i].is_none()) {
        names.push("without label".into());
    }
    (Some(samples.iter().map(|&i| codes[i].unwrap_or(unknown)).collect()), names)
}

/// The nodes with the most links, as places among the samples; nobody where there is no graph.
fn prominent<T: Scalar>(shown: &Shown<'_, T>, samples: &[usize]) -> Vec<usize> {
    let Some(data) = shown.data.filter(|data| data.frame.is_some()) else { return Vec::new() };
    let links =
        |side: SamplesRef<'_, T>, i: usize| if let SamplesRef::Sparse(csr) = side { csr.row(i).0.len() } else { 0 };
    let (x, z) = (data.x.as_ref(), data.cols().as_ref());
    let mut order: Vec<(usize, usize)> =
        samples.iter().enumerate().map(|(place, &i)| (links(x, i) + links(z, i), place)).collect();
    order.sort_by_key(|&(count, place)| (Reverse(count), place));
    order.into_iter().take(NAMED).map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::Dataset;
    use crate::data::graph::{Graph, GraphRule};
    use crate::data::samples::Samples;
    use crate::data::synth;
    use crate::estimators::KernelSvd;

    #[test]
    fn nodes_have_one_map_of_both_sides_and_their_hubs_have_names() {
        let graph = synth::random_graph(60, 300, 20, 1).unwrap();
        let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).unwrap();
        let model = KernelSvd::new("rbf").with_rank(4).fit(data, &Run::default()).unwrap();
        let all: Vec<usize> = (0..60).collect();
        let features = features(&model, &[Side::Row, Side::Col], &all);
        let length = |range: std::ops::Range<usize>| range.map(|k| features[(7, k)].powi(2)).sum::<f64>();
        assert_eq!(features.shape(), (60, 8));
        assert!((length(0..4) - 1.0).abs() < 1e-9 && (length(4..8) - 1.0).abs() < 1e-9);
        let html = sections(Page::new("t", "l"), &(&model).into(), None, &Run::default()).unwrap().html();
        assert_eq!((html.matches("class=\"map\"").count(), html.matches("As sources of links").count() > 0), (1, true));
        let links = |i: usize| {
            model.data.x.as_ref().select(&[i]).as_ref().nnz() + model.data.cols().as_ref().select(&[i]).as_ref().nnz()
        };
        let named = prominent(&(&model).into(), &all);
        assert!((0..60).all(|i| named.contains(&i) || links(i) <= links(named[NAMED - 1])));
    }

    #[test]
    fn rows_and_columns_that_differ_have_a_picture_each_and_few_have_no_map() {
        let x = Samples::Dense(synth::gaussian::<f64>(30, 3, 1));
        let z = Samples::Dense(synth::gaussian::<f64>(8, 3, 2));
        let model = KernelSvd::new("rbf").with_rank(3).fit(Dataset::two_sided(x, z), &Run::default()).unwrap();
        let html = sections(Page::new("t", "l"), &(&model).into(), None, &Run::default()).unwrap().html();
        assert_eq!((html.matches("class=\"map\"").count(), html.matches("class=\"cloud\"").count()), (1, 2));
    }

    #[test]
    fn more_samples_than_a_map_has_are_drawn_and_the_page_says_so() {
        let names = (0..3).map(|i| i.to_string()).collect();
        let graph = Graph::new(names, &[(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)]).unwrap();
        let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).unwrap();
        let model = KernelSvd::new("rbf").with_rank(2).fit(data, &Run::default()).unwrap();
        assert!(
            caption(&(&model).into(), &[Side::Row], MOST + 1).contains("20000 of 20001 are shown, drawn by the seed")
        );
        assert!(!caption(&(&model).into(), &[Side::Row], MOST).contains("are shown"));
    }
}
