use super::{KernelSvdModel, extended};
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::data::archive::Archive;
use crate::data::dataset::{Dataset, Maps};
use crate::data::graph::{GraphFrame, GraphRule};
use crate::data::node_features::FeatureBlock;
use crate::data::samples::{Samples, SamplesRef, Side};
use crate::data::walk::Walk;
use crate::operator::Means;
use crate::solvers::svd::Svd;
use std::path::Path;

/// Name in saved files and listings.
pub(in crate::estimators) const NAME: &str = "kernel-svd";
/// Names of the arrays with the compatibility maps.
const MAPS: [(&str, Side); 2] = [("compat.rows", Side::Row), ("compat.cols", Side::Col)];

impl<T: Scalar> KernelSvdModel<T> {
    /// The model as arrays and metadata.
    pub fn archive(&self) -> Archive {
        let mut archive = Archive::of_model::<T>(NAME);
        archive.set_field("kernel", &self.kernel);
        archive.set_field("scaling", self.scaling);
        archive.set_field("operator", &self.operator);
        archive.set_field("report", &self.svd.report);
        archive.set_matrix("u", self.svd.u.as_ref());
        archive.set_vector("sigma", &self.svd.sigma);
        archive.set_matrix("v", self.svd.v.as_ref());
        put_data(&mut archive, &self.data);
        if let Some(normalizer) = &self.normalizer {
            archive.set_vector("normalizer", normalizer);
            archive.set_field("normalizer_cols", &self.sampled_cols);
        }
        extended::put(&mut archive, self.svd.extension.as_ref());
        if let Some(means) = &self.means {
            archive.set_vector("means.rows", &means.rows);
            archive.set_vector("means.cols", &means.cols);
            archive.set_vector("means.all", &[means.all]);
        }
        archive
    }

    /// The model of an archive.
    pub fn from_archive(archive: &Archive) -> Result<Self> {
        let estimator: String = archive.field("estimator")?;
        if estimator != NAME {
            return Err(archive.error(format!("is a model of `{estimator}`, not of `{NAME}`")));
        }
        let optional = |name: &str| if archive.has(name) { archive.vector(name).map(Some) } else { Ok(None) };
        let means = match optional("means.rows")? {
            Some(rows) => {
                let all = archive.vector("means.all")?;
                let all = *all.first().ok_or_else(|| archive.error("array `means.all` is empty"))?;
                Some(Means { rows, cols: archive.vector("means.cols")?, all })
            }
            None => None,
        };
        let svd = Svd {
            u: archive.matrix("u")?,
            sigma: archive.vector("sigma")?,
            v: archive.matrix("v")?,
            extension: extended::take(archive)?,
            report: archive.field("report")?,
        };
        let model = KernelSvdModel {
            kernel: archive.field("kernel")?,
            scaling: archive.field("scaling")?,
            operator: archive.field("operator")?,
            svd,
            normalizer: optional("normalizer")?,
            sampled_cols: archive.field("normalizer_cols")?,
            means,
            data: take_data(archive)?,
        };
        model.check_consistent(archive)?;
        Ok(model)
    }

    /// A file that was tampered with must not make a later product panic.
    fn check_consistent(&self, archive: &Archive) -> Result<()> {
        let (n, m) = self.size();
        let rank = self.svd.sigma.len();
        let precomputed = self.kernel.build::<T>()?.is_precomputed();
        let cols = if precomputed { self.data.x.width() } else { self.data.cols().count() };
        let fits = self.svd.u.ncols() == rank
            && self.svd.v.ncols() == rank
            && self.data.x.count() == n
            && cols == m
            && (precomputed || self.data.x.width() == self.data.cols().width())
            && MAPS.iter().all(|(_, side)| self.data.maps.side(*side).is_none_or(|m| m.ncols() == self.data.x.width()))
            && self.normalizer.as_ref().is_none_or(|v| v.len() == n)
            && self.sampled_cols.as_ref().is_none_or(|v| !v.is_empty() && v.iter().all(|j| *j < m))
            && self.svd.extension.as_ref().is_none_or(|e| extended::fits(e, (n, m), rank))
            && self.means.as_ref().is_none_or(|v| v.rows.len() == n && v.cols.len() == m)
            && self.data.row_ids.as_ref().is_none_or(|ids| ids.len() == n)
            && self.data.col_ids.as_ref().is_none_or(|ids| ids.len() == m)
            && self.data.frame.as_ref().is_none_or(|f| f.sums.len() == n);
        if fits { Ok(()) } else { Err(archive.error("has arrays whose sizes do not fit together")) }
    }

    /// Writes the model file, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.archive().save(path)
    }

    /// Reads a model file.
    pub fn load(path: &Path) -> Result<Self> {
        Self::from_archive(&Archive::load(path)?)
    }
}

/// Adds the samples of a model, with their names, graph and maps.
pub(in crate::estimators) fn put_data<T: Scalar>(archive: &mut Archive, data: &Dataset<T>) {
    archive.share_samples("x", &data.x);
    let columns = columns(data);
    archive.set_field("columns", columns);
    if columns == Columns::Given {
        archive.share_samples("z", data.cols());
    }
    for (name, side) in MAPS {
        if let Some(map) = data.maps.side(side) {
            archive.set_matrix(name, map.as_ref());
        }
    }
    for (name, ids) in [("row_ids", &data.row_ids), ("col_ids", &data.col_ids)] {
        if let Some(ids) = ids {
            archive.set_texts(name, ids);
        }
    }
    if let Some(frame) = &data.frame {
        archive.set_field("graph", frame.rule);
        archive.set_vector("graph.sums", &frame.sums);
        if let Some(walk) = &frame.walk {
            archive.set_field("walk", (walk.most, walk.left_out));
            archive.set_samples("graph.step", SamplesRef::Sparse(walk.step.as_ref()));
        }
        if let Some(features) = &frame.features {
            archive.set_field("features", features);
        }
    }
}

/// The samples of a model.
pub(in crate::estimators) fn take_data<T: Scalar>(archive: &Archive) -> Result<Dataset<T>> {
    let x = archive.samples("x")?;
    let z = match archive.field("columns")? {
        Columns::SameAsRows => None,
        Columns::TransposeOfRows => Some(x.transpose()),
        Columns::Given => Some(archive.samples("z")?),
    };
    let (row_ids, col_ids) = (archive.texts("row_ids")?, archive.texts("col_ids")?);
    let frame = match (archive.field("graph")?, &row_ids) {
        (Some(rule), Some(ids)) => Some(take_frame(archive, rule, (ids, x.width()))?),
        _ => None,
    };
    let [rows, cols] = MAPS.map(|(name, _)| archive.has(name).then(|| archive.matrix(name)).transpose());
    Ok(Dataset {
        x,
        z,
        y: None,
        weights: None,
        row_ids,
        col_ids,
        frame,
        maps: Maps { rows: rows?, cols: cols? },
        columns: None,
    })
}

/// What places new nodes; files of earlier versions have neither walks nor features.
fn take_frame(archive: &Archive, rule: GraphRule, (ids, width): (&[String], usize)) -> Result<GraphFrame> {
    let walk = match archive.field::<Option<(Option<usize>, f64)>>("walk")? {
        None => None,
        Some((most, left_out)) => match archive.samples::<f64>("graph.step")? {
            Samples::Sparse(step) if (step.nrows(), step.ncols()) == (ids.len(), ids.len()) => {
                Some(Walk { step, most, left_out })
            }
            _ => return Err(archive.error("has a step of the walk that does not fit its nodes")),
        },
    };
    if (rule.walk > 1) != walk.is_some() {
        return Err(archive.error("has no step of its walk"));
    }
    let features: Option<FeatureBlock> = archive.field("features")?;
    let frame = GraphFrame { rule, ids: ids.to_vec(), sums: archive.vector("graph.sums")?, walk, features };
    if frame.features.as_ref().is_some_and(|f| !f.is_consistent() || frame.link_width() + f.width != width) {
        return Err(archive.error("has features whose arrays do not fit together"));
    }
    Ok(frame)
}

/// How the column samples are kept in the file.
fn columns<T: Scalar>(data: &Dataset<T>) -> Columns {
    match (&data.x, &data.z) {
        (_, None) => Columns::SameAsRows,
        (Samples::Sparse(x), Some(Samples::Sparse(z))) if x.transpose() == *z => Columns::TransposeOfRows,
        (x, Some(z)) if is_transpose(x.as_ref(), z.as_ref()) => Columns::TransposeOfRows,
        _ => Columns::Given,
    }
}

fn is_transpose<T: Scalar>(x: SamplesRef<'_, T>, z: SamplesRef<'_, T>) -> bool {
    let (SamplesRef::Dense(x), SamplesRef::Dense(z)) = (x, z) else { return false };
    (x.nrows(), x.ncols()) == (z.ncols(), z.nrows()) && x.transpose() == z
}

/// How a model file keeps the column samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Columns {
    SameAsRows,
    TransposeOfRows,
    Given,
}
