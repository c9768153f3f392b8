//! Micro-benchmarks: one module per subject, ids carry the parameters.

mod benchmarks;

criterion::criterion_main!(benchmarks::apply::benches, benchmarks::svd::benches);
