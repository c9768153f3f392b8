//! Biclustering: clusters of rows and of columns of one matrix, which belong together because one decomposition
//! made both.

use super::{KernelSvd, KernelSvdModel, Scaling};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::registry::words;
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::base::settings::Settings;
use crate::data::archive::Archive;
use crate::data::dataset::{Dataset, to_unit_rows, unit_rows};
use crate::data::samples::{Samples, Side};
use crate::estimators::compat::{Compat, Compatibility};
use crate::estimators::recipe::Usual;
use crate::kernel::KernelSpec;
use crate::metrics;
use crate::solvers::kmeans::KMeans;
use faer::Mat;
use std::collections::BTreeMap;

/// Clusters the rows and the columns of a matrix at once: k-means on both sides of a kernel SVD (\[KSVD\] Section 4.2).
///
/// The rows of A are compared with its columns through a [`Compat`] matrix; the leading left singular vectors of the
/// kernel matrix are features of the rows, the right ones features of the columns.
///
/// 1. Rows of A are scaled to unit length, unless that is switched off, and made comparable with its columns.
/// 2. The kernel SVD of rows against columns: features U·Σ^p of the rows, V·Σ^p of the columns.
/// 3. k-means on each side by itself, the best of several starts. What serves rows does not serve columns: their clusters may come from
///    features of their own ([`ColumnFeatures`]), without a change for the rows.
///
/// # Errors
/// Those of [`KernelSvd::fit`] and [`Dataset::from_matrix_with`], and [`Error::Param`] for impossible numbers of clusters.
///
/// # Example
/// ```
/// use lopsided::{Biclustering, Mat, Run, Samples};
///
/// // Rows 0–9 use columns 0–5, rows 10–19 columns 6–11.
/// let a = Mat::from_fn(20, 12, |i, j| f64::from(u8::from((i < 10) == (j < 6))) + ((i * 5 + j * 3) % 7) as f64 / 50.0);
/// let estimator = Biclustering::new("rbf", 2, 2).with_rank(4);
/// let model = estimator.fit(Samples::Dense(a), &Run::default())?;
/// assert_eq!(model.row_clusters[..10], [0; 10]);
/// assert_eq!(model.col_clusters[6..], [1; 6]);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Biclustering {
    /// Clusters of the rows.
    pub row_clusters: usize,
    /// Clusters of the columns.
    pub col_clusters: usize,
    /// The features: kernel, rank, centring and solver.
    pub svd: KernelSvd,
    /// How rows and columns become comparable; must be `none` for the precomputed kernel.
    pub compat: Compatibility,
    /// Scales the rows of A to unit length first.
    pub unit_rows: bool,
    /// Scales each sample's features to unit length before clustering.
    pub unit_features: bool,
    /// Starts of k-means.
    pub restarts: usize,
    /// By which features the columns are clustered.
    pub col_features: ColumnFeatures,
}

/// By which features the columns of a matrix are clustered.
///
/// | choice | features |
/// | --- | --- |
/// | `same` | V·Σ^p of the decomposition that the rows have |
/// | `own` | V·√Σ of a second one with twice as many components, columns of unit length before the kernel, features of unit length |
/// | `auto` | of both, those whose clusters have the higher coherence |
///
/// A column's length is mostly how often it occurs, which says little about what it belongs to, and leading components alone leave most
/// columns near the origin. The coherence ([`crate::metrics::coherence`]) needs no labels, but entries that count: for a matrix with
/// negative entries and for a precomputed kernel `auto` is `same`.
///
/// ```
/// use lopsided::estimators::ColumnFeatures;
///
/// assert_eq!("own".parse::<ColumnFeatures>()?, ColumnFeatures::Own);
/// assert_eq!(ColumnFeatures::default().to_string(), "auto");
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColumnFeatures {
    /// Those of the decomposition that the rows have.
    Same,
    /// Those of a decomposition for the columns.
    Own,
    /// The more coherent of both.
    #[default]
    Auto,
}

words!(ColumnFeatures, "features of the columns": Auto = "auto", Same = "same", Own = "own");

setters!(Biclustering: with_row_clusters(row_clusters: usize), with_col_clusters(col_clusters: usize),
    with_svd(svd: KernelSvd), with_unit_rows(unit_rows: bool), with_unit_features(unit_features: bool),
    with_restarts(restarts: usize), with_compat(compat: Compatibility), with_col_features(col_features: ColumnFeatures));

impl Default for Biclustering {
    /// Two clusters on each side, the RBF kernel.
    fn default() -> Self {
        Biclustering::new(Usual::CLUSTERS.kernel, 2, 2)
    }
}

/// A fitted [`Biclustering`].
///
/// Clusters are numbered from 0 in the order of their first member, on each side by itself: that row cluster 0
/// and column cluster 0 have the same number means nothing. Which of them belong together shows in the means of
/// A over the blocks.
#[derive(Clone, Debug)]
pub struct BiclusteringModel<T> {
    /// Cluster of each row.
    pub row_clusters: Vec<u32>,
    /// Cluster of each column.
    pub col_clusters: Vec<u32>,
    /// Where the features come from.
    pub svd: KernelSvdModel<T>,
    /// What it was made with, besides the settings of the features.
    pub params: BTreeMap<String, serde_json::Value>,
}

/// Metadata with the clusters.
const CLUSTERS: [&str; 2] = ["row_clusters", "col_clusters"];

impl<T: Scalar> BiclusteringModel<T> {
    /// The model as arrays and metadata: an embedding with the clusters beside it.
    pub fn archive(&self) -> Archive {
        let mut archive = self.svd.archive();
        CLUSTERS.iter().zip([&self.row_clusters, &self.col_clusters]).for_each(|(name, codes)| {
            archive.set_field(name, codes);
        });
        archive.set_field("params", &self.params);
        archive
    }

    /// The model of an archive, or the embedding alone of one without clusters.
    pub(super) fn of(archive: &Archive) -> Result<std::result::Result<Self, KernelSvdModel<T>>> {
        let svd = KernelSvdModel::from_archive(archive)?;
        let [rows, cols] = CLUSTERS.map(|name| archive.field::<Option<Vec<u32>>>(name));
        Ok(match (rows?, cols?) {
            (Some(row_clusters), Some(col_clusters)) => {
                // Files of earlier versions do not say.
                let params = archive.field("params").unwrap_or_default();
                Ok(BiclusteringModel { row_clusters, col_clusters, svd, params })
            }
            _ => Err(svd),
        })
    }
}

impl Biclustering {
    /// Rank max(20, K, L), gamma by the median distance, centred, aligned `pca`, rows of unit length, 10 starts, features of the
    /// columns by coherence.
    pub fn new(kernel: &str, row_clusters: usize, col_clusters: usize) -> Self {
        let precomputed = KernelSpec::new(kernel).is_precomputed();
        let usual = Usual::CLUSTERS.svd();
        let rank = row_clusters.max(col_clusters).max(usual.rank);
        Biclustering {
            row_clusters,
            col_clusters,
            svd: usual.with_kernel(kernel).with_center(!precomputed).with_rank(rank),
            compat: Compatibility::new(if precomputed { Compat::None } else { Compat::Pca }),
            unit_rows: true,
            unit_features: false,
            restarts: 10,
            col_features: ColumnFeatures::Auto,
        }
    }

    /// The settings that a recipe makes it from.
    pub fn settings(&self) -> Settings {
        let svd = self.svd.settings().and(&self.compat.settings());
        svd.with("row-clusters", self.row_clusters)
            .with("col-clusters", self.col_clusters)
            .with("unit-rows", self.unit_rows)
            .with("unit-features", self.unit_features)
            .with("restarts", self.restarts)
            .with_word("col-features", self.col_features)
    }

    /// Number of features of each side.
    pub fn with_rank(mut self, rank: usize) -> Self {
        self.svd.rank = rank;
        self
    }

    /// Clusters the rows and columns of A.
    ///
    /// # Errors
    /// See [`Biclustering`].
    pub fn fit<T: Scalar>(&self, a: Samples<T>, run: &Run) -> Result<BiclusteringModel<T>> {
        let choice = self.possible(&a);
        let data = self.dataset(a.clone(), run)?;
        let mut svd = self.svd.fit(data, run)?;
        let row_clusters = self.cluster(&self.features(&svd, Side::Row), self.row_clusters, run)?;
        let same = |svd: &_| self.cluster(&self.features(svd, Side::Col), self.col_clusters, run);
        let (col_clusters, chosen) = match choice {
            ColumnFeatures::Same => (same(&svd)?, choice),
            ColumnFeatures::Own => (self.own_clusters(&mut svd, run)?, choice),
            ColumnFeatures::Auto => {
                let (same, own) = (same(&svd)?, self.own_clusters(&mut svd, run)?);
                let better = metrics::coherence(&a, &own) > metrics::coherence(&a, &same);
                if better { (own, ColumnFeatures::Own) } else { (same, ColumnFeatures::Same) }
            }
        };
        Ok(BiclusteringModel { row_clusters, col_clusters, svd, params: self.params(chosen) })
    }

    /// The choice, without what the matrix and the kernel rule out.
    fn possible<T: Scalar>(&self, a: &Samples<T>) -> ColumnFeatures {
        let counts = || {
            (0..a.count()).all(|i| {
                let mut counts = true;
                a.as_ref().for_each(i, |_, v| counts &= v >= T::zero());
                counts
            })
        };
        match self.col_features {
            ColumnFeatures::Auto if self.svd.gram.kernel.is_precomputed() || !counts() => ColumnFeatures::Same,
            choice => choice,
        }
    }

    fn cluster(&self, features: &Mat<f64>, clusters: usize, run: &Run) -> Result<Vec<u32>> {
        let means = KMeans { restarts: self.restarts, ..KMeans::new(clusters) };
        means.fit(features.as_ref(), run).map(|found| found.labels)
    }

    /// Clusters of the columns by features of their own; says so in the notes where these are not to the tolerance.
    fn own_clusters<T: Scalar>(&self, svd: &mut KernelSvdModel<T>, run: &Run) -> Result<Vec<u32>> {
        let own = self.own_columns(&svd.data, run)?;
        if !own.report().converged() {
            let residual = own.report().residual();
            svd.svd.report.notes.push(format!("the columns' own features have a residual of {residual:.1e}"));
        }
        self.cluster(&to_unit_rows(in_double(&own.embedding(Side::Col))), self.col_clusters, run)
    }

    /// The decomposition that the columns' own features come from: [`ColumnFeatures::Own`].
    ///
    /// # Errors
    /// Those of [`KernelSvd::fit`].
    ///
    /// ```
    /// use lopsided::{Biclustering, Mat, Run, Samples};
    ///
    /// let a = Mat::from_fn(9, 7, |i, j| ((i * j + 3 * i + j) as f64).sin() + 1.0);
    /// let machine = Biclustering::new("rbf", 2, 2).with_rank(2);
    /// let data = machine.dataset(Samples::Dense(a), &Run::default())?;
    /// assert_eq!(machine.own_columns(&data, &Run::default())?.singular_values().len(), 4);
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn own_columns<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<KernelSvdModel<T>> {
        let columns = unit_rows(data.cols().clone());
        let rank = (2 * self.svd.rank).min(data.x.count()).min(columns.count());
        let machine = self.svd.clone().with_rank(rank).with_scaling(Scaling::Sqrt);
        machine.fit(Dataset::two_sided(data.x.clone(), columns), run)
    }

    fn params(&self, chosen: ColumnFeatures) -> BTreeMap<String, serde_json::Value> {
        let mut params = BTreeMap::from([
            ("row-clusters".into(), self.row_clusters.into()),
            ("col-clusters".into(), self.col_clusters.into()),
            ("unit-rows".into(), self.unit_rows.into()),
            ("unit-features".into(), self.unit_features.into()),
            ("restarts".into(), self.restarts.into()),
            ("compat".to_string(), self.compat.kind.to_string().into()),
            ("col-features".to_string(), chosen.to_string().into()),
        ]);
        params.extend(self.compat.width.map(|width| ("compat-width".to_string(), width.into())));
        params
    }

    /// The samples [`Biclustering::fit`] works on, checked and made comparable.
    ///
    /// Rows and columns have the same width in it, whatever the shape of A:
    ///
    /// ```
    /// use lopsided::{Biclustering, Mat, Run, Samples};
    ///
    /// let a = Mat::from_fn(5, 3, |i, j| ((i + 2 * j) % 4) as f64 + 1.0);
    /// let data = Biclustering::new("rbf", 2, 2).dataset(Samples::Dense(a), &Run::default())?;
    /// assert_eq!((data.x.count(), data.cols().count()), (5, 3));
    /// assert_eq!(data.x.width(), data.cols().width());
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn dataset<T: Scalar>(&self, a: Samples<T>, run: &Run) -> Result<Dataset<T>> {
        self.check(a.count(), a.width())?;
        a.check_finite("the matrix")?;
        let a = if self.unit_rows { unit_rows(a) } else { a };
        if self.svd.gram.kernel.is_precomputed() {
            return Ok(Dataset::new(a));
        }
        Dataset::from_matrix_with(a, &self.compat, run)
    }

    fn check(&self, n: usize, m: usize) -> Result<()> {
        for (name, clusters, what, most) in
            [("row-clusters", self.row_clusters, "rows", n), ("col-clusters", self.col_clusters, "columns", m)]
        {
            if clusters == 0 || clusters > most {
                return Err(Error::param(name, clusters, format!("between 1 and the number of {what}, {most}")));
            }
        }
        if self.restarts == 0 {
            return Err(Error::param("restarts", 0, "at least 1"));
        }
        if self.svd.gram.kernel.is_precomputed() && self.compat.kind != Compat::None {
            let allowed = "none for a precomputed kernel, which compares nothing";
            return Err(Error::param("compat", self.compat.kind, allowed));
        }
        if self.svd.gram.kernel.is_precomputed() && self.col_features == ColumnFeatures::Own {
            let allowed = "same or auto for a precomputed kernel, which compares nothing";
            return Err(Error::param("col-features", self.col_features, allowed));
        }
        Ok(())
    }

    /// Embeddings of one side in double precision, of unit length where that is asked for.
    fn features<T: Scalar>(&self, svd: &KernelSvdModel<T>, side: Side) -> Mat<f64> {
        let features = in_double(&svd.embedding(side));
        if self.unit_features { to_unit_rows(features) } else { features }
    }
}

fn in_double<T: Scalar>(features: &Mat<T>) -> Mat<f64> {
    Mat::from_fn(features.nrows(), features.ncols(), |i, j| features[(i, j)].as_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;
    use crate::metrics::adjusted_rand_index;

    /// Three by two blocks with noise.
    fn blocks(n: usize, m: usize) -> (Samples<f64>, Vec<u32>, Vec<u32>) {
        let noise = synth::gaussian::<f64>(n, m, 4);
        let (rows, cols): (Vec<u32>, Vec<u32>) =
            ((0..n).map(|i| (i % 3) as u32).collect(), (0..m).map(|j| (j % 2) as u32).collect());
        let level = [[2.0, 0.0], [0.0, 2.0], [2.0, 2.0]];
        let a = Mat::from_fn(n, m, |i, j| level[rows[i] as usize][cols[j] as usize] + 0.2 * noise[(i, j)]);
        (Samples::Dense(a), rows, cols)
    }

    #[test]
    fn planted_blocks_are_found_in_both_shapes() {
        for (n, m) in [(90, 40), (40, 90)] {
            let (a, rows, cols) = blocks(n, m);
            for compat in [Compat::Pca, Compat::Random] {
                let estimator = Biclustering { unit_rows: false, ..Biclustering::new("rbf", 3, 2) };
                let estimator = estimator.with_rank(4).with_compat(Compatibility::new(compat));
                let model = estimator.fit(a.clone(), &Run::default()).unwrap();
                assert!(adjusted_rand_index(&model.row_clusters, &rows) > 1.0 - 1e-12, "{n} {compat} rows");
                assert!(adjusted_rand_index(&model.col_clusters, &cols) > 1.0 - 1e-12, "{n} {compat} columns");
            }
        }
    }

    /// Entries that count, of no particular structure.
    fn counts(n: usize, m: usize) -> Samples<f64> {
        let noise = synth::gaussian::<f64>(n, m, 6);
        Samples::Dense(Mat::from_fn(n, m, |i, j| (3.0 * noise[(i, j)].abs() - 2.0).max(0.0)))
    }

    #[test]
    fn columns_have_the_more_coherent_of_two_clusterings_and_rows_notice_nothing() {
        let a = counts(60, 36);
        let with = |col_features| {
            let machine = Biclustering { col_features, ..Biclustering::new("rbf", 3, 3).with_rank(4) };
            let model = machine.fit(a.clone(), &Run::default()).unwrap();
            let coherence = metrics::coherence(&a, &model.col_clusters);
            (model, coherence)
        };
        let [auto, same, own] = [ColumnFeatures::Auto, ColumnFeatures::Same, ColumnFeatures::Own].map(with);
        assert!(auto.1 >= same.1.max(own.1), "{} {} {}", auto.1, same.1, own.1);
        assert!(auto.0.row_clusters == same.0.row_clusters && auto.0.svd.svd.u == same.0.svd.svd.u);
        assert_eq!(auto.0.params["col-features"], if own.1 > same.1 { "own" } else { "same" });
    }

    #[test]
    fn own_features_are_those_of_columns_of_unit_length() {
        let mut machine = Biclustering::new("rbf", 3, 3).with_rank(3);
        machine.svd = machine.svd.with_tol(1e-12);
        let data = machine.dataset(counts(40, 25), &Run::default()).unwrap();
        let own = machine.own_columns(&data, &Run::default()).unwrap();
        let (x, z) = (data.x.clone().into_dense(), to_unit_rows(data.cols().clone().into_dense()));
        let gamma = own.kernel.params.get("gamma").unwrap();
        let g = Mat::from_fn(40, 25, |i, j| (-gamma * (x.row(i) - z.row(j)).squared_norm_l2()).exp());
        let rows: Vec<f64> = (0..40).map(|i| (0..25).map(|j| g[(i, j)]).sum::<f64>() / 25.0).collect();
        let cols: Vec<f64> = (0..25).map(|j| (0..40).map(|i| g[(i, j)]).sum::<f64>() / 40.0).collect();
        let all = rows.iter().sum::<f64>() / 40.0;
        let svd = Mat::from_fn(40, 25, |i, j| g[(i, j)] - rows[i] - cols[j] + all).thin_svd().unwrap();
        let expected = Mat::from_fn(25, 6, |j, k| svd.V()[(j, k)] * svd.S().column_vector()[k].sqrt());
        let found = own.embedding(Side::Col);
        assert_eq!(found.ncols(), 6);
        // Products of features do not depend on signs.
        assert!((&found * found.transpose() - &expected * expected.transpose()).norm_max() < 1e-6);
    }

    #[test]
    fn what_does_not_count_has_no_coherence() {
        let (a, _, _) = blocks(30, 20);
        assert_eq!(Biclustering::default().possible(&a), ColumnFeatures::Same);
        let a = counts(30, 20);
        assert_eq!(Biclustering::default().possible(&a), ColumnFeatures::Auto);
        assert_eq!(Biclustering::new("precomputed", 2, 2).possible(&a), ColumnFeatures::Same);
        let machine = Biclustering::new("precomputed", 2, 2).with_col_features(ColumnFeatures::Own);
        let error = machine.fit(a, &Run::default()).unwrap_err().to_string();
        assert!(error.starts_with("`col-features` is own but must be same or auto"), "{error}");
    }

    #[test]
    fn impossible_requests_are_refused() {
        let text = |estimator: Biclustering| estimator.fit(blocks(9, 6).0, &Run::default()).unwrap_err().to_string();
        let start = || Biclustering::new("rbf", 2, 2).with_rank(2);
        assert_eq!(
            text(Biclustering { row_clusters: 10, ..start() }),
            "`row-clusters` is 10 but must be between 1 and the number of rows, 9"
        );
        assert!(text(Biclustering { col_clusters: 0, ..start() }).starts_with("`col-clusters` is 0"));
        assert!(text(Biclustering { restarts: 0, ..start() }).starts_with("`restarts` is 0"));
        assert!(text(start().with_compat(Compatibility::default())).contains("square"));
        let given = Biclustering::new("precomputed", 2, 2).with_compat(Compatibility::new(Compat::Pca));
        assert!(text(given).starts_with("`compat` is pca but must be none"));
    }
}
