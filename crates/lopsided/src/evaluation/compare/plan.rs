//! What a comparison would take.

use super::contenders::Contender;
use super::machines::{entrants_of_nodes, entrants_of_rows};
use super::nodes::planned;
use super::parts::Parts;
use super::{Comparison, Subject, contenders_of};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::dataset::{Dataset, Target};
use crate::data::graph::Graph;
use crate::estimators::scoring::no_target;
use crate::estimators::{Estimator, Plan};

impl Comparison {
    /// What [`Comparison::nodes`] would do: the largest of its fits, with the seconds of all.
    ///
    /// # Errors
    /// Those of the estimators' plans.
    pub fn plan_nodes(&self, graph: &Graph, target: &Target, run: &Run) -> Result<Plan> {
        self.plan(&Subject::Nodes(graph), target, run)
    }

    /// The same of [`Comparison::rows`].
    ///
    /// # Errors
    /// Those of the estimators' plans.
    pub fn plan_rows(&self, data: &Dataset<f64>, run: &Run) -> Result<Plan> {
        let target = data.y.clone().ok_or_else(no_target)?;
        self.plan(&Subject::Rows(data), &target, run)
    }

    fn plan(&self, subject: &Subject<'_>, target: &Target, run: &Run) -> Result<Plan> {
        self.check()?;
        target.refuse_several()?;
        let parts = Parts::of(self, target, run.seed)?;
        let mut plans = Vec::new();
        for contender in contenders_of(subject, &parts) {
            plans.extend(match subject {
                Subject::Nodes(graph) if contender.embeds() => planned(&contender, graph, run)?,
                Subject::Nodes(graph) => {
                    let entrants = entrants_of_nodes(&contender, graph, target, &parts, run)?;
                    self.learned(&contender, entrants.iter().map(|e| (&*e.estimator, &e.data)), &parts, run)?
                }
                Subject::Rows(data) => {
                    let some = data.rows(&parts.samples);
                    let entrants = entrants_of_rows(&contender, &some)?;
                    self.learned(&contender, entrants.iter().map(|e| (&*e.estimator, &e.data)), &parts, run)?
                }
            });
        }
        let seconds = plans.iter().map(|plan| plan.seconds).sum();
        let largest = plans.into_iter().reduce(|a, b| if b.bytes > a.bytes { b } else { a });
        let largest = largest.ok_or_else(|| Error::param("methods", "none", "at least one"))?;
        Ok(Plan { seconds, ..largest })
    }

    /// Fits of every split: those of the candidates on the inner parts, and the one of the best.
    fn learned<'a, T: Scalar>(
        &self,
        contender: &Contender,
        entrants: impl Iterator<Item = (&'a dyn Estimator<T>, &'a Dataset<T>)>,
        parts: &Parts,
        run: &Run,
    ) -> Result<Vec<Plan>> {
        let outer = 1.0 - 1.0 / self.folds as f64;
        let inner = outer * (1.0 - 1.0 / self.inner as f64);
        let one = |(estimator, data): (&dyn Estimator<T>, &Dataset<T>)| {
            let estimator = estimator.with(&contender.points[0])?;
            let plan = estimator.plan(data, run)?;
            let search = self.inner as f64 * estimator.validate_seconds(&plan, contender.points.len(), inner);
            let last = estimator.validate_seconds(&plan, 1, outer) / contender.matrices.len() as f64;
            Ok(Plan { seconds: parts.splits.len() as f64 * (search + last), ..plan })
        };
        entrants.map(one).collect()
    }
}
