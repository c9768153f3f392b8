use super::{map, spectrum};
use crate::base::Run;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::estimators::KernelSvdModel;
use crate::report::Page;

/// Both embeddings of a kernel SVD: the map, the plain components, the spectrum. `name` is what was embedded.
///
/// # Errors
/// [`crate::Error::Interrupted`].
///
/// # Cost
/// That of the map: n² distances between at most 20 000 samples.
pub fn embedding<T: Scalar>(model: &KernelSvdModel<T>, name: &str, run: &Run) -> Result<Page> {
    let lead =
        "Each row sample and each column sample has a place of its own, found from one kernel matrix G = U Σ Vᵀ.";
    let ((n, m), report) = (model.size(), model.report());
    let facts = [
        ("rows and columns", format!("{n} × {m}")),
        ("components", model.singular_values().len().to_string()),
        ("kernel", model.kernel.name.clone()),
        ("largest residual", format!("{:.0e}", report.residual())),
    ];
    let page = Page::new(&format!("Embedding of {name}"), lead).facts(&facts);
    Ok(spectrum::section(map::sections(page, model, None, run)?, model))
}
