//! The page of `embed --report`.

use super::summary::Summary;
use crate::report::{Page, svg};
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
        .figures(&panels(model), &legend(model), "The first two components of both sides.")
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
    let same_nodes = model.data.frame.is_some();
    let panel = |side: Side, title: &str, letter: &str, coloured: bool| {
        let codes = classes.as_ref().filter(|_| coloured).map(|c| c.codes.as_slice());
        let axes = (format!("{letter}1"), format!("{letter}2"));
        svg::scatter(&points(&model.embedding(side)), codes, title, (&axes.0, &axes.1))
    };
    vec![panel(Side::Row, "Rows (U)", "u", true), panel(Side::Col, "Columns (V)", "v", same_nodes)]
}

fn points<T: Scalar>(embedding: &Mat<T>) -> Vec<(f64, f64)> {
    let second = |i| if embedding.ncols() > 1 { embedding[(i, 1)].as_f64() } else { 0.0 };
    (0..embedding.nrows()).map(|i| (embedding[(i, 0)].as_f64(), second(i))).collect()
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
