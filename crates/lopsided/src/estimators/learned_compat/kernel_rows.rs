//! Rows of the kernel matrix and their derivatives by the samples of both sides.
//!
//! | kernel | what it is a function of | slope |
//! | --- | --- | --- |
//! | linear, poly | ⟨x, z⟩ | from the product |
//! | rbf, sne, t | squared distance | from the value itself |
//!
//! Kernels that are normalised over a row (sne, t) pass gradients through the normalisation first: moving one z
//! moves the whole row.

use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use crate::kernel::pair::Meeting;
use crate::kernel::{Derivative, Kernel, KernelSpec, Normalization};
use faer::{Mat, MatRef};

/// A kernel that can be learned through.
pub(super) struct Differentiable<T> {
    kernel: Box<dyn Kernel<T>>,
    /// Its slope by the product or the squared distance.
    derivative: Derivative<T>,
}

/// Some rows of G, with what their derivative needs.
pub(super) struct KernelRows<'a, T> {
    of: &'a Differentiable<T>,
    /// Images of some rows.
    x: MatRef<'a, T>,
    /// Images of all columns.
    z: MatRef<'a, T>,
    /// Values of the kernel before they are normalised.
    raw: Mat<T>,
    /// What a row was divided by; empty without normalisation.
    sums: Vec<T>,
    /// The rows of G.
    pub(super) g: Mat<T>,
}

impl<T: Scalar> Differentiable<T> {
    /// The kernel of a specification with its gamma.
    ///
    /// # Errors
    /// [`Error::Param`] for a kernel without derivative.
    pub(super) fn new(spec: &KernelSpec) -> Result<Self> {
        let kernel = spec.build::<T>()?;
        let allowed = "linear, poly, rbf, sne or t, which have the derivative that learning needs";
        let derivative = kernel.derivative().ok_or_else(|| Error::param("kernel", &spec.name, allowed))?;
        Ok(Differentiable { kernel, derivative })
    }

    /// k(x_i, z_j) for all rows of x and z, normalised over z.
    pub(super) fn rows<'a>(&'a self, x: MatRef<'a, T>, z: MatRef<'a, T>) -> Result<KernelRows<'a, T>> {
        let mut raw = Mat::zeros(x.nrows(), z.nrows());
        self.kernel.block(SamplesRef::Dense(x), SamplesRef::Dense(z), raw.as_mut())?;
        let (g, sums) = match self.kernel.normalization() {
            Normalization::None => (raw.clone(), Vec::new()),
            Normalization::RowSum => divided(raw.clone()),
            Normalization::Softmax => divided(exponentials(&raw)),
        };
        Ok(KernelRows { of: self, x, z, raw, sums, g })
    }
}

impl<T: Scalar> KernelRows<'_, T> {
    /// ∂L/∂x and ∂L/∂z from ∂L/∂G.
    ///
    /// With Q\[i, j\] = ∂L/∂|x_i − z_j|²: ∂L/∂x_i = 2·Σ_j Q\[i, j\]·(x_i − z_j), and likewise for z; with
    /// Q\[i, j\] = ∂L/∂⟨x_i, z_j⟩: ∂L/∂x = Q·Z, ∂L/∂z = Qᵀ·X.
    pub(super) fn backward(&self, by_g: Mat<T>) -> (Mat<T>, Mat<T>) {
        let mut q = self.through_normalization(by_g);
        match &self.of.derivative {
            Derivative::ByDot(slope) => {
                let mut dots = Mat::zeros(q.nrows(), q.ncols());
                Meeting::Dot.tile(SamplesRef::Dense(self.x), SamplesRef::Dense(self.z), dots.as_mut());
                times(&mut q, &dots, slope);
                (linalg::mul(q.as_ref(), self.z), linalg::transpose_mul(q.as_ref(), self.x))
            }
            Derivative::ByDistance(slope) => {
                times(&mut q, &self.raw, slope);
                let by_x = spread(q.as_ref(), self.x, &linalg::mul(q.as_ref(), self.z));
                let by_z = spread(q.transpose(), self.z, &linalg::transpose_mul(q.as_ref(), self.x));
                (by_x, by_z)
            }
        }
    }

    /// ∂L/∂raw from ∂L/∂G: the normalised row moves as a whole.
    ///
    /// For g = r/Σr: ∂L/∂r_j = (∂L/∂g_j − Σ_k g_k·∂L/∂g_k)/Σr. For a softmax g ∝ exp(r) the factor is g_j instead
    /// of 1/Σr.
    fn through_normalization(&self, mut by_g: Mat<T>) -> Mat<T> {
        let normalization = self.of.kernel.normalization();
        if normalization == Normalization::None {
            return by_g;
        }
        for i in 0..by_g.nrows() {
            let mean: T = (0..by_g.ncols()).map(|j| by_g[(i, j)] * self.g[(i, j)]).sum();
            for j in 0..by_g.ncols() {
                let factor =
                    if normalization == Normalization::Softmax { self.g[(i, j)] } else { self.sums[i].recip() };
                by_g[(i, j)] = (by_g[(i, j)] - mean) * factor;
            }
        }
        by_g
    }
}

/// q ← q∘slope(at).
fn times<T: Scalar>(q: &mut Mat<T>, at: &Mat<T>, slope: &(dyn Fn(T) -> T + Send + Sync)) {
    for (column, at) in q.col_iter_mut().zip(at.col_iter()) {
        column.iter_mut().zip(at.iter()).for_each(|(v, a)| *v *= slope(*a));
    }
}

/// 2·(rowsum(q)·own − q·other) for q·other given.
fn spread<T: Scalar>(q: MatRef<'_, T>, own: MatRef<'_, T>, product: &Mat<T>) -> Mat<T> {
    let mut sums = vec![T::zero(); q.nrows()];
    q.col_iter().for_each(|column| column.iter().zip(&mut sums).for_each(|(v, sum)| *sum += *v));
    let two = T::of(2.0);
    Mat::from_fn(own.nrows(), own.ncols(), |i, k| two * (sums[i] * own[(i, k)] - product[(i, k)]))
}

/// exp of exponents, each row relative to its largest.
fn exponentials<T: Scalar>(exponents: &Mat<T>) -> Mat<T> {
    let mut largest = vec![T::neg_infinity(); exponents.nrows()];
    exponents.col_iter().for_each(|c| c.iter().zip(&mut largest).for_each(|(v, l)| *l = l.max(*v)));
    let mut out = exponents.clone();
    out.col_iter_mut().for_each(|c| c.iter_mut().zip(&largest).for_each(|(v, l)| *v = num_traits::Float::exp(*v - *l)));
    out
}

/// Rows divided by their sums, and the sums.
fn divided<T: Scalar>(mut rows: Mat<T>) -> (Mat<T>, Vec<T>) {
    let mut sums = vec![T::zero(); rows.nrows()];
    rows.col_iter().for_each(|c| c.iter().zip(&mut sums).for_each(|(v, sum)| *sum += *v));
    rows.col_iter_mut().for_each(|c| c.iter_mut().zip(&sums).for_each(|(v, sum)| *v /= *sum));
    (rows, sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    /// Σ weights∘G, a function of x and z.
    fn value(kernel: &Differentiable<f64>, x: &Mat<f64>, z: &Mat<f64>, weights: &Mat<f64>) -> f64 {
        let g = kernel.rows(x.as_ref(), z.as_ref()).unwrap().g;
        (0..g.ncols()).flat_map(|j| (0..g.nrows()).map(move |i| (i, j))).map(|at| g[at] * weights[at]).sum()
    }

    /// Central differences, entry by entry.
    fn numeric(at: &Mat<f64>, f: impl Fn(&Mat<f64>) -> f64) -> Mat<f64> {
        const STEP: f64 = 1e-5;
        Mat::from_fn(at.nrows(), at.ncols(), |i, k| {
            let moved = |by: f64| {
                let mut m = at.clone();
                m[(i, k)] += by;
                f(&m)
            };
            (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
        })
    }

    #[test]
    fn derivatives_agree_with_differences_for_every_kernel_that_has_one() {
        let poly = KernelSpec::new("poly").with("gamma", 0.4).with("coef0", 0.5).with("degree", 2.0);
        let others = ["rbf", "sne", "t"].map(|name| KernelSpec::new(name).with("gamma", 0.3));
        for spec in others.into_iter().chain([poly, KernelSpec::new("linear")]) {
            let kernel = Differentiable::<f64>::new(&spec).unwrap();
            let (x, z) = (synth::gaussian::<f64>(5, 3, 1), synth::gaussian::<f64>(4, 3, 2));
            let weights = synth::gaussian::<f64>(5, 4, 3);
            let (by_x, by_z) = kernel.rows(x.as_ref(), z.as_ref()).unwrap().backward(weights.clone());
            let (x_twin, z_twin) =
                (numeric(&x, |x| value(&kernel, x, &z, &weights)), numeric(&z, |z| value(&kernel, &x, z, &weights)));
            assert!((by_x - x_twin).norm_max() < 1e-8, "{} by x", spec.name);
            assert!((by_z - z_twin).norm_max() < 1e-8, "{} by z", spec.name);
        }
    }

    #[test]
    fn a_kernel_without_derivative_is_refused_by_name() {
        let spec = KernelSpec::new("laplacian").with("gamma", 1.0);
        let error = Differentiable::<f64>::new(&spec).err().unwrap().to_string();
        assert!(error.starts_with("`kernel` is laplacian but must be linear, poly, rbf, sne or t"), "{error}");
    }
}
