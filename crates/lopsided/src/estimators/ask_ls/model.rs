//! What AsK-LS, the LS-SVM and the exact kernel machines learned: functions of K, and how new samples are seen
//! by them.
//!
//! | samples | their rows k(x, ·) | their columns k(·, z) |
//! | --- | --- | --- |
//! | nodes of a graph that the model knows, by name | rows of K | columns of K |
//! | new nodes | their links in one direction | their links in the other |
//! | rows of a table | kernel values with the training samples | the same samples on the other side of the kernel |
//! | precomputed kernel | rows of values with the known samples | columns of values, or the rows where K is symmetric |

use super::Merge;
use super::functions::Functions;
use super::stack::{Merger, Scores};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::archive::Archive;
use crate::data::dataset::Dataset;
use crate::data::graph::GraphFrame;
use crate::data::samples::{Samples, SamplesRef, Side};
use crate::estimators::kernel_svd::{put_data, take_data};
use crate::estimators::new_values::NewValues;
use crate::estimators::onnx::{Head, KernelSum, refused};
use crate::estimators::{Answer, FitReport, Model};
use crate::kernel::KernelSpec;
use crate::operator::{KernelMatrix, Operator, Widened};
use crate::solvers::lowrank::{Anchors, KernelFunctions};
use faer::Mat;
use rayon::prelude::*;
use std::collections::HashMap;

const NEEDS_COLS: &str = "given: with a precomputed kernel that is not symmetric, new samples have rows k(new, known) and columns k(known, new)";

/// A fitted [`super::AskLs`].
///
/// It predicts through the [`Model`] trait: `decision` gives a column for each class or the value,
/// `probabilities` exist for stacked classes, where the decision values are probabilities themselves and sum to
/// one:
///
/// ```
/// use lopsided::data::synth::CyclicGraph;
/// use lopsided::estimators::{AskLs, Model};
/// use lopsided::{Dataset, GraphRule, Run, Target};
///
/// let (graph, classes) = CyclicGraph { nodes: 120, ..CyclicGraph::default() }.generate()?;
/// let names = (0..4).map(|c| c.to_string()).collect();
/// let codes = classes.iter().enumerate().map(|(i, c)| (i % 2 == 0).then_some(*c)).collect();
/// let mut data = Dataset::<f64>::from_graph(&graph, &GraphRule::default())?;
/// data.y = Some(Target::Classes { names, codes });
/// let nodes = data.rows(&[1, 3, 5]);
/// let model = AskLs::new("precomputed").with_penalty(0.5).fit(data, &Run::default())?;
/// let shares = model.probabilities(&nodes, &Run::default())?.unwrap();
/// assert!((0..3).all(|i| (shares.row(i).iter().sum::<f64>() - 1.0).abs() < 1e-12));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AskLsModel<T> {
    /// The estimator's name in listings.
    pub(in crate::estimators) name: String,
    /// The kernel with its gamma.
    pub kernel: KernelSpec,
    /// Row normalisers of kernels that have them, for the columns of new samples.
    pub(in crate::estimators) normalizer: Option<Vec<T>>,
    /// The samples of K: all nodes of a graph, else the training samples.
    pub data: Dataset<T>,
    /// Those of them that were learned from.
    pub train: Vec<usize>,
    /// Coefficients of f_s and f_t over the samples of K.
    pub(in crate::estimators) functions: Functions,
    /// How the two become decision values.
    pub(in crate::estimators) merger: Merger,
    pub(in crate::estimators) answer: Answer,
    pub(in crate::estimators) report: FitReport,
}

impl<T: Scalar> AskLsModel<T> {
    /// f_s and f_t of new samples, as far as they are merged.
    ///
    /// f_s(x) = k(x, X)·b + β_s and f_t(z) = k(X, z)ᵀ·a + β_t (\[AsKLS\] Eq. (7)). A function that the merge does
    /// not look at is not evaluated: its column of scores holds the bias alone.
    fn scores(&self, rows: SamplesRef<'_, T>, cols: SamplesRef<'_, T>, run: &Run) -> Result<Scores> {
        let values = NewValues {
            kernel: &self.kernel,
            data: &self.data,
            normalizer: self.normalizer.as_deref(),
            sampled_cols: None,
            blocks_suffice: false,
        };
        let classes = self.functions.source.ncols();
        let mut source = Mat::zeros(rows.count(), classes);
        let mut target = Mat::zeros(cols.count(), classes);
        let coefficients = &self.functions;
        if self.merger.merge != Merge::Target {
            values.rows(rows, run, |g| Widened(g).apply(coefficients.source.as_ref(), source.as_mut()))?;
        }
        if self.merger.merge != Merge::Source {
            values.cols(cols, run, |g| Widened(g).apply_transpose(coefficients.target.as_ref(), target.as_mut()))?;
            values.check_placed(target.as_ref())?;
        }
        Ok(coefficients.with_biases(source, target))
    }

    /// Scores by a precomputed kernel: of samples that K holds by K, of others by their rows and columns.
    ///
    /// Samples count as known only where both their name and their row of values are those of K. Of an asymmetric K
    /// nothing is known about the columns of others, so they have to be given unless f_s alone decides.
    fn matrix_scores(&self, samples: &Dataset<T>, run: &Run) -> Result<Scores> {
        if let Some(places) = self.places(samples) {
            return self.scores_of_known(&places, run);
        }
        let none = Samples::Dense(Mat::zeros(0, self.data.x.count()));
        let cols = match &samples.z {
            Some(z) if z.count() == samples.x.count() => z,
            Some(z) => return Err(Error::shape("the number of columns of new samples", samples.x.count(), z.count())),
            None if self.merger.merge == super::Merge::Source => &none,
            None if is_symmetric(&self.data.x) => &samples.x,
            None => return Err(Error::param("cols", "missing", NEEDS_COLS)),
        };
        self.scores(samples.x.as_ref(), cols.as_ref(), run)
    }

    /// The places in K of samples with the names and rows of samples that it holds; `None` if any is another.
    fn places(&self, samples: &Dataset<T>) -> Option<Vec<usize>> {
        let known: HashMap<String, usize> = (0..self.data.x.count()).map(|i| (self.data.id(Side::Row, i), i)).collect();
        let place = |i: usize| {
            let place = *known.get(&samples.id(Side::Row, i))?;
            samples.x.as_ref().has_row_of(i, self.data.x.as_ref(), place).then_some(place)
        };
        (0..samples.x.count()).into_par_iter().map(place).collect()
    }

    /// Scores of nodes: by K for those that it holds, by their links for the others.
    fn node_scores(&self, frame: &GraphFrame, nodes: &Dataset<T>, run: &Run) -> Result<Scores> {
        let known: HashMap<&str, usize> = frame.ids.iter().enumerate().map(|(i, id)| (id.as_str(), i)).collect();
        let places: Vec<Option<usize>> =
            (0..nodes.x.count()).map(|i| known.get(nodes.id(Side::Row, i).as_str()).copied()).collect();
        let mut out = Scores::zeros(places.len(), self.functions.source.ncols());
        let old: Vec<usize> = (0..places.len()).filter(|&i| places[i].is_some()).collect();
        if !old.is_empty() {
            out.set(&old, &self.scores_of_known(&places.iter().copied().flatten().collect::<Vec<_>>(), run)?);
        }
        let new: Vec<usize> = (0..places.len()).filter(|&i| places[i].is_none()).collect();
        if !new.is_empty() {
            let one_sided = || Error::shape("the number of sides of new nodes", 2, 1);
            let cols = nodes.z.as_ref().ok_or_else(one_sided)?.as_ref().select(&new);
            out.set(&new, &self.scores(nodes.x.as_ref().select(&new).as_ref(), cols.as_ref(), run)?);
        }
        Ok(out)
    }

    /// Scores by K itself, which is built again from the samples of the model: no file has to hold it.
    fn scores_of_known(&self, places: &[usize], run: &Run) -> Result<Scores> {
        let kernel = self.kernel.build::<T>()?;
        let matrix = KernelMatrix {
            watch: run.watch.clone(),
            ..KernelMatrix::new(&*kernel, self.data.x.as_ref(), self.data.cols().as_ref())
        };
        let built = matrix.build()?;
        self.functions.scores_within(&Widened(&*built.operator), places)
    }

    /// The model of an archive.
    ///
    /// Files of both precisions are read into any: numbers are converted.
    ///
    /// # Errors
    /// [`Error::Archive`] for a damaged file.
    pub fn from_archive(archive: &Archive) -> Result<Self> {
        let answer: Answer = archive.field("answer")?;
        AskLsModel::with_columns(archive, answer.width())
    }

    /// The model of an archive with so many functions.
    pub(in crate::estimators) fn with_columns(archive: &Archive, columns: usize) -> Result<Self> {
        let normalizer = if archive.has("normalizer") { Some(archive.vector("normalizer")?) } else { None };
        let functions = Functions {
            source: archive.matrix("source")?,
            target: archive.matrix("target")?,
            bias_source: archive.vector("source.bias")?,
            bias_target: archive.vector("target.bias")?,
        };
        let power = if archive.has("stack.power") { archive.vector("stack.power")? } else { vec![1.0] };
        let power = power.first().copied().filter(|power: &f64| *power > 0.0);
        let merger = Merger {
            merge: archive.field("merge")?,
            weights: archive.matrix("stack")?,
            power: power.ok_or_else(|| archive.error("has no power of its probabilities"))?,
        };
        let model = AskLsModel {
            name: archive.field("estimator")?,
            kernel: archive.field("kernel")?,
            normalizer,
            data: take_data(archive)?,
            train: archive.field("train")?,
            functions,
            merger,
            answer: archive.field("answer")?,
            report: archive.field("fit")?,
        };
        model.check_consistent(archive, columns)?;
        Ok(model)
    }

    /// A file that was tampered with must not make a later product panic.
    fn check_consistent(&self, archive: &Archive, c: usize) -> Result<()> {
        let n = self.data.x.count();
        let precomputed = self.kernel.build::<T>()?.is_precomputed();
        let cols = if precomputed { self.data.x.width() } else { self.data.cols().count() };
        let f = &self.functions;
        let stacked = self.merger.merge == Merge::Stack;
        let fits = cols == n
            && self.answer != Answer::Classes(Vec::new())
            && (precomputed || self.data.x.width() == self.data.cols().width())
            && f.source.shape() == (n, c)
            && f.target.shape() == (n, c)
            && f.bias_source.len() == c
            && f.bias_target.len() == c
            && self.merger.weights.shape() == (3, if stacked { c } else { 0 })
            && self.train.iter().all(|i| *i < n)
            && self.normalizer.as_ref().is_none_or(|v| v.len() == n)
            && self.data.row_ids.as_ref().is_none_or(|ids| ids.len() == n)
            && self.data.frame.as_ref().is_none_or(|frame| frame.sums.len() == n);
        if fits { Ok(()) } else { Err(archive.error("has arrays whose sizes do not fit together")) }
    }
}

/// Whether a precomputed K equals its transpose, entry by entry.
fn is_symmetric<T: Scalar>(k: &Samples<T>) -> bool {
    match (k, k.as_ref()) {
        (Samples::Sparse(k), _) => k.parts() == k.transpose().parts(),
        (_, SamplesRef::Dense(k)) => k.nrows() == k.ncols() && k == k.transpose(),
        _ => false,
    }
}

impl<T: Scalar> Model<T> for AskLsModel<T> {
    fn answer(&self) -> &Answer {
        &self.answer
    }

    fn decision(&self, samples: &Dataset<T>, run: &Run) -> Result<Mat<f64>> {
        let scores = match self.frame() {
            Some(frame) => self.node_scores(frame, samples, run)?,
            None if self.kernel.is_precomputed() => self.matrix_scores(samples, run)?,
            None => self.scores(samples.x.as_ref(), samples.x.as_ref(), run)?,
        };
        Ok(self.merger.decision(&scores, &self.answer))
    }

    /// Stacking gives probabilities.
    fn probabilities(&self, samples: &Dataset<T>, run: &Run) -> Result<Option<Mat<f64>>> {
        Model::<T>::has_probabilities(self).then(|| self.decision(samples, run)).transpose()
    }

    fn has_probabilities(&self) -> bool {
        self.merger.merge == super::Merge::Stack && self.answer != Answer::Values
    }

    /// With a symmetric kernel both functions are sums over the same samples, and so is what is merged of them linearly.
    fn kernel_sum(&self) -> Result<KernelSum<T>> {
        if self.data.frame.is_some() {
            return Err(refused("it was learned from a graph, and nodes are no rows of a table"));
        }
        if self.data.z.is_some() || self.data.maps.rows.is_some() {
            return Err(refused("it compares rows with columns, and a sample is a row only"));
        }
        let (f, merger) = (&self.functions, &self.merger);
        let classes = f.source.ncols();
        let shares = Mat::from_fn(3, classes, |k, c| merger.share(k, c));
        let weights = Mat::from_fn(f.source.nrows(), classes, |j, c| {
            shares[(0, c)] * f.source[(j, c)] + shares[(1, c)] * f.target[(j, c)]
        });
        let bias = |c: usize| shares[(0, c)] * f.bias_source[c] + shares[(1, c)] * f.bias_target[c] + shares[(2, c)];
        let bias = (0..classes).map(bias).collect();
        let functions = KernelFunctions {
            kernel: self.kernel.clone(),
            anchors: Anchors::Points(self.data.x.clone()),
            weights,
            bias,
        };
        let stacked = Model::<T>::has_probabilities(self);
        let head = if stacked { Head::Stacked { power: merger.power } } else { Head::Plain };
        Ok(KernelSum { head, ..KernelSum::new(&functions, &self.answer)? })
    }

    fn frame(&self) -> Option<&GraphFrame> {
        self.data.frame.as_ref()
    }

    fn report(&self) -> &FitReport {
        &self.report
    }

    fn archive(&self) -> Archive {
        let mut archive = Archive::of_model::<T>(&self.name);
        archive.set_field("kernel", &self.kernel);
        archive.set_field("train", &self.train);
        archive.set_field("answer", &self.answer);
        archive.set_field("fit", &self.report);
        archive.set_field("merge", self.merger.merge);
        archive.set_matrix("stack", self.merger.weights.as_ref());
        if self.merger.merge == Merge::Stack {
            archive.set_vector("stack.power", &[self.merger.power]);
        }
        archive.set_matrix("source", self.functions.source.as_ref());
        archive.set_matrix("target", self.functions.target.as_ref());
        archive.set_vector("source.bias", &self.functions.bias_source);
        archive.set_vector("target.bias", &self.functions.bias_target);
        put_data(&mut archive, &self.data);
        if let Some(normalizer) = &self.normalizer {
            archive.set_vector("normalizer", normalizer);
        }
        archive
    }
}
