use super::{Form, Kernel, Nature};
use crate::base::error::{Error, Result};
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use faer::MatMut;

/// G is given: row sample i is row i of G.
///
/// Nature: treated as asymmetric, whatever the matrix; no settings. Column samples play no part, and G need not be
/// square. Projecting a new row needs its kernel values against all training columns, in the same order. The way for
/// similarities that were computed elsewhere, such as the divergences of [`crate::estimators::distributions`].
///
/// ```
/// use lopsided::kernel::KernelSpec;
/// use lopsided::operator::KernelMatrix;
/// use lopsided::{Mat, Samples};
///
/// let given = Samples::Dense(faer::mat![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
/// let kernel = KernelSpec::new("precomputed").build::<f64>()?;
/// let matrix = KernelMatrix::new(&*kernel, given.as_ref(), given.as_ref());
/// assert_eq!(matrix.size(), (2, 3));
/// let mut sums = Mat::<f64>::zeros(2, 1);
/// matrix.build()?.operator.apply(Mat::from_fn(3, 1, |_, _| 1.0).as_ref(), sums.as_mut())?;
/// assert_eq!((sums[(0, 0)], sums[(1, 0)]), (6.0, 15.0));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Precomputed;

impl<T: Scalar> Kernel<T> for Precomputed {
    fn block(&self, _: SamplesRef<'_, T>, _: SamplesRef<'_, T>, _: MatMut<'_, T>) -> Result<()> {
        Err(Error::param("kernel", "precomputed", "a function of two samples to be evaluated on samples"))
    }

    fn is_precomputed(&self) -> bool {
        true
    }
}

pub(super) const NATURE: Nature = Nature { form: Form::Precomputed, ..Nature::PLAIN };

pub(super) fn entry<T: Scalar>() -> Entry<dyn Kernel<T>> {
    Entry {
        name: "precomputed",
        about: "k(x_i, z_j) = G[i, j], the input matrix itself",
        settings: &[],
        build: |_| Ok(Box::new(Precomputed)),
    }
}
