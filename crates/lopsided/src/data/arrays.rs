//! Arrays of the crate `ndarray`, in and out without copying (feature `ndarray`).
//!
//! | from | to | copies |
//! | --- | --- | --- |
//! | `Array2` | [`Samples`], to learn from | no, in either memory order; a sliced array is copied |
//! | `ArrayView2`, any strides | [`SamplesRef`], to predict or project | no |
//! | `MatRef` of a result | `ArrayView2`, by [`IntoNdarray`] | no |
//!
//! ```
//! use lopsided::data::arrays::IntoNdarray;
//! use lopsided::{Dataset, KernelSvd, Run, Side};
//! use ndarray::Array2;
//!
//! let x = Array2::from_shape_fn((30, 3), |(i, j)| ((i * 7 + j * 3) % 11) as f64);
//! let new = x.clone();
//! let model = KernelSvd::new("rbf").with_rank(2).fit(Dataset::new(x.into()), &Run::default())?;
//! let placed = model.project_rows(new.view().into(), &Run::default())?;
//! let rows = model.embedding(Side::Row);
//! let (placed, rows) = (placed.as_ref().into_ndarray(), rows.as_ref().into_ndarray());
//! assert!((&placed - &rows).iter().all(|difference| difference.abs() < 1e-8));
//! # Ok::<(), lopsided::Error>(())
//! ```

pub use faer_ext::{IntoFaer, IntoNdarray};

use super::samples::{Order, Samples, SamplesRef, SharedRows};
use crate::base::scalar::Scalar;
use faer::Mat;
use ndarray::{Array2, ArrayView2};
use std::sync::Arc;

/// An array whose memory has no gaps.
struct Whole<T>(Array2<T>);

impl<T> AsRef<[T]> for Whole<T> {
    fn as_ref(&self) -> &[T] {
        self.0.as_slice_memory_order().unwrap_or(&[])
    }
}

/// One sample per row; the array becomes part of the samples.
impl<T: Scalar> From<Array2<T>> for Samples<T> {
    fn from(array: Array2<T>) -> Self {
        let size = array.dim();
        let order = if array.is_standard_layout() { Order::Rows } else { Order::Columns };
        let whole = array.is_standard_layout() || array.t().is_standard_layout();
        let array = Arc::new(Whole(array));
        let shared = if whole { SharedRows::new(array.clone(), size, order).ok() } else { None };
        shared.map_or_else(|| Samples::Dense(Mat::from_fn(size.0, size.1, |i, j| array.0[[i, j]])), Samples::Shared)
    }
}

/// One sample per row.
impl<'a, T: Scalar> From<ArrayView2<'a, T>> for SamplesRef<'a, T> {
    fn from(view: ArrayView2<'a, T>) -> Self {
        SamplesRef::Dense(view.into_faer())
    }
}
