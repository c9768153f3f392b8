//! From names and data to a fitted model.

use crate::data::Parts;
use lopsided::base::settings::Settings;
use lopsided::estimators::{Fitted, Learn, member};
use lopsided::{Dataset, Result, Run, Scalar};
use numpy::Element;

/// Fits whatever the library lists under this name.
pub(crate) fn fit<T: Scalar + Element>(
    estimator: &str,
    given: Settings,
    parts: Parts<T>,
    run: &Run,
) -> Result<Fitted<T>> {
    let (learner, data) = built(estimator, given, parts, run)?;
    learner.fit(data, run)
}

/// What a fit would do and cost, as JSON with the fields of `lopsided fit --dry-run --json`.
pub(crate) fn plan<T: Scalar + Element>(
    estimator: &str,
    given: Settings,
    parts: Parts<T>,
    run: &Run,
) -> Result<serde_json::Value> {
    let (learner, data) = built(estimator, given, parts, run)?;
    let plan = learner.plan(&data, run)?;
    Ok(serde_json::json!({
        "n": plan.size.0, "m": plan.size.1, "kernel": plan.kernel.name, "gamma": plan.kernel.params.get("gamma"),
        "operator": plan.operator.name(), "solver": plan.solver.solver, "bytes": plan.bytes,
        "seconds": plan.seconds, "precision": T::NAME, "memory": lopsided::operator::available_memory(),
        "device": plan.operator.place.device.to_string(),
        "why": {"operator": plan.operator.why, "solver": plan.solver.why, "device": plan.operator.place.why},
    }))
}

/// What learns, and what it learns from.
type Built<T> = (Box<dyn Learn<T>>, Dataset<T>);

fn built<T: Scalar + Element>(estimator: &str, mut given: Settings, parts: Parts<T>, run: &Run) -> Result<Built<T>> {
    let member = member::<T>(estimator)?;
    // What only embeds compares the rows of a matrix with its columns if something is said about them; the others do so
    // themselves.
    let embeds = member.can.transform_cols && !member.can.predict && !member.can.clusters;
    // Users of scikit-learn scale in a pipeline of their own.
    if member.can.predict && given.value("scale").is_none() {
        given = given.with("scale", "none");
    }
    let usual = &member.nodes;
    let data = if embeds { parts.compared(&mut given, usual, run)? } else { parts.dataset(&mut given, usual, run)? };
    Ok((member.build(given, &data)?, data))
}
