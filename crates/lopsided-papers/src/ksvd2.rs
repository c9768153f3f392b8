//! \[KSVD\] Table 2: clusters of the rows and of the columns of a matrix.

use super::paper::{BiclusterFigures, bicluster_figures};
use super::sets::{Folder, MatrixSet};
use super::{Settings, tell};
use crate::Desk;
use anyhow::Result;
use lopsided::base::settings::Settings as Given;
use lopsided::data::dataset::unit_rows;
use lopsided::estimators::SolverSpec;
use lopsided::evaluation::Spread;
use lopsided::kernel::Gamma;
use lopsided::metrics::{adjusted_rand_index, coherence, normalized_mutual_information};
use lopsided::{Biclustering, Dataset, Features, KMeans, KernelSvd, Kpca, LinearSvd, Mat, Run, Samples, Side};
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Instant;

/// Tolerance of the features; clusters do not change with further digits.
const TOLERANCE: f64 = 1e-4;
/// The paper's methods that are not computed here.
const PRINTED_ONLY: [&str; 2] = ["BCOT", "EBC"];
/// What the spread over seeds is about.
const VARIES: &str = "the starts of k-means; the features are computed once";

/// Everything about one set. The fields are those of `--json`.
#[derive(Serialize)]
pub(super) struct SetReport {
    name: String,
    rows: usize,
    columns: usize,
    labelled: usize,
    /// Classes of the rows, hence clusters of the rows.
    classes: usize,
    col_clusters: usize,
    /// Coordinates of rows and columns as the kernels of KSVD see them.
    compat_width: usize,
    seeds: usize,
    varies: &'static str,
    notes: Vec<String>,
    methods: Vec<Line>,
    /// The paper's other methods.
    printed_only: Vec<(&'static str, BiclusterFigures)>,
    seconds: f64,
}

/// One method on one set.
#[derive(Serialize)]
struct Line {
    method: &'static str,
    rank: usize,
    gamma: Option<f64>,
    /// Clusters of the features as they are.
    plain: Scores,
    /// Clusters of the features of each sample scaled to unit length.
    unit: Scores,
    paper: Option<BiclusterFigures>,
    nmi_above_paper: Option<Above>,
    residual: f64,
    seconds: f64,
}

/// Our NMI minus the paper's.
#[derive(Clone, Copy, Serialize)]
struct Above {
    plain: f64,
    unit: f64,
}

/// Over all seeds.
#[derive(Clone, Copy, Serialize)]
struct Scores {
    nmi: Spread,
    ari: Spread,
    coherence: Spread,
}

/// What a method says about rows and columns.
struct Sides {
    method: &'static str,
    rows: Mat<f64>,
    cols: Mat<f64>,
    gamma: Option<f64>,
    residual: f64,
    seconds: f64,
}

type Embed = fn(&Task<'_>, &Dataset<f64>) -> lopsided::Result<Sides>;

/// All of them. The order is that of the table.
const METHODS: [Embed; 4] = [
    |task, _| task.svd(),
    |task, _| task.kpca(),
    |task, data| task.ksvd("KSVD RBF", "rbf", data),
    |task, data| task.ksvd("KSVD SNE", "sne", data),
];

/// All methods on one set.
pub(super) fn set(folder: &Folder, settings: &Settings, desk: &Desk) -> Result<SetReport> {
    let start = Instant::now();
    let set = folder.matrix()?;
    let (rows, columns) = (set.samples.count(), set.samples.width());
    let col_clusters = settings.col_clusters.unwrap_or(set.classes);
    tell(desk, &format!("{}: {rows} x {columns}, {} classes", folder.name, set.classes));
    let task = Task { set: &set, settings, col_clusters, run: &desk.run };
    let aligned = task.aligned()?;
    let mut methods = Vec::new();
    for embed in METHODS {
        let line = task.line(&folder.name, &embed(&task, &aligned)?)?;
        let (nmi, seconds) = (line.plain.nmi, line.seconds);
        tell(desk, &format!("{}: {} NMI {:.3} ({seconds:.0} s)", folder.name, line.method, nmi.mean));
        methods.push(line);
    }
    let printed = PRINTED_ONLY.iter().filter_map(|m| Some((*m, bicluster_figures(&folder.name, m)?)));
    Ok(SetReport {
        name: folder.name.clone(),
        rows,
        columns,
        labelled: set.codes.iter().flatten().count(),
        classes: set.classes,
        col_clusters,
        compat_width: aligned.x.width(),
        seeds: settings.trials,
        varies: VARIES,
        notes: set.notes.clone(),
        methods,
        printed_only: printed.collect(),
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// One set with what is asked of every method.
struct Task<'a> {
    set: &'a MatrixSet,
    settings: &'a Settings,
    col_clusters: usize,
    run: &'a Run,
}

impl Task<'_> {
    fn biclustering(&self, kernel: &str) -> Biclustering {
        Biclustering::new(kernel, self.set.classes, self.col_clusters).with_rank(self.rank())
    }

    fn rank(&self) -> usize {
        let wanted = self.settings.rank.max(self.set.classes).max(self.col_clusters);
        wanted.min(self.set.samples.count()).min(self.set.samples.width())
    }

    fn solver(&self) -> SolverSpec {
        let name = self.settings.solver.as_deref().unwrap_or("auto");
        SolverSpec { params: Given::default().with("tol", TOLERANCE), ..SolverSpec::new(name) }
    }

    /// Rows of unit length against columns, in common coordinates.
    fn aligned(&self) -> lopsided::Result<Dataset<f64>> {
        self.biclustering("rbf").dataset(self.set.samples.clone(), self.run)
    }

    fn unit_rows(&self) -> Samples<f64> {
        unit_rows(self.set.samples.clone())
    }

    fn svd(&self) -> lopsided::Result<Sides> {
        let start = Instant::now();
        let svd = LinearSvd { solver: self.solver(), ..LinearSvd::new(self.rank()) };
        let found = svd.fit(&Dataset::new(self.unit_rows()), self.run)?;
        let cols = found.vectors(Side::Col).to_owned();
        let (residual, seconds) = (found.report.residual(), start.elapsed().as_secs_f64());
        Ok(Sides { method: "SVD", rows: found.u, cols, gamma: None, residual, seconds })
    }

    /// A symmetric kernel sees one side at a time, so it is applied twice (\[KSVD\] App. C.1).
    fn kpca(&self) -> lopsided::Result<Sides> {
        let start = Instant::now();
        let kpca = Kpca { gamma: Gamma::Median, solver: self.solver(), ..Kpca::new("rbf", self.rank()) };
        let rows = self.unit_rows();
        let cols: Features<f64> = kpca.fit(&Dataset::new(rows.transpose()), self.run)?;
        let rows: Features<f64> = kpca.fit(&Dataset::new(rows), self.run)?;
        let (residual, seconds) = (rows.report.residual().max(cols.report.residual()), start.elapsed().as_secs_f64());
        Ok(Sides { method: "KPCA", rows: rows.u, cols: cols.u, gamma: None, residual, seconds })
    }

    fn ksvd(&self, method: &'static str, kernel: &str, data: &Dataset<f64>) -> lopsided::Result<Sides> {
        let start = Instant::now();
        let SolverSpec { name: solver, params: solver_params } = self.solver();
        let machine = KernelSvd { solver, solver_params, ..self.biclustering(kernel).svd };
        let model = machine.fit(data.clone(), self.run)?;
        let (rows, cols) = (model.embedding(Side::Row), model.embedding(Side::Col));
        let (gamma, residual) = (model.kernel.params.get("gamma"), model.report().residual());
        Ok(Sides { method, rows, cols, gamma, residual, seconds: start.elapsed().as_secs_f64() })
    }

    fn line(&self, name: &str, sides: &Sides) -> lopsided::Result<Line> {
        let start = Instant::now();
        let plain = self.scores(&sides.rows, &sides.cols)?;
        let unit = |features: &Mat<f64>| unit_rows(Samples::Dense(features.clone())).into_dense();
        let unit = self.scores(&unit(&sides.rows), &unit(&sides.cols))?;
        let paper = bicluster_figures(name, sides.method);
        let above = |p: BiclusterFigures| Above { plain: plain.nmi.mean - p.nmi, unit: unit.nmi.mean - p.nmi };
        Ok(Line {
            method: sides.method,
            rank: sides.rows.ncols(),
            gamma: sides.gamma,
            plain,
            unit,
            paper,
            nmi_above_paper: paper.map(above),
            residual: sides.residual,
            seconds: sides.seconds + start.elapsed().as_secs_f64(),
        })
    }

    /// k-means on both sides with one seed after another.
    fn scores(&self, rows: &Mat<f64>, cols: &Mat<f64>) -> lopsided::Result<Scores> {
        let (mut nmi, mut ari, mut coherences) = (Vec::new(), Vec::new(), Vec::new());
        for at in 0..self.settings.trials as u64 {
            let run = Run { seed: self.run.seed.wrapping_add(at), watch: self.run.watch.clone() };
            let (truth, found) = self.labelled(&KMeans::new(self.set.classes).fit(rows.as_ref(), &run)?.labels);
            nmi.push(normalized_mutual_information(&truth, &found));
            ari.push(adjusted_rand_index(&truth, &found));
            let terms = KMeans::new(self.col_clusters).fit(cols.as_ref(), &run)?.labels;
            coherences.push(coherence(&self.set.samples, &terms));
        }
        Ok(Scores { nmi: Spread::of(nmi), ari: Spread::of(ari), coherence: Spread::of(coherences) })
    }

    /// Classes and clusters of the rows that have a class.
    fn labelled(&self, clusters: &[u32]) -> (Vec<u32>, Vec<u32>) {
        self.set.codes.iter().zip(clusters).filter_map(|(code, cluster)| Some(((*code)?, *cluster))).unzip()
    }
}

/// The table of one set.
pub(super) fn text(set: &SetReport) -> String {
    let mut out = format!(
        "{}: {} x {} ({} labelled), {} row clusters, {} column clusters; compared in {} coordinates\n",
        set.name, set.rows, set.columns, set.labelled, set.classes, set.col_clusters, set.compat_width
    );
    out += "          features as they are                              features of unit length            [KSVD]       NMI, ours - paper\n";
    out += "method    NMI            ARI            coherence           NMI            coherence           NMI   coh.   as they are, unit\n";
    for line in &set.methods {
        let (plain, unit) = (line.plain, line.unit);
        let paper = line.paper.map_or("-     -    ".into(), |p| format!("{:.2}  {:5.2}", p.nmi, p.coherence));
        let above = line.nmi_above_paper.map_or("-".into(), |a| format!("{:+.3}, {:+.3}", a.plain, a.unit));
        let cells = [plain.nmi, plain.ari, plain.coherence, unit.nmi, unit.coherence].map(spread);
        let [nmi, ari, coherence, unit_nmi, unit_coherence] = cells;
        let _ = writeln!(
            out,
            "{:8}  {nmi} {ari} {coherence}      {unit_nmi} {unit_coherence}      {paper}  {above}",
            line.method
        );
    }
    for (method, paper) in &set.printed_only {
        let _ = writeln!(out, "{method:8}  {:85}{:.2}  {:5.2}", "not computed", paper.nmi, paper.coherence);
    }
    let _ = writeln!(out, "± over {} seeds of {}", set.seeds, set.varies);
    out + &remark(set).unwrap_or_default()
}

fn spread(s: Spread) -> String {
    format!("{:14}", format!("{:.3} ± {:.3}", s.mean, s.deviation))
}

/// Coherences of different numbers of clusters cannot be compared.
fn remark(set: &SetReport) -> Option<String> {
    let theirs = set.methods.iter().find_map(|line| line.paper)?.col_clusters;
    (theirs != set.col_clusters).then(|| {
        let ours = set.col_clusters;
        format!("the paper's coherence is that of {theirs} column clusters, ours of {ours}: --col-clusters {theirs} compares like with like\n")
    })
}
