//! Models for other runtimes: a prediction that is a sum of kernels, as a graph of standard ONNX operators.
//!
//! ```text
//! X ─ scale ─ kernel values with the anchors ─ sums ─ decision values ─ label
//!                                                   └ probabilities
//! ```
//!
//! | part | operators |
//! | --- | --- |
//! | scale, (x − offset)·factor | `Sub`, `Mul` |
//! | `rbf`: exp of min(0, 2γ⟨x, z⟩ − γ‖x‖² − γ‖z‖²) | `MatMul`, `ReduceSum`, `Sub`, `Min`, `Exp` |
//! | `laplacian`: the distance, feature by feature | `Gather`, `Sub`, `Abs`, `Add`, `Exp` |
//! | `poly`; `linear`, whose anchors are summed up before | `MatMul`, `Add`, `Pow` |
//! | label: the name of the class with the largest decision value | `ArgMax`, `Gather` |
//!
//! The difference of two large squares has few digits left, so anchors and samples are moved to the mean of the anchors
//! before `rbf` sees them: distances stay the same, and lengths become small. What a batch needs at once is one kernel
//! value for each of its rows and each anchor.
//!
//! Files are in the precision of the model. An `f32` model is a graph of floats alone, which runs anywhere, with the
//! accuracy of floats; an `f64` model is one of doubles.

mod graph;
mod sum;

pub use sum::KernelSum;
pub(in crate::estimators) use sum::{Head, refused};

use super::Model;
use crate::base::error::Result;
use crate::base::scalar::Scalar;

/// An ONNX file of a model.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Exported {
    /// The file.
    #[serde(skip)]
    pub bytes: Vec<u8>,
    /// The set of operators it is written for.
    pub opset: u64,
    /// Name of the input: a table with a row for each sample.
    pub input: &'static str,
    /// Columns of the input.
    pub features: usize,
    /// Names of the outputs: `label` and `scores`, with `probabilities` where the model has them, or `values`.
    pub outputs: Vec<&'static str>,
}

/// The longest file that a protocol buffer may be.
const LARGEST: usize = i32::MAX as usize;

/// The model as an ONNX file.
///
/// Classes are texts, a column of `scores` and `probabilities` for each in the order of [`super::Answer::classes`]; `values`
/// have one column.
///
/// ```
/// use lopsided::estimators::{KernelRidge, onnx};
/// use lopsided::{Dataset, Mat, Run, Samples, Target};
///
/// let x = Samples::Dense(Mat::from_fn(6, 2, |i, j| (i + j) as f64));
/// let data = Dataset { y: Some(Target::Values(vec![0.0, 1.0, 0.0, 1.0, 0.0, 1.0])), ..Dataset::new(x) };
/// let model = KernelRidge::new("rbf").fit(data, &Run::default())?;
/// let file = onnx::export(&model)?;
/// assert_eq!((file.features, file.outputs), (2, vec!["values"]));
/// # Ok::<(), lopsided::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::Export`] for a model that is no sum of the kernels `rbf`, `linear`, `poly` or `laplacian` over the rows
/// of a dense table.
pub fn export<T: Scalar>(model: &dyn Model<T>) -> Result<Exported> {
    let file = graph::write(&model.kernel_sum()?, model.archive().field("estimator")?);
    if file.bytes.len() > LARGEST {
        let reason = format!("the file would have {} bytes, and the format ends at 2 GB", file.bytes.len());
        return Err(refused(reason + "; fewer landmarks make it smaller"));
    }
    Ok(file)
}
