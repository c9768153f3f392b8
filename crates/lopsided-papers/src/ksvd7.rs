//! \[KSVD\] Table 7: AUROC of KPCA and KSVD with the RBF kernel on large sparse tables, out of core.

use super::paper::large_figures;
use super::sets::{self, Folder};
use super::{Kind, Settings, data_folder, over_sets, show, tell};
use crate::Desk;
use crate::ReproduceArgs;
use crate::Shown;
use crate::tasks::{HoldOut, HoldOutScore, Measure};
use anyhow::Result;
use lopsided::base::error::bytes;
use lopsided::base::file;
use lopsided::data::io::{StreamedTable, TargetColumn, stream_svmlight};
use lopsided::data::row_stream::RowStream;
use lopsided::data::synth::TopicTable;
use lopsided::estimators::{StreamedKernelSvd, StreamedKpca};
use lopsided::evaluation::Spread;
use lopsided::kernel::Gamma;
use lopsided::{Compat, Error, Mat, Run, Target};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

/// Everything about one set. The fields are those of `--json`.
#[derive(Serialize)]
pub(super) struct SetReport {
    name: String,
    rows: usize,
    cols: usize,
    entries: usize,
    file_bytes: u64,
    rank: usize,
    landmarks: usize,
    compat_width: usize,
    measure: Measure,
    methods: Vec<Line>,
    /// Of the KSVD: relative error of U·Σ·Vᵀ and largest residual, both estimates.
    error_estimate: Option<f64>,
    residual: f64,
    passes: u64,
    seconds: f64,
    peak_bytes: Option<u64>,
}

/// One method on one set.
#[derive(Serialize)]
struct Line {
    method: &'static str,
    score: Spread,
    validation: f64,
    gamma_factor: f64,
    passes: u64,
    seconds: f64,
    paper: Option<f64>,
}

/// A set, and what every method is asked for.
struct Task<'a> {
    rows: &'a RowStream<f64>,
    target: &'a Target,
    settings: &'a Settings,
    run: &'a Run,
}

/// A bandwidth with its scores on the splits.
struct Choice {
    factor: f64,
    scores: Vec<HoldOutScore>,
}

const KIND: Kind = Kind { table: "ksvd-7", fits: Folder::has_svmlight, needs: "an svmlight file" };

/// The table over all sets, or over one that is made for it.
pub(super) fn run(args: &ReproduceArgs, settings: &Settings, desk: &Desk) -> Result<Shown> {
    let settings = Settings { folds: 1, ..settings.clone() };
    let Some(table) = &args.generate else {
        let folders = sets::folders(&data_folder(args)?, &args.only)?;
        return show(&over_sets(&KIND, &folders, &settings, desk, set)?, text, desk);
    };
    let temporary = tempfile::tempdir().map_err(|e| Error::io("temporary folder", e))?;
    let folder = args.out.clone().unwrap_or_else(|| temporary.path().join("generated"));
    std::fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, e))?;
    tell(desk, "making the table");
    generate(&TopicTable { seed: desk.run.seed, ..table.clone() }, &folder.join("data.svm"), &desk.run)?;
    let folders = [sets::folder(folder)];
    show(&over_sets(&KIND, &folders, &settings, desk, set)?, text, desk)
}

fn generate(table: &TopicTable, path: &Path, run: &Run) -> lopsided::Result<()> {
    let mut line = String::new();
    file::write_atomically(path, |out| {
        table.for_each_row(|class, row| {
            run.watch.check()?;
            line.clear();
            line.push_str(if class == 1 { "+1" } else { "-1" });
            row.iter().for_each(|(column, value)| _ = write!(line, " {}:{value:.6}", column + 1));
            line.push('\n');
            out.write_all(line.as_bytes()).map_err(|e| Error::io(path, e))
        })
    })
}

/// Both methods on one set.
fn set(folder: &Folder, settings: &Settings, desk: &Desk) -> Result<SetReport> {
    let start = Instant::now();
    tell(desk, &folder.name);
    let missing = || Error::parse(folder.name.clone(), "has no svmlight file with labels");
    let path = folder.svmlight().ok_or_else(missing)?;
    let StreamedTable { rows, target } = stream_svmlight::<f64>(&path, &TargetColumn::Last, &desk.run.watch)?;
    let target = target.ok_or_else(missing)?;
    let task = Task { rows: &rows, target: &target, settings, run: &desk.run };
    let figures = large_figures(&folder.name);
    let kpca = task.kpca(figures.map(|f| f[0]), desk)?;
    let (ksvd, error_estimate, residual) = task.ksvd(figures.map(|f| f[1]), desk)?;
    Ok(SetReport {
        name: folder.name.clone(),
        rows: rows.nrows(),
        cols: rows.ncols(),
        entries: rows.nnz(),
        file_bytes: path.metadata().map_or(0, |m| m.len()),
        rank: settings.rank.min(rows.nrows()).min(rows.ncols()),
        landmarks: settings.landmarks,
        compat_width: settings.compat_width.unwrap_or(rows.ncols()),
        measure: Measure::of(&target),
        methods: vec![kpca, ksvd],
        error_estimate,
        residual,
        passes: rows.passes(),
        seconds: start.elapsed().as_secs_f64(),
        peak_bytes: (desk.peak_bytes)(),
    })
}

impl Task<'_> {
    fn rank(&self) -> usize {
        self.settings.rank.min(self.rows.nrows()).min(self.rows.ncols())
    }

    /// Scores of features on every split.
    fn scores(&self, features: &Mat<f64>) -> lopsided::Result<Vec<HoldOutScore>> {
        let split = |k: usize| Run { seed: self.run.seed.wrapping_add(k as u64), ..self.run.clone() };
        let one = |k| HoldOut::default().evaluate(features.as_ref(), self.target, &split(k));
        (0..self.settings.trials).map(one).collect()
    }

    /// The bandwidth with the best mean validation score; one for all splits, so that rows which one split tests on may have
    /// helped to choose it in another.
    fn best(&self, features: impl Fn(f64) -> lopsided::Result<Mat<f64>>) -> lopsided::Result<Choice> {
        let measure = Measure::of(self.target);
        let mut best: Option<Choice> = None;
        for &factor in &self.settings.factors {
            let scores = self.scores(&features(factor)?)?;
            if best.as_ref().is_none_or(|b| measure.is_better(validation(&scores), validation(&b.scores))) {
                best = Some(Choice { factor, scores });
            }
        }
        best.ok_or_else(|| Error::param("gamma-factors", "none", "at least one number above 0"))
    }

    fn kpca(&self, paper: Option<f64>, desk: &Desk) -> lopsided::Result<Line> {
        tell(desk, "  KPCA");
        let (start, before) = (Instant::now(), self.rows.passes());
        let sample = Some(self.settings.landmarks.min(self.rows.nrows()));
        let choice = self.best(|gamma_factor| {
            let machine =
                StreamedKpca { gamma: Gamma::Ksvd, gamma_factor, sample, ..StreamedKpca::new("rbf", self.rank()) };
            machine.row_features(self.rows, self.run)
        })?;
        Ok(line("KPCA", &choice, self.rows.passes() - before, start, paper))
    }

    /// The bandwidth is chosen with the rows alone; the columns and the estimates follow for the best.
    fn ksvd(&self, paper: Option<f64>, desk: &Desk) -> lopsided::Result<(Line, Option<f64>, f64)> {
        tell(desk, "  KSVD");
        let (start, before) = (Instant::now(), self.rows.passes());
        let Settings { landmarks, compat_width, .. } = *self.settings;
        let compat = if compat_width.is_some() { Compat::Random } else { Compat::Gram };
        let machine = StreamedKernelSvd {
            gamma: Gamma::Ksvd,
            rank: self.rank(),
            rows_sample: Some(landmarks.min(self.rows.nrows())),
            cols_sample: Some(landmarks.min(self.rows.ncols())),
            compat,
            width: compat_width,
            ..StreamedKernelSvd::new("rbf")
        };
        let sketch = machine.sketch(self.rows, self.run)?;
        let with = |gamma_factor| StreamedKernelSvd { gamma_factor, ..machine.clone() };
        let choice = self.best(|factor| with(factor).row_features(self.rows, &sketch, self.run))?;
        let model = with(choice.factor).fit(self.rows, &sketch, self.run)?;
        let line = line("KSVD", &choice, self.rows.passes() - before, start, paper);
        Ok((line, model.svd.report.error_estimate, model.svd.report.residual()))
    }
}

fn line(method: &'static str, choice: &Choice, passes: u64, start: Instant, paper: Option<f64>) -> Line {
    let score = Spread::of(choice.scores.iter().map(|s| s.test));
    let (validation, gamma_factor) = (validation(&choice.scores), choice.factor);
    Line { method, score, validation, gamma_factor, passes, seconds: start.elapsed().as_secs_f64(), paper }
}

fn validation(scores: &[HoldOutScore]) -> f64 {
    scores.iter().map(|s| s.validation).sum::<f64>() / scores.len() as f64
}

/// The table of one set.
fn text(set: &SetReport) -> String {
    let measure = match set.measure {
        Measure::Auroc => "AUROC",
        Measure::MicroF1 => "micro-F1",
        Measure::Rmse => "RMSE",
    };
    let mut out = format!(
        "{}: {} x {}, {} entries, {}; rank {}, {} landmarks a side, {} coordinates\n",
        set.name,
        set.rows,
        set.cols,
        set.entries,
        bytes(set.file_bytes),
        set.rank,
        set.landmarks,
        set.compat_width
    );
    let _ = writeln!(out, "method  {measure:16}  bandwidth  passes  seconds  [KSVD]");
    for line in &set.methods {
        let score = format!("{:.4} ± {:.4}", line.score.mean, line.score.deviation);
        let paper = line.paper.map_or("-".into(), |p| format!("{p:.2}"));
        let cost = format!("{:<9}  {:<6}  {:<7.1}", line.gamma_factor, line.passes, line.seconds);
        let _ = writeln!(out, "{:6}  {score:16}  {cost}  {paper}", line.method);
    }
    let error = set.error_estimate.map_or("-".into(), |e| format!("{e:.1e}"));
    let _ = writeln!(out, "KSVD: relative error of U Σ Vᵀ about {error}, residual about {:.1e}", set.residual);
    let peak = set.peak_bytes.map_or("-".into(), bytes);
    let _ = writeln!(out, "{} passes over the file in all, {peak} at the peak", set.passes);
    out
}
