//! Several classes by machines for two.
//!
//! | way | machines for k classes | each learns from | the class is |
//! | --- | --- | --- | --- |
//! | one against one | k·(k − 1)/2 | the samples of two classes | the one with most votes |
//! | one against the rest | k | all samples | the one with the largest function |

use super::probability::{Sigmoid, coupled, held_out};
use super::{CSvm, NuSvm, Part, RowCache, SvmSolution};
use crate::base::Run;
use crate::base::error::Result;
use crate::base::registry::words;
use crate::base::verdict::Verdict;
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// A machine for two classes.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::svm::{CSvm, Machine, NuSvm, Part, RowCache};
/// use lopsided::{Mat, Run};
///
/// let k = DenseOperator::Owned(Mat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { -1.0 }));
/// let rows = RowCache::new(&k, 1 << 20)?;
/// for machine in [Machine::C(CSvm::new(10.0)), Machine::Nu(NuSvm::new(0.5))] {
///     let found = machine.solve(&rows, &Part::all(&[-1.0, 1.0]), &Run::default())?;
///     assert!((found.coefficients[1] - 0.5).abs() < 1e-3); // both find the function f(x) = x
/// }
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Machine {
    /// Bounded coefficients.
    C(CSvm),
    /// Bounded share of margin errors.
    Nu(NuSvm),
}

impl Machine {
    /// Learns labels of ±1.
    ///
    /// # Errors
    /// Those of [`CSvm::solve`] and [`NuSvm::solve`].
    pub fn solve(&self, rows: &RowCache<'_>, part: &Part, run: &Run) -> Result<SvmSolution> {
        match self {
            Machine::C(machine) => machine.solve(rows, part, run),
            Machine::Nu(machine) => machine.solve(rows, part, run),
        }
    }

    /// The violation of the optimality conditions that is allowed, divided by the bound of the coefficients.
    pub(crate) fn slack(&self) -> f64 {
        match self {
            Machine::C(machine) => machine.tol / machine.penalty,
            Machine::Nu(machine) => machine.tol,
        }
    }

    /// The same for fewer samples, which may allow a smaller ν only.
    pub(super) fn feasible_for(self, part: &Part) -> Self {
        match self {
            Machine::C(_) => self,
            Machine::Nu(machine) => Machine::Nu(NuSvm { nu: machine.nu.min(NuSvm::most(part)), ..machine }),
        }
    }
}

/// How two-class machines tell several classes apart.
///
/// ```
/// use lopsided::solvers::svm::MultiClass;
///
/// assert_eq!("ovo".parse::<MultiClass>()?, MultiClass::OneVsOne);
/// assert_eq!(MultiClass::OneVsRest.to_string(), "ovr");
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MultiClass {
    /// A machine for every pair of classes, which learns from their samples alone; they vote.
    #[serde(rename = "ovo")]
    OneVsOne,
    /// A machine for every class against all others; the largest function wins.
    #[serde(rename = "ovr")]
    OneVsRest,
}

words!(MultiClass, "way with several classes": OneVsOne = "ovo", OneVsRest = "ovr");

/// Samples of several classes, all those of K.
///
/// ```
/// use lopsided::solvers::svm::{Classes, MultiClass};
///
/// let classes = Classes { codes: &[0, 2, 1, 2], count: 3, weights: None };
/// assert_eq!(classes.pairs(MultiClass::OneVsOne), [(0, Some(1)), (0, Some(2)), (1, Some(2))]);
/// let part = classes.part((0, Some(2)));
/// assert_eq!((part.places, part.y), (vec![0, 1, 3], vec![1.0, -1.0, -1.0]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Classes<'a> {
    /// Class of each sample, below `count`.
    pub codes: &'a [u32],
    /// Number of classes; some may have no samples.
    pub count: usize,
    /// What each sample counts.
    pub weights: Option<&'a [f64]>,
}

/// Which class a function speaks for, against which other one; `None`: all others.
pub type Pair = (u32, Option<u32>);

/// What one of the machines learned.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The classes it tells apart.
    pub pair: Pair,
    /// Places in K of its samples.
    pub part: Part,
    /// Its function.
    pub solution: SvmSolution,
    /// From values of the function to the probability of the first class.
    pub sigmoid: Option<Sigmoid>,
}

impl Classes<'_> {
    /// All machines, in parallel.
    ///
    /// With `probability` each machine is learned five more times on four fifths of its samples, for [`Sigmoid::fit`].
    ///
    /// # Errors
    /// Those of [`Machine::solve`].
    pub fn learn(
        &self,
        machine: &Machine,
        way: MultiClass,
        probability: bool,
        rows: &RowCache<'_>,
        run: &Run,
    ) -> Result<Vec<Learned>> {
        let pairs = self.pairs(way);
        let rows = rows.shared_by(pairs.len());
        let one = |pair: Pair| {
            let part = self.part(pair);
            let (solution, sigmoid) = self::learn(machine, probability, &rows, &part, run)?;
            Ok(Learned { pair, part, solution, sigmoid })
        };
        pairs.into_par_iter().map(one).collect()
    }

    /// The classes that have samples, and against whom; of two classes one pair is enough.
    pub fn pairs(&self, way: MultiClass) -> Vec<Pair> {
        let present: Vec<u32> = (0..self.count as u32).filter(|c| self.codes.contains(c)).collect();
        if way == MultiClass::OneVsRest && self.count != 2 {
            return (0..self.count as u32).map(|c| (c, None)).collect();
        }
        let after = |at: usize| present[at + 1..].iter().map(move |&b| (at, b));
        (0..present.len()).flat_map(after).map(|(at, b)| (present[at], Some(b))).collect()
    }

    /// The samples of a pair; the first class is +1.
    pub fn part(&self, (first, other): Pair) -> Part {
        let concerned = |i: &usize| other.is_none_or(|other| self.codes[*i] == first || self.codes[*i] == other);
        let places: Vec<usize> = (0..self.codes.len()).filter(concerned).collect();
        Part {
            y: places.iter().map(|&i| if self.codes[i] == first { 1.0 } else { -1.0 }).collect(),
            weights: self.weights.map(|w| places.iter().map(|&i| w[i]).collect()),
            places,
        }
    }
}

fn learn(
    machine: &Machine,
    probability: bool,
    rows: &RowCache<'_>,
    part: &Part,
    run: &Run,
) -> Result<(SvmSolution, Option<Sigmoid>)> {
    let solution = match machine {
        _ if !part.y.contains(&1.0) => absent(part.y.len()),
        machine => machine.solve(rows, part, run)?,
    };
    let judge = |rest: &Part, at: &[usize]| machine.feasible_for(rest).solve(rows, rest, run)?.values(rows, rest, at);
    let held = if probability { Some(held_out(part, run.seed, judge)?) } else { None };
    Ok((solution, held.map(|values| Sigmoid::fit(&values, &part.y))))
}

/// A class without samples is nobody's.
fn absent(samples: usize) -> SvmSolution {
    let coefficients = vec![0.0; samples];
    SvmSolution { coefficients, bias: -1.0, margin: 1.0, steps: 0, verdict: Verdict::measured(0.0, 0.0) }
}

/// A column per class from one per pair: the functions themselves, f and −f for two classes, or the votes with the sum of the
/// functions squeezed between −1/3 and 1/3, so that it decides between equals only.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::solvers::linear_machine::largest_columns;
/// use lopsided::solvers::svm::class_values;
///
/// let pairs = [(0, Some(1)), (0, Some(2)), (1, Some(2))];
/// let values = Mat::from_fn(1, 3, |_, at| [-0.5, 2.0, 1.0][at]); // 1 beats 0, 0 beats 2, 1 beats 2
/// assert_eq!(largest_columns(class_values(values.as_ref(), &pairs, 3).as_ref()), [1]);
/// ```
pub fn class_values(values: MatRef<'_, f64>, pairs: &[Pair], count: usize) -> Mat<f64> {
    if pairs.iter().all(|pair| pair.1.is_none()) {
        return values.to_owned();
    }
    if count == 2 {
        return Mat::from_fn(values.nrows(), 2, |i, c| if c == 0 { values[(i, 0)] } else { -values[(i, 0)] });
    }
    let (mut votes, mut sums) = (Mat::<f64>::zeros(values.nrows(), count), Mat::<f64>::zeros(values.nrows(), count));
    for (at, &(first, other)) in pairs.iter().enumerate() {
        let (a, b) = (first as usize, other.unwrap_or(first) as usize);
        for i in 0..values.nrows() {
            let f = values[(i, at)];
            votes[(i, if f > 0.0 { a } else { b })] += 1.0;
            sums[(i, a)] += f;
            sums[(i, b)] -= f;
        }
    }
    Mat::from_fn(votes.nrows(), count, |i, c| votes[(i, c)] + sums[(i, c)] / (3.0 * (sums[(i, c)].abs() + 1.0)))
}

/// A row of class probabilities for each row of values: pairs are coupled, classes against the rest divided by their sum.
///
/// # Panics
/// If there is not one sigmoid for each column.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::solvers::svm::{Sigmoid, class_probabilities};
///
/// let sigmoid = Sigmoid { slope: -1.0, offset: 0.0 };
/// let pairs = [(0, Some(1)), (0, Some(2)), (1, Some(2))];
/// let p = class_probabilities(Mat::zeros(1, 3).as_ref(), &[sigmoid; 3], &pairs, 3);
/// assert!((0..3).all(|c| (p[(0, c)] - 1.0 / 3.0).abs() < 1e-9)); // nobody beats anybody
/// ```
pub fn class_probabilities(values: MatRef<'_, f64>, sigmoids: &[Sigmoid], pairs: &[Pair], count: usize) -> Mat<f64> {
    assert_eq!(values.ncols(), sigmoids.len(), "one sigmoid for each function");
    let mut out = Mat::zeros(values.nrows(), count);
    for i in 0..values.nrows() {
        let each: Vec<f64> = sigmoids.iter().enumerate().map(|(at, s)| s.probability(values[(i, at)])).collect();
        let row = if pairs.iter().all(|pair| pair.1.is_none()) { shares(each) } else { coupled(&each, pairs, count) };
        row.iter().enumerate().for_each(|(c, p)| out[(i, c)] = *p);
    }
    out
}

fn shares(each: Vec<f64>) -> Vec<f64> {
    let sum: f64 = each.iter().sum();
    each.iter().map(|p| if sum > 0.0 { p / sum } else { 1.0 / each.len() as f64 }).collect()
}
