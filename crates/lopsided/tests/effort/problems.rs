//! The problems: everything in them is fixed, also the memory that choices are made by.

use lopsided::data::synth::{self, CyclicGraph};
use lopsided::estimators::{
    Approach, Approximation, AskLs, Gram, KernelPca, KernelRidge, Model, Svm, SvmKind, Symmetrize,
};
use lopsided::kernel::KernelSpec;
use lopsided::online::{Instance, LearnerSpec};
use lopsided::operator::{KernelMatrix, OperatorChoice};
use lopsided::solvers::linsys::{CoupledSystem, Route};
use lopsided::solvers::svm::{CSvm, Part, RowCache};
use lopsided::{Biclustering, Dataset, GraphRule, KernelSvd, Mat, Run, Samples, Target};

/// What a problem counts of its own.
type Counts = Vec<(&'static str, u64)>;

/// Works with a run and consumes its data.
type Solve = Box<dyn FnOnce(&Run) -> Counts + Send>;

pub(crate) struct Problem {
    pub(crate) name: &'static str,
    /// Coordinates that a kernel value takes.
    pub(crate) width: u64,
    /// Rows and columns of the kernel matrix; `None`: it is sparse and has as many entries as were evaluated.
    size: Option<(u64, u64)>,
    /// Makes the data, which is not counted.
    pub(crate) prepare: fn() -> Solve,
}

impl Problem {
    /// Entries that a product with one vector takes.
    pub(crate) fn cells(&self, evaluated: u64) -> u64 {
        self.size.map_or(evaluated, |(n, m)| n * m)
    }
}

const fn problem(name: &'static str, width: u64, size: Option<(u64, u64)>, prepare: fn() -> Solve) -> Problem {
    Problem { name, width, size, prepare }
}

pub(crate) const PROBLEMS: &[Problem] = &[
    problem("kernel SVD of a graph", 11, None, graph),
    problem("kernel SVD stored", 20, Some((700, 500)), || two_sided("auto", OperatorChoice::Dense)),
    problem("kernel SVD in tiles", 20, Some((700, 500)), || two_sided("auto", OperatorChoice::Tiles)),
    problem("kernel SVD of one sample set", 20, Some((700, 700)), one_sided),
    problem("asymmetric Nystrom", 20, Some((700, 500)), || two_sided("nystrom", OperatorChoice::Tiles)),
    problem("AsK-LS system by svd", 20, Some((400, 400)), || system(Route::Svd)),
    problem("AsK-LS system dense", 20, Some((400, 400)), || system(Route::Dense)),
    problem("AsK-LS system by Krylov spaces", 20, Some((400, 400)), || system(Route::Krylov)),
    problem("AsK-LS system by MINRES", 20, Some((400, 400)), || system(Route::Minres)),
    problem("AsK-LS system of low rank", 20, Some((400, 400)), || system(Route::LowRank(20))),
    problem("AsK-LS stacked", 20, Some((400, 400)), || least_squares(AskLs::new(gram("sne")).with_penalty(1.0))),
    problem("LS-SVM", 20, Some((400, 400)), || least_squares(AskLs::symmetric(gram("rbf"), Symmetrize::Average))),
    problem("C-SVM", 4, Some((600, 600)), support_vectors),
    problem("C-SVM in tiles with little memory", 4, Some((600, 600)), little_memory),
    problem("C-SVM with landmarks", 4, Some((1500, 1500)), landmark_svm),
    problem("ridge exact", 4, Some((600, 600)), || ridge(600, Approximation::exact())),
    problem("ridge LLA", 4, Some((1500, 1500)), || ridge(1500, landmarks(Approach::Lla, "rpcholesky"))),
    problem("ridge GSA", 4, Some((1500, 1500)), || ridge(1500, landmarks(Approach::Gsa, "uniform"))),
    problem("ridge NCR", 4, Some((1500, 1500)), || ridge(1500, landmarks(Approach::Ncr, "uniform"))),
    problem("kernel PCA exact", 4, Some((600, 600)), || components(600, Approximation::exact())),
    problem("kernel PCA LLA", 4, Some((1500, 1500)), || components(1500, landmarks(Approach::Lla, "uniform"))),
    problem("online trace norm", 5, Some((1, 1)), online),
    problem("biclusters", 30, Some((300, 200)), biclusters),
];

fn svd(kernel: &str) -> KernelSvd {
    KernelSvd::new(gram(kernel))
}

fn gram(kernel: &str) -> Gram {
    Gram::new(kernel).with_memory(1 << 30)
}

fn landmarks(approach: Approach, sampler: &str) -> Approximation {
    Approximation::new(approach, sampler, 100)
}

/// Rows and columns of samples around the same centres.
fn clusters(n: usize, width: usize, count: usize) -> (Samples<f64>, Vec<u32>) {
    let (x, labels) = synth::clusters(n, width, count, 7);
    (Samples::Dense(x), labels)
}

/// Samples with the parity of their cluster as class.
fn classes(n: usize, width: usize, count: usize) -> Dataset<f64> {
    let (x, labels) = clusters(n, width, count);
    let names = vec!["even".to_string(), "odd".to_string()];
    let codes = labels.iter().map(|label| Some(label % 2)).collect();
    Dataset { y: Some(Target::Classes { names, codes }), ..Dataset::new(x) }
}

fn values(n: usize) -> Dataset<f64> {
    let x = synth::gaussian::<f64>(n, 4, 3);
    let y = (0..n).map(|i| x[(i, 0)].sin() + 0.5 * x[(i, 1)] * x[(i, 2)]).collect();
    Dataset { y: Some(Target::Values(y)), ..Dataset::new(Samples::Dense(x)) }
}

fn graph() -> Solve {
    let (graph, _) = CyclicGraph { nodes: 1000, degree: 10.0, ..CyclicGraph::default() }.generate().unwrap();
    let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).unwrap();
    Box::new(move |run| {
        let model = svd("sne").with_rank(4).fit(data, run).unwrap();
        assert!(model.report().converged());
        Vec::new()
    })
}

fn two_sided(solver: &'static str, operator: OperatorChoice) -> Solve {
    let (all, _) = clusters(1200, 20, 12);
    let (rows, cols): (Vec<usize>, Vec<usize>) = ((0..700).collect(), (700..1200).collect());
    let data = Dataset::two_sided(all.as_ref().select(&rows), all.as_ref().select(&cols));
    Box::new(move |run| {
        let model = svd("rbf").with_rank(12).with_solver(solver).with_operator(operator).fit(data, run).unwrap();
        assert!(model.report().converged());
        Vec::new()
    })
}

fn one_sided() -> Solve {
    let (x, _) = clusters(700, 20, 12);
    Box::new(move |run| {
        let model = svd("sne").with_rank(12).fit(Dataset::new(x), run).unwrap();
        assert!(model.report().converged());
        Vec::new()
    })
}

fn system(route: Route) -> Solve {
    let (x, labels) = clusters(400, 20, 12);
    let y = Mat::from_fn(400, 1, |i, _| if labels[i] % 2 == 0 { 1.0 } else { -1.0 });
    Box::new(move |run| {
        let kernel = KernelSpec::new("sne").with("gamma", 0.01).build::<f64>().unwrap();
        let matrix = KernelMatrix {
            choice: OperatorChoice::Dense,
            memory: 1 << 30,
            watch: run.watch.clone(),
            ..KernelMatrix::new(&*kernel, x.as_ref(), x.as_ref())
        };
        let built = matrix.build().unwrap();
        let system = CoupledSystem { route, ..CoupledSystem::default() };
        let solved = system.solve(&*built.operator, y.as_ref(), run).unwrap();
        Counts::from([("iterations", solved.report.iterations)]).into_iter().filter(|count| count.1 > 0).collect()
    })
}

fn least_squares(machine: AskLs) -> Solve {
    let data = classes(400, 20, 12);
    Box::new(move |run| {
        machine.fit(data, run).unwrap();
        Vec::new()
    })
}

fn support_vectors() -> Solve {
    let data = classes(600, 4, 30);
    Box::new(move |run| {
        let model = Svm::new(gram("rbf")).fit(data, run).unwrap();
        let supports = model.report().params["support-vectors"].as_u64().unwrap();
        vec![("support vectors", supports)]
    })
}

/// The search itself, with room for a third of the rows.
fn little_memory() -> Solve {
    let (x, labels) = clusters(600, 4, 30);
    let y: Vec<f64> = labels.iter().map(|label| if label % 2 == 0 { 1.0 } else { -1.0 }).collect();
    Box::new(move |run| {
        let kernel = KernelSpec::new("rbf").with("gamma", 0.1).build::<f64>().unwrap();
        let matrix = KernelMatrix {
            choice: OperatorChoice::Tiles,
            watch: run.watch.clone(),
            ..KernelMatrix::new(&*kernel, x.as_ref(), x.as_ref())
        };
        let built = matrix.build().unwrap();
        let rows = RowCache::new(&*built.operator, 8 * 600 * 200).unwrap();
        let found = CSvm::new(1.0).solve(&rows, &Part::all(&y), run).unwrap();
        vec![("steps", found.steps as u64)]
    })
}

fn landmark_svm() -> Solve {
    let data = classes(1500, 4, 30);
    Box::new(move |run| {
        let machine = Svm::new(gram("rbf")).with_kind(SvmKind::C(1.0));
        machine.with_approximation(landmarks(Approach::Lla, "uniform")).fit(data, run).unwrap();
        Vec::new()
    })
}

fn ridge(n: usize, approximation: Approximation) -> Solve {
    let data = values(n);
    Box::new(move |run| {
        KernelRidge::new(gram("rbf")).with_penalty(10.0).with_approximation(approximation).fit(data, run).unwrap();
        Vec::new()
    })
}

fn components(n: usize, approximation: Approximation) -> Solve {
    let data = values(n);
    Box::new(move |run| {
        KernelPca { approximation, ..KernelPca::new(gram("rbf")).with_rank(5) }.fit(&data, run).unwrap();
        Vec::new()
    })
}

fn online() -> Solve {
    let (x, z) = (synth::gaussian::<f64>(120, 5, 1), synth::gaussian::<f64>(120, 5, 2));
    Box::new(move |_| {
        let kernel = KernelSpec::new("rbf").with("gamma", 0.2);
        let mut learner = LearnerSpec::new("gd-trace").with("radius", 5.0).with_kernels(kernel, None).build().unwrap();
        for t in 0..120 {
            let row = |m: &Mat<f64>| m.row(t).iter().copied().collect::<Vec<f64>>();
            learner.update(&Instance::pair(&row(&x), &row(&z)), (x[(t, 0)] * z[(t, 0)]).tanh()).unwrap();
        }
        let account = learner.account();
        vec![("samples stored", account.stored as u64), ("rank", account.rank as u64)]
    })
}

fn biclusters() -> Solve {
    let (rows, _) = synth::clusters::<f64>(300, 200, 3, 5);
    Box::new(move |run| {
        let estimator = Biclustering::new("rbf", 3, 3);
        let col_features = lopsided::estimators::ColumnFeatures::Same;
        let estimator = Biclustering { svd: estimator.svd.with_memory(1 << 30), col_features, ..estimator };
        estimator.with_rank(3).fit(Samples::Dense(rows), run).unwrap();
        Vec::new()
    })
}
