//! The route that serves every penalty: K_c seen only on what the targets reach.
//!
//! 1. U and V start with an orthonormal basis of the centred targets.
//! 2. K_c·(last block of V) extends U, K_cᵀ·(last block of U) extends V; the coefficients are new columns and rows of
//!    H.
//! 3. When the bases have grown by 30 %, H is decomposed, the small system is solved for the penalty, and the part that
//!    the last blocks send outside is its residual.
//! 4. A residual of 1e-12 ends it. As long as the small system is singular, or the residual larger, the spaces grow;
//!    without room for another block the caller takes another route.
//!
//! H and its decomposition do not depend on the penalty: the next penalty begins at step 3.

use super::{Found, Problem, SINGULAR, Spectral};
use crate::base::error::Result;
use crate::base::linalg;
use crate::base::watch::Progress;
use crate::solvers::svd::orthogonalize;
use faer::{Mat, MatRef};

/// The residual that ends the iteration, relative to the targets.
const TOL: f64 = 1e-12;
/// Bytes that both bases may take.
const ROOM: usize = 1 << 30;
/// The bases are looked at when they have grown by so much.
const GROWTH: f64 = 1.3;

/// K_c on the two spaces that the targets span under it.
///
/// U and V start with an orthonormal basis of y_c; K_c·V_j adds a block to U, K_cᵀ·U_j one to V. With H = Uᵀ·K_c·V, a = U·p and
/// b = V·q the system becomes the small one of H, whatever the penalty, and its residual is what the last blocks send out of the
/// spaces: next_u·q_last and next_v·p_last. Few blocks suffice where the singular values of K_c above 1/penalty are few. For a
/// symmetric K both spaces are one.
pub(super) struct Krylov {
    left: Basis,
    /// None for a symmetric K, where it is the left one.
    right: Option<Basis>,
    /// H, complete for all blocks.
    h: Mat<f64>,
    /// Coordinates of y_c in the first block.
    start: Mat<f64>,
    /// Decomposition of H when it had this shape.
    small: Spectral,
    looked: (usize, usize),
    /// Largest number of columns.
    capacity: usize,
    steps: u64,
    scale: f64,
}

/// An orthonormal basis and what its last block has outside.
struct Basis {
    q: Mat<f64>,
    last: usize,
    /// The next block, and image of the other basis' last block = q·(…) + next·coupling.
    next: Mat<f64>,
    coupling: Mat<f64>,
}

impl Basis {
    fn new(block: &Mat<f64>, capacity: usize) -> Self {
        let mut q = Mat::with_capacity(block.nrows(), capacity);
        q.resize_with(block.nrows(), block.ncols(), |i, j| block[(i, j)]);
        Basis { q, last: block.ncols(), next: Mat::zeros(block.nrows(), 0), coupling: Mat::zeros(0, 0) }
    }

    fn last_block(&self) -> MatRef<'_, f64> {
        self.q.as_ref().subcols(self.q.ncols() - self.last, self.last)
    }

    fn grow(&mut self) {
        let (rows, before) = self.q.shape();
        self.last = self.next.ncols();
        self.q.resize_with(rows, before + self.last, |i, j| self.next[(i, j - before)]);
    }

    /// Takes the image of the other basis' last block in as the next block; its coefficients in this basis.
    fn take_image(&mut self, image: Mat<f64>, drop: f64) -> Result<Mat<f64>> {
        let inside;
        (self.next, inside, self.coupling) = orthogonalize(self.q.as_ref(), image, drop)?;
        Ok(inside)
    }

    /// Squared length of each column of what coefficients of the other basis send out of this one.
    fn outside(&self, coefficients: &Mat<f64>) -> Vec<f64> {
        let last = self.coupling.ncols();
        let tail = coefficients.subrows(coefficients.nrows() - last, last);
        linalg::column_norms((&self.coupling * tail).as_ref()).into_iter().map(|norm| norm * norm).collect()
    }
}

impl Krylov {
    /// The first block; the bases may grow to `capacity` columns.
    pub(super) fn new(y: &Mat<f64>, capacity: usize, symmetric: bool) -> Result<Self> {
        let lengths = linalg::column_norms(y.as_ref()).into_iter().fold(0.0, f64::max);
        let (block, _, start) =
            orthogonalize(Mat::zeros(y.nrows(), 0).as_ref(), y.clone(), 16.0 * f64::EPSILON * lengths)?;
        let capacity = capacity.min(ROOM / (16 * y.nrows().max(1)));
        let (left, right) = (Basis::new(&block, capacity), (!symmetric).then(|| Basis::new(&block, capacity)));
        let (h, small) = (Mat::zeros(0, 0), Spectral::small(Mat::zeros(0, 0).as_ref(), false)?);
        Ok(Krylov { left, right, h, start, small, looked: (0, 0), capacity, steps: 0, scale: 0.0 })
    }

    /// The solution for one penalty; `None` if the bases may not grow as much as it takes.
    pub(super) fn solve(&mut self, problem: &Problem<'_>) -> Result<Option<Found>> {
        if self.steps == 0 {
            self.expand(problem)?;
        }
        loop {
            if let Some(solved) = self.look(problem)? {
                return Ok(Some(solved));
            }
            let enough = self.columns() as f64 * GROWTH;
            loop {
                if self.columns() + self.pending() > self.capacity {
                    return Ok(None);
                }
                self.expand(problem)?;
                if self.pending() == 0 || self.columns() as f64 >= enough {
                    break;
                }
            }
        }
    }

    fn right(&self) -> &Basis {
        self.right.as_ref().unwrap_or(&self.left)
    }

    fn columns(&self) -> usize {
        self.left.q.ncols().max(self.right().q.ncols())
    }

    fn pending(&self) -> usize {
        self.left.next.ncols().max(self.right().next.ncols())
    }

    /// Takes the next blocks in and multiplies them.
    ///
    /// Step 2. H grows by the images of the last blocks on both sides, so that every entry of Uᵀ·K_c·V is known.
    fn expand(&mut self, problem: &Problem<'_>) -> Result<()> {
        problem.run.watch.check()?;
        if self.steps > 0 {
            self.left.grow();
            self.right.iter_mut().for_each(Basis::grow);
        }
        let (last_row, last_col) = (self.left.last, self.right().last);
        let (mut up, mut down) = (Mat::zeros(problem.n(), last_col), Mat::zeros(problem.n(), last_row));
        if self.right.is_some() && last_row > 0 && last_col > 0 {
            (up, down) = problem.k.apply_both(self.right().last_block(), self.left.last_block())?;
        } else if last_col > 0 {
            problem.k.apply(self.right().last_block(), up.as_mut())?;
        } else if self.right.is_some() && last_row > 0 {
            problem.k.apply_transpose(self.left.last_block(), down.as_mut())?;
        }
        let longest = |m: &Mat<f64>| linalg::column_norms(m.as_ref()).into_iter().fold(0.0, f64::max);
        self.scale = self.scale.max(longest(&up)).max(longest(&down));
        let drop = 4.0 * f64::EPSILON * (2.0 * problem.n() as f64).sqrt() * self.scale;
        let (rows, cols) = (self.left.q.ncols(), self.right().q.ncols());
        let columns = self.left.take_image(up, drop)?;
        let lines = self.right.as_mut().map(|right| right.take_image(down, drop)).transpose()?;
        self.h.resize_with(rows, cols, |_, _| 0.0);
        self.h.as_mut().subcols_mut(cols - last_col, last_col).copy_from(&columns);
        let lines = lines.as_ref().unwrap_or(&columns);
        self.h.as_mut().subrows_mut(rows - last_row, last_row).copy_from(lines.transpose());
        self.steps += 1;
        Ok(())
    }

    /// The solution in the present spaces if it has converged.
    ///
    /// Step 3: H is decomposed anew only if it has grown since the last look.
    fn look(&mut self, problem: &Problem<'_>) -> Result<Option<Found>> {
        if self.looked != self.h.shape() {
            self.small = Spectral::small(self.h.as_ref(), self.right.is_none())?;
            self.looked = self.h.shape();
        }
        let exhausted = self.pending() == 0;
        if !exhausted && self.small.condition(problem.g) > SINGULAR {
            return Ok(None);
        }
        let targets = |basis: &Basis| {
            let (known, cols) = self.start.shape();
            Mat::from_fn(basis.q.ncols(), cols, |i, c| if i < known { self.start[(i, c)] } else { 0.0 })
        };
        let (s, t) = (targets(&self.left), targets(self.right()));
        let Found { a, b, mut account } = self.small.solved_for(problem, (s.as_ref(), t.as_ref()))?;
        let outside = self.left.outside(&b).into_iter().zip(self.right().outside(&a));
        let lengths = linalg::column_norms(self.start.as_ref());
        let relative =
            outside.zip(lengths).map(|((up, down), length)| (0.5 * (up + down)).sqrt() / length.max(f64::MIN_POSITIVE));
        let residual = relative.fold(0.0, f64::max);
        let progress = Progress { stage: "Krylov spaces", done: self.steps, total: 0, residual: Some(residual) };
        problem.run.watch.report(progress)?;
        if residual > TOL && !exhausted {
            return Ok(None);
        }
        account.route = "krylov";
        account.iterations = self.steps;
        let (a, b) = (linalg::mul(self.left.q.as_ref(), a.as_ref()), linalg::mul(self.right().q.as_ref(), b.as_ref()));
        Ok(Some(Found { a, b, account }))
    }
}
