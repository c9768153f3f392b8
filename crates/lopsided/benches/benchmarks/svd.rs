//! Our solver against faer's matrix-free `partial_svd` on the same operators, to the same residual.

use criterion::{Criterion, criterion_group};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::matrix_free::eigen::{PartialEigenParams, partial_svd, partial_svd_scratch};
use faer::{Col, Par};
use lopsided::Run;
use lopsided::base::settings::Settings;
use lopsided::data::synth;
use lopsided::kernel::KernelSpec;
use lopsided::operator::{BiLinear, KernelMatrix, Operator, OperatorChoice};
use lopsided::solvers::svd::solver;
use lopsided::{Dataset, Graph, GraphRule, Mat, Samples};

const RANK: usize = 8;
const TOL: f64 = 1e-6;
/// Restarts after which faer is stopped: where values crowd it would go on for minutes.
const RESTARTS: usize = 100;

/// The values it finds, those that did not converge included, and how many did.
fn faer_partial_svd(g: &dyn Operator<f64>, scale: f64) -> ([f64; RANK], usize) {
    let operator = BiLinear(g);
    let (mut u, mut v) = (Mat::zeros(g.nrows(), RANK), Mat::zeros(g.ncols(), RANK));
    let start = Col::from_fn(g.ncols(), |i| (i as f64 * 0.7).sin());
    let start = &start * faer::Scale(1.0 / start.norm_l2());
    let par = Par::rayon(0);
    let params = PartialEigenParams { max_restarts: RESTARTS, ..PartialEigenParams::default() };
    let mut buffer = MemBuffer::new(partial_svd_scratch(&operator, RANK, par, params));
    let stack = MemStack::new(&mut buffer);
    let mut sigma = [0.0; RANK];
    // faer's tolerance is absolute, ours relative to the largest value.
    let info =
        partial_svd(u.as_mut(), v.as_mut(), &mut sigma, &operator, start.as_ref(), TOL * scale, par, stack, params);
    (sigma, info.n_converged_eigen)
}

/// Entries of G in memory, values well apart.
fn stored(c: &mut Criterion) {
    let graph = cyclic(20_000);
    let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).expect("samples");
    kernel_matrix(c, "stored/apart/n=20000", &KernelSpec::new("precomputed"), &data);
}

/// Three copies of a graph: every value comes three times.
fn repeated(c: &mut Criterion) {
    const COPIES: u32 = 3;
    let one = cyclic(7000);
    let nodes = one.nodes() as u32;
    let adjacency = one.adjacency();
    let links: Vec<(u32, u32, f64)> = (0..COPIES * nodes)
        .flat_map(|s| {
            let (targets, weights) = adjacency.as_ref().row((s % nodes) as usize);
            let shift = s / nodes * nodes;
            targets.iter().zip(weights).map(move |(&t, &w)| (s, t + shift, w)).collect::<Vec<_>>()
        })
        .collect();
    let ids = (0..COPIES * nodes).map(|i| i.to_string()).collect();
    let graph = Graph::new(ids, &links).expect("a graph");
    let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).expect("samples");
    kernel_matrix(c, "stored/repeated/n=21000", &KernelSpec::new("precomputed"), &data);
}

/// The kernel of a graph, whose values lie close together after the first.
fn crowded(c: &mut Criterion) {
    let data = Dataset::<f64>::from_graph(&cyclic(3000), &GraphRule::default()).expect("samples");
    kernel_matrix(c, "stored/crowded/n=3000", &KernelSpec::new("rbf").with("gamma", 5.0), &data);
}

/// Entries of G evaluated in every product: a block costs little more than a vector.
fn streamed(c: &mut Criterion) {
    let (x, z) = (synth::clusters::<f64>(3000, 10, 12, 1).0, synth::clusters::<f64>(3000, 10, 12, 2).0);
    let (x, z) = (Samples::Dense(x), Samples::Dense(z));
    let kernel = KernelSpec::new("sne").with("gamma", 0.01).build().expect("a kernel");
    let choice = OperatorChoice::Tiles;
    let matrix = KernelMatrix { choice, ..KernelMatrix::new(&*kernel, x.as_ref(), z.as_ref()) };
    compare(c, "tiles/n=3000", &*matrix.build().expect("an operator").operator);
}

fn cyclic(nodes: usize) -> Graph {
    synth::CyclicGraph { nodes, classes: 8, ..Default::default() }.generate().expect("a graph").0
}

fn kernel_matrix(c: &mut Criterion, name: &str, kernel: &KernelSpec, data: &Dataset<f64>) {
    let kernel = kernel.build().expect("a kernel");
    let built = KernelMatrix::new(&*kernel, data.x.as_ref(), data.cols().as_ref()).build().expect("an operator");
    compare(c, name, &*built.operator);
}

#[expect(clippy::print_stderr, reason = "what was reached belongs beside the seconds")]
fn compare(c: &mut Criterion, name: &str, g: &dyn Operator<f64>) {
    let params = Settings::default().with("tol", TOL);
    let mut group = c.benchmark_group(format!("svd/{name}/rank={RANK}/tol={TOL:e}"));
    group.sample_size(10);
    let ours = solver::<f64>("lanczos", &params).expect("a solver");
    let svd = ours.solve(g, RANK, &Run::default()).expect("triplets");
    let (values, converged) = faer_partial_svd(g, svd.sigma[0]);
    eprintln!(
        "{name}: lopsided {:.6?}, residual {:.1e}; faer {values:.6?}, {converged} of {RANK} converged",
        svd.sigma,
        svd.report.residual()
    );
    group.bench_function("lopsided lanczos", |b| b.iter(|| ours.solve(g, RANK, &Run::default())));
    group.bench_function("faer partial_svd", |b| b.iter(|| faer_partial_svd(g, svd.sigma[0])));
    group.finish();
}

criterion_group!(benches, stored, repeated, crowded, streamed);
