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
use lopsided::{Biclustering, Dataset, Features, KMeans, KernelSvd, Kpca, LinearSvd, Mat, MatRef, Run, Samples, Side};
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
    /// Coherence of clusters by the columns' own features: of twice as many components times √σ, of unit length; KSVD with columns of unit length before
    /// the kernel.
    own_coherence: Spread,
    /// What `bicluster` gives: the more coherent of the first and the last, seed by seed.
    coherence: Spread,
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
    /// The columns' own.
    own: Mat<f64>,
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

    /// Components of the columns' own features.
    fn own_rank(&self) -> usize {
        (2 * self.rank()).min(self.set.samples.count()).min(self.set.samples.width())
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
        let svd = LinearSvd { solver: self.solver(), ..LinearSvd::new(self.own_rank()) };
        let found = svd.fit(&Dataset::new(self.unit_rows()), self.run)?;
        let (rows, cols) = (first(found.u.as_ref(), self.rank()), first(found.vectors(Side::Col), self.rank()));
        let own = unit(&found.scaled(Side::Col, 0.5));
        let (residual, seconds) = (found.report.residual(), start.elapsed().as_secs_f64());
        Ok(Sides { method: "SVD", rows, cols, own, gamma: None, residual, seconds })
    }

    /// A symmetric kernel sees one side at a time, so it is applied twice (\[KSVD\] App. C.1).
    fn kpca(&self) -> lopsided::Result<Sides> {
        let start = Instant::now();
        let kpca = |rank| Kpca { gamma: Gamma::Median, solver: self.solver(), ..Kpca::new("rbf", rank) };
        let rows = self.unit_rows();
        let cols: Features<f64> = kpca(self.rank()).fit(&Dataset::new(rows.transpose()), self.run)?;
        let own: Features<f64> = kpca(self.own_rank()).fit(&Dataset::new(unit_rows(rows.transpose())), self.run)?;
        let rows: Features<f64> = kpca(self.rank()).fit(&Dataset::new(rows), self.run)?;
        let residual = [&rows, &cols, &own].map(|f| f.report.residual()).into_iter().fold(0.0, f64::max);
        let own = unit(&own.scaled(Side::Row, 0.5));
        let seconds = start.elapsed().as_secs_f64();
        Ok(Sides { method: "KPCA", rows: rows.u, cols: cols.u, own, gamma: None, residual, seconds })
    }

    fn ksvd(&self, method: &'static str, kernel: &str, data: &Dataset<f64>) -> lopsided::Result<Sides> {
        let start = Instant::now();
        let SolverSpec { name: solver, params: solver_params } = self.solver();
        let biclustering = self.biclustering(kernel);
        let machine = KernelSvd { solver, solver_params, ..biclustering.svd.clone() };
        let model = machine.fit(data.clone(), self.run)?;
        let own = Biclustering { svd: machine, ..biclustering }.own_columns(data, self.run)?;
        let (rows, cols) = (model.embedding(Side::Row), model.embedding(Side::Col));
        let residual = model.report().residual().max(own.report().residual());
        let (gamma, own) = (model.kernel.params.get("gamma"), unit(&own.embedding(Side::Col)));
        Ok(Sides { method, rows, cols, own, gamma, residual, seconds: start.elapsed().as_secs_f64() })
    }

    fn line(&self, name: &str, sides: &Sides) -> lopsided::Result<Line> {
        let start = Instant::now();
        let coherences =
            [self.coherences(&sides.cols)?, self.coherences(&unit(&sides.cols))?, self.coherences(&sides.own)?];
        let coherence = Spread::of(coherences[0].iter().zip(&coherences[2]).map(|(same, own)| same.max(*own)));
        let [same, of_unit, own_coherence] = coherences.map(Spread::of);
        let plain = self.scores(&sides.rows, same)?;
        let unit = self.scores(&unit(&sides.rows), of_unit)?;
        let paper = bicluster_figures(name, sides.method);
        let above = |p: BiclusterFigures| Above { plain: plain.nmi.mean - p.nmi, unit: unit.nmi.mean - p.nmi };
        Ok(Line {
            method: sides.method,
            rank: sides.rows.ncols(),
            gamma: sides.gamma,
            plain,
            unit,
            own_coherence,
            coherence,
            paper,
            nmi_above_paper: paper.map(above),
            residual: sides.residual,
            seconds: sides.seconds + start.elapsed().as_secs_f64(),
        })
    }

    /// One run after another, each with a seed of its own.
    fn runs(&self) -> impl Iterator<Item = Run> {
        let run = |at| Run { seed: self.run.seed.wrapping_add(at), ..self.run.clone() };
        (0..self.settings.trials as u64).map(run)
    }

    /// Of k-means on features of the columns.
    fn coherences(&self, cols: &Mat<f64>) -> lopsided::Result<Vec<f64>> {
        let one = |run: Run| {
            let terms = KMeans::new(self.col_clusters).fit(cols.as_ref(), &run)?.labels;
            Ok(coherence(&self.set.samples, &terms))
        };
        self.runs().map(one).collect()
    }

    /// k-means on the rows.
    fn scores(&self, rows: &Mat<f64>, coherence: Spread) -> lopsided::Result<Scores> {
        let (mut nmi, mut ari) = (Vec::new(), Vec::new());
        for run in self.runs() {
            let (truth, found) = self.labelled(&KMeans::new(self.set.classes).fit(rows.as_ref(), &run)?.labels);
            nmi.push(normalized_mutual_information(&truth, &found));
            ari.push(adjusted_rand_index(&truth, &found));
        }
        Ok(Scores { nmi: Spread::of(nmi), ari: Spread::of(ari), coherence })
    }

    /// Classes and clusters of the rows that have a class.
    fn labelled(&self, clusters: &[u32]) -> (Vec<u32>, Vec<u32>) {
        self.set.codes.iter().zip(clusters).filter_map(|(code, cluster)| Some(((*code)?, *cluster))).unzip()
    }
}

/// The leading columns.
fn first(vectors: MatRef<'_, f64>, rank: usize) -> Mat<f64> {
    vectors.subcols(0, rank.min(vectors.ncols())).to_owned()
}

/// Each sample's features of unit length.
fn unit(features: &Mat<f64>) -> Mat<f64> {
    unit_rows(Samples::Dense(features.clone())).into_dense()
}

/// The table of one set.
pub(super) fn text(set: &SetReport) -> String {
    let mut out = format!(
        "{}: {} x {} ({} labelled), {} row clusters, {} column clusters; compared in {} coordinates\n",
        set.name, set.rows, set.columns, set.labelled, set.classes, set.col_clusters, set.compat_width
    );
    out += "          features as they are                              features of unit length            columns by their own, by the better   [KSVD]       NMI, ours - paper\n";
    out += "method    NMI            ARI            coherence           NMI            coherence           coherence      coherence              NMI   coh.   as they are, unit\n";
    for line in &set.methods {
        let (plain, unit) = (line.plain, line.unit);
        let paper = line.paper.map_or("-     -    ".into(), |p| format!("{:.2}  {:5.2}", p.nmi, p.coherence));
        let above = line.nmi_above_paper.map_or("-".into(), |a| format!("{:+.3}, {:+.3}", a.plain, a.unit));
        let cells = [plain.nmi, plain.ari, plain.coherence, unit.nmi, unit.coherence].map(spread);
        let [nmi, ari, coherence, unit_nmi, unit_coherence] = cells;
        let (own, better) = (spread(line.own_coherence), spread(line.coherence));
        let _ = writeln!(
            out,
            "{:8}  {nmi} {ari} {coherence}      {unit_nmi} {unit_coherence}      {own} {better}         {paper}  {above}",
            line.method
        );
    }
    for (method, paper) in &set.printed_only {
        let _ = writeln!(out, "{method:8}  {:123}{:.2}  {:5.2}", "not computed", paper.nmi, paper.coherence);
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
