//! From names and data to a fitted model.

use crate::data::Parts;
use crate::features;
use crate::fitted::Fitted;
use crate::settings::{Settings, Usual};
use lopsided::estimators::{Approximation, KernelPca, KernelPcaModel, Model, Recipe, estimators};
use lopsided::kernel::Gamma;
use lopsided::{Biclustering, Compat, Compatibility, Dataset, Error, KernelSvdModel, Result, Run, Scalar};
use numpy::Element;

/// Fits `embed`, `bicluster`, `kpca` or an estimator of the list.
pub(crate) fn fit<T: Scalar + Element>(
    estimator: &str,
    mut settings: Settings,
    parts: Parts<T>,
    run: &Run,
) -> Result<Fitted<T>> {
    match estimator {
        "embed" => {
            let data = parts.dataset(&mut settings, run)?;
            embed(settings, data, run).map(Fitted::Embedding)
        }
        "bicluster" => bicluster(settings, parts, run),
        "kpca" => {
            let data = parts.dataset(&mut settings, run)?;
            components(settings, &data, run).map(Fitted::Components)
        }
        "features" => {
            let data = parts.dataset(&mut settings, run)?;
            features::fit(settings, data, run).map(Fitted::Components)
        }
        name => predictor(name, settings, parts, run).map(Fitted::Predictor),
    }
}

fn embed<T: Scalar>(mut settings: Settings, data: Dataset<T>, run: &Run) -> Result<KernelSvdModel<T>> {
    let usual = Usual { gamma: Gamma::Scale, gamma_factor: 1.0, rank: 16 };
    // A matrix that is G itself has as many columns as its rows are wide.
    let columns = if settings.is("kernel", "precomputed") { data.x.width() } else { data.cols().count() };
    let svd = settings.svd::<T>(&usual, false, data.x.count().min(columns).max(1))?;
    nothing_left(settings)?;
    svd.fit(data, run)
}

fn bicluster<T: Scalar + Element>(mut settings: Settings, parts: Parts<T>, run: &Run) -> Result<Fitted<T>> {
    let compat = settings.compat()?;
    let a = parts.dataset(&mut settings, run)?.x;
    let row_clusters = settings.count("row-clusters")?.unwrap_or(2);
    let col_clusters = settings.count("col-clusters")?.unwrap_or(row_clusters);
    let unit_rows = settings.flag("unit-rows")?.unwrap_or(true);
    let unit_features = settings.flag("unit-features")?.unwrap_or(false);
    let restarts = settings.count("restarts")?.unwrap_or(10);
    let usual = Usual { gamma: Gamma::Median, gamma_factor: 1.0, rank: 20.max(row_clusters).max(col_clusters) };
    let svd = settings.svd::<T>(&usual, false, a.count().min(a.width()).max(1))?;
    nothing_left(settings)?;
    let default = if svd.kernel.name == "precomputed" { Compat::None } else { Compat::Pca };
    let compat = compat.unwrap_or(Compatibility::new(default));
    let machine = Biclustering { row_clusters, col_clusters, svd, compat, unit_rows, unit_features, restarts };
    let found = machine.fit(a, run)?;
    Ok(Fitted::Clusters(found.svd, [found.row_clusters, found.col_clusters]))
}

fn components<T: Scalar>(mut settings: Settings, data: &Dataset<T>, run: &Run) -> Result<KernelPcaModel<T>> {
    let usual = Usual { gamma: Gamma::Median, gamma_factor: 1.0, rank: 16 };
    let center = settings.flag("center")?.unwrap_or(true);
    let svd = settings.svd::<T>(&usual, true, data.x.count().max(1))?;
    let mut approximation = Approximation::default();
    for (name, value) in settings.rest() {
        if !approximation.set(&name, &value)? {
            return Err(unknown(&name));
        }
    }
    KernelPca { svd, approximation, center }.fit(data, run)
}

fn predictor<T: Scalar + Element>(
    name: &str,
    mut settings: Settings,
    parts: Parts<T>,
    run: &Run,
) -> Result<Box<dyn Model<T>>> {
    let all = estimators::<T>();
    let known = || all.iter().map(|entry| entry.name.to_string()).collect();
    let entry = all.iter().find(|entry| entry.name == name).ok_or_else(|| Error::Unknown {
        kind: "estimator",
        name: name.into(),
        known: known(),
    })?;
    let compat = settings.compat()?;
    let data = parts.dataset(&mut settings, run)?;
    let recipe = settings.recipe(name, &data)?;
    let table = data.frame.is_none() && data.z.is_none() && recipe.svd.kernel.name != "precomputed";
    let compat = compat.unwrap_or(Compatibility::new(if table { Compat::Pca } else { Compat::None }));
    (entry.build)(Recipe { compat, ..recipe }).with(&settings.rest())?.fit(data, run)
}

fn nothing_left(settings: Settings) -> Result<()> {
    settings.rest().first().map_or(Ok(()), |(name, _)| Err(unknown(name)))
}

fn unknown(name: &str) -> Error {
    Error::param(name, "given", "left out: there is no such setting")
}
