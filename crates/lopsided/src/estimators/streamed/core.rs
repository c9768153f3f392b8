//! The small decomposition where landmarks meet, and its extension to rows that stream by (\[KSVD\] Eq. (8),
//! (9)).

use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg::ThinSvd;
use crate::base::scalar::Scalar;
use crate::base::watch::Watch;
use crate::data::row_stream::RowStream;
use crate::data::samples::{CsrRef, Samples, SamplesRef};
use crate::kernel::{Gamma, Kernel, KernelSpec, Normalization};
use crate::operator::{KernelOperator, Operator, Scaled, materialize, sampled_normalizer};
use crate::solvers::svd::decompose;
use faer::Mat;

/// The coordinates in which a kernel sees the rows of a chunk.
pub(super) type Lens<'a, T> = dyn Fn(CsrRef<'_, T>) -> Samples<T> + 'a;

/// The leading triplets (λ, u, v) of the block where landmark rows and columns meet, and the kernel that made it.
///
/// A column landmark stands for as many columns as its share says, 1/π with the probability π that it is drawn: M/m where all are equally
/// likely. So the triplets are those of G\[rows, cols\]·D, D² the shares, whose product with its own transpose estimates that of
/// G\[rows, :\], and row sums of kernels that are normalised are weighted by the shares: estimates, too.
pub(super) struct Core<T: Scalar> {
    pub(super) spec: KernelSpec,
    pub(super) kernel: Box<dyn Kernel<T>>,
    /// Its triplets on the landmarks.
    pub(super) small: ThinSvd<T>,
    /// How many columns each column landmark stands for.
    shares: Mat<T>,
}

/// What a core is made from besides samples.
pub(super) struct Recipe<'a> {
    pub(super) kernel: &'a KernelSpec,
    pub(super) gamma: Gamma,
    pub(super) gamma_factor: f64,
    pub(super) rank: usize,
    pub(super) tol: f64,
}

impl<T: Scalar> Core<T> {
    /// Decomposes the block of the landmarks x and z.
    pub(super) fn new(
        recipe: &Recipe<'_>,
        x: SamplesRef<'_, T>,
        z: SamplesRef<'_, T>,
        shares: &[f64],
        run: &Run,
    ) -> Result<Self> {
        let most = x.count().min(z.count());
        if recipe.rank == 0 || recipe.rank > most {
            return Err(Error::param("rank", recipe.rank, format!("between 1 and {most}, the landmarks on a side")));
        }
        let mut spec = recipe.kernel.clone();
        if spec.gamma_from_data() && spec.params.get("gamma").is_none() {
            let gamma = recipe.gamma.resolve(spec.meeting(), x, z, recipe.gamma_factor, run.seed)?;
            spec = spec.with("gamma", gamma);
        }
        let kernel = spec.build::<T>()?;
        if kernel.is_precomputed() {
            return Err(Error::param("kernel", &spec.name, "one that compares samples, out of core"));
        }
        let nothing = ThinSvd { u: Mat::zeros(0, 0), sigma: Vec::new(), v: Mat::zeros(0, 0) };
        let shares = Mat::from_fn(shares.len(), 1, |j, _| T::of(shares[j]));
        let mut core = Core { spec, kernel, small: nothing, shares };
        let normalizer = core.normalizer(x, z, &run.watch)?;
        let mut block = materialize(&*core.operator(x, z, normalizer, &run.watch)?)?;
        for (j, column) in block.col_iter_mut().enumerate() {
            column.iter_mut().for_each(|v| *v *= core.root(j));
        }
        core.small = decompose(block, recipe.rank, recipe.tol, run)?;
        Ok(core)
    }

    /// √share of a column landmark.
    fn root(&self, j: usize) -> T {
        num_traits::Float::sqrt(self.shares[(j, 0)])
    }

    /// Row normalisers of x by the column landmarks z, where the kernel has them.
    ///
    /// Sums over the landmarks first, in which nothing overflows, then the share that each entry stands for.
    pub(super) fn normalizer(
        &self,
        x: SamplesRef<'_, T>,
        z: SamplesRef<'_, T>,
        watch: &Watch,
    ) -> Result<Option<Vec<T>>> {
        let kind = self.kernel.normalization();
        if kind == Normalization::None {
            return Ok(None);
        }
        let mut found = sampled_normalizer(&*self.kernel, x, z, 1.0, watch)?;
        let mut sums = Mat::zeros(x.count(), 1);
        self.operator(x, z, Some(found.clone()), watch)?.apply(self.shares.as_ref(), sums.as_mut())?;
        for (found, &sum) in found.iter_mut().zip(sums.col(0).iter()) {
            match kind {
                Normalization::Softmax => *found += num_traits::Float::ln(sum),
                _ => *found /= sum,
            }
        }
        Ok(Some(found))
    }

    /// G between any samples, with the normalisers of the rows.
    ///
    /// Nothing is stored: entries are evaluated in every product.
    pub(super) fn operator<'a>(
        &'a self,
        x: SamplesRef<'a, T>,
        z: SamplesRef<'a, T>,
        normalizer: Option<Vec<T>>,
        watch: &Watch,
    ) -> Result<Box<dyn Operator<T> + Send + 'a>> {
        match (self.kernel.normalization(), normalizer) {
            (Normalization::RowSum, Some(scale)) => {
                let plain = KernelOperator::new(&*self.kernel, x, z, None, watch)?;
                Ok(Box::new(Scaled::new(Box::new(plain), scale)))
            }
            (_, normalizer) => Ok(Box::new(KernelOperator::new(&*self.kernel, x, z, normalizer, watch)?)),
        }
    }

    /// D·v/λ and u/λ: an extension is a product with these.
    pub(super) fn weights(&self) -> (Mat<T>, Mat<T>) {
        let divided = |a: &Mat<T>| Mat::from_fn(a.nrows(), a.ncols(), |i, k| a[(i, k)] / self.small.sigma[k]);
        let v = divided(&self.small.v);
        (Mat::from_fn(v.nrows(), v.ncols(), |j, k| v[(j, k)] * self.root(j)), divided(&self.small.u))
    }

    /// G\[:, cols\]·D·v/λ in one pass, and Gᵀ·(that) at the columns `patch`.
    ///
    /// 1. A chunk of rows becomes samples by the lens.
    /// 2. Their kernel values with the column landmarks, times D·v/λ, are their rows of U.
    /// 3. Their kernel values with the patch, times these rows, add up to GᵀU there, which residuals need later.
    pub(super) fn extend_rows(
        &self,
        a: &RowStream<T>,
        lens: &Lens<'_, T>,
        z: SamplesRef<'_, T>,
        patch: SamplesRef<'_, T>,
        run: &Run,
    ) -> Result<(Mat<T>, Mat<T>)> {
        let weights = self.weights().0;
        let mut u = Mat::zeros(a.nrows(), weights.ncols());
        let mut image = Mat::zeros(patch.count(), weights.ncols());
        let mut part = Mat::zeros(patch.count(), weights.ncols());
        let place = "features of the rows";
        let mut done = 0;
        if let Some(state) = run.state(place)? {
            (u, image, done) = (state.matrix("u")?, state.matrix("image")?, state.field("done")?);
        }
        a.for_each_chunk(place, &run.watch, |start, chunk| {
            if start < done {
                return Ok(());
            }
            let x = lens(chunk);
            let normalizer = self.normalizer(x.as_ref(), z, &run.watch)?;
            let mut here = u.as_mut().subrows_mut(start, chunk.nrows());
            self.operator(x.as_ref(), z, normalizer.clone(), &run.watch)?.apply(weights.as_ref(), here.as_mut())?;
            if patch.count() > 0 {
                let seen = self.operator(x.as_ref(), patch, normalizer, &run.watch)?;
                seen.apply_transpose(here.as_ref(), part.as_mut())?;
                image += &part;
            }
            run.keep_state(place, |state| {
                state.set_matrix("u", u.as_ref());
                state.set_matrix("image", image.as_ref());
                state.set_field("done", start + chunk.nrows());
            })
        })?;
        Ok((u, image))
    }
}
