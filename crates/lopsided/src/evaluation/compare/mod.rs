//! Whether asymmetry pays: methods that see a direction beside methods that do not, on the same splits.
//!
//! 1. The labelled samples are dealt into folds, several times over; every fold is a test part once, the others are its training part.
//! 2. Every [`Contender`](contenders) has the same budget of candidates, and chooses among them by parts of the training part alone.
//! 3. Of each family, with and without asymmetry, the contender with the best score in those parts is sent to the test part: the
//!    best of a family is never chosen by what is then reported.
//! 4. The differences of both families over all test parts give a mean, an interval that knows that training parts overlap, and a
//!    [`Decision`].
//!
//! | file | what is in it |
//! | --- | --- |
//! | `contenders` | who takes part, with which candidates |
//! | `parts` | test parts, training parts and parts of these |
//! | `nodes` | features of all nodes, which all splits share |
//! | `machines` | everything else, learned anew for each part |
//! | `asymmetry` | how asymmetric the data are |
//! | `decision` | the interval and the rule |
//! | `found` | what comes out |
//! | `plan` | what all of it would take |

mod asymmetry;
mod contenders;
mod decision;
mod found;
mod machines;
mod nodes;
mod parts;
mod plan;

pub use asymmetry::Asymmetry;
pub use contenders::Family;
pub use decision::{Decision, Difference};
pub use found::{Compared, Method};

use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::settings::Settings;
use crate::base::watch::Progress;
use crate::data::dataset::{Dataset, Target};
use crate::data::graph::Graph;
use crate::estimators::Point;
use crate::estimators::scoring::no_target;
use contenders::Contender;
use parts::Parts;
use std::time::Instant;

/// More folds, repeats or parts than this are a mistake.
const MOST: usize = 100;

/// A comparison of methods that see a direction with methods that do not.
///
/// The score is the share of right classes, or R² of values. For the nodes of a graph the difference between both families is the
/// direction of links; for the rows of a table it is the kernel: rows against columns, or normalised by rows, against
/// kernels that are symmetric.
///
/// ```
/// use lopsided::data::synth::CyclicGraph;
/// use lopsided::evaluation::{Comparison, Decision};
/// use lopsided::{Run, Target};
///
/// // Classes on a cycle, which show in the direction of links only.
/// let (graph, classes) = CyclicGraph { nodes: 160, degree: 12.0, contrast: 1.0, ..CyclicGraph::default() }.generate()?;
/// let names = (0..4).map(|c| c.to_string()).collect();
/// let target = Target::Classes { names, codes: classes.into_iter().map(Some).collect() };
/// let found = Comparison { repeats: 1, ..Comparison::default() }.nodes(&graph, target, &Run::default())?;
/// assert_eq!(found.verdict, Decision::Pays);
/// assert!(found.difference.low > 0.0 && found.asymmetry.reciprocated == Some(0.0));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Test parts of each repeat.
    pub folds: usize,
    /// How often the samples are dealt anew.
    pub repeats: usize,
    /// Parts of a training part by which candidates are chosen.
    pub inner: usize,
    /// A gain below this is no gain.
    pub margin: f64,
    /// Labelled samples that take part at most; of more, some of each class.
    pub most: usize,
}

impl Default for Comparison {
    /// 2 times 5 folds, 3 parts inside, a margin of 0.01, 1500 samples.
    fn default() -> Self {
        Comparison { folds: 5, repeats: 2, inner: 3, margin: 0.01, most: 1500 }
    }
}

/// What is compared.
enum Subject<'a> {
    Nodes(&'a Graph),
    Rows(&'a Dataset<f64>),
}

/// What one contender did on one split.
struct Trial {
    /// Its best candidate.
    settings: Settings,
    /// The mean score of that in the parts of the training part.
    validation: f64,
    /// Its score on the test part.
    test: f64,
}

impl Comparison {
    /// Whether the direction of links pays, for classes or values of nodes.
    ///
    /// # Errors
    /// [`Error::Param`] for settings that cannot be used and too few labels, [`Error::Interrupted`], and those of the estimators.
    pub fn nodes(&self, graph: &Graph, target: Target, run: &Run) -> Result<Compared> {
        if target.count() != graph.nodes() {
            return Err(Error::shape("number of labels", graph.nodes(), target.count()));
        }
        self.run(&Subject::Nodes(graph), target, run)
    }

    /// Whether asymmetric kernels of the rows of a table pay, for the target of the data.
    ///
    /// # Errors
    /// Those of [`Comparison::nodes`].
    pub fn rows(&self, data: &Dataset<f64>, run: &Run) -> Result<Compared> {
        self.check()?;
        let target = data.y.clone().ok_or_else(no_target)?;
        let parts = Parts::of(self, &target, run.seed)?;
        let data = data.rows(&parts.samples);
        let target = data.y.clone().ok_or_else(no_target)?;
        let labelled = parts.labelled;
        let found = self.run(&Subject::Rows(&data), target, run)?;
        Ok(Compared { labelled, ..found })
    }

    fn run(&self, subject: &Subject<'_>, target: Target, run: &Run) -> Result<Compared> {
        target.refuse_several()?;
        self.check()?;
        let parts = Parts::of(self, &target, run.seed)?;
        let contenders = contenders_of(subject, &parts);
        let silent = Run { watch: run.watch.silent(), ..run.clone() };
        let mut results = Vec::new();
        for (done, contender) in contenders.iter().enumerate() {
            let (done, total) = (done as u64, contenders.len() as u64);
            run.watch.report(Progress { stage: contender.name, done, total, residual: None })?;
            let start = Instant::now();
            let trials = match subject {
                Subject::Nodes(graph) if contender.embeds() => {
                    nodes::trials(contender, graph, &target, &parts, &silent)
                }
                Subject::Nodes(graph) => machines::of_nodes(contender, graph, &target, &parts, &silent),
                Subject::Rows(data) => machines::of_rows(contender, data, &target, &parts, &silent),
            }?;
            results.push((contender, trials, start.elapsed().as_secs_f64()));
        }
        let asymmetry = match subject {
            Subject::Nodes(graph) => Asymmetry::of_graph(graph, &silent)?,
            Subject::Rows(data) => Asymmetry::of_rows(data, &silent)?,
        };
        Ok(found::summed_up(self, asymmetry, &target, &parts, results))
    }

    fn check(&self) -> Result<()> {
        for (name, value, least) in [("folds", self.folds, 2), ("inner", self.inner, 2), ("repeats", self.repeats, 1)] {
            if !(least..=MOST).contains(&value) {
                return Err(Error::param(name, value, format!("between {least} and {MOST}")));
            }
        }
        if !(self.margin >= 0.0 && self.margin < 1.0) {
            return Err(Error::param("margin", self.margin, "at least 0 and below 1"));
        }
        Ok(())
    }
}

fn contenders_of(subject: &Subject<'_>, parts: &Parts) -> Vec<Contender> {
    match subject {
        Subject::Nodes(graph) => contenders::of_nodes(graph.nodes()),
        Subject::Rows(data) => contenders::of_rows(data.x.width(), parts.smallest()),
    }
}

/// A point with the settings of its matrix.
fn joined(matrix: &Settings, point: &Point) -> Settings {
    matrix.clone().and(point)
}

#[cfg(test)]
mod tests;
