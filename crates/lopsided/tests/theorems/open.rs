//! Kernels, operators and solvers of others, by value: what they give is what the library's own twins give.

use lopsided::base::settings::Settings;
use lopsided::estimators::{AskLs, Estimator, KernelLogistic, KernelPca, KernelRidge, Svm};
use lopsided::kernel::{Kernel, KernelSpec};
use lopsided::operator::{DenseOperator, Operator};
use lopsided::solvers::svd::{SvdSolver, solvers};
use lopsided::{Dataset, Error, KernelSvd, Mat, MatRef, Result, Run, Samples, SamplesRef, Target};

/// (1 + xᵀz)², which the list has as `poly`.
struct Square;

impl Kernel<f64> for Square {
    fn block(&self, x: SamplesRef<'_, f64>, z: SamplesRef<'_, f64>, mut out: faer::MatMut<'_, f64>) -> Result<()> {
        let (x, z) = (x.to_dense(), z.to_dense());
        for (i, j) in (0..x.nrows()).flat_map(|i| (0..z.nrows()).map(move |j| (i, j))) {
            out[(i, j)] = (1.0 + x.row(i) * z.row(j).transpose()) * (1.0 + x.row(i) * z.row(j).transpose());
        }
        Ok(())
    }
}

fn listed() -> KernelSpec {
    KernelSpec::new("poly").with("degree", 2.0).with("gamma", 1.0).with("coef0", 1.0)
}

fn samples(count: usize) -> Samples<f64> {
    Samples::Dense(lopsided::data::synth::gaussian(count, 3, 4))
}

fn table(classes: bool) -> Dataset<f64> {
    let x = samples(40);
    let value = |i: usize| x.as_ref().to_dense()[(i, 0)] - 0.3 * x.as_ref().to_dense()[(i, 2)];
    let target = if classes {
        let codes = (0..40).map(|i| Some(u32::from(value(i) > 0.0))).collect();
        Target::Classes { codes, names: vec!["no".into(), "yes".into()] }
    } else {
        Target::Values((0..40).map(value).collect())
    };
    Dataset { y: Some(target), ..Dataset::new(x) }
}

fn close(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> bool {
    a.shape() == b.shape() && (a.to_owned() - b).norm_max() < 1e-6 * (1.0 + b.norm_max())
}

type Machine = fn(KernelSpec) -> Box<dyn Estimator<f64>>;

#[test]
fn a_kernel_by_value_serves_every_machine_as_the_listed_one_does() {
    let run = Run::default();
    let (own, twin) = (|| KernelSpec::own(Square).symmetric(), listed);
    let embed = |kernel: KernelSpec| KernelSvd::new(kernel).with_rank(3).fit(Dataset::new(samples(30)), &run).unwrap();
    assert!(close(embed(own()).svd.u.as_ref(), embed(twin()).svd.u.as_ref()));
    let components = |kernel: KernelSpec| {
        let model = KernelPca::new(kernel).with_rank(2).fit(&Dataset::new(samples(30)), &run).unwrap();
        model.transform(samples(9).as_ref(), &run).unwrap()
    };
    assert!(close(components(own()).as_ref(), components(twin()).as_ref()));
    let machines: [(Machine, bool); 5] = [
        (|k| Box::new(AskLs::new(k).with_penalty(0.01)), true),
        (|k| Box::new(Svm::new(k)), true),
        (|k| Box::new(KernelLogistic::new(k)), true),
        (|k| Box::new(KernelRidge::new(k).with_penalty(1.0)), false),
        (|k| Box::new(KernelRidge::new(k).with_penalty(1.0).with_landmarks(12)), false),
    ];
    for (at, (machine, classes)) in machines.into_iter().enumerate() {
        let scores = |kernel: KernelSpec| {
            let model = machine(kernel).fit(table(classes), &run).unwrap();
            model.decision(&Dataset::new(samples(9)), &run).unwrap()
        };
        assert!(close(scores(own()).as_ref(), scores(twin()).as_ref()), "machine {at}");
    }
}

#[test]
fn what_a_kernel_by_value_cannot_do_is_said() {
    let run = Run::default();
    let model = KernelSvd::new(Square).with_rank(2).fit(Dataset::new(samples(10)), &run).unwrap();
    let file = tempfile::tempdir().unwrap().path().join("m");
    let refused = model.save(&file).unwrap_err().to_string();
    assert!(refused.contains("a kernel given by value cannot be saved"), "{refused}");
    assert!(!file.exists());
    let single = Samples::Dense(Mat::from_fn(5, 2, |i, j| (i + j) as f32));
    let refused = KernelSvd::new(Square).with_rank(1).fit(Dataset::new(single), &run).err().unwrap().to_string();
    assert_eq!(refused, "`precision` is f32 but must be f64, that of the kernel `Square`");
    let tuned = lopsided::estimators::Gram::from(Square).with(&Settings::default().with("degree", 3.0));
    assert!(matches!(tuned, Err(Error::Param { .. })), "{tuned:?}");
}

/// The Hilbert matrix, of which nothing but entries is known.
struct Hilbert(usize, usize);

impl Operator<f64> for Hilbert {
    fn nrows(&self) -> usize {
        self.0
    }

    fn ncols(&self) -> usize {
        self.1
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: faer::MatMut<'_, f64>) -> Result<()> {
        for (i, j) in (0..rows.len()).flat_map(|i| (0..cols.len()).map(move |j| (i, j))) {
            out[(i, j)] = 1.0 / (1 + rows[i] + cols[j]) as f64;
        }
        Ok(())
    }
}

#[test]
fn every_solver_takes_an_operator_of_somebody_else() {
    let g = Mat::from_fn(40, 30, |i, j| 1.0 / (1 + i + j) as f64);
    let expected = g.singular_values().unwrap();
    for entry in solvers::<f64>().iter().filter(|entry| entry.name != "symmetric-nystrom") {
        let solver: Box<dyn SvdSolver<f64>> = (entry.build)(&Settings::default()).unwrap();
        let given = solver.solve(&Hilbert(40, 30), 3, &Run::default()).unwrap();
        assert_eq!(given.sigma.len(), 3, "{}", entry.name);
        assert!(given.report.converged(), "{}: {:?}", entry.name, given.report);
        assert!(given.sigma.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6), "{}", entry.name);
        let stored = solver.solve(&DenseOperator::Borrowed(g.as_ref()), 3, &Run::default()).unwrap();
        assert!(close(given.u.as_ref(), stored.u.as_ref()), "{}", entry.name);
    }
}
