use super::Scaling;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::kernel::KernelSpec;
use crate::linalg;
use crate::operator::{self, Centered, KernelMatrix, Means, Operator, Submatrix};
use crate::samples::{Samples, SamplesRef, Side};
use crate::scalar::Scalar;
use crate::svd::{Run, SolveReport, Svd};
use faer::{Mat, MatRef};

/// A fitted [`super::KernelSvd`].
#[derive(Clone, Debug)]
pub struct KernelSvdModel<T> {
    /// The kernel with its gamma.
    pub kernel: KernelSpec,
    /// Scaling of embeddings and projections.
    pub scaling: Scaling,
    /// The kind of operator that was used.
    pub operator: String,
    /// Triplets and the solver's report.
    pub svd: Svd<T>,
    /// Row normalisers of the SNE and T kernels.
    pub(super) normalizer: Option<Vec<T>>,
    /// Columns the normalisers were estimated from, where they were.
    pub(super) sampled_cols: Option<Vec<usize>>,
    /// Training means when centred.
    pub(super) means: Option<Means<T>>,
    /// The training samples, needed to place new ones.
    pub data: Dataset<T>,
}

impl<T: Scalar> KernelSvdModel<T> {
    /// Singular values of G, descending.
    pub fn singular_values(&self) -> &[T] {
        &self.svd.sigma
    }

    /// The solver's account of its work.
    pub fn report(&self) -> &SolveReport {
        &self.svd.report
    }

    /// Whether the kernel matrix was centred.
    pub fn is_centered(&self) -> bool {
        self.means.is_some()
    }

    /// Rows and columns of G.
    pub fn size(&self) -> (usize, usize) {
        (self.svd.u.nrows(), self.svd.v.nrows())
    }

    /// Embedding of the training samples of one side: U·Σ^p or V·Σ^p.
    pub fn embedding(&self, side: Side) -> Mat<T> {
        let vectors = match side {
            Side::Row => &self.svd.u,
            Side::Col => &self.svd.v,
        };
        scaled(vectors.as_ref(), &self.svd.sigma, self.scaling.power())
    }

    /// Embedding of new row samples: k(x, Z)·V·Σ^(p−1). For a precomputed kernel the samples are rows of G, for a model
    /// with a compatibility matrix raw rows of the matrix.
    pub fn project_rows(&self, rows: SamplesRef<'_, T>, run: &Run) -> Result<Mat<T>> {
        self.check_new(rows, Side::Row)?;
        let mapped = self.data.maps.apply(Side::Row, rows);
        let rows = mapped.as_ref().map_or(rows, |m| SamplesRef::Dense(m.as_ref()));
        let kernel = self.kernel.build::<T>()?;
        let matrix = KernelMatrix {
            blocks_suffice: self.svd.extension.is_some(),
            sampled_cols: self.sampled_cols.clone(),
            watch: run.watch.clone(),
            ..KernelMatrix::new(&*kernel, rows, self.data.cols().as_ref())
        };
        let built = matrix.build()?;
        let means = self.means.as_ref().map(|training| -> Result<_> {
            let width = T::of(built.operator.ncols() as f64);
            let rows = operator::row_sums(&*built.operator)?.into_iter().map(|s| s / width).collect();
            Ok(Means { rows, ..training.clone() })
        });
        match means.transpose()? {
            Some(means) => self.place(&Centered::new(&*built.operator, means), Side::Row),
            None => self.place(&*built.operator, Side::Row),
        }
    }

    /// Embedding of new column samples: k(X, z)ᵀ·U·Σ^(p−1). For a precomputed kernel each sample is a column of G, for a
    /// model with a compatibility matrix a raw column of the matrix.
    pub fn project_cols(&self, cols: SamplesRef<'_, T>, run: &Run) -> Result<Mat<T>> {
        self.check_new(cols, Side::Col)?;
        let mapped = self.data.maps.apply(Side::Col, cols);
        let cols = mapped.as_ref().map_or(cols, |m| SamplesRef::Dense(m.as_ref()));
        let kernel = self.kernel.build::<T>()?;
        let transposed = kernel.is_precomputed().then(|| cols.to_owned().transpose());
        let x = transposed.as_ref().map_or(self.data.x.as_ref(), Samples::as_ref);
        let matrix = KernelMatrix {
            normalizer: self.normalizer.clone(),
            blocks_suffice: self.svd.extension.is_some(),
            watch: run.watch.clone(),
            ..KernelMatrix::new(&*kernel, x, cols)
        };
        let built = matrix.build()?;
        let means = self.means.as_ref().map(|training| -> Result<_> {
            let height = T::of(built.operator.nrows() as f64);
            let cols = operator::col_sums(&*built.operator)?.into_iter().map(|s| s / height).collect();
            Ok(Means { cols, ..training.clone() })
        });
        match means.transpose()? {
            Some(means) => self.place(&Centered::new(&*built.operator, means), Side::Col),
            None => self.place(&*built.operator, Side::Col),
        }
    }

    /// New samples of one side from their kernel values with the other: by the landmarks where U and V come from
    /// landmarks, by all samples otherwise.
    fn place(&self, g: &dyn Operator<T>, side: Side) -> Result<Mat<T>> {
        let (sigma, power) = (&self.svd.sigma, self.scaling.power());
        let count = if side == Side::Row { g.nrows() } else { g.ncols() };
        let mut out = Mat::zeros(count, sigma.len());
        match (&self.svd.extension, side) {
            (None, Side::Row) => {
                g.apply(scaled(self.svd.v.as_ref(), sigma, power - 1.0).as_ref(), out.as_mut())?;
            }
            (None, Side::Col) => {
                g.apply_transpose(scaled(self.svd.u.as_ref(), sigma, power - 1.0).as_ref(), out.as_mut())?;
            }
            (Some(e), Side::Row) => {
                let weights = scaled(e.row_weights.as_ref(), sigma, power);
                Submatrix::new(g, None, Some(&e.cols)).apply(weights.as_ref(), out.as_mut())?;
            }
            (Some(e), Side::Col) => {
                let weights = scaled(e.col_weights.as_ref(), sigma, power);
                Submatrix::new(g, Some(&e.rows), None).apply_transpose(weights.as_ref(), out.as_mut())?;
            }
        }
        Ok(out)
    }

    fn check_new(&self, samples: SamplesRef<'_, T>, side: Side) -> Result<()> {
        let (n, m) = self.size();
        let (what, precomputed) = match side {
            Side::Row => ("the width of the new rows", m),
            Side::Col => ("the width of the new columns", n),
        };
        let plain = if self.kernel.name == "precomputed" { precomputed } else { self.data.x.width() };
        let expected = self.data.maps.side(side).map_or(plain, Mat::nrows);
        if samples.width() != expected {
            return Err(Error::shape(what, expected, samples.width()));
        }
        samples.check_finite(if side == Side::Row { "the new rows" } else { "the new columns" })
    }
}

/// vectors·diag(sigma^power).
fn scaled<T: Scalar>(vectors: MatRef<'_, T>, sigma: &[T], power: f64) -> Mat<T> {
    let factors =
        Mat::from_fn(sigma.len(), sigma.len(), |i, j| if i == j { sigma[i].powf(T::of(power)) } else { T::zero() });
    linalg::mul(vectors, factors.as_ref())
}
