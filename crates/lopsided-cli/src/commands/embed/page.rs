//! The page of `embed --report`.

use super::summary::Summary;
use lopsided::report::{Page, svg};
use lopsided::{KernelSvdModel, Mat, Scalar, Side, Target};
use std::path::Path;

/// The classes of the rows: their names, and a code for each row.
struct Classes {
    names: Vec<String>,
    codes: Vec<u32>,
}

/// Summary, spectrum and both embeddings.
pub(super) fn html<T: Scalar>(model: &KernelSvdModel<T>, summary: &Summary, input: &Path) -> String {
    let name = input.file_name().map_or_else(|| "the input".into(), |name| name.to_string_lossy());
    let lead =
        "Each row sample and each column sample has a place of its own, found from one kernel matrix G = U Σ Vᵀ.";
    let rows: Vec<Vec<String>> = summary.lines().into_iter().map(|(label, value)| vec![label.into(), value]).collect();
    Page::new(&format!("Embedding of {name}"), lead)
        .figures(&panels(model), &legend(model), caption(model))
        .section("Spectrum")
        .figures(&[svg::spectrum(&summary.singular_values, "Singular values of G")], &[], "")
        .section("Summary")
        .table("How the embedding was computed", &["what", "value"], &rows)
        .html()
}

fn panels<T: Scalar>(model: &KernelSvdModel<T>) -> Vec<String> {
    if model.singular_values().is_empty() {
        return Vec::new();
    }
    let classes = classes(model);
    let first = first_component(model);
    let same_nodes = model.data.frame.is_some();
    let panel = |side: Side, title: &str, letter: &str, coloured: bool| {
        let codes = classes.as_ref().filter(|_| coloured).map(|c| c.codes.as_slice());
        let axes = (format!("{letter}{}", first + 1), format!("{letter}{}", first + 2));
        svg::scatter(&points(&model.embedding(side), first), codes, title, (&axes.0, &axes.1))
    };
    vec![panel(Side::Row, "Rows (U)", "u", true), panel(Side::Col, "Columns (V)", "v", same_nodes)]
}

fn caption<T: Scalar>(model: &KernelSvdModel<T>) -> &'static str {
    match first_component(model) {
        0 => "The first two components of both sides.",
        _ => "The second and third component of both sides; the first is nearly the same for all rows.",
    }
}

/// The first component worth a picture: without centring the leading one often is a constant.
fn first_component<T: Scalar>(model: &KernelSvdModel<T>) -> usize {
    let u = &model.svd.u;
    if u.ncols() < 3 {
        return 0;
    }
    let sum: f64 = u.col(0).iter().map(|v| v.as_f64()).sum();
    usize::from(sum * sum > 0.9 * u.nrows() as f64)
}

fn points<T: Scalar>(embedding: &Mat<T>, first: usize) -> Vec<(f64, f64)> {
    let value = |i, j| if j < embedding.ncols() { embedding[(i, j)].as_f64() } else { 0.0 };
    (0..embedding.nrows()).map(|i| (value(i, first), value(i, first + 1))).collect()
}

fn legend<T: Scalar>(model: &KernelSvdModel<T>) -> Vec<String> {
    classes(model).map(|classes| classes.names).unwrap_or_default()
}

/// Classes for colouring; samples without a label get a class of their own.
fn classes<T: Scalar>(model: &KernelSvdModel<T>) -> Option<Classes> {
    let Some(Target::Classes { names, codes }) = &model.data.y else { return None };
    let mut names = names.clone();
    let unknown = names.len() as u32;
    if codes.contains(&None) {
        names.push("without label".into());
    }
    Some(Classes { names, codes: codes.iter().map(|code| code.unwrap_or(unknown)).collect() })
}
