use crate::naive;
use faer::linalg::solvers::Solve;
use lopsided::data::synth::CyclicGraph;
use lopsided::evaluation::{HeldOut, LinkScore};
use lopsided::operator::{Katz, Operator};
use lopsided::{Csr, Dataset, Features, GraphRule, Hope, Kpca, LinearSvd, Links, Mat, Pca, Run, Samples, Side};
use proptest::prelude::*;

/// A square sparse matrix with entries of both signs.
fn square() -> impl Strategy<Value = Mat<f64>> {
    (2usize..9).prop_flat_map(|n| naive::sparse_matrix(n..n + 1, n))
}

fn csr(a: &Mat<f64>) -> Csr<f64> {
    let [_, Samples::Sparse(a)] = naive::both::<f64>(a) else { panic!("the second one is sparse") };
    a
}

/// (I − βA)⁻¹·βA.
fn dense_katz(a: &Mat<f64>, beta: f64) -> Mat<f64> {
    let scaled = faer::Scale(beta) * a;
    (Mat::<f64>::identity(a.nrows(), a.nrows()) - &scaled).partial_piv_lu().solve(&scaled)
}

/// U·Uᵀ, which does not depend on the choice among equal singular values.
fn projector(u: faer::MatRef<'_, f64>) -> Mat<f64> {
    u * u.transpose()
}

fn product(features: &Features<f64>) -> Mat<f64> {
    features.scaled(Side::Row, 1.0) * features.vectors(Side::Col).transpose()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn katz_products_and_blocks_equal_the_dense_inverse(a in square(), scale in 0.1..0.9) {
        let default = Katz::new(csr(&a), None).unwrap().beta();
        let katz = Katz::new(csr(&a), Some(2.0 * scale * default)).unwrap();
        let expected = dense_katz(&a, katz.beta());
        let n = a.nrows();
        let (mut s, mut st) = (Mat::zeros(n, n), Mat::zeros(n, n));
        let unit = Mat::<f64>::identity(n, n);
        katz.apply(unit.as_ref(), s.as_mut()).unwrap();
        katz.apply_transpose(unit.as_ref(), st.as_mut()).unwrap();
        let tol = 1e-11 * (1.0 + expected.norm_max());
        prop_assert!((&s - &expected).norm_max() < tol);
        prop_assert!((st - expected.transpose()).norm_max() < tol);
        let mut block = Mat::zeros(2, 1);
        katz.block(&[n - 1, 0], &[1], block.as_mut()).unwrap();
        prop_assert!((block[(0, 0)] - expected[(n - 1, 1)]).abs() < tol && (block[(1, 0)] - expected[(0, 1)]).abs() < tol);
    }

    #[test]
    fn hope_of_full_rank_is_the_proximity_itself(a in square()) {
        let n = a.nrows();
        let features = Hope::new(n).fit(&csr(&a), &Run::default()).unwrap();
        let beta = Katz::new(csr(&a), None).unwrap().beta();
        prop_assert!((product(&features) - dense_katz(&a, beta)).norm_max() < 1e-9);
    }

    #[test]
    fn principal_components_are_singular_vectors_of_the_centred_rows(x in naive::sparse_matrix(6..12, 4)) {
        for samples in naive::both::<f64>(&x) {
            let means: Vec<f64> = x.col_iter().map(|c| c.iter().sum::<f64>() / x.nrows() as f64).collect();
            let centred = Mat::from_fn(x.nrows(), 4, |i, j| x[(i, j)] - means[j]);
            let svd = centred.thin_svd().unwrap();
            let values: Vec<f64> = svd.S().column_vector().iter().copied().filter(|s| *s > 1e-5).collect();
            prop_assume!(values.len() == 4);
            let data = Dataset::new(samples);
            let features = Pca::new(4).fit(&data, &Run::default()).unwrap();
            prop_assert!(features.v.is_none());
            prop_assert!(features.sigma.iter().zip(&values).all(|(s, v)| (s - v * v).abs() < 1e-9 * values[0].powi(2)));
            let expected = projector(svd.U().subcols(0, 4));
            prop_assert!((projector(features.u.as_ref()) - &expected).norm_max() < 1e-6);
            let linear = Kpca::new("linear", 4).fit(&data, &Run::default()).unwrap();
            prop_assert!((projector(linear.u.as_ref()) - expected).norm_max() < 1e-6);
        }
    }

    #[test]
    fn linear_svd_of_full_rank_is_the_matrix_itself(a in square()) {
        for samples in naive::both::<f64>(&a) {
            let features = LinearSvd::new(a.nrows()).fit(&Dataset::new(samples), &Run::default()).unwrap();
            prop_assert!((product(&features) - &a).norm_max() < 1e-10);
        }
    }
}

#[test]
fn links_that_were_taken_out_score_higher_than_pairs_without_link() {
    let (graph, _) = CyclicGraph { nodes: 600, classes: 3, degree: 60.0, contrast: 1.0, seed: 3 }.generate().unwrap();
    let held = HeldOut::split(&graph, 0.1, 1).unwrap();
    for links in [Links::In, Links::Out] {
        let rule = GraphRule { links, self_loops: false, normalize: false, unit: false, walk: 1 };
        let data = Dataset::<f64>::from_graph(&held.graph, &rule).unwrap();
        let features = LinearSvd::new(3).fit(&data, &Run::default()).unwrap();
        let right = held.evaluate(&features, links, 1.0).unwrap();
        assert!(right.auroc > 0.6 && right.average_precision > 0.6, "{right:?}");
        // Of the singular vectors of A itself UᵀAV is Σ.
        let same = held.evaluate(&features, links, LinkScore::Links).unwrap();
        assert!((same.auroc - right.auroc).abs() < 1e-9, "{same:?}");
        let turned = held.evaluate(&features, if links == Links::In { Links::Out } else { Links::In }, 1.0).unwrap();
        assert!(turned.auroc < right.auroc - 0.1, "{turned:?}");
    }
}
