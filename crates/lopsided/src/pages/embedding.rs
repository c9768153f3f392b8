use super::map::{self, Shown};
use super::spectrum;
use crate::base::Run;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::estimators::{KernelSvdModel, Scaling, StreamedModel};
use crate::report::Page;

/// Both embeddings of a kernel SVD: the map, the plain components, the spectrum. `name` is what was embedded.
///
/// # Errors
/// [`crate::Error::Interrupted`].
///
/// # Cost
/// That of the map: n² distances between at most 20 000 samples.
pub fn embedding<T: Scalar>(model: &KernelSvdModel<T>, name: &str, run: &Run) -> Result<Page> {
    page(&model.into(), &model.kernel.name, name, run)
}

/// The same of an embedding out of core, whose samples are known by their numbers.
///
/// # Errors
/// [`crate::Error::Interrupted`].
pub fn streamed<T: Scalar>(model: &StreamedModel<T>, scaling: Scaling, name: &str, run: &Run) -> Result<Page> {
    page(&Shown { svd: &model.svd, scaling, data: None, one_set: false }, &model.kernel.name, name, run)
}

fn page<T: Scalar>(shown: &Shown<'_, T>, kernel: &str, name: &str, run: &Run) -> Result<Page> {
    let lead =
        "Each row sample and each column sample has a place of its own, found from one kernel matrix G = U Σ Vᵀ.";
    let svd = shown.svd;
    let facts = [
        ("rows and columns", format!("{} × {}", svd.u.nrows(), svd.v.nrows())),
        ("components", svd.sigma.len().to_string()),
        ("kernel", kernel.to_string()),
        ("largest residual", format!("{:.0e}", svd.report.residual())),
    ];
    let page = Page::new(&format!("Embedding of {name}"), lead).facts(&facts);
    Ok(spectrum::section(map::sections(page, shown, None, run)?, svd))
}
