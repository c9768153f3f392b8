//! Singular values: how fast they fall, where they stop, how sure they are.

use crate::base::scalar::Scalar;
use crate::report::text::number;
use crate::report::{Page, svg};
use crate::solvers::svd::Svd;
use std::fmt::Write;

/// Values that differ by less than this share coincide, whatever their residuals.
const EQUAL: f64 = 1e-6;
/// A first value so many times the second stands alone.
const ABOVE: f64 = 10.0;

/// Values and residuals as figures, with gaps and coinciding values as a table.
pub(super) fn section<T: Scalar>(page: Page, svd: &Svd<T>) -> Page {
    let sigma: Vec<f64> = svd.sigma.iter().map(|s| s.as_f64()).collect();
    let residuals = svd.report.residuals();
    let hidden = dominated(&sigma);
    let title = if hidden { "Singular values of G from the second on" } else { "Singular values of G" };
    let figures = [
        svg::spectrum(&sigma[usize::from(hidden)..], title),
        svg::sequence(residuals, "Residual of each triplet, beside its value", "residual"),
    ];
    let crowds = crowds(&sigma, residuals);
    let page = page.section("Spectrum").figures(&figures, &[], &said(&sigma, &crowds, hidden));
    let header = ["component", "singular value", "falls by", "residual", "remark"];
    page.fold("All values", |page| page.table("Singular values", &header, &rows(&sigma, residuals, &crowds)))
}

/// Whether the first value would hide the others: without centring it often is that of a constant.
fn dominated(sigma: &[f64]) -> bool {
    sigma.len() > 3 && sigma[0] > ABOVE * sigma[1]
}

/// First and last place of values that cannot be told apart.
fn crowds(sigma: &[f64], residuals: &[f64]) -> Vec<(usize, usize)> {
    let error = |k: usize| residuals.get(k).copied().unwrap_or(0.0).max(EQUAL);
    let together = |k: usize| (sigma[k] - sigma[k + 1]).abs() <= 2.0 * error(k).max(error(k + 1)) * sigma[k];
    let mut out: Vec<(usize, usize)> = Vec::new();
    for k in (0..sigma.len().saturating_sub(1)).filter(|&k| together(k)) {
        match out.last_mut() {
            Some(last) if last.1 == k => last.1 = k + 1,
            _ => out.push((k, k + 1)),
        }
    }
    out
}

/// The share by which the value after this one is smaller.
fn gap(sigma: &[f64], k: usize) -> Option<f64> {
    let next = sigma.get(k + 1)?;
    (sigma[k] > 0.0).then(|| 1.0 - next / sigma[k])
}

fn said(sigma: &[f64], crowds: &[(usize, usize)], hidden: bool) -> String {
    let gaps = (usize::from(hidden)..sigma.len()).filter_map(|k| Some((k, gap(sigma, k)?)));
    let largest = gaps.reduce(|a, b| if b.1 > a.1 { b } else { a });
    let mut out = format!("{} components were asked for or found.", sigma.len());
    if hidden {
        let _ =
            write!(out, " The first value, {}, is far above the others and left out of the figure.", number(sigma[0]));
    }
    if let Some((k, share)) = largest {
        let _ = write!(out, " The widest gap, {:.0} %, is after component {}.", 100.0 * share, k + 1);
    }
    if let Some((first, last)) = crowds.first() {
        let more = if crowds.len() > 1 { format!(", and {} other groups", crowds.len() - 1) } else { String::new() };
        let _ =
            write!(out, " Values {} to {}{more} coincide: their vectors are one choice of many.", first + 1, last + 1);
    }
    out
}

fn rows(sigma: &[f64], residuals: &[f64], crowds: &[(usize, usize)]) -> Vec<Vec<String>> {
    let remark = |k: usize| {
        let crowd = crowds.iter().find(|(first, last)| (*first..=*last).contains(&k));
        crowd.map_or(String::new(), |(first, last)| format!("coincides with {} to {}", first + 1, last + 1))
    };
    let row = |k: usize| {
        let gap = gap(sigma, k).map_or("—".into(), |share| format!("{:.1} %", 100.0 * share));
        let residual = residuals.get(k).map_or("—".into(), |r| format!("{r:.1e}"));
        vec![(k + 1).to_string(), number(sigma[k]), gap, residual, remark(k)]
    };
    (0..sigma.len()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_within_their_errors_coincide() {
        let sigma = [5.0, 3.0, 3.0 - 1e-9, 3.0 - 2e-9, 2.0, 1.9];
        assert_eq!(crowds(&sigma, &[1e-12; 6]), [(1, 3)]);
        assert_eq!(crowds(&sigma, &[0.05; 6]), [(1, 3), (4, 5)]);
        assert!(crowds(&[], &[]).is_empty() && crowds(&[1.0], &[]).is_empty());
    }

    #[test]
    fn the_widest_gap_is_named() {
        let said = said(&[4.0, 1.0, 0.9], &[], false);
        assert!(said.contains("75 %, is after component 1"), "{said}");
        let alone = [400.0, 1.0, 0.9, 0.5];
        assert!(dominated(&alone) && !dominated(&alone[1..]));
        assert!(super::said(&alone, &[], true).contains("44 %, is after component 3"));
    }
}
