//! Weights of samples and classes in AsK-LS and the LS-SVM.

use faer::linalg::solvers::Solve;
use lopsided::data::synth;
use lopsided::estimators::{AskLs, ClassWeight, Merge, Model, Symmetrize};
use lopsided::solvers::linsys::Route;
use lopsided::{Dataset, Error, Mat, Run, Samples, Target};
use proptest::prelude::*;

fn kernel(n: usize, seed: u64) -> Mat<f64> {
    synth::gaussian::<f64>(n, n, seed) * faer::Scale(0.5 / (n as f64).sqrt())
}

/// Two classes, of which each has two members at least.
fn target(n: usize, seed: u64) -> Target {
    let values = synth::gaussian::<f64>(n, 1, seed ^ 0x7a);
    let code = |i: usize| if i < 4 { i as u32 % 2 } else { u32::from(values[(i, 0)] > 0.0) };
    Target::Classes { names: vec!["a".into(), "b".into()], codes: (0..n).map(|i| Some(code(i))).collect() }
}

fn precomputed(k: &Mat<f64>, y: Target, weights: Option<Vec<f64>>) -> Dataset<f64> {
    Dataset { y: Some(y), weights, ..Dataset::new(Samples::Dense(k.clone())) }
}

fn decisions(machine: &AskLs, data: &Dataset<f64>) -> Mat<f64> {
    let model = machine.fit(data.clone(), &Run::default()).unwrap();
    let all: Vec<usize> = (0..data.x.count()).collect();
    model.decision(&data.rows(&all), &Run::default()).unwrap()
}

/// diag(1/(γ·w)) in both blocks of \[AsKLS\] Eq. (6): f_s and f_t at the samples for targets of ±1 of the first class.
fn naive(k: &Mat<f64>, y: &[f64], weights: &[f64], penalty: f64) -> (Vec<f64>, Vec<f64>) {
    let n = k.nrows();
    let mut m = Mat::<f64>::zeros(2 * n + 2, 2 * n + 2);
    let mut rhs = Mat::<f64>::zeros(2 * n + 2, 1);
    for i in 0..n {
        (m[(0, 2 + i)], m[(1, 2 + n + i)], m[(2 + i, 0)], m[(2 + n + i, 1)]) = (1.0, 1.0, 1.0, 1.0);
        (m[(2 + i, 2 + i)], m[(2 + n + i, 2 + n + i)]) = (1.0 / (penalty * weights[i]), 1.0 / (penalty * weights[i]));
        (rhs[(2 + i, 0)], rhs[(2 + n + i, 0)]) = (y[i], y[i]);
        for j in 0..n {
            (m[(2 + i, 2 + n + j)], m[(2 + n + j, 2 + i)]) = (k[(i, j)], k[(i, j)]);
        }
    }
    let x = m.partial_piv_lu().solve(&rhs);
    let source = (0..n).map(|i| (0..n).map(|j| k[(i, j)] * x[(2 + n + j, 0)]).sum::<f64>() + x[(0, 0)]).collect();
    let target = (0..n).map(|j| (0..n).map(|i| k[(i, j)] * x[(2 + i, 0)]).sum::<f64>() + x[(1, 0)]).collect();
    (source, target)
}

fn signs(target: &Target) -> Vec<f64> {
    let Target::Classes { codes, .. } = target else { unreachable!("classes are made above") };
    codes.iter().map(|code| if *code == Some(0) { 1.0 } else { -1.0 }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn weights_stand_on_the_diagonal_of_both_blocks(n in 8usize..30, penalty in 0.1..0.8, seed: u64) {
        let (k, y) = (kernel(n, seed), target(n, seed));
        let spread = synth::gaussian::<f64>(n, 1, seed ^ 0x31);
        let weights: Vec<f64> = (0..n).map(|i| spread[(i, 0)].abs() + 0.05).collect();
        let (source, target) = naive(&k, &signs(&y), &weights, penalty);
        let data = precomputed(&k, y, Some(weights));
        for route in [Route::Dense, Route::Svd, Route::Krylov, Route::Minres] {
            for (merge, expected) in [(Merge::Source, &source), (Merge::Target, &target)] {
                let machine = AskLs { route, ..AskLs::new("precomputed").with_penalty(penalty).with_merge(merge) };
                let found = decisions(&machine, &data);
                for i in 0..n {
                    let gap = (found[(i, 0)] - expected[i]).abs();
                    prop_assert!(gap < 1e-7 * (1.0 + expected[i].abs()), "{route:?} {merge}: {gap}");
                }
            }
        }
    }

    #[test]
    fn a_weight_of_two_is_a_sample_twice_and_one_of_zero_is_none(n in 8usize..24, penalty in 0.1..0.8, seed: u64) {
        let (k, y) = (kernel(n, seed), target(n, seed));
        let times: Vec<usize> = (0..n).map(|i| if i < 4 { 1 } else { (i + (seed % 3) as usize) % 3 }).collect();
        let rows: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, times[i])).collect();
        let repeated = Mat::from_fn(rows.len(), rows.len(), |i, j| k[(rows[i], rows[j])]);
        let repeated = precomputed(&repeated, y.rows(&rows), None);
        let weighted = precomputed(&k, y, Some(times.iter().map(|t| *t as f64).collect()));
        let machines = [
            AskLs::new("precomputed").with_merge(Merge::Average),
            AskLs::symmetric("precomputed", Symmetrize::Average),
            AskLs::symmetric("precomputed", Symmetrize::Rows),
        ];
        // Of products of the matrix with itself every sample is a part, however often it is learned from.
        for machine in &machines[..2] {
            let machine = machine.clone().with_penalty(penalty);
            let (found, expected) = (decisions(&machine, &weighted), decisions(&machine, &repeated));
            for (at, &i) in rows.iter().enumerate() {
                let gap = (found[(i, 0)] - expected[(at, 0)]).abs();
                prop_assert!(gap < 1e-7 * (1.0 + expected[(at, 0)].abs()), "{gap}");
            }
        }
        prop_assert!(decisions(&machines[2], &weighted).norm_max().is_finite());
    }
}

/// The chosen penalty and the stacking see weights as well.
#[test]
fn weights_of_classes_are_weights_of_their_samples() {
    let (n, seed) = (40, 8);
    let (k, y) = (kernel(n, seed), target(n, seed));
    let Target::Classes { codes, .. } = &y else { unreachable!("classes are made above") };
    let own: Vec<f64> = codes.iter().map(|code| if *code == Some(1) { 3.0 } else { 1.0 }).collect();
    let machine = AskLs::new("precomputed");
    let named = machine.clone().with_class_weight(ClassWeight::Named(vec![("b".into(), 3.0)]));
    let by_class = decisions(&named, &precomputed(&k, y.clone(), None));
    let by_sample = decisions(&machine, &precomputed(&k, y.clone(), Some(own)));
    assert!((&by_class - by_sample).norm_max() == 0.0);
    assert!((by_class - decisions(&machine, &precomputed(&k, y, None))).norm_max() > 1e-6);
}

#[test]
fn equal_weights_scale_the_penalty_and_wrong_ones_are_refused() {
    let (n, seed) = (20, 5);
    let (k, y) = (kernel(n, seed), target(n, seed));
    let machine = |penalty: f64| AskLs::new("precomputed").with_merge(Merge::Average).with_penalty(penalty);
    let plain = decisions(&machine(0.6), &precomputed(&k, y.clone(), None));
    let weighted = decisions(&machine(0.3), &precomputed(&k, y.clone(), Some(vec![2.0; n])));
    assert!((plain - weighted).norm_max() < 1e-9);
    let negative = precomputed(&k, y.clone(), Some((0..n).map(|i| if i == 3 { -1.0 } else { 1.0 }).collect()));
    assert!(machine(0.3).fit(negative, &Run::default()).is_err());
    let of_values = Dataset { y: Some(Target::Values(signs(&y))), ..precomputed(&k, y, None) };
    let balanced = machine(0.3).with_class_weight(ClassWeight::Balanced);
    assert!(matches!(balanced.fit(of_values, &Run::default()), Err(Error::Param { .. })));
}

#[test]
fn balanced_classes_find_more_of_a_rare_one() {
    let (n, rare) = (300, 30);
    let x = synth::gaussian::<f64>(n, 2, 3);
    let x = Mat::from_fn(n, 2, |i, j| x[(i, j)] + if i < rare && j == 0 { 1.5 } else { 0.0 });
    let codes = (0..n).map(|i| Some(u32::from(i < rare))).collect();
    let y = Target::Classes { names: vec!["many".into(), "few".into()], codes };
    let data = Dataset { y: Some(y), ..Dataset::new(Samples::Dense(x)) };
    let machine = AskLs::symmetric("rbf", Symmetrize::Average).with_penalty(1.0);
    let found = |machine: &AskLs| {
        let model = machine.fit(data.clone(), &Run::default()).unwrap();
        let decision = model.decision(&data, &Run::default()).unwrap();
        (0..rare).filter(|&i| decision[(i, 1)] > decision[(i, 0)]).count()
    };
    assert!(found(&machine.clone().with_class_weight(ClassWeight::Balanced)) > found(&machine));
}
