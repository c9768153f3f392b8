//! Learns ratings of pairs that were never seen before, and tells what is new in a stream.
//!
//! 1. Cold start: every user and every item is described by features and each pair is rated once. `gd-trace` learns a
//!    matrix between the two feature spaces, a Gaussian kernel on the users' side and a linear one on the items'.
//! 2. Novelty: online kernel PCA follows a stream of one class; what it does not capture of a vector says how new it is.
//!
//! ```text
//! cargo run --release --example online -- [SET]
//! ```
//!
//! With LOPSIDED_DATA set the stream of part 2 is a table of that folder (data.csv with a class in the last column), SET or the first one.

use lopsided::data::io::{Format, Input, ReadOptions, read};
use lopsided::data::synth;
use lopsided::evaluation::Spread;
use lopsided::kernel::{Gamma, KernelSpec, pair::Meeting};
use lopsided::metrics::auroc;
use lopsided::online::{Budget, History, Instance, LearnerSpec, Loss, Removal, StepSize, Trial, Tuning};
use lopsided::{Error, Mat, Result, Run, Samples, Target};
use std::path::PathBuf;

const RATINGS: usize = 1500;

fn main() -> Result<()> {
    cold_start()?;
    novelty(std::env::args().nth(1))
}

/// Ratings between −1 and 1 that depend on the users' features nonlinearly.
fn ratings() -> Vec<Trial> {
    let (users, items) = (synth::gaussian::<f64>(RATINGS, 3, 1), synth::gaussian::<f64>(RATINGS, 4, 2));
    let noise = synth::gaussian::<f64>(RATINGS, 1, 3);
    let taste = |t: usize| [users[(t, 0)].sin(), (users[(t, 1)] * users[(t, 2)]).tanh()];
    (0..RATINGS)
        .map(|t| {
            let row = |m: &Mat<f64>| m.row(t).iter().copied().collect::<Vec<_>>();
            let [a, b] = taste(t);
            let label = (a * items[(t, 0)] + b * items[(t, 1)] + 0.1 * noise[(t, 0)]).clamp(-1.0, 1.0);
            Trial { instance: Instance::pair(&row(&users), &row(&items)), label }
        })
        .collect()
}

fn cold_start() -> Result<()> {
    let trials = ratings();
    let tuning = Tuning { trials: RATINGS as u64, ..Tuning::default() };
    let spec = LearnerSpec::new("gd-trace")
        .with("radius", 8.0)
        .with_loss(Loss::Absolute)
        .with_kernels(KernelSpec::new("rbf").with("gamma", 0.3), Some(KernelSpec::new("linear")))
        .with_step(StepSize::Tuned(tuning))
        .normalized();
    let mut learner = spec.build()?;
    let (mut early, mut late, mut zero) = (0.0, 0.0, 0.0);
    for (t, trial) in trials.iter().enumerate() {
        let loss = learner.update(&trial.instance, trial.label)?.loss;
        *(if t < RATINGS / 3 { &mut early } else { &mut late }) += loss;
        zero += trial.label.abs();
    }
    let (first, rest) = ((RATINGS / 3) as f64, (RATINGS - RATINGS / 3) as f64);
    report(&format!(
        "ratings of new pairs: mean error {:.3} in the first third, {:.3} later; {:.3} for always predicting 0",
        early / first,
        late / rest,
        zero / RATINGS as f64
    ));
    let account = learner.account();
    report(&format!("  rank {}, {} samples stored", account.rank, account.stored));
    // The comparator of the first 300 trials, which shows the bound and takes a moment only.
    let (mut learner, part) = (spec.build()?, &trials[..300]);
    for trial in part {
        learner.update(&trial.instance, trial.label)?;
    }
    let points = History::default().regret(&*learner, &spec, part, &Run::default())?;
    let last = &points[points.len() - 1];
    let bound = last.bound.map_or("none".into(), |bound| format!("{bound:.1}"));
    report(&format!(
        "  first {} trials: regret {:.1} (certain to {:.1}), bound {bound}",
        last.trials, last.regret, last.gap
    ));
    Ok(())
}

/// Rows and classes: a table of LOPSIDED_DATA, or clusters made for it.
fn table(wanted: Option<String>) -> Result<(String, Mat<f64>, Vec<u32>)> {
    let Some(folder) = std::env::var_os("LOPSIDED_DATA").map(PathBuf::from) else {
        let (rows, classes) = synth::clusters(900, 8, 4, 5);
        return Ok(("made clusters".into(), rows, classes));
    };
    let entries = std::fs::read_dir(&folder).map_err(|e| Error::io(&folder, e))?;
    let mut names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    for name in names.into_iter().filter(|name| wanted.as_ref().is_none_or(|wanted| wanted == name)) {
        let file =
            ["data.csv", "data.csv.gz"].map(|file| folder.join(&name).join(file)).into_iter().find(|f| f.is_file());
        let Some(file) = file else { continue };
        let Input::Table(table) =
            read::<f64>(&file, &ReadOptions { format: Some(Format::Table), ..Default::default() })?
        else {
            continue;
        };
        let classes = match table.target {
            Some((_, Target::Classes { codes, .. })) => codes.iter().map(|c| c.unwrap_or(0)).collect(),
            Some((_, Target::Values(values))) => values.iter().map(|v| v.round().max(0.0) as u32).collect(),
            Some((_, Target::Several { .. })) | None => continue,
        };
        let rows = standardized(table.samples.into_dense());
        return Ok((name, rows, classes));
    }
    Err(Error::param("SET", wanted.unwrap_or_default(), "a folder of LOPSIDED_DATA with data.csv"))
}

/// Columns with mean 0 and standard deviation 1; missing values and constant columns become 0.
fn standardized(x: Mat<f64>) -> Mat<f64> {
    let spreads: Vec<Spread> =
        x.col_iter().map(|column| Spread::of(column.iter().copied().filter(|v| v.is_finite()))).collect();
    Mat::from_fn(x.nrows(), x.ncols(), |i, j| {
        let scaled = (x[(i, j)] - spreads[j].mean) / spreads[j].deviation;
        if scaled.is_finite() { scaled } else { 0.0 }
    })
}

fn novelty(wanted: Option<String>) -> Result<()> {
    let (name, rows, classes) = table(wanted)?;
    let known = classes[0];
    let samples = Samples::Dense(rows);
    let gamma = Gamma::Median.resolve(Meeting::Dot, samples.as_ref(), samples.as_ref(), 1.0, 0)?;
    let mut learner = LearnerSpec::new("online-kpca")
        .with("components", 10.0)
        .with_kernels(KernelSpec::new("rbf").with("gamma", gamma), None)
        .with_step(StepSize::Fixed(0.5))
        .with_budget(Budget { size: 100, removal: Removal::Merge })
        .build()?;
    let instance = |i: usize| Instance::new(samples.as_ref().select(&[i]), None, Vec::new());
    let members: Vec<usize> = (0..classes.len()).filter(|&i| classes[i] == known).collect();
    let (learned, held_out) = members.split_at(members.len() / 2);
    for &i in learned.iter().take(300) {
        learner.update(&instance(i)?, 0.0)?;
    }
    let others = (0..classes.len()).filter(|&i| classes[i] != known).take(500);
    let (mut is_new, mut scores) = (Vec::new(), Vec::new());
    for i in held_out.iter().copied().take(500).chain(others) {
        is_new.push(classes[i] != known);
        // The Gaussian kernel has length 1 everywhere; what is not captured is new.
        scores.push(1.0 - learner.predict(&instance(i)?)?);
    }
    let account = learner.account();
    report(&format!(
        "novelty on {name}: AUROC {:.3} for telling other classes from the learned one, {} samples stored",
        auroc(&is_new, &scores),
        account.stored
    ));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example shows its results")]
fn report(line: &str) {
    println!("{line}");
}
