use super::{generator, rows, run, stream, unit};
use faer::Mat;
use lopsided::online::{
    Account, Instance, LearnerSpec, OnlineLearner, Outcome, Trial, product_eigen, product_svd, rotation_deviation,
};
use lopsided::{Result, Run};
use rand::RngExt;

fn random(n: usize, m: usize, seed: u64) -> Mat<f64> {
    let mut rng = generator(seed);
    Mat::from_fn(n, m, |_, _| rng.random::<f64>() - 0.5)
}

fn assert_orthonormal(m: &Mat<f64>) {
    let gram = m.transpose() * m;
    assert!((gram - Mat::<f64>::identity(m.ncols(), m.ncols())).norm_max() < 1e-7);
}

/// Instances that repeat, so that the kernel matrices are singular.
fn repeated(n: usize, seed: u64) -> Mat<f64> {
    let base = random(n, 4, seed);
    Mat::from_fn(n, 9, |i, j| base[(i, j % 4)])
}

#[test]
fn lemma_4_1_svd_from_kernel_matrices() {
    for (x, y) in [(random(8, 6, 1), random(5, 6, 2)), (repeated(7, 3), repeated(6, 4))] {
        let t = x.ncols();
        let c = random(t, t, 5);
        let found = product_svd((x.transpose() * &x).as_ref(), c.as_ref(), (y.transpose() * &y).as_ref()).unwrap();
        let (u, v) = (&x * &found.left, &y * &found.right);
        assert_orthonormal(&u);
        assert_orthonormal(&v);
        let sigma =
            Mat::from_fn(found.sigma.len(), found.sigma.len(), |i, j| if i == j { found.sigma[i] } else { 0.0 });
        assert!((u * sigma * v.transpose() - &x * &c * y.transpose()).norm_max() < 1e-8);
    }
}

#[test]
fn lemma_4_1_eigendecomposition_with_negative_values() {
    for x in [random(8, 6, 1), repeated(7, 3)] {
        let t = x.ncols();
        let raw = random(t, t, 6);
        let c = &raw + raw.transpose();
        let found = product_eigen((x.transpose() * &x).as_ref(), c.as_ref()).unwrap();
        assert!(found.values.iter().any(|v| *v < 0.0) && found.values.is_sorted_by(|a, b| a >= b));
        let u = &x * &found.vectors;
        assert_orthonormal(&u);
        let scaled = Mat::from_fn(u.nrows(), u.ncols(), |i, j| u[(i, j)] * found.values[j]);
        assert!((scaled * u.transpose() - &x * &c * x.transpose()).norm_max() < 1e-8);
    }
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let (k, c) = (Mat::<f64>::identity(3, 3), Mat::<f64>::identity(2, 2));
    assert_eq!(
        product_svd(k.as_ref(), c.as_ref(), k.as_ref()).unwrap_err().to_string(),
        "C is 2 x 2 but must be 3 x 3"
    );
}

/// The factored parameter has the singular values of the lemma.
#[test]
fn the_factored_update_agrees_with_the_lemma() {
    let mut rng = generator(9);
    let vectors: Vec<(Vec<f64>, Vec<f64>)> = (0..12).map(|_| (unit(20, &mut rng), unit(30, &mut rng))).collect();
    let trials: Vec<Trial> =
        vectors.iter().map(|(x, z)| Trial { instance: Instance::pair(x, z), label: 1.0 }).collect();
    // Steps inside the ball: W is the sum of the instances times −η∂, C diagonal.
    let spec = LearnerSpec::new("gd-trace").with("radius", 100.0).with_loss(lopsided::online::Loss::Gain);
    let (learner, _) = run(&spec.with_step(lopsided::online::StepSize::Fixed(0.5)), &trials);
    let archive = learner.checkpoint();
    let core: Mat<f64> = archive.matrix("core").unwrap();
    let (x, z) = (
        rows(&vectors.iter().map(|v| v.0.clone()).collect::<Vec<_>>()),
        rows(&vectors.iter().map(|v| v.1.clone()).collect::<Vec<_>>()),
    );
    let c = faer::Scale(0.5) * Mat::<f64>::identity(12, 12);
    let lemma = product_svd((&x * x.transpose()).as_ref(), c.as_ref(), (&z * z.transpose()).as_ref()).unwrap();
    let own = core.singular_values().unwrap();
    assert!(own.iter().zip(&lemma.sigma).all(|(a, b)| (a - b).abs() < 1e-10), "{own:?} {:?}", lemma.sigma);
}

/// A perceptron that looks at the first coordinate only: not kernelisable.
struct FirstCoordinate {
    weight: f64,
    account: Account,
}

impl OnlineLearner for FirstCoordinate {
    fn predict(&self, instance: &Instance) -> Result<f64> {
        let mut first = 0.0;
        instance.left().for_each(0, |j, v| first = if j == 0 { v } else { first });
        Ok(self.weight * first)
    }
    fn update(&mut self, instance: &Instance, label: f64) -> Result<Outcome> {
        let prediction = self.predict(instance)?;
        self.weight += 0.5 * (label - prediction);
        Ok(Outcome { prediction, loss: (prediction - label).powi(2) })
    }
    fn checkpoint(&self) -> lopsided::data::archive::Archive {
        lopsided::data::archive::Archive::default()
    }
    fn account(&self) -> &Account {
        &self.account
    }
}

#[test]
fn a_learner_that_cannot_be_kernelised_is_found() {
    let fresh = || -> Result<Box<dyn OnlineLearner>> {
        Ok(Box::new(FirstCoordinate { weight: 1.0, account: Account::default() }))
    };
    let deviation = rotation_deviation(&fresh, &stream(30, (4, Some(3)), 1, 8), 3, &Run::default()).unwrap();
    assert!(deviation > 0.05, "{deviation}");
    assert!(rotation_deviation(&fresh, &[], 3, &Run::default()).is_err());
}
