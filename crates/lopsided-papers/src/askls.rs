//! \[AsKLS\] Tables 3 and 4: AsK-LS and LS-SVM on graphs and tables, over random splits.

use super::paper::{AskLsFigures, askls_figures};
use super::sets::Folder;
use super::{Settings, tell};
use crate::Desk;
use anyhow::Result;
use lopsided::base::settings::{Settings as Given, Value};
use lopsided::estimators::linear::largest_columns;
use lopsided::estimators::{AskLs, Estimator, Gram, Merge, Symmetrize};
use lopsided::evaluation::{Search, Spread};
use lopsided::kernel::Gamma;
use lopsided::metrics::{macro_f1, micro_f1, split};
use lopsided::{Dataset, Error, Run, Target};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::time::Instant;

/// Share of the samples to learn from.
const TRAIN_SHARE: f64 = 0.6;
/// Up to this many training samples settings are chosen anew for every split; for more, on the first one.
const TUNED_EACH: usize = 600;
/// Rows of a table that settings are chosen on.
const TUNED_ON: usize = 3000;

/// Everything about one set. The fields are those of `--json`.
#[derive(Serialize)]
pub(super) struct SetReport {
    pub(super) name: String,
    pub(super) samples: usize,
    pub(super) classes: usize,
    pub(super) train: usize,
    /// Samples that settings are chosen on.
    pub(super) tuned_on: usize,
    /// Whether the set has test samples of its own; else every trial draws them.
    pub(super) own_test: bool,
    pub(super) methods: Vec<Line>,
    pub(super) seconds: f64,
}

/// One method on one set.
#[derive(Serialize)]
pub(super) struct Line {
    pub(super) method: &'static str,
    /// Chosen by cross-validation in the first split.
    pub(super) tuned: BTreeMap<String, String>,
    pub(super) micro_f1: Spread,
    pub(super) macro_f1: Spread,
    /// Largest condition number of the systems.
    pub(super) condition: Option<f64>,
    pub(super) warnings: Vec<String>,
    pub(super) paper: Option<AskLsFigures>,
    pub(super) seconds: f64,
}

/// A machine and what is chosen for it by cross-validation.
struct Method {
    name: &'static str,
    machine: AskLs,
    grid: Vec<(&'static str, &'static [&'static str])>,
}

/// Labelled samples and how they are used.
struct Protocol {
    data: Dataset<f64>,
    target: Target,
    /// The first so many are learned from and the others tested, where the set says so.
    own_train: Option<usize>,
    tuned_on: usize,
}

/// What one split gave.
struct Trial {
    tuned: BTreeMap<String, String>,
    micro_f1: f64,
    macro_f1: f64,
    condition: Option<f64>,
    warnings: Vec<String>,
}

/// Table 3: nodes of a graph with the matrix of its links as kernel.
pub(super) fn graph(folder: &Folder, settings: &Settings, desk: &Desk) -> Result<SetReport> {
    tell(desk, &folder.name);
    let set = folder.graph()?;
    let names = (0..set.classes).map(|c| c.to_string()).collect();
    let target = Target::Classes { names, codes: set.codes };
    let protocol = Protocol { data: set.data, target, own_train: None, tuned_on: usize::MAX };
    let links = || Gram::new("precomputed");
    let symmetric = || AskLs::symmetric(links(), Symmetrize::Average);
    let methods = vec![
        Method { name: "AsK-LS, penalty 1", machine: AskLs::new(links()).with_penalty(1.0), grid: vec![] },
        Method {
            name: "AsK-LS, tuned",
            machine: AskLs::new(links()),
            grid: vec![("penalty", &["0.25", "0.5", "1", "2", "4"])],
        },
        Method { name: "LS-SVM, penalty 10", machine: symmetric().with_penalty(10.0), grid: vec![] },
        Method { name: "LS-SVM, tuned", machine: symmetric(), grid: vec![("penalty", &["0.1", "1", "10", "100"])] },
    ];
    evaluate(folder, &protocol, &methods, settings, desk)
}

/// Table 4: rows of a table with the SNE and T kernels, and the RBF kernel as a symmetric one.
pub(super) fn table(folder: &Folder, settings: &Settings, desk: &Desk) -> Result<SetReport> {
    const PENALTIES: &[&str] = &["0.1", "1", "10", "100", "1000", "10000"];
    const GAMMAS: &[&str] = &["0.01", "0.03", "0.1", "0.3", "1"];
    const FACTORS: &[&str] = &["0.25", "0.5", "1", "2", "4"];
    tell(desk, &folder.name);
    let (data, target, rows) = folder.table_and_test()?;
    if matches!(target, Target::Values(_)) {
        return Err(Error::param("target", "values", "classes").into());
    }
    let own_train = Some(rows).filter(|rows| *rows < data.x.count());
    let protocol = Protocol { data, target, own_train, tuned_on: TUNED_ON };
    let kernel = |name: &str| Gram::new(name).with_gamma(Gamma::Median);
    let grid = || vec![("gamma-factor", FACTORS), ("penalty", PENALTIES)];
    let merge = || vec![("merge", &["average", "stack"][..])];
    let methods = vec![
        Method { name: "LS-SVM RBF", machine: AskLs::symmetric(kernel("rbf"), Symmetrize::Average), grid: grid() },
        Method {
            name: "AsK-LS SNE",
            machine: AskLs::new(kernel("sne")).with_merge(Merge::Average),
            grid: [grid(), merge()].concat(),
        },
        // The paper's T kernel has no bandwidth, but how its columns are scaled is not said: gamma stands for that.
        Method {
            name: "AsK-LS T",
            machine: AskLs::new("t").with_merge(Merge::Average),
            grid: [vec![("gamma", GAMMAS), ("penalty", PENALTIES)], merge()].concat(),
        },
    ];
    evaluate(folder, &protocol, &methods, settings, desk)
}

fn evaluate(
    folder: &Folder,
    protocol: &Protocol,
    methods: &[Method],
    settings: &Settings,
    desk: &Desk,
) -> Result<SetReport> {
    let start = Instant::now();
    let mut lines = Vec::new();
    for method in methods {
        tell(desk, &format!("  {}", method.name));
        lines.push(line(folder, protocol, method, settings, desk)?);
    }
    let Protocol { data, target, own_train, tuned_on } = protocol;
    let train = protocol.parts(0).0.len();
    Ok(SetReport {
        name: folder.name.clone(),
        samples: data.x.count(),
        classes: if let Target::Classes { names, .. } = target { names.len() } else { 0 },
        train,
        tuned_on: train.min(*tuned_on),
        own_test: own_train.is_some(),
        methods: lines,
        seconds: start.elapsed().as_secs_f64(),
    })
}

impl Protocol {
    /// The samples to learn from and to test on.
    fn parts(&self, seed: u64) -> (Vec<usize>, Vec<usize>) {
        let known = self.target.known();
        if let Some(count) = self.own_train {
            return known.into_iter().partition(|i| *i < count);
        }
        let (train, test) = split(known.len(), TRAIN_SHARE, seed);
        let at = |which: Vec<usize>| which.into_iter().map(|i| known[i]).collect();
        (at(train), at(test))
    }

    /// Some of the training samples, at random, to choose settings on.
    fn tuning(&self, train: &[usize], seed: u64) -> Vec<usize> {
        let share = (self.tuned_on as f64 / train.len() as f64).min(1.0);
        split(train.len(), share, seed).0.into_iter().map(|i| train[i]).collect()
    }

    /// The data with the targets of some rows only.
    fn shown(&self, rows: &[usize]) -> Dataset<f64> {
        let wanted: HashSet<usize> = rows.iter().copied().collect();
        Dataset { y: Some(self.target.clone().without(|i| !wanted.contains(&i))), ..self.data.clone() }
    }
}

fn line(folder: &Folder, protocol: &Protocol, method: &Method, settings: &Settings, desk: &Desk) -> Result<Line> {
    let start = Instant::now();
    let mut trials: Vec<Trial> = Vec::new();
    for k in 0..settings.trials {
        desk.run.watch.check()?;
        let run = Run { seed: desk.run.seed.wrapping_add(k as u64), ..desk.run.clone() };
        let first = trials.first().map(|t| t.tuned.clone());
        trials.push(trial(protocol, method, first, settings, &run)?);
    }
    let spread = |of: fn(&Trial) -> f64| Spread::of(trials.iter().map(of));
    let conditions = trials.iter().filter_map(|t| t.condition);
    Ok(Line {
        method: method.name,
        tuned: trials[0].tuned.clone(),
        micro_f1: spread(|t| t.micro_f1),
        macro_f1: spread(|t| t.macro_f1),
        condition: conditions.reduce(f64::max),
        warnings: trials[0].warnings.clone(),
        paper: askls_figures(&folder.name, method.name),
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn trial(
    protocol: &Protocol,
    method: &Method,
    first: Option<BTreeMap<String, String>>,
    settings: &Settings,
    run: &Run,
) -> lopsided::Result<Trial> {
    let (train, test) = protocol.parts(run.seed);
    let tuned = match first {
        Some(first) if train.len() > TUNED_EACH => first,
        _ => tune(method, &protocol.shown(&protocol.tuning(&train, run.seed)), settings, run)?,
    };
    let machine: Box<dyn Estimator<f64>> = method.machine.with(&Given::of_words(&tuned))?;
    let model = machine.fit(protocol.shown(&train), run)?;
    let found = largest_columns(model.decision(&protocol.data.rows(&test), run)?.as_ref());
    let Target::Classes { codes, .. } = protocol.target.rows(&test) else {
        return Err(Error::param("target", "values", "classes"));
    };
    let truth: Vec<u32> = codes.into_iter().flatten().collect();
    let report = model.report();
    Ok(Trial {
        tuned,
        micro_f1: micro_f1(&truth, &found),
        macro_f1: macro_f1(&truth, &found),
        condition: report.condition,
        warnings: report.warnings.clone(),
    })
}

fn tune(
    method: &Method,
    data: &Dataset<f64>,
    settings: &Settings,
    run: &Run,
) -> lopsided::Result<BTreeMap<String, String>> {
    if method.grid.is_empty() {
        return Ok(BTreeMap::new());
    }
    let words = |values: &[&str]| values.iter().map(|word| Value::of_word(word)).collect();
    let grid = method.grid.iter().map(|(name, values)| ((*name).to_string(), words(values))).collect();
    let machine: &dyn Estimator<f64> = &method.machine;
    Ok(Search { folds: settings.folds, grid }.run(machine, data, run)?.1.best.params)
}

/// The table of one set.
pub(super) fn text(set: &SetReport) -> String {
    let SetReport { name, samples, classes, train, .. } = set;
    let mut out = format!("{name}: {samples} samples, {classes} classes, {train} to learn from\n");
    let _ = writeln!(out, "method              micro-F1         macro-F1         [AsKLS] micro/macro  chosen");
    for line in &set.methods {
        let spread = |s: &Spread| format!("{:.4} ± {:.4}", s.mean, s.deviation);
        let paper = line.paper.map_or("-".into(), AskLsFigures::text);
        let chosen: Vec<String> = line.tuned.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let (micro, macro_) = (spread(&line.micro_f1), spread(&line.macro_f1));
        let _ = writeln!(out, "{:18}  {micro}  {macro_}  {paper:20}  {}", line.method, chosen.join(", "));
        line.warnings.iter().for_each(|warning| {
            let _ = writeln!(out, "    {warning}");
        });
    }
    let _ = writeln!(out, "{}", chosen_how(set));
    out
}

fn chosen_how(set: &SetReport) -> String {
    let whose = if set.own_test { "; the test samples are the set's own, trials differ in the folds" } else { "" };
    if set.train <= TUNED_EACH {
        return format!("settings are chosen anew in every trial{whose}");
    }
    let later = if set.own_test { "" } else { ", some of which later trials test on" };
    format!("settings are chosen in the first trial, on {} samples{later}{whose}", set.tuned_on)
}
