//! The solver for everything that is not small.
//!
//! How the loop goes:
//!
//! 1. Expand. Nothing is looked at before the bases have as many columns as triplets are wanted, and between two looks
//!    B grows by a quarter, since decomposing it costs as much as a step.
//! 2. Look: Ritz values and their residuals. Converged, and no value can hide copies: done.
//! 3. Converged, but as many values as there are random vectors coincide: put fresh random vectors in and go on until
//!    the values have stayed the same for half as many products as it took to find them.
//! 4. The bases are full: restart with the leading Ritz vectors, and let the bases become half as long again. Where the
//!    iteration stalls, widen the block.
//! 5. No restarts left: the answer is what it is, and the gate measures it.

use super::krylov::{Krylov, Ritz};
use super::{Run, SolverPlan, Svd, SvdSolver, check_rank, iterating, tolerance};
use crate::base::error::Result;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::base::settings::Settings;
use crate::data::archive::Archive;
use crate::operator::{Access, Operator};

/// Block Golub–Kahan–Lanczos with thick restart and full re-orthogonalisation (\[BR06\] of the references).
///
/// Where entries are evaluated in every product, a block of vectors costs little more than one: the block is a little wider
/// than the rank, and at most 64. Narrow blocks need fewer products: where a product costs the same for every vector (sparse
/// and factored matrices) the block has 4 vectors, more at ranks above 64, and 8 where entries are read from memory. The bases start small and grow
/// with every restart. For the crowds of nearly equal values that graph kernels have the block becomes wide after three
/// restarts, with entries in memory already at the first one if it finds the residual above √tol.
///
/// A singular value of multiplicity p shows in a block Krylov space at most `block` times, so a block narrower than the rank
/// may miss copies. Where `block` of the values found lie together, the result is therefore confirmed by going on from fresh
/// random vectors, half as long as it took to get there, until nothing changes.
///
/// # Cost
/// Per step one product of G and one of Gᵀ with a block, and O((n + m)·basis·block) for orthogonality. Memory
/// O((n + m)·basis), with a basis of at most 12·(rank + 4) vectors, less for matrices of millions of rows.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::svd::{Lanczos, Svd, SvdSolver};
/// use lopsided::{Mat, Run};
///
/// // A permutation: all 30 singular values are 1, the hardest crowd there is.
/// let ring = DenseOperator::Owned(Mat::from_fn(30, 30, |i, j| if (i + 1) % 30 == j { 1.0 } else { 0.0 }));
/// let lanczos = Lanczos { tol: 1e-10, block: 0, restarts: 100 };
/// let svd: Svd<f64> = lanczos.solve(&ring, 3, &Run::default())?;
/// assert!(svd.report.converged() && svd.sigma.iter().all(|s| (s - 1.0).abs() < 1e-10));
/// assert!(svd.report.notes.iter().any(|note| note.contains("one choice of many")));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Lanczos {
    /// Largest residual relative to a triplet's own σ.
    pub tol: f64,
    /// Vectors in a block; 0: chosen from the rank.
    pub block: usize,
    /// Largest number of restarts.
    pub restarts: u64,
}

impl Lanczos {
    /// The solver with a tolerance and everything else by default.
    pub fn new<T: Scalar>(params: &Settings) -> Result<Self> {
        let block = params.value("block").map_or(Ok(0), |_| params.count("block", 1))?;
        Ok(Lanczos {
            tol: tolerance::<T>(params)?,
            block: block as usize,
            restarts: params.count("restarts", 300)?.into(),
        })
    }

    /// Vectors in a block, by what a product costs.
    fn block(&self, most: usize, rank: usize, access: Access) -> usize {
        let automatic = match access {
            Access::Products => NARROW.max(rank / LONG).min(wide(rank)),
            Access::Stored => FREE.min(wide(rank)),
            Access::Entries | Access::Blocks => wide(rank),
        };
        if self.block > 0 { self.block } else { automatic }.min(most)
    }

    /// Vectors in a block after a restart: the wide block needs more products, which are quicker each.
    fn widened(&self, block: usize, rank: usize, capacity: usize, crowded: bool) -> usize {
        let wide = wide(rank);
        if crowded && self.block == 0 && rank + 3 * wide <= capacity { wide.max(block) } else { block }
    }

    /// Columns the bases may have.
    ///
    /// Twelve wide blocks, or three ranks and four blocks if that is more; within a gigabyte, but a rank and three
    /// blocks at least, and never more than m.
    fn capacity(n: usize, m: usize, rank: usize, block: usize, bytes: usize) -> usize {
        const COMFORTABLE: usize = 1 << 30;
        let fitting = COMFORTABLE / ((n + m) * bytes);
        let wanted = (12 * wide(rank).max(block)).max(3 * rank + 4 * block);
        wanted.min(fitting).max(rank + 3 * block).min(m)
    }
}

/// Restarts after which a narrow block is taken to meet a crowd.
const CROWDED: u64 = 3;

/// Vectors in a block for products that cost the same for every vector.
const NARROW: usize = 4;

/// Such blocks are as wide as this part of the rank: long bases are read from memory once for each block.
const LONG: usize = 16;

/// Vectors that can be multiplied while entries come from memory.
const FREE: usize = 8;

/// Vectors in a block that needs no confirmation.
fn wide(rank: usize) -> usize {
    (rank + (rank / 8).max(4)).min(64)
}

impl<T: Scalar> SvdSolver<T> for Lanczos {
    fn solve(&self, g: &dyn Operator<T>, rank: usize, run: &Run) -> Result<Svd<T>> {
        check_rank(g.nrows(), g.ncols(), rank)?;
        let access = g.access();
        let mut block = self.block(g.nrows().min(g.ncols()), rank, access);
        let capacity = Self::capacity(g.nrows(), g.ncols(), rank, block, T::BYTES);
        // Short bases are cheap to keep orthogonal; they grow when they do not suffice.
        let mut limit = (3 * rank + 6 * block).min(capacity);
        let mut krylov = Krylov::new(g, run, block, capacity)?;
        krylov.report.solver = "lanczos".into();
        let mut confirmation = Confirmation { starts: block, ..Confirmation::default() };
        // Fewer values than were asked for cannot be all of them.
        let mut next_look = rank;
        krylov.expand()?;
        let place = run.checkpoint.is_on().then(|| krylov.place("lanczos", &(self, rank)));
        if let Some(state) = place.as_ref().map_or(Ok(None), |place| run.state(place))? {
            krylov.restore(&state)?;
            (block, limit, next_look) = state.field("place")?;
            confirmation = Confirmation::of(&state)?;
        }
        let ritz = loop {
            let (exhausted, full) = (krylov.pending() == 0, !krylov.has_room(limit));
            // Decomposing B costs as much as a step once it is large: look when it has grown by a quarter.
            if !exhausted && !full && krylov.columns() < next_look {
                krylov.expand()?;
                continue;
            }
            let ritz = krylov.ritz()?;
            krylov.progress(&ritz, rank)?;
            if exhausted || ritz.converged(rank, self.tol) {
                if confirmation.holds(&ritz, rank, self.tol, krylov.report.products) {
                    break ritz;
                }
                if exhausted || confirmation.is_new() {
                    krylov.add_random(block)?;
                    confirmation.starts += block;
                }
                if krylov.pending() == 0 {
                    break ritz;
                }
            }
            if !krylov.has_room(limit) {
                if krylov.report.restarts == self.restarts {
                    krylov.report.notes.push(format!("stopped after {} restarts", self.restarts));
                    break ritz;
                }
                let stalls = access == Access::Stored && ritz.residual(rank) > self.tol.sqrt();
                let wide = self.widened(block, rank, capacity, stalls || krylov.report.restarts == CROWDED);
                krylov.restart(&ritz, kept(rank, wide, limit));
                krylov.add_random(wide - block)?;
                confirmation.starts += wide - block;
                block = wide;
                limit = (limit + limit / 2).min(capacity);
            }
            next_look = krylov.columns() + block.max(krylov.columns() / 4);
            krylov.expand()?;
            if let Some(place) = &place {
                run.keep_state(place, |state| {
                    krylov.put(state);
                    state.set_field("place", (block, limit, next_look));
                    confirmation.put(state);
                })?;
            }
        };
        krylov.finished(&ritz, rank, self.tol)
    }

    fn plan(&self, n: usize, m: usize, rank: usize) -> SolverPlan {
        let block = self.block(n.min(m), rank, Access::Entries);
        let basis = Self::capacity(n, m, rank, block, T::BYTES);
        // What graphs take; the bases are half full on average, or grow until the end.
        let products = (400.0 + 12.0 * rank as f64).min(2.0 * (n.min(m) + rank) as f64);
        let columns = (products / 4.0).min(basis as f64 / 2.0);
        SolverPlan {
            solver: "lanczos",
            why: String::new(),
            bytes: ((n + m) * (basis + 7 * block + 3 * rank) * T::BYTES) as u64,
            products: products as u64,
            flops: 4.0 * products * (n + m) as f64 * columns,
        }
    }
}

/// Ritz vectors that survive a restart of bases of `limit` columns.
///
/// The wanted ones, and a quarter of the rest at least: the vectors next to the wanted ones are what convergence
/// depends on.
fn kept(rank: usize, block: usize, limit: usize) -> usize {
    (rank + block.max((limit - rank) / 4)).min(limit - 2 * block.min(limit / 3))
}

/// Whether a value may have more copies than the random vectors that were put in could show.
///
/// Copies beyond the rank do no harm, so only crowds that end before it count.
fn may_hide_copies(sigma: &[f64], starts: usize, rank: usize, near: f64) -> bool {
    let crowd = |first: usize| sigma[first] - sigma[first + starts - 1] <= near * sigma[first];
    sigma.len() < rank || (0..rank.saturating_sub(starts)).any(crowd)
}

/// Whether going on from fresh random vectors leaves the values as they were.
#[derive(Default)]
struct Confirmation {
    /// Random vectors put in so far.
    starts: usize,
    values: Vec<f64>,
    /// Products when these values were first seen, and how many more are needed to trust them.
    since: u64,
    patience: u64,
    looks: u32,
}

impl Confirmation {
    /// True when no value can hide copies, or when the values have stood still for long enough.
    fn holds<T: Scalar>(&mut self, ritz: &Ritz<T>, rank: usize, tol: f64, products: u64) -> bool {
        let now: Vec<f64> = ritz.sigma().iter().take(rank).map(|s| s.as_f64()).collect();
        if !may_hide_copies(&now, self.starts, rank, tol.sqrt()) {
            return true;
        }
        let rounding = 8.0 * T::eps() * now.first().copied().unwrap_or(0.0);
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= (tol * a).max(rounding);
        let same = now.len() == self.values.len() && now.iter().zip(&self.values).all(close);
        if same && self.looks > 0 {
            self.looks += 1;
            return products >= self.since + self.patience;
        }
        let patience = if self.looks == 0 { products / 2 } else { self.patience };
        *self = Confirmation { starts: self.starts, values: now, since: products, patience, looks: 1 };
        false
    }

    /// Part of a state.
    fn put(&self, state: &mut Archive) {
        state.set_vector("seen", &self.values);
        state.set_field("confirmation", (self.starts, self.since, self.patience, self.looks));
    }

    /// That part of a state.
    fn of(state: &Archive) -> Result<Self> {
        let (starts, since, patience, looks) = state.field("confirmation")?;
        Ok(Confirmation { starts, values: state.vector("seen")?, since, patience, looks })
    }

    /// True when the values were seen for the first time.
    fn is_new(&self) -> bool {
        self.looks == 1
    }
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn SvdSolver<T>> {
    let about = "block Golub-Kahan-Lanczos with thick restart, until the residuals reach the tolerance";
    iterating("lanczos", about, |params| Ok(Box::new(Lanczos::new::<T>(params)?)))
}
