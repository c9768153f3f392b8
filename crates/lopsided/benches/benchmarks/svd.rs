//! Our solvers against faer's matrix-free `partial_svd` on the same operator, to the same residual.

use criterion::{Criterion, criterion_group};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::matrix_free::eigen::{PartialEigenParams, partial_svd, partial_svd_scratch};
use faer::{Col, Par};
use lopsided::kernel::KernelSpec;
use lopsided::operator::{BiLinear, KernelMatrix, Operator, OperatorChoice};
use lopsided::registry::Params;
use lopsided::svd::{Run, solver};
use lopsided::{Dataset, GraphRule, Mat, Samples, synth};

const RANK: usize = 8;
const TOL: f64 = 1e-6;

fn faer_partial_svd(g: &dyn Operator<f64>, scale: f64) -> usize {
    let operator = BiLinear(g);
    let (mut u, mut v) = (Mat::zeros(g.nrows(), RANK), Mat::zeros(g.ncols(), RANK));
    let start = Col::from_fn(g.ncols(), |i| (i as f64 * 0.7).sin());
    let start = &start * faer::Scale(1.0 / start.norm_l2());
    let par = Par::rayon(0);
    let params = PartialEigenParams::default();
    let mut buffer = MemBuffer::new(partial_svd_scratch(&operator, RANK, par, params));
    let stack = MemStack::new(&mut buffer);
    let mut sigma = [0.0; RANK];
    // faer's tolerance is absolute, ours relative to the largest value.
    partial_svd(u.as_mut(), v.as_mut(), &mut sigma, &operator, start.as_ref(), TOL * scale, par, stack, params)
        .n_converged_eigen
}

/// Entries of G in memory: a product costs the same for every vector.
fn stored(c: &mut Criterion) {
    let (graph, _) =
        synth::CyclicGraph { nodes: 20_000, classes: 8, ..Default::default() }.generate().expect("a graph");
    let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).expect("samples");
    let kernel = KernelSpec::new("precomputed").build().expect("a kernel");
    let built = KernelMatrix::new(&*kernel, data.x.as_ref(), data.cols().as_ref()).build().expect("an operator");
    compare(c, "stored/n=20000", &*built.operator);
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

fn compare(c: &mut Criterion, name: &str, g: &dyn Operator<f64>) {
    let params = Params::default().with("tol", TOL);
    let mut group = c.benchmark_group(format!("svd/{name}/rank={RANK}/tol={TOL:e}"));
    group.sample_size(10);
    let ours = solver::<f64>("lanczos", &params).expect("a solver");
    let sigma = ours.solve(g, RANK, &Run::default()).expect("triplets").sigma;
    group.bench_function("lopsided lanczos", |b| b.iter(|| ours.solve(g, RANK, &Run::default())));
    group.bench_function("faer partial_svd", |b| b.iter(|| faer_partial_svd(g, sigma[0])));
    group.finish();
}

criterion_group!(benches, stored, streamed);
