//! From options to settings, and to what can be checked before any file is read.

use crate::args::Given;
use crate::context::Context;
use crate::failure::hinted;
use anyhow::Result;
use lopsided::base::settings::Settings;
use lopsided::estimators::recipe::{self, COMPAT_SETTINGS, FEATURE_SETTINGS, GRAPH_SETTINGS, Usual};
use lopsided::kernel::KernelSpec;
use lopsided::{Error, KernelSvd, Scalar};
use std::path::Path;

/// What the user gave: the recipe of a file, over which the command line wins, and the memory that may be used.
pub(crate) fn given<F>(options: &Given<F>, context: &Context) -> Result<Settings> {
    let from_file = options.recipe.as_deref().map(read_recipe).transpose()?.unwrap_or_default();
    let given = from_file.and(&options.settings);
    Ok(context.global.memory.map_or(given.clone(), |bytes| given.with("memory", bytes as f64)))
}

/// Settings as `inspect --recipe` writes them.
fn read_recipe(path: &Path) -> Result<Settings> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
    serde_json::from_str(&text).map_err(|e| {
        let error = Error::parse(path.display().to_string(), format!("is no recipe: {e}"));
        hinted(error, "`lopsided inspect MODEL --recipe` writes one")
    })
}

/// The kernel that was asked for.
pub(crate) fn kernel(given: &Settings, usual: &Usual) -> KernelSpec {
    KernelSpec::new(&given.value("kernel").map_or_else(|| usual.kernel.into(), ToString::to_string))
}

/// The kernel SVD of the settings, checked before any file is read.
pub(crate) fn checked<T: Scalar>(given: &Settings, usual: &Usual, own_landmarks: bool) -> lopsided::Result<KernelSvd> {
    let mut given = given.clone();
    given.take_all(&COMPAT_SETTINGS);
    given.take_all(&GRAPH_SETTINGS);
    given.take_all(&FEATURE_SETTINGS);
    recipe::take_svd::<T>(&mut given, usual, own_landmarks, usize::MAX)
}
