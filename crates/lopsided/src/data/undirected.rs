//! Nodes of a graph that are compared with each other after their links became samples: by links without direction, or by both.

use crate::base::scalar::Scalar;
use crate::data::dataset::Dataset;
use crate::data::graph::{GraphFrame, GraphRule, Links, beside, without_direction};
use crate::data::samples::{Csr, Samples};

impl<T: Scalar> Dataset<T> {
    /// The same nodes with other links of their graph, [`Links::Either`] or [`Links::Both`], and with their features; `None` where
    /// the links cannot be read off the samples: after walks of several steps, where weights of a row do not sum to more than 0, and
    /// where they are of these kinds already.
    pub(crate) fn compared_by(&self, kind: Links) -> Option<Self> {
        let frame = self.frame.as_ref().filter(|frame| frame.rule.walk == 1 && !frame.rule.links.one_sided())?;
        let (rows, width) = (links_of(self, frame)?, frame.link_width());
        let links = match (kind, frame.rule.links) {
            (Links::Both, Links::Out) => beside(&rows.transpose(), &rows),
            (Links::Both, _) => beside(&rows, &rows.transpose()),
            _ => without_direction(&rows),
        };
        let added = links.ncols() - width;
        let share = frame.features.as_ref().map_or(1.0, |block| (1.0 - block.weight).sqrt());
        let (n, mut x, mut sums) =
            (links.nrows(), Csr::empty(self.x.width() + added), Vec::with_capacity(links.nrows()));
        for i in 0..n {
            let (cols, values) = links.row(i);
            let sum: f64 = values.iter().sum();
            let length = values.iter().map(|v| v * v).sum::<f64>().sqrt();
            let divisor = match frame.rule {
                GraphRule { unit: true, .. } if length > 0.0 => length,
                GraphRule { normalize: true, .. } if sum > 0.0 => sum,
                _ => 1.0,
            };
            let mut row: Vec<(u32, T)> =
                cols.iter().zip(values).map(|(&j, v)| (j, T::of(share * v / divisor))).collect();
            self.x.as_ref().for_each(i, |j, v| row.extend((j >= width).then_some(((j + added) as u32, v))));
            x.push_row(row);
            sums.push(sum);
        }
        let rule = GraphRule { links: kind, ..frame.rule };
        let frame = Some(GraphFrame { rule, sums, ..frame.clone() });
        let x = Samples::Sparse(x);
        Some(Dataset { z: Some(x.clone()), x, frame, ..self.clone() })
    }
}

/// The rows that the rule made samples of: a row was divided by one number, and its sum is known.
fn links_of<T: Scalar>(data: &Dataset<T>, frame: &GraphFrame) -> Option<Csr<f64>> {
    let n = frame.ids.len();
    let mut out = Csr::empty(n);
    for i in 0..n {
        let mut row: Vec<(u32, f64)> = Vec::new();
        data.x.as_ref().for_each(i, |j, v| row.extend((j < n).then_some((j as u32, v.as_f64()))));
        let sum: f64 = row.iter().map(|entry| entry.1).sum();
        if sum <= 0.0 && frame.sums[i] != 0.0 {
            return None;
        }
        out.push_row(row.into_iter().map(|(j, v)| (j, v * frame.sums[i] / sum)));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::graph::Graph;
    use crate::data::node_features::NodeFeatures;

    fn graph() -> Graph {
        let ids = ["a", "b", "c", "d", "e"].map(String::from).to_vec();
        Graph::new(ids, &[(0, 1, 1.0), (1, 0, 2.0), (0, 2, 0.5), (1, 2, 1.0), (3, 3, 4.0)]).unwrap()
    }

    /// It is what the graph itself gives by the rule, whatever was done to the rows.
    #[test]
    fn links_of_another_kind_are_those_of_the_graph() {
        let features = Samples::Dense(faer::Mat::from_fn(5, 3, |i, j| f64::from(u8::from(i == j)) + i as f64));
        let features = NodeFeatures::new(graph().ids().to_vec(), features).unwrap();
        for (self_loops, normalize, unit, featured) in [
            (true, true, false, false),
            (true, true, true, false),
            (false, false, false, false),
            (false, true, true, true),
        ] {
            let made = |links| {
                let rule = GraphRule { links, self_loops, normalize, unit, walk: 1 };
                let data = Dataset::<f64>::from_graph(&graph(), &rule).unwrap();
                if featured { data.with_features(&features, 0.3).unwrap() } else { data }
            };
            for (kind, links) in [Links::Either, Links::Both]
                .into_iter()
                .flat_map(|kind| [Links::In, Links::Out, Links::Auto].map(|links| (kind, links)))
            {
                let (expected, found) = (made(kind), made(links).compared_by(kind).unwrap());
                let gap =
                    |a: &Samples<f64>, b: &Samples<f64>| (a.clone().into_dense() - b.clone().into_dense()).norm_max();
                assert!(gap(&found.x, &expected.x) < 1e-14 && gap(found.cols(), expected.cols()) < 1e-14);
                let (found, expected) = (found.frame.unwrap(), expected.frame.as_ref().unwrap());
                assert_eq!((found.rule, found.ids), (expected.rule, expected.ids.clone()));
                assert!(found.sums.iter().zip(&expected.sums).all(|(a, b)| (a - b).abs() < 1e-12));
                assert!(made(kind).compared_by(kind).is_none());
            }
        }
    }

    #[test]
    fn walks_and_signed_weights_keep_their_direction() {
        let rule = GraphRule { walk: 2, ..GraphRule::default() };
        assert!(Dataset::<f64>::from_graph(&graph(), &rule).unwrap().compared_by(Links::Both).is_none());
        let signed = Graph::new(["a", "b"].map(String::from).to_vec(), &[(0, 1, -3.0)]).unwrap();
        let rule = GraphRule { normalize: false, ..GraphRule::default() };
        assert!(Dataset::<f64>::from_graph(&signed, &rule).unwrap().compared_by(Links::Either).is_none());
    }
}
