//! The table of nkm-1.

use super::{Line, SetReport};
use lopsided::evaluation::Spread;
use std::fmt::Write as _;

/// The table of one set.
pub(in super::super) fn text(set: &SetReport) -> String {
    let mut out = format!(
        "{}: {} rows to learn from, {} to test on, {} columns, {} classes; gamma factor {}, penalty {} (svm: {}), nu {}, {} components\n",
        set.name,
        set.rows,
        set.test_rows,
        set.columns,
        set.classes,
        set.gamma_factor,
        set.penalty,
        set.svm_penalty,
        set.nu.map_or("none".into(), |nu| nu.to_string()),
        set.rank
    );
    for exact in &set.exact {
        let _ = writeln!(
            out,
            "exact {:6}  |f*| {:.4}, accuracy {:.4}, {:.2} s",
            exact.machine, exact.norm, exact.accuracy, exact.seconds
        );
    }
    out += "machine sampler        share  error lla          error gsa          accuracy lla     accuracy gsa     seconds lla, gsa\n";
    for pair in set.lines.chunks(2) {
        let [lla, gsa] = pair else { continue };
        let _ = writeln!(
            out,
            "{:7} {:13} {:5.1}%  {:18} {:18} {:16} {:16} {:.3}, {:.3}",
            lla.machine,
            lla.sampler,
            100.0 * lla.ratio,
            spread(lla.error),
            spread(gsa.error),
            spread(lla.accuracy),
            spread(gsa.accuracy),
            lla.seconds.mean,
            gsa.seconds.mean
        );
    }
    out += "NCR is LLA here: the basis is the standard one.\n";
    for exact in &set.exact {
        out += &frontier(set, exact.machine);
    }
    for file in &set.files {
        let _ = writeln!(out, "written: {}", file.display());
    }
    out
}

fn spread(s: Spread) -> String {
    format!("{:.4} ± {:.4}", s.mean, s.deviation)
}

/// The lines that nothing beats in accuracy and time, fastest first.
fn frontier(set: &SetReport, machine: &str) -> String {
    let mut best: Vec<&Line> = set.lines.iter().filter(|line| line.frontier && line.machine == machine).collect();
    best.sort_by(|a, b| a.seconds.mean.total_cmp(&b.seconds.mean));
    let each = best.iter().map(|line| {
        let Line { sampler, approach, landmarks, .. } = line;
        format!("{sampler}/{approach} m={landmarks}: {:.4} in {:.3} s", line.accuracy.mean, line.seconds.mean)
    });
    format!("frontier of {machine}: {}\n", each.collect::<Vec<_>>().join("; "))
}
