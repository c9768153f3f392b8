//! How quick products and a kernel SVD are on a card, and how accurate: `benchsuite/device.py` runs it beside other programs.
//!
//! `device gv N D R f32|fast|f64` times G·V of the RBF kernel between N row and N column samples of D normal coordinates, with R
//! vectors and gamma = 1/(2D): median seconds of the card, of the whole call, and the error of 64 rows against the processor in
//! double precision. `device svd N D RANK f32|f64 cpu|cuda [KERNEL]` fits a kernel, SNE by default, to a residual of 1e-4;
//! `device kpca N D RANK f32|f64 cpu|cuda` finds centred components of the RBF kernel with gamma = 1/(2D) likewise.
#![allow(missing_docs, clippy::print_stdout, non_snake_case)]

use lopsided::base::device::Device;
use lopsided::estimators::{Approximation, Gram, KernelPca};
use lopsided::kernel::KernelSpec;
use lopsided::operator::{DeviceOperator, KernelOperator, Operator};
use lopsided::solvers::svd::SolveReport;
use lopsided::{Dataset, KernelSvd, Mat, Progress, Result, Run, Samples, Scalar, Watch};
use std::time::Instant;

/// About normal numbers, the same for the same seed; columns differ.
fn numbers<T: Scalar>(rows: usize, cols: usize, seed: u64) -> Mat<T> {
    let uniform = |i: usize, j: usize, k: u64| {
        let mut x = (i as u64) ^ ((j as u64) << 32) ^ (seed << 56) ^ (k << 48);
        x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        ((x ^ (x >> 33)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let normal = |i, j| {
        let (a, b) = (1.0 - uniform(i, j, 1), uniform(i, j, 2));
        T::of((-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos())
    };
    Mat::from_fn(rows, cols, normal)
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

fn gv<T: Scalar>((n, d, r): (usize, usize, usize), fast: bool) -> Result<()> {
    let (x, z) = (Samples::Dense(numbers::<T>(n, d, 1)), Samples::Dense(numbers::<T>(n, d, 2)));
    let (v, spec) = (numbers::<T>(n, r, 3), KernelSpec::new("rbf").with("gamma", 0.5 / d as f64));
    let kernel = spec.build::<T>()?;
    let start = Instant::now();
    let watch = Watch::default();
    let g = DeviceOperator::new(&*kernel, (x.as_ref(), z.as_ref()), None, (Device::Cuda(0), fast), &watch)?;
    let ready = start.elapsed().as_secs_f64();
    let mut out = Mat::<T>::zeros(n, r);
    let (mut card, mut whole) = (Vec::new(), Vec::new());
    for turn in 0..6 {
        out.fill(T::of(f64::NAN));
        let (before, start) = (g.seconds(), Instant::now());
        g.apply(v.as_ref(), out.as_mut())?;
        if turn > 0 {
            whole.push(start.elapsed().as_secs_f64());
            card.push(g.seconds() - before);
        }
    }
    let picked: Vec<usize> = (0..64).map(|i| i * (n / 64).max(1)).filter(|i| *i < n).collect();
    let wide = |m: &Mat<T>| Mat::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)].as_f64());
    let (Samples::Dense(rows), Samples::Dense(cols)) = (&x, &z) else { unreachable!() };
    let rows = Samples::Dense(wide(&Mat::from_fn(picked.len(), d, |i, j| rows[(picked[i], j)])));
    let (cols, exact) = (Samples::Dense(wide(cols)), spec.build::<f64>()?);
    let mut expected = Mat::<f64>::zeros(picked.len(), r);
    let few = KernelOperator::new(&*exact, rows.as_ref(), cols.as_ref(), None, &watch)?;
    few.apply(wide(&v).as_ref(), expected.as_mut())?;
    let found = Mat::from_fn(picked.len(), r, |i, j| out[(picked[i], j)].as_f64());
    let off = (&found - &expected).norm_l2() / expected.norm_l2();
    let missing = out.col_iter().any(|c| c.iter().any(|v| v.as_f64().is_nan()));
    println!(
        "gv n={n} d={d} r={r} {}{}: card {:.2} ms, call {:.2} ms, error {off:.1e}, ready {ready:.2} s{}",
        T::NAME,
        if fast { " fast" } else { "" },
        1e3 * median(card),
        1e3 * median(whole),
        if missing { ", NOT all written" } else { "" }
    );
    Ok(())
}

fn svd<T: Scalar>((n, d, rank): (usize, usize, usize), device: Device, kernel: &str) -> Result<()> {
    let data = Dataset::new(Samples::Dense(numbers::<T>(n, d, 1)));
    let began = Instant::now();
    let told = move |progress: Progress| {
        if std::env::var_os("LOPSIDED_STAGES").is_some() {
            println!("  {:.2} s: {} {}", began.elapsed().as_secs_f64(), progress.stage, progress.done);
        }
    };
    let run = Run { device, watch: Watch::with_callback(told), ..Run::default() };
    let svd = KernelSvd::new(if kernel.is_empty() { "sne" } else { kernel }).with_rank(rank).with_tol(1e-4);
    let start = Instant::now();
    let model = svd.fit(data, &run)?;
    let (seconds, report) = (start.elapsed().as_secs_f64(), model.report());
    println!(
        "svd n={n} d={d} rank={rank} {} {device}: {seconds:.2} s ({:.2} s in products, {:.2} s beside), residual {:.1e}, converged {}, {} products, sigma {:.6} to {:.6}",
        T::NAME,
        report.seconds_in_operator,
        report.seconds_in_ortho,
        report.residual(),
        report.converged(),
        report.products,
        model.singular_values().first().map_or(0.0, |s| s.as_f64()),
        model.singular_values().last().map_or(0.0, |s| s.as_f64()),
    );
    Ok(())
}

fn kpca<T: Scalar>((n, d, rank): (usize, usize, usize), device: Device) -> Result<()> {
    let data = Dataset::new(Samples::Dense(numbers::<T>(n, d, 1)));
    let run = Run { device, ..Run::default() };
    let gram = Gram::from(KernelSpec::new("rbf").with("gamma", 0.5 / d as f64));
    let machine =
        KernelPca { rank, tol: Some(1e-4), ..KernelPca::new(gram).with_approximation(Approximation::exact()) };
    let start = Instant::now();
    let model = machine.fit(&data, &run)?;
    let values: Vec<f64> = model.variances.iter().map(|v| v * n as f64).collect();
    println!(
        "kpca n={n} d={d} rank={rank} {} {device}: {:.2} s, residual {:.1e}, {} products, eigenvalues {:.4} to {:.4}",
        T::NAME,
        start.elapsed().as_secs_f64(),
        model.solved.as_ref().map_or(0.0, SolveReport::residual),
        model.solved.as_ref().map_or(0, |report| report.products),
        values.first().copied().unwrap_or(0.0),
        values.last().copied().unwrap_or(0.0),
    );
    Ok(())
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| words.get(i).and_then(|word| word.parse().ok()).unwrap_or(0);
    let size = (number(1), number(2), number(3));
    let word = |i: usize| words.get(i).map_or("", String::as_str);
    match (word(0), word(4)) {
        ("gv", "f64") => gv::<f64>(size, false),
        ("gv", precision) => gv::<f32>(size, precision == "fast"),
        ("svd", "f64") => svd::<f64>(size, word(5).parse()?, word(6)),
        ("svd", _) => svd::<f32>(size, word(5).parse()?, word(6)),
        ("kpca", "f64") => kpca::<f64>(size, word(5).parse()?),
        ("kpca", _) => kpca::<f32>(size, word(5).parse()?),
        _ => {
            println!("device gv N D R f32|fast|f64, or device svd|kpca N D RANK f32|f64 cpu|cuda");
            Ok(())
        }
    }
}
