//! \[KSVD\] Figures 4 and 5, as numbers and pictures.

use super::Settings;
use super::ksvd1::PENALTIES;
use super::ksvd4::{Field, Race};
use super::sets::GraphSet;
use super::solvers::{Attempt, Course, Method, NYSTROM, POLISHED};
use crate::tasks::{Grid, Summary, Trial, summarize};
use crate::{Desk, Picture};
use lopsided::base::file::write_atomically;
use lopsided::base::settings::Settings as Given;
use lopsided::kernel::{Gamma, KernelSpec};
use lopsided::operator::{KernelMatrix, Operator};
use lopsided::report::svg::{self, Series};
use lopsided::solvers::landmarks::{self, Sampler, Uniform};
use lopsided::solvers::svd::{Nystrom, SvdSolver, solver};
use lopsided::{Error, Features, Result, Run, Scaling, Side};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Accuracy of Figure 4.
const ETA: f64 = 0.01;
/// Bandwidths of Figure 4; a wide one makes singular values fall faster.
const WIDTHS: [f64; 8] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.5, 2.0];
/// Components of each side in Figure 5.
const COMPONENTS: usize = 100;
/// Landmarks of Figure 5 in multiples of the components.
const MULTIPLES: [usize; 5] = [1, 2, 4, 8, 16];
/// Bandwidths of Figure 5 to choose from.
const FACTORS: [f64; 3] = [2.0, 5.0, 10.0];

/// Computes and writes both figures and all attempts of the races.
pub(super) fn write(
    folder: &Path,
    name: &str,
    set: &GraphSet,
    field: &Field<'_>,
    races: &[Race],
) -> Result<Vec<PathBuf>> {
    let mut races_of_figure = Vec::new();
    for factor in WIDTHS {
        races_of_figure.push(field.race(name, factor, &[ETA], &takes_part)?);
    }
    let (settings, desk) = (field.settings, field.desk);
    let scores = effect_of_landmarks(set, settings, desk)?;
    let files = [
        ("attempts.csv", attempts(races)),
        ("figure-4.csv", spectrum_table(&races_of_figure)),
        ("figure-4.svg", spectrum_picture(name, &races_of_figure)),
        ("figure-5.csv", score_table(&scores)),
        ("figure-5.svg", score_picture(name, &scores)),
    ];
    files.into_iter().map(|(kind, text)| save(&folder.join(format!("{name}-{kind}")), &text)).collect()
}

/// Writes a file of text; its path.
pub(super) fn save(path: &Path, text: &str) -> Result<PathBuf> {
    write_atomically(path, |out| out.write_all(text.as_bytes()).map_err(|e| Error::io(path, e)))?;
    Ok(path.to_path_buf())
}

/// Every attempt of every method of a race: its error against its seconds.
pub(super) fn error_against_seconds(name: &str, race: &Race) -> Picture {
    let points = |course: &Course| -> Vec<(f64, f64)> {
        let point = |attempt: &Attempt| (course.build_seconds + attempt.seconds, attempt.accuracy.eta);
        let mut points: Vec<_> = course.attempts.iter().map(point).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    };
    let series = |(class, course): (u32, &Course)| Series { class, points: points(course), dashed: false };
    let series: Vec<Series> = (0u32..).zip(&race.courses).map(series).collect();
    let title = format!("{name}, bandwidth x {}", race.gamma_factor);
    Picture {
        panels: vec![svg::lines(&series, &title, ("seconds", "error η"))],
        legend: race.courses.iter().map(|course| course.method.to_string()).collect(),
        caption: "A dot is an attempt; the error of a method falls as it is given more time.".into(),
    }
}

/// The asymmetric Nyström method and what it is compared with.
fn takes_part(method: &Method) -> bool {
    [NYSTROM, POLISHED].contains(&method.name) || (method.is_randomized() && !method.stored)
}

/// Every setting that was tried, with what it gave.
fn attempts(races: &[Race]) -> String {
    let mut out = String::from("gamma_factor,method,setting,landmarks,eta,residual,angle_sine,build_seconds,seconds\n");
    for race in races {
        for course in &race.courses {
            for attempt in &course.attempts {
                let (a, landmarks) = (attempt.accuracy, attempt.landmarks.map(|l| l.to_string()).unwrap_or_default());
                let _ = writeln!(
                    out,
                    "{},\"{}\",{},{landmarks},{:e},{:e},{:e},{:e},{:e}",
                    race.gamma_factor,
                    course.method,
                    attempt.setting,
                    a.eta,
                    a.residual,
                    a.angle_sine,
                    course.build_seconds,
                    attempt.seconds
                );
            }
        }
    }
    out
}

fn spectrum_table(races: &[Race]) -> String {
    let mut out = String::from("gamma_factor,method,setting,landmarks,eta,seconds,speedup\n");
    for race in races {
        for course in &race.courses {
            let reached = course.reached[0].as_ref().map(|reached| &reached.attempt);
            let cell = |text: Option<String>| text.unwrap_or_default();
            let _ = writeln!(
                out,
                "{},\"{}\",{},{},{},{},{}",
                race.gamma_factor,
                course.method,
                reached.map_or("not reached", |r| r.setting.as_str()),
                cell(reached.and_then(|r| r.landmarks).map(|l| l.to_string())),
                cell(reached.map(|r| format!("{:e}", r.accuracy.eta))),
                cell(reached.map(|r| format!("{:e}", r.seconds))),
                cell(race.speedup(course.method, 0).map(|s| format!("{s:e}")))
            );
        }
    }
    out
}

fn spectrum_picture(name: &str, races: &[Race]) -> String {
    let series = |value: &dyn Fn(&Race, &str) -> Option<f64>| -> Vec<Series> {
        let points = |method: &str| {
            let point = |race: &Race| Some((race.gamma_factor, value(race, method)?));
            races.iter().filter_map(point).collect()
        };
        (0u32..).zip([NYSTROM, POLISHED]).map(|(class, m)| Series { class, points: points(m), dashed: false }).collect()
    };
    let landmarks = |race: &Race, method: &str| race.landmarks(method, 0).map(|l| l as f64);
    let speedup = |race: &Race, method: &str| race.speedup(method, 0);
    let across = "bandwidth, in multiples of the rule (no dot: not reached)";
    let panels = [
        svg::lines(&series(&landmarks), &format!("{name}: landmarks to η ≤ {ETA}"), (across, "landmarks on a side")),
        svg::lines(&series(&speedup), &format!("{name}: speed-up over randomized"), (across, "times as fast")),
    ];
    svg::file(&panels, &[NYSTROM, POLISHED])
}

/// Scores of a method with so many landmarks; all samples are the exact solution.
struct Score {
    method: &'static str,
    landmarks: Option<usize>,
    summary: Summary,
}

/// KSVD by the asymmetric Nyström method, KPCA by the symmetric one, both with the RBF kernel and without centring.
fn effect_of_landmarks(set: &GraphSet, settings: &Settings, desk: &Desk) -> Result<Vec<Score>> {
    let nodes = set.graph.nodes();
    let rank = COMPONENTS.min(nodes / 2).max(1);
    let sizes = MULTIPLES.iter().map(|k| k * rank).filter(|m| *m < nodes).map(Some).chain([None]);
    let sizes: Vec<Option<usize>> = sizes.collect();
    let mut scores = Vec::new();
    for (method, symmetric) in [("KSVD", false), ("KPCA", true)] {
        let mut trials: Vec<Vec<Vec<Trial>>> = vec![Vec::new(); sizes.len()];
        for factor in FACTORS {
            for (at, features) in embeddings(set, factor, symmetric, (rank, &sizes), &desk.run)?.iter().enumerate() {
                let grid = Grid { ranks: vec![rank], penalties: PENALTIES.to_vec() };
                trials[at].push(settings.protocol().evaluate(features, &set.codes, &[grid], &desk.run)?);
            }
        }
        let summaries = sizes.iter().zip(&trials);
        scores.extend(summaries.map(|(m, trials)| Score { method, landmarks: *m, summary: summarize(trials, 0) }));
    }
    Ok(scores)
}

/// Features with each number of landmarks at one bandwidth; a symmetric method looks at the rows only.
fn embeddings(
    set: &GraphSet,
    factor: f64,
    symmetric: bool,
    (rank, sizes): (usize, &[Option<usize>]),
    run: &Run,
) -> Result<Vec<Features<f64>>> {
    let x = set.data.x.as_ref();
    let z = if symmetric { x } else { set.data.cols().as_ref() };
    let spec = KernelSpec::new("rbf");
    let gamma = Gamma::Ksvd.resolve(spec.meeting(), x, z, factor, run.seed)?;
    let kernel = spec.with("gamma", gamma).build::<f64>()?;
    let built = KernelMatrix::new(&*kernel, x, z).build()?;
    let features = |landmarks: &Option<usize>| {
        run.watch.check()?;
        let svd = solver_with(*landmarks, symmetric, &*built.operator, run)?.solve(&*built.operator, rank, run)?;
        let features = Features::two_sided(svd, Scaling::None);
        Ok(if symmetric { features.one_sided() } else { features })
    };
    sizes.iter().map(features).collect()
}

/// The Nyström method of the paper with so many landmarks, the same on both sides of a symmetric matrix; the exact solver.
fn solver_with(
    landmarks: Option<usize>,
    symmetric: bool,
    g: &dyn Operator<f64>,
    run: &Run,
) -> Result<Box<dyn SvdSolver<f64>>> {
    let Some(count) = landmarks else { return solver("auto", &Given::default()) };
    let size = count as f64;
    let params = Given::default().with("rows-sample", size).with("cols-sample", size).with("polish", 0.0);
    let mut nystrom = Nystrom::<f64>::new(&params)?;
    if symmetric {
        let rows = Uniform.pick(g, Side::Row, count, run.seed)?;
        nystrom.sampler = Box::new(landmarks::Given { cols: rows.clone(), rows });
    }
    Ok(Box::new(nystrom))
}

fn score_table(scores: &[Score]) -> String {
    let mut out = String::from("method,landmarks,micro_f1,micro_f1_deviation,macro_f1,macro_f1_deviation\n");
    for Score { method, landmarks, summary: Summary { micro_f1, macro_f1, .. } } in scores {
        let landmarks = landmarks.map_or("exact".into(), |m| m.to_string());
        let cells = [micro_f1.mean, micro_f1.deviation, macro_f1.mean, macro_f1.deviation].map(|v| format!("{v:.6}"));
        let _ = writeln!(out, "{method},{landmarks},{}", cells.join(","));
    }
    out
}

fn score_picture(name: &str, scores: &[Score]) -> String {
    let panel = |title: &str, value: fn(&Summary) -> f64| {
        let series: Vec<Series> =
            (0u32..).zip(["KSVD", "KPCA"]).flat_map(|(class, method)| curve(class, method, scores, value)).collect();
        svg::lines(&series, &format!("{name}: {title}, dashed: exact"), ("landmarks on a side", title))
    };
    let panels = [panel("macro-F1", |s| s.macro_f1.mean), panel("micro-F1", |s| s.micro_f1.mean)];
    svg::file(&panels, &["KSVD, asymmetric Nyström", "KPCA, symmetric Nyström"])
}

/// A method's scores over the landmarks, and the level of the exact solution.
fn curve(class: u32, method: &str, scores: &[Score], value: fn(&Summary) -> f64) -> [Series; 2] {
    let own = || scores.iter().filter(|s| s.method == method);
    let points: Vec<(f64, f64)> = own().filter_map(|s| Some((s.landmarks? as f64, value(&s.summary)))).collect();
    let exact = own().find(|s| s.landmarks.is_none()).map(|s| value(&s.summary));
    let level = exact.map(|level| points.iter().map(|p| (p.0, level)).collect()).unwrap_or_default();
    [Series { class, points, dashed: false }, Series { class, points: level, dashed: true }]
}
