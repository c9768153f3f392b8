//! The module `lopsided._core`: arrays in, models out. Everything that a user sees is Python over this.

mod compare;
mod convert;
mod data;
mod error;
mod fit;
mod fitted;
mod links;
mod model;
mod nodes;
mod online;
mod run;
mod shards;
mod stream;

use pyo3::prelude::*;

// The interpreter lock stays declared as used: nothing here has been tested on a free-threaded build.
#[pymodule(gil_used = true)]
mod _core {
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use super::compare::compare;
    #[pymodule_export]
    use super::described;
    #[pymodule_export]
    use super::is_precomputed;
    #[pymodule_export]
    use super::links::held_out;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::model::fit_model;
    #[pymodule_export]
    use super::model::plan;
    #[pymodule_export]
    use super::online::Learner;
    #[pymodule_export]
    use super::registry;
    #[pymodule_export]
    use super::run::Checkpoint;
    #[pymodule_export]
    use super::shards::{shards_begin, shards_finish, shards_merge, shards_part, shards_part_of_files, shards_table};
    #[pymodule_export]
    use super::stream::fit_stream;
}

/// Everything known about the settings of every estimator, as JSON: name, line, range and default of each.
#[pyfunction]
fn described() -> String {
    use lopsided::base::settings::Setting;
    use lopsided::estimators::catalogue;
    use lopsided::estimators::recipe::{COMPAT_SETTINGS, FEATURE_SETTINGS, GRAPH_SETTINGS, SVD_SETTINGS};
    let solvers: Vec<Setting> =
        lopsided::solvers::svd::solvers::<f64>().iter().flat_map(|entry| entry.settings).copied().collect();
    let shared =
        [SVD_SETTINGS.to_vec(), GRAPH_SETTINGS.to_vec(), FEATURE_SETTINGS.to_vec(), COMPAT_SETTINGS.to_vec(), solvers];
    let all: std::collections::BTreeMap<&str, Vec<Setting>> = catalogue::<f64>()
        .into_iter()
        .map(|member| (member.name, [member.settings, shared.concat()].concat()))
        .collect();
    serde_json::json!(all).to_string()
}

/// Whether the input of a kernel is the matrix of its values.
#[pyfunction]
fn is_precomputed(kernel: &str) -> bool {
    lopsided::kernel::KernelSpec::new(kernel).is_precomputed()
}

/// Names, descriptions and parameters of a family: `kernels`, `solvers`, `samplers`, `learners` or `estimators`.
#[pyfunction]
fn registry(family: &str) -> PyResult<Vec<(String, String, Vec<String>)>> {
    use lopsided::base::settings::Setting;
    use lopsided::solvers::landmarks;
    use lopsided::solvers::svd;
    use lopsided::{estimators, kernel, online};
    let row = |name: &str, about: &str, settings: &[Setting]| {
        (name.to_string(), about.to_string(), settings.iter().map(|s| s.name.to_string()).collect())
    };
    Ok(match family {
        "kernels" => kernel::kernels::<f64>().iter().map(|e| row(e.name, e.about, e.settings)).collect(),
        "solvers" => svd::solvers::<f64>().iter().map(|e| row(e.name, e.about, e.settings)).collect(),
        "samplers" => landmarks::samplers::<f64>().iter().map(|e| row(e.name, e.about, e.settings)).collect(),
        "learners" => online::learners().iter().map(|e| row(e.name, e.about, e.settings)).collect(),
        "estimators" => estimators::catalogue::<f64>()
            .iter()
            .map(|member| row(member.name, member.about, &member.settings))
            .collect(),
        other => {
            let allowed = "kernels, solvers, samplers, learners or estimators";
            return Err(error::exception(lopsided::Error::param("family", other, allowed)));
        }
    })
}
