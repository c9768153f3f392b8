use super::{Part, RowCache};
use crate::error::{Error, Result};
use crate::svd::Run;
use crate::watch::Progress;

/// Least curvature along a pair.
const CURVATURE: f64 = 1e-12;
/// Steps between two looks for samples that can be left out.
const SHRINK_EVERY: usize = 1000;

/// When the search ends, and whether it leaves samples out meanwhile.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) tol: f64,
    pub(super) max_steps: Option<usize>,
    pub(super) shrink: bool,
}

impl Rules {
    pub(super) fn check(&self) -> Result<()> {
        if self.tol.is_finite() && self.tol > 0.0 {
            return Ok(());
        }
        Err(Error::param("tol", self.tol, "a number above 0"))
    }
}

/// Maximise pᵀc − ½·cᵀKc over lower ≤ c ≤ upper with the sum of c fixed in each group.
pub(super) struct Search<'a> {
    rows: &'a RowCache<'a>,
    /// Places of the samples in K.
    places: Vec<usize>,
    diagonal: Vec<f64>,
    p: Vec<f64>,
    pub(super) c: Vec<f64>,
    /// p − K·c; only of active samples up to date.
    residual: Vec<f64>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    /// 0 or 1: pairs are moved within one group.
    group: Vec<u8>,
    active: Vec<usize>,
}

/// How a search ended.
#[derive(Clone, Copy)]
pub(super) struct Ended {
    pub(super) violation: f64,
    pub(super) steps: usize,
}

/// A pair to move, with what its residuals promise and the curvature along it.
#[derive(Clone, Copy)]
struct Pair {
    i: usize,
    j: usize,
    promise: f64,
    curvature: f64,
}

/// The largest residual of a group that may grow and the smallest that may shrink.
#[derive(Clone, Copy)]
struct Extremes {
    first: Option<usize>,
    largest: f64,
    smallest: f64,
}

impl Extremes {
    const NONE: Extremes = Extremes { first: None, largest: f64::NEG_INFINITY, smallest: f64::INFINITY };

    fn violation(&self) -> f64 {
        if self.largest > self.smallest { self.largest - self.smallest } else { 0.0 }
    }
}

impl<'a> Search<'a> {
    /// Starts at c = 0 with all samples in one group; bounds 0 and weight·y.
    pub(super) fn new(rows: &'a RowCache<'a>, part: &Part, p: Vec<f64>, penalty: f64) -> Self {
        let bound = |i: usize| penalty * part.weight(i);
        let n = part.y.len();
        Search {
            rows,
            places: part.places.clone(),
            diagonal: part.places.iter().map(|&i| rows.diagonal()[i]).collect(),
            residual: p.clone(),
            p,
            c: vec![0.0; n],
            lower: (0..n).map(|i| if part.y[i] > 0.0 { 0.0 } else { -bound(i) }).collect(),
            upper: (0..n).map(|i| if part.y[i] > 0.0 { bound(i) } else { 0.0 }).collect(),
            group: vec![0; n],
            active: (0..n).collect(),
        }
    }

    /// Starts elsewhere, with two groups: samples above and below zero of `y`.
    pub(super) fn start(mut self, c: Vec<f64>, y: &[f64]) -> Result<Self> {
        self.c = c;
        self.group = y.iter().map(|y| u8::from(*y < 0.0)).collect();
        self.active.clear();
        self.restore()?;
        Ok(self)
    }

    pub(super) fn run(&mut self, rules: Rules, run: &Run) -> Result<Ended> {
        let n = self.c.len();
        let most = rules.max_steps.unwrap_or_else(|| 1_000_000.max(100 * n));
        let mut steps = 0;
        loop {
            let (pair, violation) = self.pair()?;
            if violation <= rules.tol || steps == most {
                if self.active.len() == n {
                    return Ok(Ended { violation, steps });
                }
                self.restore()?;
                continue;
            }
            self.step(pair)?;
            steps += 1;
            if steps % SHRINK_EVERY.min(n) == 0 {
                let (done, total) = (steps as u64, 0);
                run.watch.report(Progress { stage: "support vectors", done, total, residual: Some(violation) })?;
                if rules.shrink {
                    self.shrink();
                }
            }
        }
    }

    fn may_grow(&self, t: usize) -> bool {
        self.c[t] < self.upper[t]
    }

    fn may_shrink(&self, t: usize) -> bool {
        self.c[t] > self.lower[t]
    }

    fn extremes(&self) -> [Extremes; 2] {
        let mut out = [Extremes::NONE; 2];
        for &t in &self.active {
            let (own, r) = (&mut out[self.group[t] as usize], self.residual[t]);
            if self.c[t] < self.upper[t] && r > own.largest {
                (own.first, own.largest) = (Some(t), r);
            }
            if self.c[t] > self.lower[t] {
                own.smallest = own.smallest.min(r);
            }
        }
        out
    }

    /// The pair of largest gain and the violation; a violation of 0 where no pair can move.
    fn pair(&self) -> Result<(Pair, f64)> {
        let both = self.extremes();
        let group = u8::from(both[1].violation() > both[0].violation());
        let Extremes { first, largest, .. } = both[group as usize];
        let violation = both[group as usize].violation();
        let still = Pair { i: 0, j: 0, promise: 0.0, curvature: 1.0 };
        let Some(i) = first.filter(|_| violation > 0.0) else { return Ok((still, 0.0)) };
        let row = self.rows.row(self.places[i])?;
        let (mut best, mut gain) = (still, f64::NEG_INFINITY);
        for &j in &self.active {
            let promise = largest - self.residual[j];
            if promise <= 0.0 || !self.may_shrink(j) || self.group[j] != group {
                continue;
            }
            let curvature = (self.diagonal[i] + self.diagonal[j] - 2.0 * row[self.places[j]]).max(CURVATURE);
            if promise * promise / curvature > gain {
                (best, gain) = (Pair { i, j, promise, curvature }, promise * promise / curvature);
            }
        }
        Ok((best, violation))
    }

    fn step(&mut self, pair: Pair) -> Result<()> {
        let Pair { i, j, promise, curvature } = pair;
        let room = (self.upper[i] - self.c[i]).min(self.c[j] - self.lower[j]);
        let length = (promise / curvature).min(room);
        self.c[i] = moved(self.c[i], length, self.upper[i]);
        self.c[j] = -moved(-self.c[j], length, -self.lower[j]);
        let (row_i, row_j) = (self.rows.row(self.places[i])?, self.rows.row(self.places[j])?);
        for &t in &self.active {
            let at = self.places[t];
            self.residual[t] -= length * (row_i[at] - row_j[at]);
        }
        Ok(())
    }

    /// Leaves out samples at a bound whose residual lies beyond those of all samples of the group that can still move.
    fn shrink(&mut self) {
        let both = self.extremes();
        let keeps = |t: &usize| {
            let Extremes { largest, smallest, .. } = both[self.group[*t] as usize];
            match (self.may_grow(*t), self.may_shrink(*t)) {
                (true, false) => self.residual[*t] >= smallest,
                (false, true) => self.residual[*t] <= largest,
                _ => true,
            }
        };
        self.active = self.active.iter().copied().filter(keeps).collect();
    }

    /// Takes all samples back, with their residuals.
    fn restore(&mut self) -> Result<()> {
        let n = self.c.len();
        let mut active = vec![false; n];
        self.active.iter().for_each(|&t| active[t] = true);
        let idle: Vec<usize> = (0..n).filter(|&t| !active[t]).collect();
        idle.iter().for_each(|&t| self.residual[t] = self.p[t]);
        for s in (0..n).filter(|&s| self.c[s] != 0.0) {
            let row = self.rows.row(self.places[s])?;
            idle.iter().for_each(|&t| self.residual[t] -= self.c[s] * row[self.places[t]]);
        }
        self.active = (0..n).collect();
        Ok(())
    }

    /// The residual of a group's samples between the bounds, on average; without any, the middle of what is possible.
    pub(super) fn level(&self, group: u8) -> f64 {
        let own = |t: &usize| self.group[*t] == group;
        let free = |t: &usize| self.may_grow(*t) && self.may_shrink(*t);
        let free: Vec<f64> = (0..self.c.len()).filter(own).filter(free).map(|t| self.residual[t]).collect();
        let Extremes { largest, smallest, .. } = self.extremes()[group as usize];
        match (free.is_empty(), largest.is_finite(), smallest.is_finite()) {
            (false, _, _) => free.iter().sum::<f64>() / free.len() as f64,
            (true, true, true) => 0.5 * (largest + smallest),
            (true, true, false) => largest,
            (true, false, true) => smallest,
            (true, false, false) => 0.0,
        }
    }
}

/// `from` + `length`, exactly the bound where it reaches that far.
fn moved(from: f64, length: f64, bound: f64) -> f64 {
    if length >= bound - from { bound } else { (from + length).min(bound) }
}
