//! Counting: how much work was asked of an operator, in numbers that do not depend on the machine.

use super::Operator;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::base::watch::Watch;
use crate::operator::delegated;
use faer::{Mat, MatMut, MatRef};

/// Any operator; what is asked of it is counted by a [`Watch`].
pub(super) struct Counted<'a, T> {
    pub(super) inner: Box<dyn Operator<T> + Send + 'a>,
    pub(super) watch: Watch,
}

impl<T: Scalar> Operator<T> for Counted<'_, T> {
    delegated!(inner: size, access, rounding);

    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric()
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: MatMut<'_, T>) -> Result<()> {
        self.watch.reading(rows.len() * cols.len());
        self.inner.block(rows, cols, out)
    }

    fn single_suffices(&self) -> bool {
        self.inner.single_suffices()
    }

    fn block_single(&self, rows: &[usize], cols: &[usize], out: MatMut<'_, f32>) -> Result<()> {
        self.watch.reading(rows.len() * cols.len());
        self.inner.block_single(rows, cols, out)
    }

    fn apply(&self, v: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        self.watch.multiplying(v.ncols());
        self.inner.apply(v, out)
    }

    fn apply_transpose(&self, u: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        self.watch.multiplying(u.ncols());
        self.inner.apply_transpose(u, out)
    }

    fn apply_both(&self, v: MatRef<'_, T>, u: MatRef<'_, T>) -> Result<(Mat<T>, Mat<T>)> {
        self.watch.multiplying(v.ncols() + u.ncols());
        self.inner.apply_both(v, u)
    }
}

#[cfg(test)]
mod tests {
    use crate::base::watch::{Watch, Work};
    use crate::kernel::KernelSpec;
    use crate::operator::{KernelMatrix, OperatorChoice};
    use crate::{Mat, Samples};

    /// The work of a product of three vectors and a block of two by two entries, after building.
    fn work(choice: OperatorChoice) -> Work {
        let samples = |n| Samples::Dense(Mat::from_fn(n, 2, |i, j| (i + 3 * j) as f64));
        let (x, z, kernel) =
            (samples(5), samples(4), KernelSpec::new("rbf").with("gamma", 0.1).build::<f64>().unwrap());
        let watch = Watch::default();
        let matrix = KernelMatrix::new(&*kernel, x.as_ref(), z.as_ref());
        let built = KernelMatrix { choice, watch: watch.silent(), ..matrix }.build().unwrap();
        built.operator.apply(Mat::zeros(4, 3).as_ref(), Mat::zeros(5, 3).as_mut()).unwrap();
        built.operator.block(&[0, 4], &[1, 3], Mat::zeros(2, 2).as_mut()).unwrap();
        watch.work()
    }

    #[test]
    fn values_are_counted_where_they_are_evaluated() {
        assert_eq!(work(OperatorChoice::Tiles), Work { evaluations: 20 + 4, products: 3, entries: 4 });
        assert_eq!(work(OperatorChoice::Dense), Work { evaluations: 20, products: 3, entries: 4 });
    }
}
