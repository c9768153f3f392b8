//! Singular vectors from landmarks. The formulas of one size of the sample are in `core`; here is what surrounds them:
//! how large the sample is, when it grows, how good the result is.

mod core;

pub(crate) use core::{decompose, to_unit_columns};

use super::estimate::{PROBES, Patch, Probes, select};
use super::gate::{Goal, rounding};
use super::{
    COLS_SAMPLE, ROWS_SAMPLE, Run, SAMPLER, SolveReport, SolverPlan, Svd, SvdSolver, TOL, check_rank, tolerance,
};
use crate::base::error::{Error, Result};
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::base::settings::{Setting, Settings};
use crate::data::samples::Side;
use crate::operator::{Access, Operator};
use crate::solvers::landmarks::{self, Sampler};
use core::Core;
use faer::Mat;
use std::time::Instant;

/// Landmarks on a side at the start, unless the rank wants more.
const FEWEST: usize = 64;

/// The asymmetric Nyström method: the SVD of a small block of G, extended to all rows and columns (\[KSVD\] §3).
///
/// 1. Landmarks: `rows` and `cols`, drawn independently; B = G\[rows, cols\] (n×m of N×M) has the singular triplets
///    (λ, u, v). Values up to ε·max(n, m)·λ₁ are dropped, so that repeated landmarks do no harm.
/// 2. Extension, Eq. (9) with l = 1/√(NM): λ̃ = √(NM/(nm))·λ, ũ ∝ G\[:, cols\]·v / λ, ṽ ∝ G\[rows, :\]ᵀ·u / λ.
///    For a symmetric G and equal landmarks this is the symmetric Nyström method, Eq. (13).
/// 3. Polish (by default): Q = orth(Ṽ), P = orth(G·Q), and the SVD of PᵀG (Rayleigh–Ritz): two products with blocks.
/// 4. Estimate of ‖G − Ũ·Σ̃·Ṽᵀ‖_F / ‖G‖_F from ten random probes, for every result.
/// 5. Without sample sizes: 64 landmarks a side (four per component, if that is more), doubled until the residuals
///    reach the tolerance, everything is sampled, or `max_sample` is reached.
///
/// Where products with all of G are out of reach ([`Access::Blocks`]) steps 3 and 5 are left out or replaced: the sample
/// grows while the error on a random block of entries falls, and error and residuals are estimated from such a block.
///
/// # Cost
/// O((n + m)·(landmarks + rank)) entries of G for the extension, O((N + M)·rank) memory besides the n×m block.
///
/// # Departures
/// Extended vectors are scaled to unit length instead of by √(√(nm)/√(NM)), which gives unit length only on average; they
/// are not exactly orthogonal without polish. The paper has neither polish nor an estimate nor growth, and takes λ̃ as is.
///
/// ```
/// use lopsided::base::settings::Settings;
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::svd::solver;
/// use lopsided::{Mat, Run};
///
/// let g = DenseOperator::Owned(Mat::from_fn(60, 50, |i, j| (i + j) as f64)); // rank two: any few landmarks tell all
/// let settings = Settings::default().with("rows-sample", 20).with("cols-sample", 20);
/// let svd = solver::<f64>("nystrom", &settings)?.solve(&g, 2, &Run::default())?;
/// assert_eq!(svd.report.landmarks, Some((20, 20)));
/// assert!(svd.report.converged() && svd.report.error_estimate.is_some_and(|error| error < 1e-8));
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct Nystrom<T: Scalar> {
    /// Largest residual relative to a triplet's own σ that counts as converged.
    pub tol: f64,
    /// Row landmarks; `None`: as many as column landmarks, or growing.
    pub rows_sample: Option<usize>,
    /// Column landmarks, likewise.
    pub cols_sample: Option<usize>,
    /// Most landmarks on a side while growing.
    pub max_sample: usize,
    /// Who chooses the landmarks.
    pub sampler: Box<dyn Sampler<T>>,
    /// Whether the extension is refined by one Rayleigh–Ritz pass.
    pub polish: bool,
}

impl<T: Scalar> Nystrom<T> {
    /// Defaults: growing uniform landmarks, at most 4096 a side, with polish.
    pub fn new(params: &Settings) -> Result<Self> {
        Ok(Nystrom {
            tol: tolerance::<T>(params)?,
            rows_sample: sample_size(params, "rows-sample")?,
            cols_sample: sample_size(params, "cols-sample")?,
            max_sample: params.count("max-sample", 4096)? as usize,
            sampler: sampler_of(params)?,
            polish: params.flag("polish", true)?,
        })
    }

    /// Vectors that are extended. A Rayleigh–Ritz pass makes use of more than wanted, the more the larger the sample: they
    /// shorten the way to a small residual more than further landmarks do.
    fn width(&self, (n, m): (usize, usize), sample: usize, rank: usize) -> usize {
        const COMFORTABLE: usize = 1 << 28;
        if !self.polish {
            return rank;
        }
        let roomy = COMFORTABLE / ((n + m) * T::BYTES);
        (sample / 4).min(8 * rank + 64).min(roomy).max(rank + (rank / 2).max(10))
    }

    /// The sizes asked for, or those at which growth ends.
    fn largest_sizes(&self, (n, m): (usize, usize), rank: usize) -> (usize, usize) {
        let end = self.max_sample.max(FEWEST).max(4 * rank);
        let size = |own: Option<usize>, other: Option<usize>, side: usize| own.or(other).unwrap_or(end).min(side);
        (size(self.rows_sample, self.cols_sample, n), size(self.cols_sample, self.rows_sample, m))
    }

    fn grows(&self) -> bool {
        self.rows_sample.is_none() && self.cols_sample.is_none()
    }

    /// Twice as many landmarks; `None` when there are no more.
    fn more(&self, (n, m): (usize, usize), g: &dyn Operator<T>) -> Option<(usize, usize)> {
        let double = |s: usize, size: usize| (2 * s).min(self.max_sample.max(s)).min(size);
        let next = (double(n, g.nrows()), double(m, g.ncols()));
        (self.grows() && next != (n, m)).then_some(next)
    }

    /// Step 1.
    fn core(&self, g: &dyn Operator<T>, (n, m): (usize, usize), keep: usize, run: &Run) -> Result<Core<T>> {
        run.watch.check()?;
        let rows = self.sampler.pick(g, Side::Row, n, run.seed)?;
        let cols = self.sampler.pick(g, Side::Col, m, run.seed)?;
        let mut block = Mat::zeros(rows.len(), cols.len());
        g.block(&rows, &cols, block.as_mut())?;
        let small = decompose(block, keep, self.tol, run)?;
        Ok(Core { rows, cols, small })
    }

    /// Steps 1 to 4 for one size of the sample, with all residuals.
    fn attempt(
        &self,
        (g, probes): (&dyn Operator<T>, &Probes<T>),
        sizes: (usize, usize),
        rank: usize,
        run: &Run,
    ) -> Result<Svd<T>> {
        let start = Instant::now();
        let width = self.width((g.nrows(), g.ncols()), sizes.0.min(sizes.1), rank);
        let core = self.core(g, sizes, width, run)?;
        let mut svd = if self.polish { core.polished(g)? } else { core.extended(g)? };
        svd.report.landmarks = Some((core.rows.len(), core.cols.len()));
        svd.report.seconds_in_ortho = start.elapsed().as_secs_f64();
        svd.keep_nonzero(rank);
        let error = probes.relative_error(&svd);
        svd.report.error_estimate = Some(error);
        let complete = distinct(&core.rows) == g.nrows() && distinct(&core.cols) == g.ncols();
        // Triplets that the landmarks do not show may be small beside the first and still be there.
        let missing = svd.sigma.len() < rank && !complete && error > rounding::<T>(g.nrows(), g.ncols(), 1.0);
        if missing {
            svd.report.notes.push(format!("the landmarks show only {} of {rank} triplets", svd.sigma.len()));
        }
        let goal = Goal { tol: self.tol, complete: !missing };
        let mut svd = svd.finish(g, rank, goal, (&[], false))?;
        if !self.polish {
            svd.report.notes.push("without polish the vectors have unit length but are not exactly orthogonal".into());
        }
        Ok(svd)
    }

    /// The method where only blocks of G are in reach.
    ///
    /// 1. A patch of 256 × 256 random entries, evaluated once.
    /// 2. The block where the landmarks meet, its triplets, and their extension to the patch: the error there.
    /// 3. Twice as many landmarks as long as the error is above the tolerance and falls by a tenth or more.
    /// 4. The extension to all rows and columns; error and residuals estimated from the patch.
    fn solve_blocks(&self, g: &dyn Operator<T>, rank: usize, run: &Run) -> Result<Svd<T>> {
        let patch = Patch::new(g, run)?;
        let mut sizes = first_sizes(g, rank, (self.rows_sample, self.cols_sample))?;
        let mut before = f64::INFINITY;
        let core = loop {
            let core = self.core(g, sizes, rank, run)?;
            let error = core.error_on(&patch, g)?;
            match self.more(sizes, g) {
                Some(next) if error > self.tol && error < 0.9 * before => (sizes, before) = (next, error),
                _ => break core,
            }
        };
        let start = Instant::now();
        let mut svd = core.extended(g)?;
        svd.keep_nonzero(rank);
        svd.fix_signs();
        let (u, v) = (select(&svd.u, &patch.rows), select(&svd.v, &patch.cols));
        svd.report.error_estimate = Some(patch.relative_error(u.as_ref(), &svd.sigma, v.as_ref()));
        let lengths = patch.residual_lengths(g, &svd)?;
        svd.judge(&lengths, Goal { tol: self.tol, complete: svd.sigma.len() == rank });
        svd.report.landmarks = Some((core.rows.len(), core.cols.len()));
        svd.report.seconds_in_operator = start.elapsed().as_secs_f64();
        svd.report.notes.extend(block_notes(&patch, svd.sigma.len(), rank));
        Ok(svd)
    }
}

/// How many different landmarks there are among sorted ones.
fn distinct(sorted: &[usize]) -> usize {
    sorted.len() - sorted.windows(2).filter(|w| w[0] == w[1]).count()
}

fn block_notes<T>(patch: &Patch<T>, found: usize, rank: usize) -> Vec<String> {
    let (rows, cols) = (patch.rows.len(), patch.cols.len());
    let mut notes = vec![format!(
        "products with all of G are out of reach: no polish, error and residuals are estimates from {rows} rows and \
         {cols} columns"
    )];
    if found < rank {
        notes.push(format!("the landmarks show only {found} of {rank} triplets"));
    }
    notes
}

/// The sizes asked for, or those to begin with.
pub(super) fn first_sizes<T: Scalar>(
    g: &dyn Operator<T>,
    rank: usize,
    asked: (Option<usize>, Option<usize>),
) -> Result<(usize, usize)> {
    let size = |own: Option<usize>, other: Option<usize>, name: &'static str, most: usize| match (own, other) {
        (Some(count), _) if count < rank || count > most => {
            Err(Error::param(name, count, format!("between the rank {rank} and all {most}")))
        }
        (Some(count), _) => Ok(count),
        (None, other) => Ok(other.unwrap_or(FEWEST.max(4 * rank)).min(most)),
    };
    Ok((size(asked.0, asked.1, "rows-sample", g.nrows())?, size(asked.1, asked.0, "cols-sample", g.ncols())?))
}

pub(super) fn sample_size(params: &Settings, name: &'static str) -> Result<Option<usize>> {
    params.value(name).map(|_| params.count(name, 1).map(|count| count as usize)).transpose()
}

/// The sampler that the settings name; uniform if they name none.
pub(super) fn sampler_of<T: Scalar>(given: &Settings) -> Result<Box<dyn Sampler<T>>> {
    let name = given.value("sampler").map_or_else(|| "uniform".into(), ToString::to_string);
    landmarks::sampler(&name, &Settings::default())
}

pub(super) fn named(solver: &str) -> SolveReport {
    SolveReport { solver: solver.into(), ..SolveReport::default() }
}

impl<T: Scalar> SvdSolver<T> for Nystrom<T> {
    fn solve(&self, g: &dyn Operator<T>, rank: usize, run: &Run) -> Result<Svd<T>> {
        check_rank(g.nrows(), g.ncols(), rank)?;
        if g.access() == Access::Blocks {
            return self.solve_blocks(g, rank, run);
        }
        let mut sizes = first_sizes(g, rank, (self.rows_sample, self.cols_sample))?;
        let probes = Probes::new(g, run)?;
        let (mut products, mut seconds, mut landmarks) = (PROBES as u64, (0.0, 0.0), None);
        loop {
            let mut svd = self.attempt((g, &probes), sizes, rank, run)?;
            let report = &mut svd.report;
            products += report.products;
            seconds = (seconds.0 + report.seconds_in_operator, seconds.1 + report.seconds_in_ortho);
            // A sampler that ignores the wanted size would go on for ever.
            let next = self.more(sizes, g).filter(|_| !report.converged() && report.landmarks != landmarks);
            if let Some(next) = next {
                (sizes, landmarks) = (next, report.landmarks);
                continue;
            }
            (report.seconds_in_operator, report.seconds_in_ortho) = seconds;
            report.products = products;
            return Ok(svd);
        }
    }

    fn plan(&self, n: usize, m: usize, rank: usize) -> SolverPlan {
        let (rows, cols) = self.largest_sizes((n, m), rank);
        let width = self.width((n, m), rows.min(cols), rank);
        SolverPlan { products: (PROBES + 2 * width + 2 * rank) as u64, ..plan::<T>((n, m), (rows, cols), width) }
    }

    fn plan_from_blocks(&self, n: usize, m: usize, rank: usize) -> Option<SolverPlan> {
        Some(plan::<T>((n, m), self.largest_sizes((n, m), rank), rank))
    }
}

/// The cost of everything but the products.
fn plan<T: Scalar>((n, m): (usize, usize), (rows, cols): (usize, usize), width: usize) -> SolverPlan {
    SolverPlan {
        solver: "nystrom",
        why: String::new(),
        bytes: ((3 * rows * cols + (n + m) * (3 * width + PROBES)) * T::BYTES) as u64,
        products: 0,
        flops: 20.0 * (rows * cols * width) as f64 + 8.0 * (n + m) as f64 * (width * width) as f64,
    }
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn SvdSolver<T>> {
    Entry {
        name: "nystrom",
        about: "asymmetric Nyström: the SVD of a sampled block extended to all samples, with an error estimate",
        settings: const {
            &[
                TOL,
                ROWS_SAMPLE,
                COLS_SAMPLE,
                Setting::new("max-sample", "most landmarks of a side", "a whole number of at least 1", "4096"),
                SAMPLER,
                Setting::new("polish", "refines the vectors by two products with G", "true or false", "true"),
            ]
        },
        build: |params| Ok(Box::new(Nystrom::<T>::new(params)?)),
    }
}
