//! Products with G: tiles and the sparse form.

use criterion::{Criterion, criterion_group};
use lopsided::data::synth;
use lopsided::kernel::KernelSpec;
use lopsided::operator::{KernelMatrix, OperatorChoice};
use lopsided::{Dataset, GraphRule, Mat, Samples};
use std::hint::black_box;

fn tiles(c: &mut Criterion) {
    for (n, d, r) in [(4000, 10, 20), (4000, 64, 128)] {
        let x = Samples::Dense(synth::gaussian::<f64>(n, d, 1));
        let kernel = KernelSpec::new("rbf").with("gamma", 1.0 / d as f64).build().expect("a kernel");
        let matrix =
            KernelMatrix { choice: OperatorChoice::Tiles, ..KernelMatrix::new(&*kernel, x.as_ref(), x.as_ref()) };
        let built = matrix.build().expect("an operator");
        let v = synth::gaussian::<f64>(n, r, 2);
        let mut out = Mat::zeros(n, r);
        c.bench_function(&format!("apply/tiles/rbf/f64/n={n}/d={d}/r={r}"), |b| {
            b.iter(|| built.operator.apply(black_box(v.as_ref()), out.as_mut()));
        });
    }
}

fn sparse(c: &mut Criterion) {
    let (n, r) = (50_000, 24);
    let graph = synth::random_graph(n, 5 * n, 500, 1).expect("a graph");
    let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).expect("samples");
    let kernel = KernelSpec::new("sne").with("gamma", 1.0).build().expect("a kernel");
    let built = KernelMatrix::new(&*kernel, data.x.as_ref(), data.cols().as_ref()).build().expect("an operator");
    let v = synth::gaussian::<f64>(n, r, 2);
    let mut out = Mat::zeros(n, r);
    c.bench_function(&format!("apply/sparse/sne/f64/n={n}/r={r}"), |b| {
        b.iter(|| built.operator.apply(black_box(v.as_ref()), out.as_mut()));
    });
    c.bench_function(&format!("apply_transpose/sparse/sne/f64/n={n}/r={r}"), |b| {
        b.iter(|| built.operator.apply_transpose(black_box(v.as_ref()), out.as_mut()));
    });
}

criterion_group!(benches, tiles, sparse);
