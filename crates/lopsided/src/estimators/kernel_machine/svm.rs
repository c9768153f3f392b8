use super::{
    APPROXIMATION_SETTINGS, Approach, Approximation, ClassWeight, Dataset, Error, Estimator, EstimatorEntry, Frame,
    KERNEL_SETTINGS, KernelMachineModel, KernelSvd, Labelled, Model, Plan, Point, Recipe, Result, Run, Scalar,
    Symmetrize, TwoClass, above_zero, unknown_setting, validate,
};
use crate::estimators::nystrom_machine::{Comparison, MachineErrors, Problem};
use crate::solvers::linear_machine::HingeLoss;
use crate::solvers::linsys::check_penalty;
use crate::solvers::svm::MultiClass;

const SETTINGS: [&[&str]; 4] = [&KERNEL_SETTINGS, &APPROXIMATION_SETTINGS, &["penalty", "loss"], &SHARED_SETTINGS];
const NU_SETTINGS: [&[&str]; 4] = [&KERNEL_SETTINGS, &APPROXIMATION_SETTINGS, &["nu"], &SHARED_SETTINGS];
const SHARED_SETTINGS: [&str; 4] = ["symmetrize", "multi-class", "probability", "class-weight"];
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
/// With landmarks (\[NKM\]) it is a linear machine on their features F, whose functions are those of LLA or of GSA; the
/// kernel must then be symmetric and positive.
///
/// ```
/// use lopsided::estimators::{Model, Svm, Symmetrize};
/// use lopsided::data::synth;
/// use lopsided::{Dataset, KernelSvd, Run, Samples, Target};
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
    /// The approach and its landmarks; exact unless they are asked for.
    pub approximation: Approximation,
    /// The loss of a C-SVM; the exact machine has the hinge only.
    pub loss: HingeLoss,
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
            approximation: Approximation::default(),
            loss: HingeLoss::Hinge,
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

    /// The same with another approach.
    pub fn with_approximation(mut self, approximation: Approximation) -> Self {
        self.approximation = approximation;
        self
    }

    /// Learns one function for each class or pair of classes.
    ///
    /// # Errors
    /// [`Error::Param`] without classes, for one class only, a C that is not above 0, a ν that is not feasible or weights that
    /// are negative or NaN; [`Error::Shape`] for a kernel matrix that is not square; [`Error::Memory`],
    /// [`Error::Interrupted`].
    pub fn fit<T: Scalar>(&self, data: Dataset<T>, run: &Run) -> Result<KernelMachineModel<T>> {
        self.check()?;
        self.frame().fit(data, run, |task| self.learn(task, run))
    }

    pub(super) fn check(&self) -> Result<()> {
        if let SvmKind::C(penalty) = self.kind {
            check_penalty(penalty)?;
        }
        if self.loss != HingeLoss::Hinge && self.frame().approach() == Approach::Exact {
            return Err(Error::param("loss", self.loss, "hinge for the exact machine; lla and gsa have both"));
        }
        Ok(())
    }

    pub(super) fn frame(&self) -> Frame<'_> {
        let name = if matches!(self.kind, SvmKind::C(_)) { "svm" } else { "nu-svm" };
        let Svm { svd, symmetrize, class_weight, approximation, multi_class, .. } = self;
        let machines = Some(TwoClass { way: *multi_class, slack: self.machine().slack() });
        Frame { name, svd, symmetrize: *symmetrize, class_weight, approximation, machines }
    }

    /// What the exact machine and those with landmarks share.
    pub(in crate::estimators) fn comparable<T: Scalar>(
        &self,
        data: &Dataset<T>,
        run: &Run,
    ) -> Result<(Problem<T>, Labelled)> {
        self.check()?;
        let labelled = self.frame().labelled(data)?;
        Ok((self.frame().problem(data, &labelled.rows, run)?, labelled))
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
            ("loss", SvmKind::C(_)) => out.loss = value.parse()?,
            _ if out.approximation.set(setting, value)? => {}
            (_, SvmKind::C(_)) => return Err(unknown_setting(setting, &SETTINGS)),
            (_, SvmKind::Nu(_)) => return Err(unknown_setting(setting, &NU_SETTINGS)),
        }
        Ok(out)
    }

    fn at(&self, point: &[(String, String)]) -> Result<Self> {
        point.iter().try_fold(self.clone(), |machine, (setting, value)| machine.set(setting, value))
    }
}

fn share(value: &str) -> Result<f64> {
    let number = value.parse::<f64>().ok().filter(|nu| *nu > 0.0 && *nu <= 1.0);
    number.ok_or_else(|| Error::param("nu", value, "above 0 and at most 2 min(n₊, n₋)/n, never more than 1"))
}

impl<T: Scalar> Estimator<T> for Svm {
    fn with(&self, point: &[(String, String)]) -> Result<Box<dyn Estimator<T>>> {
        Ok(Box::new(self.at(point)?))
    }

    fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        self.frame().plan(data, run)
    }

    fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Box<dyn Model<T>>> {
        Ok(Box::new(self.fit(data, run)?))
    }

    fn errors(&self, data: &Dataset<T>, run: &Run) -> Result<Option<MachineErrors>> {
        let compared = Comparison::svm(self, data, run).and_then(|both| both.errors(&self.approximation, run));
        let gram = || self.comparable(data, run)?.0.gram_errors(&self.approximation, run);
        MachineErrors::or_gram(compared, gram).map(Some)
    }

    fn validate(&self, data: &Dataset<T>, points: &[Point], folds: &[Vec<usize>], run: &Run) -> Result<Vec<Vec<f64>>> {
        let machines: Vec<Self> = points.iter().map(|point| self.at(point)).collect::<Result<_>>()?;
        machines.iter().try_for_each(Self::check)?;
        let frames: Vec<Frame<'_>> = machines.iter().map(Self::frame).collect();
        validate::scores(&frames, data, folds, run, |at, task, run| machines[at].learn(task, run))
    }
}

/// The entry of the C-SVM.
pub(in crate::estimators) fn entry<T: Scalar>() -> EstimatorEntry<T> {
    EstimatorEntry {
        name: "svm",
        about: "C-SVM with a symmetric kernel, or a symmetrised one: (K + Kᵀ)/2, KᵀK or KKᵀ; exact or by landmarks (--approach lla, gsa)",
        settings: &SETTINGS,
        build: |recipe: Recipe| Box::new(Svm::new(recipe.svd, Symmetrize::Average)),
        load: |archive| Ok(Box::new(KernelMachineModel::<T>::from_archive(archive)?)),
    }
}

/// The entry of the ν-SVM.
pub(in crate::estimators) fn nu_entry<T: Scalar>() -> EstimatorEntry<T> {
    EstimatorEntry {
        name: "nu-svm",
        about: "ν-SVM with a symmetric or symmetrised kernel, exact or by landmarks: ν bounds the share of margin errors",
        settings: &NU_SETTINGS,
        build: |recipe: Recipe| Box::new(Svm::new(recipe.svd, Symmetrize::Average).with_kind(SvmKind::Nu(NU))),
        load: |archive| Ok(Box::new(KernelMachineModel::<T>::from_archive(archive)?)),
    }
}
