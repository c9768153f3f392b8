//! How a model meets samples that it was not fitted with.
//!
//! A new row is compared with all training columns and, where the kernel has one, normalised by its own sum
//! over them. A new column takes part in rows that exist already, so it is divided by the normalisers of the
//! training rows, which do not change. Raw rows and columns of a matrix go through the compatibility maps
//! first.

use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::dataset::Dataset;
use crate::data::samples::{Samples, SamplesRef, Side};
use crate::kernel::{Kernel, KernelSpec};
use crate::operator::{KernelMatrix, Operator};
use faer::{Mat, MatRef};

/// Kernel values between new samples and those that a model was fitted with.
pub(crate) struct NewValues<'a, T> {
    pub(crate) kernel: &'a KernelSpec,
    pub(crate) data: &'a Dataset<T>,
    /// Row normalisers of the training samples.
    pub(crate) normalizer: Option<&'a [T]>,
    /// Columns the normalisers were estimated from, where they were.
    pub(crate) sampled_cols: Option<&'a [usize]>,
    /// Whether the values are only looked at in blocks.
    pub(crate) blocks_suffice: bool,
}

impl<T: Scalar> NewValues<'_, T> {
    /// What `f` makes of k(new, Z); for a precomputed kernel the samples are rows of G.
    pub(crate) fn rows<R>(
        &self,
        rows: SamplesRef<'_, T>,
        run: &Run,
        f: impl FnOnce(&dyn Operator<T>) -> Result<R>,
    ) -> Result<R> {
        self.check(rows, Side::Row)?;
        let mapped = self.data.maps.apply(Side::Row, rows);
        let rows = mapped.as_ref().map_or(rows, |m| SamplesRef::Dense(m.as_ref()));
        let kernel = self.kernel.build::<T>()?;
        let cols = self.data.cols();
        let matrix = KernelMatrix {
            sampled_cols: self.sampled_cols.map(<[usize]>::to_vec),
            ..self.matrix(&*kernel, rows, cols.as_ref(), run)
        };
        f(&*matrix.build()?.operator)
    }

    /// Values of new samples, which are needed once.
    fn matrix<'a>(
        &self,
        kernel: &'a dyn Kernel<T>,
        x: SamplesRef<'a, T>,
        z: SamplesRef<'a, T>,
        run: &Run,
    ) -> KernelMatrix<'a, T> {
        let (blocks_suffice, once, watch) = (self.blocks_suffice, !self.blocks_suffice, run.watch.clone());
        let (device, fast) = (run.device, run.fast);
        KernelMatrix { blocks_suffice, once, device, fast, watch, ..KernelMatrix::new(kernel, x, z) }
    }

    /// What `f` makes of k(X, new); for a precomputed kernel each sample is a column of G.
    pub(crate) fn cols<R>(
        &self,
        cols: SamplesRef<'_, T>,
        run: &Run,
        f: impl FnOnce(&dyn Operator<T>) -> Result<R>,
    ) -> Result<R> {
        self.check(cols, Side::Col)?;
        let mapped = self.data.maps.apply(Side::Col, cols);
        let cols = mapped.as_ref().map_or(cols, |m| SamplesRef::Dense(m.as_ref()));
        let kernel = self.kernel.build::<T>()?;
        let transposed = kernel.is_precomputed().then(|| cols.to_owned().transpose());
        let x = transposed.as_ref().map_or(self.data.x.as_ref(), Samples::as_ref);
        let matrix =
            KernelMatrix { normalizer: self.normalizer.map(<[T]>::to_vec), ..self.matrix(&*kernel, x, cols, run) };
        f(&*matrix.build()?.operator)
    }

    /// Refuses what was made of a new column, one row each, if it is beyond all numbers: a new column may be so much nearer to a
    /// training row than all training columns that its value, divided by their sum, overflows.
    pub(crate) fn check_placed<S: Scalar>(&self, placed: MatRef<'_, S>) -> Result<()> {
        let overflowed = |column: &usize| placed.row(*column).iter().any(|v| !num_traits::Float::is_finite(*v));
        let Some(column) = (0..placed.nrows()).find(overflowed) else { return Ok(()) };
        let kernel = self.kernel.name.to_uppercase();
        if self.normalizer.is_none() {
            let reason = "the samples are too large for this kernel".into();
            let what = format!("the {kernel} values of the new column {column}");
            return Err(Error::OutOfRange { what, kind: T::NAME, reason, advice: "scale them down".into() });
        }
        Err(Error::OutOfRange {
            what: format!("the {kernel} values of the new column {column}"),
            kind: T::NAME,
            reason:
                "it is so much nearer to a training row than every training column that dividing by their sum overflows"
                    .into(),
            advice: "a smaller gamma keeps it in range".into(),
        })
    }

    /// Refuses kernels of graphs, which know no other nodes, and samples of another width or with NaN.
    fn check(&self, samples: SamplesRef<'_, T>, side: Side) -> Result<()> {
        self.kernel.refuse_graph_kernel("one that compares samples for nodes that the model was not fitted with")?;
        let (what, precomputed) = match side {
            Side::Row => ("the width of the new rows", self.data.x.width()),
            Side::Col => ("the width of the new columns", self.data.x.count()),
        };
        let plain = if self.kernel.is_precomputed() { precomputed } else { self.data.x.width() };
        let expected = self.data.maps.side(side).map_or(plain, Mat::nrows);
        if samples.width() != expected {
            return Err(Error::shape(what, expected, samples.width()));
        }
        samples.check_finite(if side == Side::Row { "the new rows" } else { "the new columns" })
    }
}
