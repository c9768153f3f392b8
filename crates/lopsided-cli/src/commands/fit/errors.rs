//! What `--errors` tells.

use crate::talk;
use lopsided::estimators::MachineErrors;

/// Lines for people.
pub(super) fn lines(errors: &MachineErrors) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(found) = &errors.solution {
        lines.push(("distance of lla", format!("{}, at most {}", each(&found.lla), each(&found.bound))));
        lines.push(("distance of gsa", each(&found.gsa)));
        lines.push(("size of exact", each(&found.exact_norm)));
    }
    let gram = &errors.gram;
    let interval = gram.frobenius_interval.map_or(String::new(), |(low, high)| {
        format!(" ({} to {} with 95 % confidence)", talk::number(low), talk::number(high))
    });
    let [spectral, trace, frobenius] = [gram.spectral, gram.trace, gram.frobenius].map(talk::number);
    lines.push(("K - K̃", format!("spectral {spectral}, trace {trace}, Frobenius {frobenius}{interval}")));
    lines.push(("K", format!("spectral {}", talk::number(gram.kernel_spectral))));
    lines
}

fn each(values: &[f64]) -> String {
    values.iter().map(|v| talk::number(*v)).collect::<Vec<_>>().join(" ")
}
