//! On which of many labelled nodes settings are chosen.
//!
//! A penalty, a share of features and a direction of links cost several fits each, and the best of a few is seen on a part of
//! the labels: beyond a few thousand of them only some nodes take part in the search, and all in the fit that follows.

use super::scoring::no_target;
use crate::base::error::Result;
use crate::base::random::{self, Purpose};
use crate::base::scalar::Scalar;
use crate::data::dataset::{Dataset, Target};
use rand::seq::SliceRandom;
use std::borrow::Cow;

/// Labelled nodes that a search looks at.
pub(super) const SEARCHED: usize = 3000;
/// Members that a class keeps at least, where it has them.
const MEMBERS: usize = 12;

/// The data themselves, or those of about `most` of more labelled nodes: of each class the same share, but a few at least.
pub(super) fn searched<T: Scalar>(data: &Dataset<T>, most: usize, seed: u64) -> Result<Cow<'_, Dataset<T>>> {
    let target = data.y.as_ref().ok_or_else(no_target)?;
    if data.frame.is_none() || target.known().len() <= most {
        return Ok(Cow::Borrowed(data));
    }
    let rows = drawn(target, most, seed);
    Ok(Cow::Owned(Dataset { frame: data.frame.clone(), ..data.rows(&rows) }))
}

/// The share of so many labelled samples that a search looks at.
pub(super) fn share(known: usize, most: usize) -> f64 {
    most.min(known) as f64 / known.max(1) as f64
}

/// What is said of a choice on a part of the labels.
pub(super) fn remark(known: usize, looked_at: usize) -> String {
    if looked_at == known { String::new() } else { format!(", on {looked_at} of {known} labelled nodes") }
}

/// About `most` of the labelled samples, ascending: of each class the same share, but a few at least.
pub(crate) fn drawn(target: &Target, most: usize, seed: u64) -> Vec<usize> {
    let mut order = target.known();
    let known = order.len();
    order.shuffle(&mut random::generator(seed, Purpose::SearchSample));
    let code = |i: usize| if let Target::Classes { codes, .. } = target { codes[i] } else { None };
    order.sort_by_key(|&i| code(i));
    let mut rows: Vec<usize> = order
        .chunk_by(|&a, &b| code(a) == code(b))
        .flat_map(|class| {
            let kept = (class.len() * most).div_ceil(known).max(MEMBERS.min(class.len()));
            class[..kept.min(class.len())].to_vec()
        })
        .collect();
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::graph::{Graph, GraphRule};

    #[test]
    fn classes_keep_their_shares_and_small_ones_a_few() {
        let codes: Vec<Option<u32>> = (0..1000)
            .map(|i| if i % 10 == 0 { None } else { Some(u32::from(i % 4 == 1) + 2 * u32::from(i < 40)) })
            .collect();
        let target = Target::Classes { names: ["a", "b", "c", "d"].map(String::from).to_vec(), codes };
        let rows = drawn(&target, 90, 3);
        assert_eq!(rows, drawn(&target, 90, 3));
        assert!(rows != drawn(&target, 90, 4) && rows.is_sorted());
        let Target::Classes { codes, .. } = &target else { unreachable!() };
        let count = |rows: &[usize], c: u32| rows.iter().filter(|&&i| codes[i] == Some(c)).count();
        let all = target.known();
        for c in 0..4 {
            let (own, part) = (count(&all, c), count(&rows, c));
            assert!(part == own.div_ceil(10).max(own.min(MEMBERS)), "{c}: {part} of {own}");
        }
        let values = Target::Values((0..50).map(f64::from).collect());
        assert_eq!(drawn(&values, 20, 0).len(), 20);
    }

    #[test]
    fn a_search_looks_at_some_nodes_of_many_and_at_all_of_few() {
        let links: Vec<(u32, u32, f64)> = (0..60).map(|i| (i, (i + 1) % 60, 1.0)).collect();
        let graph = Graph::new((0..60).map(|i| i.to_string()).collect(), &links).unwrap();
        let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).unwrap();
        let data = Dataset { y: Some(Target::Values((0..60).map(f64::from).collect())), ..data };
        assert!(matches!(searched(&data, 60, 1).unwrap(), Cow::Borrowed(_)));
        let some = searched(&data, 59, 1).unwrap();
        assert_eq!((some.x.count(), some.x.width(), some.frame.is_some()), (59, data.x.width(), true));
        assert_eq!(some.y.as_ref().unwrap().known().len(), 59);
        let table = Dataset { frame: None, ..data.clone() };
        assert!(matches!(searched(&table, 10, 1).unwrap(), Cow::Borrowed(_)), "rows of a table are all looked at");
    }
}
