//! The search for the coefficients, of C- and ν-machines alike.
//!
//! 1. The violation over all samples. Within the tolerance: residuals are computed anew from the coefficients, and if
//!    it still is, done.
//! 2. Exchange: the samples that ask most urgently join the chunk, 32 or half as many as it has, balanced between
//!    groups and sides; where rows do not fit, the least urgent members at a bound leave.
//! 3. Pairs are moved within the chunk until its violation is a tenth of that of all samples.
//! 4. What the members' coefficients have changed is told to the residuals of all samples, and the search begins again.

use super::chunk::Chunk;
use super::inner::Inner;
use super::lanes::{self, Extremes};
use super::row_cache::Entry;
use super::{Part, RowCache};
use crate::base::Run;
use crate::base::checkpoint::Fingerprint;
use crate::base::error::{Error, Result};
use crate::base::verdict::Verdict;
use crate::base::watch::Progress;

/// Samples that a chunk takes in at a time, or half as many as it has if those are more.
const FRESH: usize = 32;
/// A chunk is settled to this share of the violation before others are let in.
const SETTLED: f64 = 0.1;
/// How often a search goes on because its residuals had drifted.
const MEASURED: usize = 5;

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
    pub(super) rows: &'a RowCache<'a>,
    pub(super) part: &'a Part,
    pub(super) diagonal: Vec<f64>,
    pub(super) c: Vec<f64>,
    pub(super) p: Vec<f64>,
    /// p − K·c.
    pub(super) residual: Vec<f64>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    /// 0 or 1: pairs are moved within one group.
    pub(super) group: Vec<u8>,
}

/// How a search ended.
#[derive(Clone, Copy)]
pub(super) struct Ended {
    pub(super) verdict: Verdict,
    pub(super) steps: usize,
}

impl<'a> Search<'a> {
    /// Starts at c = 0 with all samples in one group; bounds 0 and weight·y.
    pub(super) fn new(rows: &'a RowCache<'a>, part: &'a Part, p: Vec<f64>, penalty: f64) -> Self {
        let bound = |i: usize| penalty * part.weight(i);
        let n = part.y.len();
        Search {
            rows,
            part,
            diagonal: part.places.iter().map(|&i| rows.diagonal()[i]).collect(),
            residual: p.clone(),
            p,
            c: vec![0.0; n],
            lower: (0..n).map(|i| if part.y[i] > 0.0 { 0.0 } else { -bound(i) }).collect(),
            upper: (0..n).map(|i| if part.y[i] > 0.0 { bound(i) } else { 0.0 }).collect(),
            group: vec![0; n],
        }
    }

    /// Starts elsewhere, within the bounds.
    pub(super) fn start(mut self, c: &[f64]) -> Result<Self> {
        let bounds = self.lower.iter().zip(&self.upper);
        self.c = c.iter().zip(bounds).map(|(c, (lower, upper))| c.clamp(*lower, *upper)).collect();
        let places = &self.part.places;
        let moved = places.iter().zip(&self.c).filter(|(_, c)| **c != 0.0);
        let (at, moved): (Vec<usize>, Vec<f64>) = moved.map(|(&at, &c)| (at, c)).unzip();
        self.rows.subtract(places, &at, &moved, &mut self.residual)?;
        Ok(self)
    }

    /// Two groups: the samples of each class.
    pub(super) fn by_class(mut self) -> Self {
        self.group = self.part.y.iter().map(|y| u8::from(*y < 0.0)).collect();
        self
    }

    /// What no value of K·c exceeds for a positive K.
    pub(super) fn size(&self) -> f64 {
        let largest = self.diagonal.iter().map(|k| k.abs()).fold(f64::MIN_POSITIVE, f64::max);
        largest * self.c.iter().map(|c| c.abs()).sum::<f64>()
    }

    /// Number of groups.
    pub(super) fn groups(&self) -> u8 {
        self.group.iter().copied().max().unwrap_or(0) + 1
    }

    pub(super) fn run(&mut self, rules: Rules, run: &Run) -> Result<Ended> {
        if self.rows.single_suffices() { self.run_in::<f32>(rules, run) } else { self.run_in::<f64>(rules, run) }
    }

    /// The search with rows of some precision.
    ///
    /// Residuals drift as they are summed up over the steps. A search that seems finished is measured, and goes on from
    /// the true residuals at most five times.
    fn run_in<E: Entry>(&mut self, rules: Rules, run: &Run) -> Result<Ended> {
        let most = rules.max_steps.unwrap_or_else(|| 1_000_000.max(100 * self.c.len()));
        let mut chunk = Chunk::<E>::new(self);
        let (mut steps, mut levels, mut measured) = (0, [None; 2], 0);
        let place = run.checkpoint.is_on().then(|| self.place(rules)).transpose()?;
        if let Some(state) = place.as_ref().map_or(Ok(None), |place| run.state(place))? {
            (self.c, self.residual) = (state.vector("coefficients")?, state.vector("residual")?);
            (steps, levels, measured) = state.field("search")?;
            let members: Vec<usize> = state.field("members")?;
            if !members.is_empty() {
                chunk.add(self, &members)?;
            }
        }
        loop {
            if let Some(place) = &place {
                run.keep_state(place, |state| {
                    state.set_vector("coefficients", &self.c);
                    state.set_vector("residual", &self.residual);
                    state.set_field("search", (steps, levels, measured));
                    state.set_field("members", &chunk.members);
                })?;
            }
            let mut worst = self.worst();
            let (stage, done) = ("support vectors", steps as u64);
            run.watch.report(Progress { stage, done, total: 0, residual: Some(worst.extremes.violation()) })?;
            if worst.extremes.violation() <= rules.tol || steps == most {
                self.residual = self.evaluated(&chunk)?;
                worst = self.worst();
                let verdict = Verdict::measured(worst.extremes.violation(), rules.tol);
                measured += 1;
                if verdict.converged() || steps == most || measured == MEASURED {
                    chunk.end(self);
                    return Ok(Ended { verdict, steps });
                }
            }
            let violation = worst.extremes.violation();
            self.exchange(&mut chunk, &Urgency::new(self, worst, levels), rules.shrink)?;
            let mut inner = Inner::new(self, &chunk);
            let all = chunk.members.len() == self.c.len();
            let goal = if all { rules.tol } else { rules.tol.max(SETTLED * violation) };
            let (taken, extremes) = inner.solve(goal, most - steps, run)?;
            steps += taken;
            levels = extremes.map(|group| group.middle());
            let found: Vec<(f64, f64)> = inner.found().collect();
            self.take_over(&chunk, &found);
        }
    }

    /// What tells this search from others of the same run: its samples, bounds and rules, where it starts, and a column of K.
    fn place(&self, rules: Rules) -> Result<String> {
        let mut column = vec![0.0; self.c.len()];
        self.rows.columns::<f64>(&self.part.places, &self.part.places[..1], &mut column)?;
        let mut print = Fingerprint::default();
        print.debug(&(rules.tol, rules.max_steps, rules.shrink, &self.part, &self.group));
        for numbers in [&self.c, &self.p, &self.lower, &self.upper, &column] {
            numbers.iter().for_each(|number| print.word(number.to_bits()));
        }
        Ok(format!("support vectors {print}"))
    }

    /// p − K·c from the coefficients themselves; that of the search is the sum of all changes.
    fn evaluated<E: Entry>(&self, chunk: &Chunk<E>) -> Result<Vec<f64>> {
        let (mut out, mut left) = (self.p.clone(), self.c.clone());
        let kept: Vec<f64> = chunk.members.iter().map(|&t| std::mem::take(&mut left[t])).collect();
        lanes::subtract(&mut out, chunk.columns(), &kept);
        let others = self.part.places.iter().zip(&left).filter(|(_, c)| **c != 0.0);
        let (at, c): (Vec<usize>, Vec<f64>) = others.map(|(&at, &c)| (at, c)).unzip();
        self.rows.subtract(&self.part.places, &at, &c, &mut out)?;
        Ok(out)
    }

    fn may_grow(&self, t: usize) -> bool {
        self.c[t] < self.upper[t]
    }

    fn may_shrink(&self, t: usize) -> bool {
        self.c[t] > self.lower[t]
    }

    fn worst(&self) -> Worst {
        let of = |group: u8| {
            let mut out = Worst { extremes: Extremes::NONE, last: 0 };
            for t in (0..self.c.len()).filter(|&t| self.group[t] == group) {
                let r = self.residual[t];
                if self.may_grow(t) && r > out.extremes.largest {
                    (out.extremes.first, out.extremes.largest) = (t, r);
                }
                if self.may_shrink(t) && r < out.extremes.smallest {
                    (out.last, out.extremes.smallest) = (t, r);
                }
            }
            out
        };
        let (one, other) = (of(0), of(1));
        if other.extremes.violation() > one.extremes.violation() { other } else { one }
    }

    /// Lets the most urgent samples into the chunk, the least urgent out where there is no room.
    fn exchange<E: Entry>(&self, chunk: &mut Chunk<E>, urgency: &Urgency<'_>, shrink: bool) -> Result<()> {
        let (n, room) = (self.c.len(), self.rows.room::<E>(self.c.len()));
        let mut inside = vec![false; n];
        chunk.members.iter().for_each(|&t| inside[t] = true);
        let outside: Vec<usize> = (0..n).filter(|&t| !inside[t]).collect();
        let fresh = if !shrink && n <= room {
            outside
        } else {
            urgency.first(outside, FRESH.max(chunk.members.len() / 2).min(room / 2))
        };
        if chunk.members.len() + fresh.len() > room {
            let mut order: Vec<usize> = (0..chunk.members.len()).collect();
            let keep = |t: usize| if self.may_grow(t) && self.may_shrink(t) { f64::INFINITY } else { urgency.of(t) };
            order.sort_by(|&a, &b| keep(chunk.members[b]).total_cmp(&keep(chunk.members[a])));
            order.truncate(room - fresh.len());
            order.sort_unstable();
            chunk.keep(&order);
        }
        chunk.add(self, &fresh)
    }

    /// The coefficients and residuals of the members, and what they change everywhere.
    fn take_over<E: Entry>(&mut self, chunk: &Chunk<E>, found: &[(f64, f64)]) {
        let change = |(&t, &(c, _)): (&usize, &(f64, f64))| c - std::mem::replace(&mut self.c[t], c);
        let changes: Vec<f64> = chunk.members.iter().zip(found).map(change).collect();
        lanes::subtract(&mut self.residual, chunk.columns(), &changes);
        // Not a bit else, or the members might never seem settled.
        chunk.members.iter().zip(found).for_each(|(&t, &(_, residual))| self.residual[t] = residual);
    }

    /// The residual of a group's samples between the bounds, on average; without any, the middle of what is possible.
    pub(super) fn level(&self, group: u8) -> f64 {
        let own = || (0..self.c.len()).filter(|&t| self.group[t] == group);
        let free = || own().filter(|&t| self.may_grow(t) && self.may_shrink(t));
        if free().next().is_some() {
            return free().map(|t| self.residual[t]).sum::<f64>() / free().count() as f64;
        }
        let largest = own().filter(|&t| self.may_grow(t)).map(|t| self.residual[t]).fold(f64::NEG_INFINITY, f64::max);
        let smallest = own().filter(|&t| self.may_shrink(t)).map(|t| self.residual[t]).fold(f64::INFINITY, f64::min);
        match (largest.is_finite(), smallest.is_finite()) {
            (true, true) => 0.5 * (largest + smallest),
            (true, false) => largest,
            (false, true) => smallest,
            (false, false) => 0.0,
        }
    }
}

/// The extremes of the group with the largest violation, and the sample of the smallest residual.
#[derive(Clone, Copy)]
struct Worst {
    extremes: Extremes,
    last: usize,
}

/// How much samples ask to be moved: how far their residuals are beyond the level of their group, on the side they may move to.
///
/// The pair that violates the conditions most is always the most urgent: without it a search might make no progress.
struct Urgency<'a> {
    search: &'a Search<'a>,
    worst: Worst,
    levels: [f64; 2],
}

impl<'a> Urgency<'a> {
    /// `levels`: those of the groups of the chunk, where it has any.
    fn new(search: &'a Search<'a>, worst: Worst, levels: [Option<f64>; 2]) -> Self {
        let levels = levels.map(|level| level.or(worst.extremes.middle()).unwrap_or(0.0));
        Urgency { search, worst, levels }
    }

    /// The residual beyond the level: above 0 for those that may grow, below 0 for those that may shrink.
    fn beyond(&self, t: usize) -> f64 {
        self.search.residual[t] - self.levels[self.search.group[t] as usize]
    }

    fn of(&self, t: usize) -> f64 {
        let (search, beyond) = (self.search, self.beyond(t));
        let grow = if search.may_grow(t) { beyond } else { f64::NEG_INFINITY };
        let shrink = if search.may_shrink(t) { -beyond } else { f64::NEG_INFINITY };
        // Without the pair that violates the conditions most there might be no progress.
        if t == self.worst.extremes.first || t == self.worst.last { f64::INFINITY } else { grow.max(shrink) }
    }

    /// About `count` of some samples, as many of each group and side; equal ones from all over.
    fn first(&self, samples: Vec<usize>, count: usize) -> Vec<usize> {
        let mut sides: [Vec<(f64, usize, usize)>; 4] = Default::default();
        for t in samples {
            let urgency = self.of(t);
            if urgency > 0.0 {
                let side = 2 * usize::from(self.search.group[t]) + usize::from(self.beyond(t) < 0.0);
                sides[side].push((urgency, t.wrapping_mul(0x9e37_79b9_7f4a_7c15), t));
            }
        }
        let share = count / sides.iter().filter(|side| !side.is_empty()).count().max(1);
        let mut out = Vec::with_capacity(count);
        for mut side in sides {
            if side.len() > share {
                side.select_nth_unstable_by(share, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                side.truncate(share);
            }
            out.extend(side.iter().map(|sample| sample.2));
        }
        out.sort_unstable();
        out
    }
}
