//! The coupled covariances eigenproblem of \[KSVD\] §2.2, with feature maps that can be written down.

use crate::naive::{self, POINTWISE, both, draw, sparse_matrix};
use lopsided::kernel::KernelSpec;
use lopsided::{Dataset, KernelSvd, KernelSvdModel, Mat, Run};
use proptest::prelude::*;

const GAMMA: f64 = 0.4;
const COEF: f64 = 0.7;

fn fit(kernel: KernelSpec, x: &Mat<f64>, z: &Mat<f64>, rank: usize, center: bool) -> KernelSvdModel<f64> {
    let data = Dataset::two_sided(both(x)[0].clone(), both(z)[0].clone());
    let estimator = KernelSvd::new(kernel);
    estimator.with_rank(rank).with_solver("exact").with_center(center).fit(data, &Run::default()).unwrap()
}

fn square_kernel() -> KernelSpec {
    KernelSpec::new("poly").with("degree", 2.0).with("gamma", GAMMA).with("coef0", COEF)
}

/// φ with ⟨φ(x), φ(z)⟩ = (gamma·⟨x, z⟩ + coef0)²: all products of two coordinates, the coordinates, a constant. One column per sample.
fn features(samples: &Mat<f64>) -> Mat<f64> {
    let d = samples.ncols();
    let entry = |k: usize, i: usize| match k {
        k if k < d * d => GAMMA * samples[(i, k / d)] * samples[(i, k % d)],
        k if k < d * d + d => (2.0 * GAMMA * COEF).sqrt() * samples[(i, k - d * d)],
        _ => COEF,
    };
    Mat::from_fn(d * d + d + 1, samples.nrows(), entry)
}

fn mean(features: &Mat<f64>) -> Vec<f64> {
    features.row_iter().map(|row| row.iter().sum::<f64>() / features.ncols() as f64).collect()
}

fn shifted(features: &Mat<f64>, by: &[f64]) -> Mat<f64> {
    Mat::from_fn(features.nrows(), features.ncols(), |k, i| features[(k, i)] - by[k])
}

/// The features of one side, centred or not.
fn side(samples: &Mat<f64>, center: bool) -> Mat<f64> {
    let all = features(samples);
    if center { shifted(&all, &mean(&all)) } else { all }
}

fn scaled(m: &Mat<f64>, by: impl Fn(usize) -> f64) -> Mat<f64> {
    Mat::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)] * by(j))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_directions_solve_the_coupled_covariances_eigenproblem(
        x in sparse_matrix(5..12, 3), z in sparse_matrix(5..12, 3), center: bool,
    ) {
        // [KSVD] Eq. (1): Σ_φ·W_ψ = W_φ·Λ and Σ_ψ·W_φ = W_ψ·Λ with W_φ = Φ·U/√n, W_ψ = Ψ·V/√m, Λ = Σ/√(nm).
        let model = fit(square_kernel(), &x, &z, 3, center);
        let (phi, psi) = (side(&x, center), side(&z, center));
        let (n, m) = (x.nrows() as f64, z.nrows() as f64);
        let w_phi = scaled(&(&phi * &model.svd.u), |_| 1.0 / n.sqrt());
        let w_psi = scaled(&(&psi * &model.svd.v), |_| 1.0 / m.sqrt());
        let lambda = |k: usize| model.singular_values()[k] / (n * m).sqrt();
        let left = scaled(&(&phi * (phi.transpose() * &w_psi)), |_| 1.0 / n) - scaled(&w_phi, lambda);
        let right = scaled(&(&psi * (psi.transpose() * &w_phi)), |_| 1.0 / m) - scaled(&w_psi, lambda);
        let size = 1.0 + phi.norm_max().powi(3) + psi.norm_max().powi(3);
        prop_assert!(left.norm_max() < 1e-11 * size && right.norm_max() < 1e-11 * size, "{left:?} {right:?}");
    }

    #[test]
    fn the_dual_equations_hold_for_every_kernel(
        x in sparse_matrix(5..12, 4), z in sparse_matrix(5..12, 4), center: bool,
    ) {
        // [KSVD] Eq. (4), with the singular values of G itself.
        for name in POINTWISE {
            let model = fit(naive::spec(name, 0.3), &x, &z, 3, center);
            let raw = naive::matrix(name, 0.3, &x, &z);
            let g = if center { naive::center(&raw) } else { raw };
            let (u, v, sigma) = (&model.svd.u, &model.svd.v, model.singular_values());
            let left = g.transpose() * (&g * v) - scaled(&(g.transpose() * u), |k| sigma[k]);
            let right = &g * (g.transpose() * u) - scaled(&(&g * v), |k| sigma[k]);
            let size = 1.0 + (g.nrows() * g.ncols()) as f64 * g.norm_max().powi(2);
            prop_assert!(left.norm_max() < 1e-12 * size && right.norm_max() < 1e-12 * size, "{name}");
        }
    }

    #[test]
    fn centring_the_matrix_is_centring_the_features(
        x in sparse_matrix(4..10, 3), z in sparse_matrix(4..10, 3), new in sparse_matrix(1..4, 3),
    ) {
        let (phi, psi) = (side(&x, true), side(&z, true));
        let expected = phi.transpose() * &psi;
        let plain = features(&x).transpose() * features(&z);
        let size = 1.0 + plain.norm_max();
        prop_assert!((naive::center(&plain) - &expected).norm_max() < 1e-12 * size);
        let model = fit(square_kernel(), &x, &z, 2, true);
        let truth = expected.singular_values().unwrap();
        for (value, truth) in model.singular_values().iter().zip(&truth) {
            prop_assert!((value - truth).abs() < 1e-12 * size * truth.max(1.0), "{value} {truth}");
        }
        // A new sample is centred by the mean of the training samples of its own side.
        let Some(&last) = model.singular_values().last() else { return Ok(()) };
        let tol = 1e-10 * size * (1.0 + model.singular_values()[0]) / last.min(1.0).powi(2);
        let all_new = features(&new);
        let rows = shifted(&all_new, &mean(&features(&x))).transpose() * &psi * &model.svd.v;
        let cols = shifted(&all_new, &mean(&features(&z))).transpose() * &phi * &model.svd.u;
        let inverse = |k: usize| 1.0 / model.singular_values()[k];
        let samples = both::<f64>(&new)[0].clone();
        let placed = model.project_rows(samples.as_ref(), &Run::default()).unwrap();
        prop_assert!((placed - scaled(&rows, inverse)).norm_max() < tol);
        let placed = model.project_cols(samples.as_ref(), &Run::default()).unwrap();
        prop_assert!((placed - scaled(&cols, inverse)).norm_max() < tol);
    }
}

/// The leading eigenvectors of two symmetric kernel matrices are the vectors of both sides (\[KSVD\] §2.3, "CCE versus 2KPCA").
#[test]
fn two_kernel_pcas_have_the_same_vectors() {
    let (x, z) = (draw(&sparse_matrix(18..19, 3)), draw(&sparse_matrix(13..14, 3)));
    let mut compared = 0;
    for center in [false, true] {
        let model = fit(square_kernel(), &x, &z, 5, center);
        let (phi, psi) = (side(&x, center), side(&z, center));
        // The Gram matrix of x ↦ Σ_ψ^½·φ(x) is φ(x)ᵀ·Σ_ψ·φ(x') = G·Gᵀ/m; the other side likewise.
        let rows = phi.transpose() * (&psi * (psi.transpose() * &phi));
        let cols = psi.transpose() * (&phi * (phi.transpose() * &psi));
        for (gram, vectors) in [(rows, &model.svd.u), (cols, &model.svd.v)] {
            let eigen = gram.self_adjoint_eigen(faer::Side::Lower).unwrap();
            let value = |k: usize| eigen.S().column_vector()[gram.nrows() - 1 - k];
            for k in 0..5 {
                let sigma = model.singular_values()[k];
                assert!((value(k) - sigma * sigma).abs() < 1e-10 * value(0), "{center} {k}");
                let gap = (value(k) - value(k + 1)).min(if k == 0 { f64::MAX } else { value(k - 1) - value(k) });
                if gap > 1e-4 * value(0) {
                    let cosine = vectors.col(k).transpose() * eigen.U().col(gram.nrows() - 1 - k);
                    assert!((cosine.abs() - 1.0).abs() < 1e-9, "{center} {k}: {cosine}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= 12, "only {compared} vectors have separated values");
}
