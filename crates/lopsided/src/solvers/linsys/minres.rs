//! The route by products, for more samples than can be factored.
//!
//! M is indefinite, so conjugate gradients do not apply; MINRES does, and takes one product with K and one with Kᵀ a
//! step. What makes it quick is the preconditioner |M|⁻¹ with K_c replaced by few triplets: 1/|g ± σ| on their vectors
//! and 1/g elsewhere.

use super::gate::{Account, Equations};
use super::problem::{Landmarks, shown_condition};
use super::{Found, Problem, SINGULAR, Spectral, add_scaled, dots, lsmr, scale};
use crate::base::checkpoint::Fingerprint;
use crate::base::error::Result;
use crate::base::linalg::column_norms;
use crate::base::watch::Progress;
use crate::data::archive::Archive;
use crate::data::state::put_matrix;
use crate::operator::Access;
use faer::Mat;

/// Most iterations where every one takes all entries of K, and for each sample where products are cheap.
const MOST: u64 = 5000;
const MOST_EACH: u64 = 4;
/// Iterations between two looks at whether M is singular, each of three products, where the iteration hints at it.
const LOOK: u64 = 50;
/// Singular triplets in the preconditioner where products are cheap, and where a product with many vectors costs hardly more
/// than with one.
const TRIPLETS: [usize; 2] = [40, 128];
/// The triplets that follow where iterations of entries go on for long, and vectors times products that finding them takes: an
/// iteration multiplies two vectors for each target, and evaluates or reads all entries, which counts as so many more.
const MORE_TRIPLETS: usize = 1024;
const PRODUCTS: u64 = 6;
const READING: u64 = 16;
/// Landmarks of the preconditioner of a symmetric K: so many samples for each up to the first number, then so many more for
/// each up to the second.
const LANDMARKS: [usize; 2] = [1000, 2500];
const SAMPLES_EACH: [usize; 2] = [8, 20];
/// Eigenvalues below this share of g do not matter to a preconditioner.
const NEGLIGIBLE: f64 = 0.1;
/// The share of [`SINGULAR`] from which an account with rounding errors is a hint.
const HINT: f64 = 1e-3;
/// What an iteration leaves of the residual it is to leave, as that is measured in another norm.
const SAFETY: f64 = 0.1;

/// The most iterations that a problem may take.
pub(super) fn most(problem: &Problem<'_>) -> u64 {
    if is_cheap(problem) { MOST.max(MOST_EACH * problem.n() as u64) } else { MOST }
}

/// Iterations that cost less than factors of the matrix: those of a symmetric K cost less, and so do its iterations.
pub(super) fn cheaper_than_factors(problem: &Problem<'_>) -> u64 {
    let each = match (is_cheap(problem), problem.system.symmetric) {
        (true, _) => 2,
        (false, false) => 50,
        (false, true) => 150,
    };
    problem.n() as u64 / each
}

fn is_cheap(problem: &Problem<'_>) -> bool {
    problem.k.access() == Access::Products
}

/// MINRES (\[PS75\] of the references) for all targets at once, preconditioned by |M| with K_c replaced by leading triplets: M is
/// indefinite, |M| is not, and where the triplets are exact all eigenvalues of the product are ±1.
///
/// 1. A random vector rides along as one more target: its solution shows how large M⁻¹ is, also where no target touches.
/// 2. MINRES solves for what is missing, as measured; its own account of the residual is another norm's, and drifts.
/// 3. The preconditioned residuals and the solutions tend to vectors that M takes to 0 where there are any, the solutions while
///    they grow without end. Their images are known from those of the directions, without products but with rounding errors.
///    Where they hint at it, ‖M·z‖/‖z‖, an upper bound of the least |eigenvalue|, is measured, every 50 iterations and more
///    often at first. Only such a bound makes the system singular.
/// 4. Where iterations have cost as much as many more triplets would, these are found, and it goes on with them.
/// 5. Where no more iterations are allowed the answer is what it is: the gate measures it.
pub(super) fn solve(problem: &Problem<'_>, most: u64) -> Result<Found> {
    let (mut spectral, mut pause) = preconditioner(problem)?;
    let norm = spectral.extremes(problem.g).0;
    let rhs = problem.with_probe();
    let place = problem.run.checkpoint.is_on().then(|| place(problem, &rhs)).transpose()?;
    let mut kept = place.as_ref().map_or(Ok(None), |place| problem.run.state(place))?;
    let mut x = Mat::zeros(rhs.nrows(), rhs.ncols());
    let (mut steps, mut before, mut widened) = (0, f64::INFINITY, false);
    let image = loop {
        let (mut iteration, goal) = if let Some(state) = kept.take() {
            (steps, widened) = state.field("place")?;
            x = state.matrix("found")?;
            if widened {
                (spectral, pause) = (triplets(problem, MORE_TRIPLETS)?, u64::MAX);
            }
            let goal;
            [goal, before] = state.vector("goal")?.try_into().map_err(|_| state.error("`goal` has another length"))?;
            (Iteration::restored(&state)?, goal)
        } else {
            let measured = problem.missing(&x, &rhs, Equations::Asked, norm)?;
            let now = measured.residual();
            let goes_on = now < 0.5 * before;
            if measured.is_nothing() || steps >= most || !goes_on {
                break &rhs - measured.missing;
            }
            before = now;
            let goal = measured.lengths.iter().zip(&measured.allowed).map(|((length, _), allowed)| allowed / length);
            let goal = SAFETY * goal.fold(0.5, f64::min);
            (Iteration::new(problem, &spectral, measured.missing), goal)
        };
        while steps < most.min(pause) && iteration.left() > goal {
            iteration.step(problem, &spectral)?;
            steps += 1;
            if (steps % LOOK == 0 || steps.is_power_of_two() || iteration.is_long(norm))
                && iteration.hints_at(norm)
                && let Some(condition) = iteration.singular(problem, &spectral, norm)?
            {
                return singular(problem, condition, steps);
            }
            if let Some(place) = &place {
                problem.run.keep_state(place, |state| {
                    iteration.keep(state);
                    state.set_matrix("found", x.as_ref());
                    state.set_vector("goal", &[goal, before]);
                    state.set_field("place", (steps, widened));
                })?;
            }
        }
        x += &iteration.x;
        if steps == pause && steps < most {
            (spectral, pause, before) = (triplets(problem, MORE_TRIPLETS)?, u64::MAX, f64::INFINITY);
            widened = true;
        }
    };
    let condition = shown_condition(&x, &image, norm);
    if condition > SINGULAR {
        return singular(problem, condition, steps);
    }
    let (a, b) = problem.split(problem.without_probe(&x));
    let (route, iterations) = ("minres", steps);
    Ok(Found { a, b, account: Account { route, condition, estimated: true, iterations, norm, ..Account::default() } })
}

/// What tells this system from others of the same run: its right-hand side and what M makes of it.
fn place(problem: &Problem<'_>, rhs: &Mat<f64>) -> Result<String> {
    let mut print = Fingerprint::default();
    print.debug(&(problem.system, problem.g));
    put_matrix(&mut print, rhs.as_ref());
    put_matrix(&mut print, problem.apply(rhs.as_ref())?.as_ref());
    Ok(format!("minres {print}"))
}

fn singular(problem: &Problem<'_>, condition: f64, steps: u64) -> Result<Found> {
    let warning = problem.singular(condition)?;
    let mut damped = lsmr::solve(problem, problem.system.on_singular.lambda())?;
    damped.account.iterations += steps;
    damped.account.warnings.push(warning);
    damped.account.condition = condition;
    Ok(damped)
}

/// Landmarks for a symmetric K whose entries are at hand, once for all penalties: they cost less than a few products. Else
/// triplets by products, and the iterations after which more of them pay.
fn preconditioner(problem: &Problem<'_>) -> Result<(Spectral, u64)> {
    let n = problem.n();
    if problem.system.symmetric && !is_cheap(problem) {
        let own = Landmarks::new();
        let known = problem.known.unwrap_or(&own);
        if known.get().is_none() {
            // Whoever was quicker has found the same.
            _ = known.set(Spectral::nystrom(problem.k, landmarks(n), problem.run)?);
        }
        if let Some(Some(found)) = known.get() {
            return Ok((found.above(NEGLIGIBLE * problem.g), u64::MAX));
        }
    }
    let rank = TRIPLETS[usize::from(!is_cheap(problem))];
    let pause = PRODUCTS * MORE_TRIPLETS as u64 / (2 * (problem.y.ncols() as u64 + READING));
    let pause = if is_cheap(problem) || n / 4 <= rank { u64::MAX } else { pause };
    Ok((triplets(problem, rank)?, pause))
}

/// So many leading triplets, of a quarter of all at most.
fn triplets(problem: &Problem<'_>, rank: usize) -> Result<Spectral> {
    let rank = rank.min(problem.n() / 4).max(1);
    Spectral::rough(problem.k, rank, problem.system.symmetric, problem.run)
}

/// Landmarks of so many samples.
fn landmarks(n: usize) -> usize {
    (n / SAMPLES_EACH[0]).min(LANDMARKS[0]).max((n / SAMPLES_EACH[1]).min(LANDMARKS[1]))
}

/// |M|⁻¹·r.
fn precondition(problem: &Problem<'_>, spectral: &Spectral, r: &Mat<f64>) -> Mat<f64> {
    let (g, floor) = (problem.g, 1e-3 * problem.g);
    let inverse = |h: f64| h.abs().max(floor).recip();
    let mut out = if problem.system.symmetric {
        spectral.filtered_symmetric(g, r, inverse)
    } else {
        let n = problem.n();
        let (a, b) = spectral.filtered(g, (r.subrows(0, n), r.subrows(n, n)), inverse);
        problem.joined(&a, &b)
    };
    problem.project(&mut out);
    out
}

/// Scalars of one column, in the names of the method's authors.
#[derive(Clone)]
struct Column {
    start: f64,
    oldb: f64,
    beta: f64,
    dbar: f64,
    epsln: f64,
    phibar: f64,
    cs: f64,
    sn: f64,
}

/// Names of the vectors of a state.
const VECTORS: [&str; 10] = ["rhs", "left", "left-p", "left-image", "r1", "r2", "y", "w", "w2", "x"];

struct Iteration {
    columns: Vec<Column>,
    rhs: Mat<f64>,
    /// The residual, the preconditioned residual and its image under M, all divided by the residual's length.
    left: [Mat<f64>; 3],
    r1: Mat<f64>,
    r2: Mat<f64>,
    y: Mat<f64>,
    w: Mat<f64>,
    w2: Mat<f64>,
    x: Mat<f64>,
    count: u64,
}

impl Iteration {
    fn new(problem: &Problem<'_>, spectral: &Spectral, rhs: Mat<f64>) -> Self {
        let r2 = rhs.clone();
        let y = precondition(problem, spectral, &r2);
        let zero = Mat::zeros(r2.nrows(), r2.ncols());
        let column = |square: f64| {
            let beta = square.max(0.0).sqrt();
            Column { start: beta, oldb: 0.0, beta, dbar: 0.0, epsln: 0.0, phibar: beta, cs: -1.0, sn: 0.0 }
        };
        let columns = dots(&r2, &y).into_iter().map(column).collect();
        let left = [zero.clone(), zero.clone(), zero.clone()];
        Iteration { columns, rhs, left, r1: zero.clone(), r2, y, w: zero.clone(), w2: zero.clone(), x: zero, count: 0 }
    }

    /// The vectors of a state, in the order of [`VECTORS`].
    fn vectors(&self) -> [&Mat<f64>; VECTORS.len()] {
        let [residual, preconditioned, image] = &self.left;
        [&self.rhs, residual, preconditioned, image, &self.r1, &self.r2, &self.y, &self.w, &self.w2, &self.x]
    }

    fn keep(&self, state: &mut Archive) {
        VECTORS.iter().zip(self.vectors()).for_each(|(name, vectors)| state.set_matrix(name, vectors.as_ref()));
        let scalars: Vec<f64> = self.columns.iter().flat_map(Column::scalars).collect();
        state.set_vector("scalars", &scalars);
        state.set_field("count", self.count);
    }

    /// What [`Iteration::keep`] kept.
    fn restored(state: &Archive) -> Result<Self> {
        let [rhs, residual, preconditioned, image, r1, r2, y, w, w2, x] = VECTORS.map(|name| state.matrix(name));
        let left = [residual?, preconditioned?, image?];
        let scalars: Vec<f64> = state.vector("scalars")?;
        let columns = scalars.as_chunks().0.iter().map(|scalars| Column::of(*scalars)).collect();
        let count = state.field("count")?;
        Ok(Iteration { columns, rhs: rhs?, left, r1: r1?, r2: r2?, y: y?, w: w?, w2: w2?, x: x?, count })
    }

    fn factors(&self, of: impl Fn(&Column) -> f64) -> Vec<f64> {
        self.columns.iter().map(|c| Some(of(c)).filter(|f| f.is_finite()).unwrap_or(0.0)).collect()
    }

    /// One step of the preconditioned Lanczos process for all targets at once, and the plane rotation of each of them.
    fn step(&mut self, problem: &Problem<'_>, spectral: &Spectral) -> Result<()> {
        let mut v = std::mem::replace(&mut self.y, Mat::new());
        scale(&mut v, &self.factors(|c| c.beta.recip()));
        let mut y = problem.apply(v.as_ref())?;
        self.follow(&v, &y);
        if self.count > 0 {
            add_scaled(&mut y, &self.factors(|c| -c.beta / c.oldb), &self.r1);
        }
        let alfa = dots(&v, &y);
        let against: Vec<f64> = alfa.iter().zip(self.factors(|c| c.beta.recip())).map(|(a, b)| -a * b).collect();
        add_scaled(&mut y, &against, &self.r2);
        self.r1 = std::mem::replace(&mut self.r2, y);
        self.y = precondition(problem, spectral, &self.r2);
        let squares = dots(&self.r2, &self.y);
        let turns: Vec<[f64; 4]> =
            self.columns.iter_mut().enumerate().map(|(c, column)| column.turn(alfa[c], squares[c])).collect();
        let part = |at: usize| turns.iter().map(|t| t[at]).collect::<Vec<f64>>();
        let w1 = std::mem::replace(&mut self.w2, std::mem::replace(&mut self.w, Mat::new()));
        add_scaled(&mut v, &part(0), &w1);
        add_scaled(&mut v, &part(1), &self.w2);
        scale(&mut v, &part(2));
        add_scaled(&mut self.x, &part(3), &v);
        self.w = v;
        self.count += 1;
        let progress = Progress { stage: "coupled system", done: self.count, total: 0, residual: Some(self.left()) };
        problem.run.watch.report(progress)
    }

    /// Takes the next direction v with its image into account of what is left: q ← sn·q − cs·direction.
    fn follow(&mut self, v: &Mat<f64>, image: &Mat<f64>) {
        let (before, next) = (self.factors(|c| c.sn), self.factors(|c| -c.cs));
        let scaled = self.factors(|c| -c.cs / c.beta);
        let [residual, preconditioned, its_image] = &mut self.left;
        for (q, factors, direction) in
            [(residual, &scaled, &self.r2), (preconditioned, &next, v), (its_image, &next, image)]
        {
            scale(q, &before);
            add_scaled(q, factors, direction);
        }
    }

    /// Whether the account of the iteration says that M shortens a vector by about a factor beyond [`SINGULAR`].
    fn hints_at(&self, norm: f64) -> bool {
        let [residual, preconditioned, its_image] = &self.left;
        let mut image = self.rhs.clone();
        add_scaled(&mut image, &self.factors(|c| -c.phibar * c.sn), residual);
        add_scaled(&mut image, &self.factors(|c| c.phibar * c.cs / c.beta), &self.r2);
        let condition = shown_condition(&self.x, &image, norm).max(shown_condition(preconditioned, its_image, norm));
        condition > HINT * SINGULAR
    }

    /// Largest residual relative to the first one, in the norm of the preconditioner.
    fn left(&self) -> f64 {
        let of = |c: &Column| if c.start > 0.0 { c.phibar / c.start } else { 0.0 };
        self.columns.iter().map(of).fold(0.0, f64::max)
    }

    /// Whether a solution is longer than that of a regular system can be.
    fn is_long(&self, norm: f64) -> bool {
        let lengths = column_norms(self.x.as_ref()).into_iter().zip(column_norms(self.rhs.as_ref()));
        lengths.into_iter().any(|(x, rhs)| norm * x > SINGULAR * rhs)
    }

    /// The condition number at least, if a vector shows that it is beyond [`SINGULAR`].
    fn singular(&self, problem: &Problem<'_>, spectral: &Spectral, norm: f64) -> Result<Option<f64>> {
        let left = &self.rhs - problem.apply(self.x.as_ref())?;
        let by_residual = problem.least_condition(&precondition(problem, spectral, &left), norm)?;
        let condition = by_residual.max(problem.least_condition(&self.x, norm)?);
        Ok(Some(condition).filter(|condition| *condition > SINGULAR))
    }
}

impl Column {
    fn scalars(&self) -> [f64; 8] {
        let Column { start, oldb, beta, dbar, epsln, phibar, cs, sn } = *self;
        [start, oldb, beta, dbar, epsln, phibar, cs, sn]
    }

    fn of([start, oldb, beta, dbar, epsln, phibar, cs, sn]: [f64; 8]) -> Self {
        Column { start, oldb, beta, dbar, epsln, phibar, cs, sn }
    }

    /// The factors of w₁ and w₂, of the new direction, and of it in x.
    fn turn(&mut self, alfa: f64, square: f64) -> [f64; 4] {
        self.oldb = self.beta;
        self.beta = square.max(0.0).sqrt();
        let oldeps = self.epsln;
        let delta = self.cs * self.dbar + self.sn * alfa;
        let gbar = self.sn * self.dbar - self.cs * alfa;
        self.epsln = self.sn * self.beta;
        self.dbar = -self.cs * self.beta;
        let gamma = gbar.hypot(self.beta);
        if gamma == 0.0 {
            return [0.0; 4];
        }
        (self.cs, self.sn) = (gbar / gamma, self.beta / gamma);
        let phi = self.cs * self.phibar;
        self.phibar *= self.sn;
        [-oldeps, -delta, gamma.recip(), phi]
    }
}
