//! Kernel principal components out of core: the symmetric counterpart of the streamed kernel SVD.

use super::LANDMARKS;
use super::core::{Core, Recipe};
use super::sketch::push_rows;
use crate::base::Run;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::data::row_stream::RowStream;
use crate::data::samples::{Csr, CsrRef, Samples, SamplesRef, Side};
use crate::kernel::{Gamma, KernelSpec};
use crate::operator::StreamedOperator;
use crate::solvers::landmarks::{Sampler, Uniform};
use crate::solvers::svd::{DEFAULT_TOLERANCE, to_unit_columns};
use faer::Mat;

/// Kernel principal components of the rows of a matrix out of core by the symmetric Nyström method, \[KSVD\] Eq. (13): the
/// baseline of Table 7.
///
/// The kernel compares the sparse rows themselves. Two passes: one gathers the landmarks, one extends their eigenvectors.
/// Not centred.
///
/// With the eigenpairs (λ, u) of the landmarks' kernel matrix the components of a row are k(x, landmarks)·u/λ,
/// scaled so that each column has unit length.
///
/// ```
/// use lopsided::data::row_stream::RowStream;
/// use lopsided::estimators::StreamedKpca;
/// use lopsided::{Csr, Run};
///
/// let entries: Vec<_> = (0..300).map(|k| (k % 60, k * k % 47, 1.0)).collect();
/// let rows = RowStream::of_matrix(Csr::from_triplets(60, 47, &entries), 16);
/// let u: lopsided::Mat<f64> = StreamedKpca::new("rbf", 3).row_features(&rows, &Run::default())?;
/// assert_eq!(u.shape(), (60, 3));
/// assert!((0..3).all(|k| (u.col(k).norm_l2() - 1.0).abs() < 1e-9));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StreamedKpca {
    /// The kernel; a `gamma` among its parameters wins over [`StreamedKpca::gamma`].
    pub kernel: KernelSpec,
    /// How gamma is found for the kernels that need one.
    pub gamma: Gamma,
    /// Multiplies the bandwidth: gamma is divided by its square.
    pub gamma_factor: f64,
    /// Number of components.
    pub rank: usize,
    /// Landmarks; `None`: 1000, or all rows.
    pub sample: Option<usize>,
}

setters!(StreamedKpca: with_kernel(kernel: KernelSpec), with_gamma(gamma: Gamma), with_gamma_factor(gamma_factor: f64),
    with_rank(rank: usize), with_sample(sample: usize => Some(sample)));

impl Default for StreamedKpca {
    /// 16 components of the RBF kernel.
    fn default() -> Self {
        StreamedKpca::new("rbf", 16)
    }
}

impl StreamedKpca {
    /// Gamma `scale`, 1000 landmarks.
    pub fn new(kernel: &str, rank: usize) -> Self {
        StreamedKpca { kernel: KernelSpec::new(kernel), gamma: Gamma::default(), gamma_factor: 1.0, rank, sample: None }
    }

    /// One row of components for each row of A, the columns of unit length.
    ///
    /// # Errors
    /// Those of [`super::StreamedKernelSvd::fit`].
    pub fn row_features<T: Scalar>(&self, a: &RowStream<T>, run: &Run) -> Result<Mat<T>> {
        let count = self.sample.unwrap_or(LANDMARKS.min(a.nrows()));
        let picked = Uniform.pick(&StreamedOperator::new(a, &run.watch), Side::Row, count, run.seed)?;
        let landmarks = Samples::Sparse(gathered(a, &picked, run)?);
        let recipe = Recipe {
            kernel: &self.kernel,
            gamma: self.gamma,
            gamma_factor: self.gamma_factor,
            rank: self.rank,
            tol: DEFAULT_TOLERANCE,
        };
        let shares = vec![a.nrows() as f64 / count as f64; count];
        let core = Core::new(&recipe, landmarks.as_ref(), landmarks.as_ref(), &shares, run)?;
        let lens = |chunk: CsrRef<'_, T>| Samples::Sparse(chunk.to_owned());
        let nothing = Csr::empty(a.ncols());
        let nothing = SamplesRef::Sparse(nothing.as_ref());
        let mut u = core.extend_rows(a, &lens, landmarks.as_ref(), nothing, run)?.0;
        to_unit_columns(&mut u, None);
        Ok(u)
    }
}

/// The listed rows, ascending.
fn gathered<T: Scalar>(a: &RowStream<T>, rows: &[usize], run: &Run) -> Result<Csr<T>> {
    let mut out = Csr::empty(a.ncols());
    a.for_each_chunk("landmarks", &run.watch, |start, chunk| {
        push_rows(chunk, start, rows, &mut out);
        Ok(())
    })?;
    Ok(out)
}
