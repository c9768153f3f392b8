//! From names and data to a fitted model.

use crate::data::Parts;
use lopsided::base::settings::Settings;
use lopsided::estimators::{Fitted, member};
use lopsided::{Result, Run, Scalar};
use numpy::Element;

/// Fits whatever the library lists under this name.
pub(crate) fn fit<T: Scalar + Element>(
    estimator: &str,
    mut given: Settings,
    parts: Parts<T>,
    run: &Run,
) -> Result<Fitted<T>> {
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
    member.build(given, &data)?.fit(data, run)
}
