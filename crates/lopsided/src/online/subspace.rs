//! One side of a factored matrix: a frame and a turn inside it.
//!
//! The frame spans everything that is stored, the turn picks the directions in which the matrix is not 0. Removing a
//! sample under a budget goes like this:
//!
//! 1. The sample whose loss changes W least: its row of coefficients times how far φ(x_i) is from the others (merge),
//!    or times its length (drop).
//! 2. The row of P that belongs to it is orthogonal to all other samples, since P·Pᵀ is the inverse of their kernel
//!    matrix.
//! 3. A reflection turns that row onto the last axis of the frame; the last basis vector is then reached by this sample
//!    alone.
//! 4. Sample and vector are forgotten, and what is left of the directions is made orthonormal again.
//! 5. After as many removals as the budget has samples the frame is made anew, against the rounding of all these turns.

use super::budget::{Budget, BudgetCost, Removal};
use super::frame::{Frame, Look};
use super::matrices::{column, dot, eigen, extend_basis, length, padded, product, row_lengths};
use crate::base::error::Result;
use crate::data::archive::Archive;
use crate::data::samples::SamplesRef;
use crate::kernel::KernelSpec;
use faer::{Mat, MatRef};

/// The frame is made smaller when it has this many more vectors than twice the turn.
const SLACK: usize = 32;

/// Orthonormal directions E·turn: t stored samples, b vectors in the frame E, r directions.
pub(super) struct Subspace {
    frame: Frame,
    turn: Mat<f64>,
    budget: Option<Budget>,
    cost: BudgetCost,
    /// Removals since the frame was made anew.
    worn: usize,
}

impl Subspace {
    pub(super) fn new(kernel: &KernelSpec, normalize: bool, budget: Option<Budget>) -> Result<Self> {
        let frame = Frame::new(kernel, normalize)?;
        Ok(Subspace { frame, turn: Mat::zeros(0, 0), budget, cost: BudgetCost::default(), worn: 0 })
    }

    /// Number r of directions.
    pub(super) fn rank(&self) -> usize {
        self.turn.ncols()
    }

    /// Number t of stored samples.
    pub(super) fn stored(&self) -> usize {
        self.frame.stored()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.frame.bytes() + 8 * self.turn.nrows() * self.turn.ncols()
    }

    /// What the budget cost on this side.
    pub(super) fn cost(&self) -> BudgetCost {
        self.cost
    }

    /// Looks at every sample of an instance.
    pub(super) fn look(&self, samples: SamplesRef<'_, f64>) -> Result<Vec<Look>> {
        (0..samples.count()).map(|at| self.frame.look(samples, at)).collect()
    }

    /// The kernel matrix of an instance's own samples.
    pub(super) fn gram(&self, samples: SamplesRef<'_, f64>, looks: &[Look]) -> Result<Mat<f64>> {
        self.frame.gram(samples, looks)
    }

    /// The largest eigenvalue of Σ w_a·φ(x_a)φ(x_a)ᵀ.
    pub(super) fn largest_eigenvalue(
        &self,
        samples: SamplesRef<'_, f64>,
        looks: &[Look],
        weights: &[f64],
    ) -> Result<f64> {
        let trace: f64 = looks.iter().zip(weights).map(|(look, w)| look.square * w).sum();
        if looks.len() == 1 {
            return Ok(trace);
        }
        let gram = self.frame.gram(samples, looks)?;
        // Of √W·K·√W, which has the same eigenvalues for weights of at least 0.
        let root = |a: usize| weights[a].max(0.0).sqrt();
        let scaled = Mat::from_fn(looks.len(), looks.len(), |a, b| root(a) * gram[(a, b)] * root(b));
        Ok(eigen(scaled.as_ref())?.values[0])
    }

    /// Coordinates in the directions, one column for each sample.
    pub(super) fn coordinates(&self, looks: &[Look]) -> Mat<f64> {
        Mat::from_fn(self.rank(), looks.len(), |i, a| dot(column(&self.turn, i), &looks[a].inside))
    }

    /// Takes samples into the span; returns their coordinates in the directions, of which there may be more now.
    pub(super) fn absorb(&mut self, samples: SamplesRef<'_, f64>, looks: &[Look]) -> Result<Mat<f64>> {
        let before = self.frame.size();
        let mut inside = Vec::with_capacity(looks.len());
        for (at, look) in looks.iter().enumerate() {
            // An earlier sample of the same instance may have widened the frame.
            let fresh = (self.frame.size() > before).then(|| self.frame.look(samples, at)).transpose()?;
            inside.push(self.frame.absorb(samples, at, fresh.as_ref().unwrap_or(look))?);
        }
        let size = self.frame.size();
        let vectors = Mat::from_fn(size, inside.len(), |i, a| inside[a].get(i).copied().unwrap_or(0.0));
        if size > before {
            self.turn = padded(&self.turn, size, self.rank());
        }
        Ok(extend_basis(&mut self.turn, &vectors))
    }

    /// Turns the directions: E·turn ← E·turn·by.
    pub(super) fn rotate(&mut self, by: MatRef<'_, f64>) {
        self.turn = product(self.turn.as_ref(), by);
        // Under a budget every stored sample has its own vector in the frame.
        if self.budget.is_none() && self.frame.size() > 2 * self.rank() + SLACK {
            self.frame.turn(self.turn.as_ref());
            self.turn = Mat::identity(self.rank(), self.rank());
        }
    }

    /// While more samples are stored than allowed, removes one; returns what the core has to be multiplied by, if anything.
    ///
    /// `core` has a row for each direction; the rows of the coefficients times core are those of C up to a turn. `sides` is 2
    /// where the same samples stand on both sides of the core.
    pub(super) fn shrink(&mut self, core: &Mat<f64>, sides: f64) -> Result<Option<Mat<f64>>> {
        let mut change: Option<Mat<f64>> = None;
        while let Some(budget) = self.budget.filter(|budget| self.stored() > budget.size) {
            let current = change.as_ref().map_or_else(|| core.clone(), |c| product(c.as_ref(), core.as_ref()));
            let next = self.remove_least(&current, budget, sides)?;
            change = Some(change.map_or_else(|| next.clone(), |c| product(next.as_ref(), c.as_ref())));
        }
        Ok(change)
    }

    fn remove_least(&mut self, core: &Mat<f64>, budget: Budget, sides: f64) -> Result<Mat<f64>> {
        let (at, error) = self.least_influence(core, budget.removal);
        self.cost.removed = self.cost.removed.saturating_add(1);
        self.cost.error += sides * error;
        let change = self.remove(at, budget.removal);
        self.worn = self.worn.saturating_add(1);
        if self.worn >= budget.size {
            self.worn = 0;
            if let Some(turn) = self.frame.refreshed()? {
                self.turn = product(turn.as_ref(), self.turn.as_ref());
            }
        }
        Ok(change)
    }

    /// The sample whose removal changes W least, and by how much.
    fn least_influence(&self, core: &Mat<f64>, removal: Removal) -> (usize, f64) {
        let P = self.frame.coefficients();
        let rows = product(product(P, self.turn.as_ref()).as_ref(), core.as_ref());
        let sizes = row_lengths(rows.as_ref());
        let levers: Vec<f64> = match removal {
            Removal::Merge => row_lengths(P).into_iter().map(|length| 1.0 / length).collect(),
            Removal::Drop => self.frame.lengths().to_vec(),
        };
        let (mut best, mut least) = (0, f64::INFINITY);
        for (i, (size, lever)) in sizes.iter().zip(&levers).enumerate() {
            if size * lever < least {
                (best, least) = (i, size * lever);
            }
        }
        (best, least)
    }

    /// Removes a sample; the directions become others, and the old ones are new ones times the returned matrix.
    fn remove(&mut self, at: usize, removal: Removal) -> Mat<f64> {
        // Orthogonal to all other samples, because PPᵀ is the inverse of their kernel matrix.
        let row: Vec<f64> = self.frame.coefficients().row(at).iter().copied().collect();
        let size = length(&row);
        let away: Vec<f64> = match removal {
            Removal::Merge => row.iter().map(|v| v / (size * size)).collect(),
            Removal::Drop => self.frame.coordinates(at),
        };
        let parts: Vec<f64> = (0..self.rank()).map(|j| dot(&row, column(&self.turn, j))).collect();
        let kept = Mat::from_fn(row.len(), self.rank(), |i, j| self.turn[(i, j)] - away[i] * parts[j]);
        let v = reflection_onto_last(&row);
        let kept = reflected(&kept, &v);
        let lowered = kept.as_ref().subrows(0, row.len() - 1).to_owned();
        self.frame.reflect(&v);
        self.frame.forget(at);
        if self.rank() < row.len() {
            self.turn = Mat::zeros(lowered.nrows(), 0);
            return extend_basis(&mut self.turn, &lowered);
        }
        self.turn = Mat::identity(lowered.nrows(), lowered.nrows());
        lowered
    }

    /// Writes the side under a name.
    pub(super) fn save(&self, archive: &mut Archive, name: &str) {
        self.frame.save(archive, name);
        archive.set_matrix(&format!("{name}.turn"), self.turn.as_ref());
        archive.set_field(&format!("{name}.budget"), (self.cost, self.worn));
    }

    /// Reads what [`Subspace::save`] wrote.
    pub(super) fn restore(&mut self, archive: &Archive, name: &str) -> Result<()> {
        self.frame.restore(archive, name)?;
        self.turn = archive.matrix(&format!("{name}.turn"))?;
        (self.cost, self.worn) = archive.field(&format!("{name}.budget"))?;
        if self.turn.nrows() != self.frame.size() {
            return Err(archive.error(format!("the arrays of `{name}` do not fit together")));
        }
        Ok(())
    }
}

/// The unit vector v for which I − 2vvᵀ takes a direction to the last axis.
fn reflection_onto_last(direction: &[f64]) -> Vec<f64> {
    let size = length(direction);
    let mut v: Vec<f64> = direction.iter().map(|d| d / size).collect();
    let last = v.len() - 1;
    // The sign that does not cancel.
    v[last] += if v[last] < 0.0 { -1.0 } else { 1.0 };
    let size = length(&v);
    v.iter_mut().for_each(|x| *x /= size);
    v
}

/// (I − 2vvᵀ)·a.
fn reflected(a: &Mat<f64>, v: &[f64]) -> Mat<f64> {
    let parts: Vec<f64> = (0..a.ncols()).map(|j| 2.0 * dot(v, column(a, j))).collect();
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] - v[i] * parts[j])
}
