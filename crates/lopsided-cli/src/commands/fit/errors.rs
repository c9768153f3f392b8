//! What `--errors` tells.

use lopsided::estimators::MachineErrors;
use lopsided::report::text;

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
        format!(" ({} to {} with 95 % confidence)", text::number(low), text::number(high))
    });
    let [spectral, trace, frobenius] = [gram.spectral, gram.trace, gram.frobenius].map(text::number);
    lines.push(("K - K̃", format!("spectral {spectral}, trace {trace}, Frobenius {frobenius}{interval}")));
    lines.push(("K", format!("spectral {}", text::number(gram.kernel_spectral))));
    lines
}

fn each(values: &[f64]) -> String {
    values.iter().map(|v| text::number(*v)).collect::<Vec<_>>().join(" ")
}
