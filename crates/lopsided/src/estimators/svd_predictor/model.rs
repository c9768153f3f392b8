//! The model of a kernel SVD with a linear machine on its features.

use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::archive::Archive;
use crate::data::dataset::Dataset;
use crate::data::graph::GraphFrame;
use crate::data::samples::Side;
use crate::estimators::linear::LinearLsSvmModel;
use crate::estimators::{Answer, FitReport, KernelSvdModel, Model};
use faer::{Mat, MatRef};
use std::collections::HashMap;

/// A fitted [`super::SvdPredictor`].
///
/// Nodes that the model knows, by their names, have the features that were learned with them. All other samples
/// are placed by the projections of the kernel SVD first: k(x, Z)·V·Σ^(p−1), and for nodes k(X, z)ᵀ·U·Σ^(p−1)
/// beside it.
#[derive(Clone, Debug)]
pub struct SvdPredictorModel<T> {
    /// The features.
    pub svd: KernelSvdModel<T>,
    /// The machine on them.
    pub head: Head,
}

/// A linear machine on the features of a kernel SVD.
///
/// Decision values are f(φ) = Wᵀφ + b of features φ. The head is stored beside the embedding that it reads:
///
/// ```
/// use lopsided::estimators::{Head, Model, SvdPredictor, SvdPredictorModel};
/// use lopsided::{Dataset, KernelSvd, Mat, Run, Samples, Target};
///
/// let x = Mat::from_fn(8, 3, |i, j| ((i * (j + 2)) % 7) as f64);
/// let y = Target::Values((0..8).map(f64::from).collect());
/// let data = Dataset { y: Some(y), ..Dataset::new(Samples::Dense(x)) };
/// let model = SvdPredictor::new(KernelSvd::new("rbf").with_rank(2)).fit(data.clone(), &Run::default())?;
/// assert!(Head::is_in(&model.archive()) && !Head::is_in(&model.svd.archive()));
/// let again = SvdPredictorModel::<f64>::from_archive(&model.archive())?;
/// let run = Run::default();
/// assert!((model.decision(&data, &run)? - again.decision(&data, &run)?).norm_max() < 1e-9);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Weights of the features, one column per class.
    pub linear: LinearLsSvmModel,
    /// What is predicted.
    pub answer: Answer,
    /// How the fit went.
    pub report: FitReport,
}

impl Head {
    /// Whether an archive has one.
    pub fn is_in(archive: &Archive) -> bool {
        archive.has("head.weights")
    }

    /// The head of an archive, for the features that the same archive holds.
    ///
    /// # Errors
    /// [`Error::Archive`] if there is none or its parts do not fit together.
    pub fn of<T: Scalar>(archive: &Archive, svd: &KernelSvdModel<T>) -> Result<Self> {
        if !Head::is_in(archive) {
            return Err(
                archive.error("holds an embedding without a head; `lopsided fit kernel-svd` makes models that predict")
            );
        }
        let linear = LinearLsSvmModel { weights: archive.matrix("head.weights")?, bias: archive.vector("head.bias")? };
        let head = Head { linear, answer: archive.field("answer")?, report: archive.field("fit")? };
        let (width, outputs) = (sides(svd) * svd.singular_values().len(), head.answer.width());
        let fits = head.answer != Answer::Classes(Vec::new())
            && head.linear.weights.shape() == (width, outputs)
            && head.linear.bias.len() == outputs;
        if fits { Ok(head) } else { Err(archive.error("has a head whose size does not fit the features")) }
    }

    /// Adds the head to the archive of its embedding.
    fn put(&self, archive: &mut Archive) {
        archive.set_matrix("head.weights", self.linear.weights.as_ref());
        archive.set_vector("head.bias", &self.linear.bias);
        archive.set_field("answer", &self.answer);
        archive.set_field("fit", &self.report);
    }
}

impl<T: Scalar> SvdPredictorModel<T> {
    /// The model of an archive.
    ///
    /// # Errors
    /// [`Error::Archive`] for a damaged file, or one without a head.
    pub fn from_archive(archive: &Archive) -> Result<Self> {
        let svd = KernelSvdModel::from_archive(archive)?;
        let head = Head::of(archive, &svd)?;
        Ok(SvdPredictorModel { svd, head })
    }

    /// The features of nodes: stored ones for those that the model knows, projections of both sides for the others.
    fn node_features(&self, frame: &GraphFrame, nodes: &Dataset<T>, run: &Run) -> Result<Mat<f64>> {
        let known: HashMap<&str, usize> = frame.ids.iter().enumerate().map(|(i, id)| (id.as_str(), i)).collect();
        let stored = features(&self.svd);
        let mut out = Mat::zeros(nodes.x.count(), stored.ncols());
        let mut new = Vec::new();
        for i in 0..nodes.x.count() {
            match known.get(nodes.id(Side::Row, i).as_str()) {
                Some(&at) => out.row_mut(i).copy_from(stored.row(at)),
                None => new.push(i),
            }
        }
        if !new.is_empty() {
            let placed = self.placed_nodes(nodes, &new, run)?;
            new.iter().enumerate().for_each(|(at, &i)| out.row_mut(i).copy_from(placed.row(at)));
        }
        Ok(out)
    }

    /// Both projections side by side; new nodes need links in both directions, be they none.
    fn placed_nodes(&self, nodes: &Dataset<T>, which: &[usize], run: &Run) -> Result<Mat<f64>> {
        let one_sided = || Error::shape("the number of sides of new nodes", 2, 1);
        let cols = nodes.z.as_ref().ok_or_else(one_sided)?.as_ref().select(which);
        let left = self.svd.project_rows(nodes.x.as_ref().select(which).as_ref(), run)?;
        let right = self.svd.project_cols(cols.as_ref(), run)?;
        Ok(side_by_side(left.as_ref(), Some(right.as_ref())))
    }
}

impl<T: Scalar> Model<T> for SvdPredictorModel<T> {
    fn answer(&self) -> &Answer {
        &self.head.answer
    }

    fn decision(&self, samples: &Dataset<T>, run: &Run) -> Result<Mat<f64>> {
        let features = match self.frame() {
            Some(frame) => self.node_features(frame, samples, run)?,
            None => side_by_side(self.svd.project_rows(samples.x.as_ref(), run)?.as_ref(), None),
        };
        Ok(self.head.linear.decision(features.as_ref()))
    }

    fn embedding(&self) -> Option<&KernelSvdModel<T>> {
        Some(&self.svd)
    }

    fn frame(&self) -> Option<&GraphFrame> {
        self.svd.data.frame.as_ref()
    }

    fn report(&self) -> &FitReport {
        &self.head.report
    }

    fn archive(&self) -> Archive {
        let mut archive = self.svd.archive();
        self.head.put(&mut archive);
        archive
    }
}

/// Sides that make up the features: both for nodes, rows alone for everything else.
fn sides<T: Scalar>(svd: &KernelSvdModel<T>) -> usize {
    1 + usize::from(svd.data.frame.is_some())
}

/// Features of the training samples: \[U·Σ^p, V·Σ^p\] for nodes, U·Σ^p for rows.
pub(super) fn features<T: Scalar>(svd: &KernelSvdModel<T>) -> Mat<f64> {
    let cols = svd.data.frame.is_some().then(|| svd.embedding(Side::Col));
    side_by_side(svd.embedding(Side::Row).as_ref(), cols.as_ref().map(Mat::as_ref))
}

/// \[left, right\] in double precision.
pub(super) fn side_by_side<T: Scalar>(left: MatRef<'_, T>, right: Option<MatRef<'_, T>>) -> Mat<f64> {
    let (n, r) = left.shape();
    let width = r + right.map_or(0, |right| right.ncols());
    let value = |i: usize, j: usize| if j < r { left[(i, j)] } else { right.map_or(T::zero(), |m| m[(i, j - r)]) };
    Mat::from_fn(n, width, |i, j| value(i, j).as_f64())
}
