//! `lopsided bicluster`: clusters of the rows and of the columns of a matrix.

use super::Outcome;
use super::embed::summary::DryRun;
use crate::args::BiclusterArgs;
use crate::context::{Context, in_precision};
use crate::input::{self, Loaded};
use crate::{estimator, memory, output, page};
use anyhow::Result;
use lopsided::base::error::bytes;
use lopsided::data::io::write_clusters;
use lopsided::estimators::{Learn, recipe};
use lopsided::metrics::{adjusted_rand_index, coherence, normalized_mutual_information};
use lopsided::report::{Account, text};
use lopsided::{Biclustering, BiclusteringModel, Dataset, Scalar, Side, Target, pages};
use serde::Serialize;
use std::path::PathBuf;

const HINT: &str = "--compat pca makes the rows and columns of any matrix comparable";

/// The result. The fields are those of `--json`.
#[derive(Serialize)]
struct Summary {
    n: usize,
    m: usize,
    rank: usize,
    kernel: String,
    gamma: Option<f64>,
    compat: String,
    compat_width: usize,
    centered: bool,
    unit_rows: bool,
    /// `same` or `own`: by which features the columns were clustered.
    col_features: String,
    operator: String,
    solver: String,
    row_clusters: Vec<u32>,
    col_clusters: Vec<u32>,
    nmi: Option<f64>,
    ari: Option<f64>,
    coherence: f64,
    converged: bool,
    seconds: f64,
    peak_bytes: Option<u64>,
    precision: &'static str,
    notes: Vec<String>,
    files: Vec<PathBuf>,
}

/// Clusters in the wanted precision.
pub(crate) fn run(args: &BiclusterArgs, context: &Context) -> Result<Outcome> {
    in_precision!(context, bicluster(args, context))
}

fn bicluster<T: Scalar>(args: &BiclusterArgs, context: &Context) -> Result<Outcome> {
    let given = estimator::given(&args.given, context)?;
    // Whatever can be wrong without the matrix is told before it is read.
    recipe::biclustering::<T>(given.clone(), (usize::MAX, usize::MAX))?;
    outputs(args).into_iter().filter(|_| !args.given.dry_run).try_for_each(|path| output::check(path))?;
    context.line.stage("reading");
    let Loaded { data, mut notes, .. } = input::matrix::<T>(args)?;
    let estimator = recipe::biclustering::<T>(given, (data.x.count(), data.x.width()))?;
    if args.given.dry_run {
        let plan = Learn::plan(&estimator, &data, &context.run).map_err(|e| input::with_shape_hint(e, HINT))?;
        DryRun::of::<T>(estimator.svd.rank, &plan, &notes).show(context)?;
        return Ok(Outcome::Done);
    }
    context.line.stage("clustering");
    let model = estimator.fit(data.x.clone(), &context.run).map_err(|error| input::with_shape_hint(error, HINT))?;
    let scores = scores(&data, &model, &mut notes);
    context.line.stage("writing");
    context.run.watch.check()?;
    write(args, &data, &model)?;
    let mut summary = Summary::of(&estimator, &model, scores, notes);
    summary.coherence = coherence(&data.x, &model.col_clusters);
    summary.files = outputs(args).into_iter().cloned().collect();
    if let Some(path) = &args.report {
        context.line.stage("drawing");
        let drawn = pages::clusters(&model, Some(&data.x), &page::name(&args.matrix), &context.run)?;
        let recipe = serde_json::to_string(&recipe::of_archive(&model.archive())?).ok();
        let account = Account { recipe, ..page::account(context, &summary.notes, &summary.lines()) };
        page::write(path, &drawn.account(&account))?;
    }
    summary.seconds = context.seconds();
    summary.show(context)?;
    Ok(if summary.converged { Outcome::Done } else { Outcome::NotConverged })
}

fn outputs(args: &BiclusterArgs) -> Vec<&PathBuf> {
    [&args.row_labels_out, &args.col_labels_out, &args.model, &args.report].into_iter().flatten().collect()
}

fn write<T: Scalar>(args: &BiclusterArgs, data: &Dataset<T>, model: &BiclusteringModel<T>) -> lopsided::Result<()> {
    let sides = [
        (Side::Row, &args.row_labels_out, &model.row_clusters),
        (Side::Col, &args.col_labels_out, &model.col_clusters),
    ];
    for (side, path, clusters) in sides {
        let ids = || (0..clusters.len()).map(|i| data.id(side, i)).collect::<Vec<_>>();
        path.as_ref().map_or(Ok(()), |path| write_clusters(path, &ids(), clusters))?;
    }
    args.model.as_ref().map_or(Ok(()), |path| model.archive().save(path))
}

/// NMI and ARI over the rows that have a label.
fn scores<T: Scalar>(data: &Dataset<T>, model: &BiclusteringModel<T>, notes: &mut Vec<String>) -> Option<(f64, f64)> {
    let codes = match data.y.as_ref()? {
        Target::Classes { codes, .. } => codes,
        Target::Values(_) | Target::Several { .. } => {
            notes.push("the labels are real numbers, not classes, and are not compared with".into());
            return None;
        }
    };
    let known = codes.iter().zip(&model.row_clusters).filter_map(|(code, cluster)| Some(((*code)?, *cluster)));
    let (truth, found): (Vec<u32>, Vec<u32>) = known.unzip();
    let missing = codes.len() - truth.len();
    if missing > 0 {
        notes.push(format!("rows without a label do not count in NMI and ARI: {missing} of {}", codes.len()));
    }
    (!truth.is_empty()).then(|| (normalized_mutual_information(&truth, &found), adjusted_rand_index(&truth, &found)))
}

impl Summary {
    fn of<T: Scalar>(
        estimator: &Biclustering,
        model: &BiclusteringModel<T>,
        scores: Option<(f64, f64)>,
        mut notes: Vec<String>,
    ) -> Self {
        let (svd, report, (n, m)) = (&model.svd, model.svd.report(), model.svd.size());
        notes.extend(report.notes.iter().cloned());
        Summary {
            n,
            m,
            rank: svd.singular_values().len(),
            kernel: svd.kernel.name.clone(),
            gamma: svd.kernel.params.get("gamma"),
            compat: estimator.compat.kind.to_string(),
            compat_width: svd.data.x.width(),
            centered: svd.is_centered(),
            unit_rows: estimator.unit_rows,
            col_features: model.params.get("col-features").and_then(|v| v.as_str()).unwrap_or("same").into(),
            operator: svd.operator.clone(),
            solver: report.solver.clone(),
            row_clusters: model.row_clusters.clone(),
            col_clusters: model.col_clusters.clone(),
            nmi: scores.map(|s| s.0),
            ari: scores.map(|s| s.1),
            coherence: 0.0,
            converged: report.converged(),
            seconds: 0.0,
            peak_bytes: memory::peak_bytes(),
            precision: T::NAME,
            notes,
            files: Vec::new(),
        }
    }

    fn show(&self, context: &Context) -> lopsided::Result<()> {
        context.line.clear();
        context.notes(&self.notes);
        context.say(self, &self.lines())
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let gamma = self.gamma.map(|gamma| format!(", gamma {}", text::number(gamma))).unwrap_or_default();
        let centered = if self.centered { ", centred" } else { "" };
        let mut lines = vec![
            ("size", format!("{} x {}, rank {}, {}", self.n, self.m, self.rank, self.precision)),
            ("kernel", format!("{}{gamma}{centered}", self.kernel)),
            ("compatibility", format!("{}, {} coordinates", self.compat, self.compat_width)),
            ("row clusters", sizes(&self.row_clusters)),
            ("column clusters", format!("{}; features: {}", sizes(&self.col_clusters), self.col_features)),
        ];
        if let (Some(nmi), Some(ari)) = (self.nmi, self.ari) {
            lines.push(("agreement", format!("NMI {nmi:.3}, ARI {ari:.3}")));
        }
        lines.push(("coherence", text::number(self.coherence)));
        lines.push(("cost", format!("{:.2} s", self.seconds)));
        lines.extend(self.peak_bytes.map(|peak| ("memory", format!("{} at the peak", bytes(peak)))));
        if !self.files.is_empty() {
            let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
            lines.push(("written", files.join(", ")));
        }
        lines
    }
}

/// How many samples each cluster has.
fn sizes(clusters: &[u32]) -> String {
    let count = clusters.iter().max().map_or(0, |c| *c as usize + 1);
    let mut sizes = vec![0usize; count];
    for &cluster in clusters {
        sizes[cluster as usize] += 1;
    }
    format!("{count} of size {}", sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}
