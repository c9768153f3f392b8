//! W = (E·U)·S·(F·V)ᵀ: a matrix between two feature spaces, by samples of both.
//!
//! E and F are orthonormal bases of all that was stored, U and V turns to the directions that matter, S the small core.
//! Adding an outer product appends at most one direction to each side; a decomposition of S gives the singular values
//! of W, and dropping the ones that are 0 keeps r small.

use super::frame::Look;
use super::instance::Instance;
use super::matrices::{diagonal, padded, product, svd};
use super::spec::LearnerSpec;
use super::subspace::Subspace;
use crate::base::error::{Error, Result};
use crate::data::archive::Archive;
use faer::Mat;

/// Singular values below this share of the largest are dropped.
const NOTHING: f64 = 1e-14;

/// A factored matrix; S is dense until [`Factored::decompose`] makes it diagonal.
pub(super) struct Factored {
    pub(super) left: Subspace,
    pub(super) right: Subspace,
    pub(super) core: Mat<f64>,
}

/// Both sides of an instance, looked at.
pub(super) struct Looks {
    left: Vec<Look>,
    right: Vec<Look>,
}

impl Looks {
    /// ‖M‖ at most: Σ|w_a|·‖φ(x_a)‖·‖ψ(z_a)‖.
    pub(super) fn norm(&self, weights: &[f64]) -> f64 {
        let lengths = self.left.iter().zip(&self.right).map(|(x, z)| (x.square * z.square).max(0.0).sqrt());
        lengths.zip(weights).map(|(length, w)| length * w.abs()).sum()
    }
}

impl Factored {
    pub(super) fn new(spec: &LearnerSpec) -> Result<Self> {
        let right = spec.right.as_ref().unwrap_or(&spec.left);
        Ok(Factored {
            left: Subspace::new(&spec.left, spec.normalize, spec.budget)?,
            right: Subspace::new(right, spec.normalize, spec.budget)?,
            core: Mat::zeros(0, 0),
        })
    }

    pub(super) fn look(&self, instance: &Instance) -> Result<Looks> {
        instance.check_finite()?;
        Ok(Looks { left: self.left.look(instance.left())?, right: self.right.look(instance.right())? })
    }

    /// tr(WᵀM), with `core` in the place of S.
    pub(super) fn product(&self, core: &Mat<f64>, looks: &Looks, weights: &[f64]) -> f64 {
        let (x, z) = (self.left.coordinates(&looks.left), self.right.coordinates(&looks.right));
        let turned = product(core.as_ref(), z.as_ref());
        weights.iter().enumerate().map(|(a, w)| w * (x.col(a).transpose() * turned.col(a))).sum()
    }

    /// W ← W + Σ_a w_a·φ(x_a)ψ(z_a)ᵀ.
    pub(super) fn add(&mut self, instance: &Instance, looks: &Looks, weights: &[f64]) -> Result<()> {
        let x = self.left.absorb(instance.left(), &looks.left)?;
        let mut z = self.right.absorb(instance.right(), &looks.right)?;
        for (a, w) in weights.iter().enumerate() {
            z.col_mut(a).iter_mut().for_each(|v| *v *= w);
        }
        self.core = padded(&self.core, x.nrows(), z.nrows());
        self.core += product(x.as_ref(), z.transpose());
        Ok(())
    }

    /// Makes S diagonal with `change` applied to the singular values, those that are 0 left out.
    pub(super) fn decompose(&mut self, change: impl Fn(&mut [f64])) -> Result<()> {
        let svd = svd(self.core.as_ref())?;
        let mut sigma = svd.sigma;
        let least = NOTHING * sigma.first().copied().unwrap_or(0.0);
        change(&mut sigma);
        let kept = sigma.iter().take_while(|s| **s > least).count();
        self.left.rotate(svd.u.as_ref().subcols(0, kept));
        self.right.rotate(svd.v.as_ref().subcols(0, kept));
        self.core = diagonal(&sigma[..kept]);
        Ok(())
    }

    /// Keeps to the budget; true if something was removed, after which S is not diagonal.
    pub(super) fn shrink(&mut self) -> Result<bool> {
        let left = self.left.shrink(&self.core, 1.0)?;
        if let Some(change) = &left {
            self.core = product(change.as_ref(), self.core.as_ref());
        }
        let right = self.right.shrink(&self.core.transpose().to_owned(), 1.0)?;
        if let Some(change) = &right {
            self.core = product(self.core.as_ref(), change.transpose());
        }
        Ok(left.is_some() || right.is_some())
    }

    pub(super) fn save(&self, archive: &mut Archive) {
        self.left.save(archive, "left");
        self.right.save(archive, "right");
        archive.set_matrix("core", self.core.as_ref());
    }

    pub(super) fn restore(&mut self, archive: &Archive) -> Result<()> {
        self.left.restore(archive, "left")?;
        self.right.restore(archive, "right")?;
        self.core = archive.matrix("core")?;
        if self.core.shape() != (self.left.rank(), self.right.rank()) {
            return Err(archive.error("the arrays do not fit together"));
        }
        Ok(())
    }
}

/// W = (E·U)·S·(E·U)ᵀ with symmetric S: a matrix on one feature space.
pub(super) struct SymmetricFactored {
    pub(super) space: Subspace,
    pub(super) core: Mat<f64>,
}

impl SymmetricFactored {
    pub(super) fn new(spec: &LearnerSpec) -> Result<Self> {
        if spec.right.is_some() {
            let allowed = format!("left out for `{}`, whose instances are symmetric", spec.name);
            return Err(Error::param("right kernel", "given", allowed));
        }
        Ok(SymmetricFactored { space: Subspace::new(&spec.left, spec.normalize, spec.budget)?, core: Mat::zeros(0, 0) })
    }

    pub(super) fn look(&self, instance: &Instance) -> Result<Vec<Look>> {
        if !instance.is_symmetric() {
            return Err(Error::shape("instance", "symmetric, without a right side", "a pair"));
        }
        instance.check_finite()?;
        self.space.look(instance.left())
    }

    /// W ← W + Σ_a w_a·φ(x_a)φ(x_a)ᵀ.
    pub(super) fn add(&mut self, instance: &Instance, looks: &[Look], weights: &[f64]) -> Result<()> {
        let x = self.space.absorb(instance.left(), looks)?;
        let scaled = Mat::from_fn(x.nrows(), x.ncols(), |i, a| x[(i, a)] * weights[a]);
        self.core = padded(&self.core, x.nrows(), x.nrows());
        self.core += product(scaled.as_ref(), x.transpose());
        Ok(())
    }

    /// Keeps to the budget; true if something was removed.
    pub(super) fn shrink(&mut self) -> Result<bool> {
        let Some(change) = self.space.shrink(&self.core, 2.0)? else { return Ok(false) };
        self.core = product(product(change.as_ref(), self.core.as_ref()).as_ref(), change.transpose());
        Ok(true)
    }

    pub(super) fn save(&self, archive: &mut Archive) {
        self.space.save(archive, "left");
        archive.set_matrix("core", self.core.as_ref());
    }

    pub(super) fn restore(&mut self, archive: &Archive) -> Result<()> {
        self.space.restore(archive, "left")?;
        self.core = archive.matrix("core")?;
        if self.core.shape() != (self.space.rank(), self.space.rank()) {
            return Err(archive.error("the arrays do not fit together"));
        }
        Ok(())
    }
}
