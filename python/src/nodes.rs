//! Nodes of a graph for a model that was fitted with one.

use lopsided::data::graph::{GraphFrame, picked};
use lopsided::data::node_features::NodeFeatures;
use lopsided::{Csr, Dataset, Error, Graph, Result, Samples, Scalar};
use std::collections::HashSet;

/// Both sides of nodes by the links of a graph and their features, a side without links empty; of a node that the model knows the name is enough.
///
/// # Errors
/// [`Error::Param`] for a node that neither the model nor the links know.
pub(crate) fn of<T: Scalar>(
    frame: &GraphFrame,
    graph: Option<&Graph>,
    ids: Vec<String>,
    (known, features): (Option<&Samples<T>>, Option<&NodeFeatures<T>>),
) -> Result<Dataset<T>> {
    let none = || Ok((Vec::new(), Csr::empty(frame.ids.len()), 0));
    let (row_ids, rows, _) = graph.map_or_else(none, |graph| frame.row_samples(graph))?;
    let (col_ids, cols, _) = graph.map_or_else(none, |graph| frame.col_samples(graph))?;
    let described = features.map_or(&[][..], |features| &features.ids[..]);
    let linked: HashSet<&String> = row_ids.iter().chain(&col_ids).chain(&frame.ids).chain(described).collect();
    if let Some(id) = ids.iter().find(|id| !linked.contains(id)) {
        return Err(Error::param("node", id, "one that the model knows or that has links"));
    }
    let with = |links: Csr<T>| frame.with_features(&ids, links, known, features).map(Samples::Sparse);
    let sides = (with(picked(&row_ids, &rows, &ids))?, with(picked(&col_ids, &cols, &ids))?);
    Ok(Dataset { row_ids: Some(ids), ..Dataset::two_sided(sides.0, sides.1) })
}
