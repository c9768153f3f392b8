use super::{
    ClassWeight, Dataset, Error, Estimator, EstimatorEntry, Frame, KERNEL_SETTINGS, KernelMachineModel, KernelSvd,
    Learned, Mat, Model, Output, Plan, Recipe, Result, Run, Scalar, Symmetrize, Task, above_zero, unknown_setting,
};
use crate::linsys::check_penalty;
use crate::operator::available_memory;
use crate::svm::{self, CSvm, Classes, Machine, MultiClass, NuSvm, Pair, RowCache};

const SETTINGS: [&str; 7] =
    ["gamma", "gamma-factor", "penalty", "symmetrize", "multi-class", "probability", "class-weight"];
const NU_SETTINGS: [&str; 7] =
    ["gamma", "gamma-factor", "nu", "symmetrize", "multi-class", "probability", "class-weight"];
/// Bytes of kernel rows that are kept, unless the memory allowed is less than four times as much.
const CACHE: u64 = 1 << 30;
/// ν unless given.
const NU: f64 = 0.5;

/// Which bound a support vector machine has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SvmKind {
    /// C, the bound of the coefficients.
    C(f64),
    /// ν, the bound of the share of margin errors.
    Nu(f64),
}

/// The SVM of a kernel that is symmetric or made so: (K + Kᵀ)/2, KᵀK or KKᵀ, which is the baseline of \[AsKLS\].
///
/// Its functions are kept in coefficients of K itself. A graph is learned transductively: K holds all nodes, the machines those
/// with a label. Sample weights ([`Dataset::weights`]) and class weights multiply the bounds. Probabilities come from
/// sigmoids of held-out values (five parts), for pairs of classes coupled.
///
/// ```
/// use lopsided::estimators::{Model, Svm, Symmetrize};
/// use lopsided::{Dataset, KernelSvd, Run, Samples, Target, synth};
///
/// let (x, classes) = synth::clusters::<f64>(60, 3, 2, 1);
/// let names = vec!["a".to_string(), "b".to_string()];
/// let codes = classes.iter().map(|c| Some(*c)).collect();
/// let data = Dataset { y: Some(Target::Classes { names, codes }), ..Dataset::new(Samples::Dense(x)) };
/// let model = Svm::new(KernelSvd::new("rbf"), Symmetrize::Average).fit(data, &Run::default())?;
/// assert!(model.report().converged);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Svm {
    /// Kernel, gamma, operator and memory; its tolerance, if given, is that of the optimality conditions.
    pub svd: KernelSvd,
    /// C or ν.
    pub kind: SvmKind,
    /// How the kernel becomes symmetric; a symmetric one stays itself with [`Symmetrize::Average`].
    pub symmetrize: Symmetrize,
    /// How several classes are told apart.
    pub multi_class: MultiClass,
    /// Learns probabilities as well.
    pub probability: bool,
    /// What samples count because of their class.
    pub class_weight: ClassWeight,
}

impl Svm {
    /// C = 1, one class against the rest, no probabilities.
    pub fn new(svd: KernelSvd, symmetrize: Symmetrize) -> Self {
        Svm {
            svd,
            kind: SvmKind::C(1.0),
            symmetrize,
            multi_class: MultiClass::OneVsRest,
            probability: false,
            class_weight: ClassWeight::Equal,
        }
    }

    /// The same with C or ν.
    pub fn with_kind(mut self, kind: SvmKind) -> Self {
        self.kind = kind;
        self
    }

    /// The same with another way to tell several classes apart.
    pub fn with_multi_class(mut self, multi_class: MultiClass) -> Self {
        self.multi_class = multi_class;
        self
    }

    /// Learns one function for each class or pair of classes.
    ///
    /// # Errors
    /// [`Error::Param`] without classes, for one class only, a C that is not above 0, a ν that is not feasible or weights that
    /// are negative or NaN; [`Error::Shape`] for a kernel matrix that is not square; [`Error::Memory`],
    /// [`Error::Interrupted`].
    pub fn fit<T: Scalar>(&self, data: Dataset<T>, run: &Run) -> Result<KernelMachineModel<T>> {
        if let SvmKind::C(penalty) = self.kind {
            check_penalty(penalty)?;
        }
        self.frame().fit(data, run, |task| self.learn(task, run))
    }

    fn frame(&self) -> Frame<'_> {
        let name = if matches!(self.kind, SvmKind::C(_)) { "svm" } else { "nu-svm" };
        Frame { name, svd: &self.svd, symmetrize: self.symmetrize, class_weight: &self.class_weight }
    }

    fn learn(&self, task: &Task<'_>, run: &Run) -> Result<Learned> {
        let bytes = CACHE.min(self.svd.memory.unwrap_or_else(available_memory) / 4);
        let rows = RowCache::new(task.k, bytes)?;
        let classes = Classes { codes: task.codes, count: task.names.len(), weights: task.weights };
        let machine = self.machine();
        self.check_nu(&classes, task.names)?;
        let found = classes.learn(&machine, self.multi_class, self.probability, &rows, run)?;
        let mut coefficients = Mat::zeros(task.codes.len(), found.len());
        for (at, learned) in found.iter().enumerate() {
            let values = learned.part.places.iter().zip(&learned.solution.coefficients);
            values.for_each(|(&i, &c)| coefficients[(i, at)] = c);
        }
        let sigmoids = found.iter().map(|f| f.sigmoid).collect();
        Ok(Learned {
            bias: found.iter().map(|f| f.solution.bias).collect(),
            output: Output::Machines { pairs: found.iter().map(|f| f.pair).collect(), sigmoids },
            params: self.params(&coefficients),
            warnings: found.iter().filter_map(|f| warning(f, task.names)).collect(),
            converged: found.iter().all(|f| f.solution.converged),
            coefficients,
        })
    }

    fn machine(&self) -> Machine {
        let tol = |default: f64| self.svd.solver_params.get("tol").unwrap_or(default);
        match self.kind {
            SvmKind::C(penalty) => {
                let machine = CSvm::new(penalty);
                Machine::C(CSvm { tol: tol(machine.tol), ..machine })
            }
            SvmKind::Nu(nu) => {
                let machine = NuSvm::new(nu);
                Machine::Nu(NuSvm { tol: tol(machine.tol), ..machine })
            }
        }
    }

    /// Names the classes for which ν is too large.
    fn check_nu(&self, classes: &Classes<'_>, names: &[String]) -> Result<()> {
        let SvmKind::Nu(nu) = self.kind else { return Ok(()) };
        let most = |pair: Pair| (NuSvm::most(&classes.part(pair)), pair);
        let all = classes.pairs(self.multi_class).into_iter().map(most).filter(|(most, _)| *most > 0.0);
        let tightest = all.min_by(|a, b| a.0.total_cmp(&b.0));
        match tightest {
            Some((most, pair)) if !(nu > 0.0 && nu <= most * (1.0 + 1e-12)) => {
                let whom = against(pair, names);
                Err(Error::param("nu", nu, format!("above 0 and at most {most}, which is 2 min(n₊, n₋)/n for {whom}")))
            }
            _ => Ok(()),
        }
    }

    fn params(&self, coefficients: &Mat<f64>) -> Vec<(&'static str, serde_json::Value)> {
        let supports = coefficients.row_iter().filter(|row| row.iter().any(|c| *c != 0.0)).count();
        let bound = match self.kind {
            SvmKind::C(penalty) => ("penalty", penalty.into()),
            SvmKind::Nu(nu) => ("nu", nu.into()),
        };
        vec![bound, ("multi-class", self.multi_class.to_string().into()), ("support-vectors", supports.into())]
    }

    fn set(&self, setting: &str, value: &str) -> Result<Self> {
        let mut out = self.clone();
        match (setting, self.kind) {
            (name, _) if KERNEL_SETTINGS.contains(&name) => out.svd = self.svd.set(setting, value)?,
            ("penalty", SvmKind::C(_)) => out.kind = SvmKind::C(above_zero(setting, value)?),
            ("nu", SvmKind::Nu(_)) => out.kind = SvmKind::Nu(share(value)?),
            ("symmetrize", _) => out.symmetrize = value.parse()?,
            ("multi-class", _) => out.multi_class = value.parse()?,
            ("probability", _) => {
                out.probability = value.parse().map_err(|_| Error::param(setting, value, "true or false"))?;
            }
            ("class-weight", _) => out.class_weight = value.parse()?,
            (_, SvmKind::C(_)) => return Err(unknown_setting(setting, &SETTINGS)),
            (_, SvmKind::Nu(_)) => return Err(unknown_setting(setting, &NU_SETTINGS)),
        }
        Ok(out)
    }
}

fn share(value: &str) -> Result<f64> {
    let number = value.parse::<f64>().ok().filter(|nu| *nu > 0.0 && *nu <= 1.0);
    number.ok_or_else(|| Error::param("nu", value, "above 0 and at most 2 min(n₊, n₋)/n, never more than 1"))
}

fn against((first, other): Pair, names: &[String]) -> String {
    let first = &names[first as usize];
    match other {
        Some(other) => format!("class `{first}` against `{}`", names[other as usize]),
        None => format!("class `{first}` against the rest"),
    }
}

fn warning(found: &svm::Learned, names: &[String]) -> Option<String> {
    let whom = against(found.pair, names);
    let (violation, steps) = (found.solution.violation, found.solution.steps);
    let text = format!("{whom}: the optimality conditions are still violated by {violation:.1e} after {steps} steps");
    (!found.solution.converged).then_some(text)
}

impl<T: Scalar> Estimator<T> for Svm {
    fn with(&self, point: &[(String, String)]) -> Result<Box<dyn Estimator<T>>> {
        let changed = point.iter().try_fold(self.clone(), |machine, (setting, value)| machine.set(setting, value))?;
        Ok(Box::new(changed))
    }

    fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        self.frame().plan(data, run)
    }

    fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Box<dyn Model<T>>> {
        Ok(Box::new(self.fit(data, run)?))
    }
}

/// The entry of the C-SVM.
pub(in crate::estimators) fn entry<T: Scalar>() -> EstimatorEntry<T> {
    EstimatorEntry {
        name: "svm",
        about: "C-SVM with a symmetric kernel, or a symmetrised one: (K + Kᵀ)/2, KᵀK or KKᵀ",
        settings: &SETTINGS,
        build: |recipe: Recipe| Box::new(Svm::new(recipe.svd, Symmetrize::Average)),
        load: |archive| Ok(Box::new(KernelMachineModel::<T>::from_archive(archive)?)),
    }
}

/// The entry of the ν-SVM.
pub(in crate::estimators) fn nu_entry<T: Scalar>() -> EstimatorEntry<T> {
    EstimatorEntry {
        name: "nu-svm",
        about: "ν-SVM with a symmetric or symmetrised kernel: ν bounds the share of margin errors",
        settings: &NU_SETTINGS,
        build: |recipe: Recipe| Box::new(Svm::new(recipe.svd, Symmetrize::Average).with_kind(SvmKind::Nu(NU))),
        load: |archive| Ok(Box::new(KernelMachineModel::<T>::from_archive(archive)?)),
    }
}
