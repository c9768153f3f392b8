use super::Scaling;
use crate::base::Run;
use crate::base::error::Result;
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::data::dataset::Dataset;
use crate::data::samples::{SamplesRef, Side};
use crate::estimators::new_values::NewValues;
use crate::kernel::KernelSpec;
use crate::operator::{self, Centered, KernelMatrix, Means, Operator, Submatrix};
use crate::solvers::svd::{SolveReport, Svd};
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
    ///
    /// A row of G itself, of a precomputed kernel, lands on its row of U:
    ///
    /// ```
    /// use lopsided::{Dataset, KernelSvd, Mat, Run, Samples, Side};
    ///
    /// let g = Samples::Dense(Mat::from_fn(3, 2, |i, j| if i == j { 3.0 - i as f64 } else { 0.0 }));
    /// let model = KernelSvd::new("precomputed").with_rank(2).fit(Dataset::new(g.clone()), &Run::default())?;
    /// assert!((model.singular_values()[0] - 3.0).abs() < 1e-12);
    /// let again = model.project_rows(g.as_ref(), &Run::default())?;
    /// assert!((again - model.embedding(Side::Row)).norm_max() < 1e-12);
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn project_rows(&self, rows: SamplesRef<'_, T>, run: &Run) -> Result<Mat<T>> {
        self.values().rows(rows, run, |g| {
            let Some(training) = &self.means else { return self.place(g, Side::Row) };
            let width = T::of(g.ncols() as f64);
            let rows = operator::row_sums(g)?.into_iter().map(|s| s / width).collect();
            self.place(&Centered::new(g, Means { rows, ..training.clone() }), Side::Row)
        })
    }

    /// Embedding of new column samples: k(X, z)ᵀ·U·Σ^(p−1). For a precomputed kernel each sample is a column of G, for a
    /// model with a compatibility matrix a raw column of the matrix.
    pub fn project_cols(&self, cols: SamplesRef<'_, T>, run: &Run) -> Result<Mat<T>> {
        let values = self.values();
        let placed = values.cols(cols, run, |g| {
            let Some(training) = &self.means else { return self.place(g, Side::Col) };
            let height = T::of(g.nrows() as f64);
            let cols = operator::col_sums(g)?.into_iter().map(|s| s / height).collect();
            self.place(&Centered::new(g, Means { cols, ..training.clone() }), Side::Col)
        })?;
        values.check_placed(placed.as_ref())?;
        Ok(placed)
    }

    /// Means of the kernel matrix of the training samples over groups of rows and columns: the group of each row with the number of
    /// groups, and the same of the columns. `None` for a kernel of a graph, whose values are not those of samples.
    ///
    /// # Cost
    /// One product of G with a vector for each group of columns; G itself is not held.
    pub(crate) fn group_means(
        &self,
        (rows, height): (&[u32], usize),
        (cols, width): (&[u32], usize),
        run: &Run,
    ) -> Result<Option<Mat<f64>>> {
        if self.kernel.of_graph() || self.size() != (rows.len(), cols.len()) {
            return Ok(None);
        }
        let sizes = |groups: &[u32], count: usize| {
            let mut sizes = vec![0.0f64; count];
            groups.iter().for_each(|&g| sizes[g as usize] += 1.0);
            sizes
        };
        let (heights, widths) = (sizes(rows, height), sizes(cols, width));
        let mean = |j: usize, g: usize| if cols[j] as usize == g { T::of(1.0 / widths[g]) } else { T::zero() };
        let groups = Mat::from_fn(cols.len(), width, mean);
        let mut sums = Mat::<T>::zeros(rows.len(), width);
        let kernel = self.kernel.build::<T>()?;
        let (normalizer, sampled_cols) = (self.normalizer.clone(), self.sampled_cols.clone());
        let plain = KernelMatrix::new(&*kernel, self.data.x.as_ref(), self.data.cols().as_ref());
        let (device, fast, watch) = (run.device, run.fast, run.watch.clone());
        let matrix = KernelMatrix { normalizer, sampled_cols, once: true, device, fast, watch, ..plain };
        let built = matrix.build()?;
        match &self.means {
            Some(means) => Centered::new(&*built.operator, means.clone()).apply(groups.as_ref(), sums.as_mut())?,
            None => built.operator.apply(groups.as_ref(), sums.as_mut())?,
        }
        let mut out = Mat::zeros(height, width);
        for (i, &group) in rows.iter().enumerate() {
            (0..width).for_each(|g| out[(group as usize, g)] += sums[(i, g)].as_f64() / heights[group as usize]);
        }
        Ok(Some(out))
    }

    fn values(&self) -> NewValues<'_, T> {
        NewValues {
            kernel: &self.kernel,
            data: &self.data,
            normalizer: self.normalizer.as_deref(),
            sampled_cols: self.sampled_cols.as_deref(),
            blocks_suffice: self.svd.extension.as_ref().is_some_and(|e| !e.rows.is_empty()),
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
            (Some(e), Side::Row) => {
                let weights = scaled(e.row_weights.as_ref(), sigma, power);
                Submatrix::new(g, None, Some(&e.cols)).apply(weights.as_ref(), out.as_mut())?;
            }
            (Some(e), Side::Col) if !e.rows.is_empty() => {
                let weights = scaled(e.col_weights.as_ref(), sigma, power);
                Submatrix::new(g, Some(&e.rows), None).apply_transpose(weights.as_ref(), out.as_mut())?;
            }
            (_, Side::Col) => {
                g.apply_transpose(scaled(self.svd.u.as_ref(), sigma, power - 1.0).as_ref(), out.as_mut())?;
            }
        }
        Ok(out)
    }
}

/// vectors·diag(sigma^power).
fn scaled<T: Scalar>(vectors: MatRef<'_, T>, sigma: &[T], power: f64) -> Mat<T> {
    let factors =
        Mat::from_fn(sigma.len(), sigma.len(), |i, j| if i == j { sigma[i].powf(T::of(power)) } else { T::zero() });
    linalg::mul(vectors, factors.as_ref())
}
