//! From names and data to a fitted model.

use crate::data::Parts;
use crate::features;
use crate::fitted::Fitted;
use lopsided::base::settings::Settings;
use lopsided::estimators::recipe;
use lopsided::{Result, Run, Scalar};
use numpy::Element;

/// Fits `embed`, `bicluster`, `kpca`, `features` or an estimator of the list.
pub(crate) fn fit<T: Scalar + Element>(
    estimator: &str,
    mut given: Settings,
    parts: Parts<T>,
    run: &Run,
) -> Result<Fitted<T>> {
    match estimator {
        "embed" => {
            let data = parts.compared(&mut given, run)?;
            recipe::embedding(given, &data, false)?.fit(data, run).map(Fitted::Embedding)
        }
        "bicluster" => {
            let a = parts.dataset(&mut given, run)?.x;
            let found = recipe::biclustering::<T>(given, (a.count(), a.width()))?.fit(a, run)?;
            Ok(Fitted::Clusters(found.svd, [found.row_clusters, found.col_clusters]))
        }
        "kpca" => {
            let data = parts.dataset(&mut given, run)?;
            recipe::components(given, &data)?.fit(&data, run).map(Fitted::Components)
        }
        "features" => {
            let data = parts.dataset(&mut given, run)?;
            features::fit(given, data, run).map(Fitted::Components)
        }
        name => {
            let data = parts.dataset(&mut given, run)?;
            recipe::estimator(name, given, &data)?.1.fit(data, run).map(Fitted::Predictor)
        }
    }
}
