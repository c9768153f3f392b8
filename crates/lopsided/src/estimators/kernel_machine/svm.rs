//! The support vector machines: C-SVM and ν-SVM as one estimator, with their places in the list.

use super::{
    APPROXIMATION_SETTINGS, Approach, Approximation, Build, CLASS_WEIGHT, ClassWeight, Dataset, Error, Estimator,
    EstimatorEntry, Frame, Gram, KernelMachineModel, Labelled, Model, PENALTY, Plan, Point, Recipe, Result, Run,
    SYMMETRIZE, Scalar, Setting, Settings, Symmetrize, TwoClass, entry_of, gram, validate,
};
use crate::base::setters;
use crate::base::settings::Value;
use crate::estimators::landmarked::{Comparison, MachineErrors, Problem};
use crate::estimators::recipe::Usual;
use crate::solvers::linear_machine::HingeLoss;
use crate::solvers::linsys::check_penalty;
use crate::solvers::svm::MultiClass;

const SETTINGS: [&[Setting]; 3] = [&APPROXIMATION_SETTINGS, &[PENALTY, LOSS], &SHARED_SETTINGS];
const NU_SETTINGS: [&[Setting]; 3] = [&APPROXIMATION_SETTINGS, &[SHARE], &SHARED_SETTINGS];
const LOSS: Setting = Setting::new(
    "loss",
    "loss of a C-SVM with landmarks; the exact one has the hinge",
    "hinge or squared-hinge",
    "hinge",
);
const SHARE: Setting = Setting::new("nu", "bound of the share of margin errors", "above 0 and at most 1", "0.5");
const SHARED_SETTINGS: [Setting; 4] = [
    SYMMETRIZE,
    Setting::new("multi-class", "how several classes are told apart", "ovr or ovo", "ovr"),
    Setting::new("probability", "learns probabilities as well", "true or false", "false"),
    CLASS_WEIGHT,
];
/// ν unless given.
const NU: f64 = 0.5;

/// Which bound a support vector machine has.
///
/// Both have the same solutions along their paths, but say different things. C is a price: a sample inside the
/// margin costs C times its distance from it, so the best C depends on the scale of the kernel. ν is a share,
/// whatever the scale: at most ν·n samples violate the margin, and at least ν·n are support vectors.
///
/// ```
/// use lopsided::estimators::{Svm, SvmKind};
///
/// let soft = Svm::new("rbf").with_kind(SvmKind::Nu(0.2));
/// assert_eq!(soft.kind, SvmKind::Nu(0.2));
/// assert_eq!(Svm::new("rbf").kind, SvmKind::C(1.0));
/// ```
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
/// # Cost
/// SMO asks for rows of K as it goes: between O(n) and O(n²) kernel values for a pair of n samples, of which up
/// to a gigabyte is kept. Probabilities add a machine for each of five held-out parts. With m landmarks O(n·m²)
/// for the features and O(n·m) for each pass over them.
///
/// ```
/// use lopsided::estimators::{Model, Svm};
/// use lopsided::data::synth;
/// use lopsided::{Dataset, Run, Samples, Target};
///
/// let (x, classes) = synth::clusters::<f64>(60, 3, 2, 1);
/// let names = vec!["a".to_string(), "b".to_string()];
/// let codes = classes.iter().map(|c| Some(*c)).collect();
/// let data = Dataset { y: Some(Target::Classes { names, codes }), ..Dataset::new(Samples::Dense(x)) };
/// let model = Svm::new("rbf").fit(data, &Run::default())?;
/// assert!(model.report().converged);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Svm {
    /// What makes the kernel matrix.
    pub gram: Gram,
    /// Violation of the optimality conditions that is allowed; `None`: 1e-3.
    pub tol: Option<f64>,
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

setters!(Svm: with_gram(gram: Gram), with_probability(probability: bool), with_class_weight(class_weight: ClassWeight),
    with_loss(loss: HingeLoss), with_kind(kind: SvmKind), with_multi_class(multi_class: MultiClass),
    with_approximation(approximation: Approximation), with_tol(tol: f64 => Some(tol)),
    with_symmetrize(symmetrize: Symmetrize));

impl Default for Svm {
    /// What the recipe makes where nothing is said, but for the penalty.
    fn default() -> Self {
        Svm::new(Usual::ROWS.gram())
    }
}

impl Svm {
    /// C = 1, one class against the rest, no probabilities.
    ///
    /// The recipe called `svm` ([`crate::estimators::member`]) tries several C on held-out rows unless one is given.
    pub fn new(gram: impl Into<Gram>) -> Self {
        Svm {
            gram: gram.into(),
            tol: None,
            kind: SvmKind::C(1.0),
            symmetrize: Symmetrize::Average,
            multi_class: MultiClass::OneVsRest,
            probability: false,
            class_weight: ClassWeight::Equal,
            approximation: Approximation::default(),
            loss: HingeLoss::Hinge,
        }
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

    /// Refuses a C that is not above 0, and a loss that only machines with landmarks have.
    pub(super) fn check(&self) -> Result<()> {
        if let SvmKind::C(penalty) = self.kind {
            check_penalty(penalty)?;
        }
        if self.loss != HingeLoss::Hinge && self.frame().approach() == Approach::Exact {
            return Err(Error::param("loss", self.loss, "hinge for the exact machine; lla and gsa have both"));
        }
        Ok(())
    }

    /// What it shares with logistic regression; the slack decides how accurate entries of K have to be.
    pub(super) fn frame(&self) -> Frame<'_> {
        let name = if matches!(self.kind, SvmKind::C(_)) { "svm" } else { "nu-svm" };
        let Svm { gram, symmetrize, class_weight, approximation, multi_class, .. } = self;
        let machines = Some(TwoClass { way: *multi_class, slack: self.machine().slack() });
        let effort = ((200.0, 1500.0), 2.6e-7);
        Frame { name, gram, symmetrize: *symmetrize, class_weight, approximation, machines, effort }
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

    /// The same with some settings changed.
    fn at(&self, given: &Settings) -> Result<Self> {
        let own = if matches!(self.kind, SvmKind::C(_)) { SETTINGS } else { NU_SETTINGS };
        given.refuse_unknown(&[&gram::settings(), &own.concat()])?;
        let kind = match self.kind {
            SvmKind::C(penalty) => SvmKind::C(given.positive("penalty", Some(penalty))?),
            SvmKind::Nu(nu) => SvmKind::Nu(given.value("nu").map_or(Ok(nu), share)?),
        };
        Ok(Svm {
            gram: self.gram.with(given)?,
            kind,
            tol: self.tol,
            symmetrize: given.word("symmetrize")?.unwrap_or(self.symmetrize),
            multi_class: given.word("multi-class")?.unwrap_or(self.multi_class),
            probability: given.flag("probability", self.probability)?,
            class_weight: given.word("class-weight")?.unwrap_or_else(|| self.class_weight.clone()),
            approximation: self.approximation.with(given)?,
            loss: given.word("loss")?.unwrap_or(self.loss),
        })
    }
}

/// ν as a number above 0 and at most 1; whether the classes allow it is seen when they are known.
fn share(value: &Value) -> Result<f64> {
    let number = if let Value::Number(nu) = value { Some(*nu) } else { None };
    let allowed = "above 0 and at most 2 min(n₊, n₋)/n, never more than 1";
    number.filter(|nu| *nu > 0.0 && *nu <= 1.0).ok_or_else(|| Error::param("nu", value, allowed))
}

impl<T: Scalar> Estimator<T> for Svm {
    framed!();

    fn settings(&self) -> Settings {
        let machine = match self.kind {
            SvmKind::C(penalty) => self.frame().settings().with("penalty", penalty).with_word("loss", self.loss),
            SvmKind::Nu(nu) => self.frame().settings().with("nu", nu),
        };
        let machine = machine.with_word("multi-class", self.multi_class).with("probability", self.probability);
        machine.with_some("tol", self.tol)
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
    let about = "C-SVM with a symmetric kernel, or a symmetrised one: (K + Kᵀ)/2, KᵀK or KKᵀ; exact or by landmarks (--approach lla, gsa)";
    entry_of("svm", about, &SETTINGS, |recipe: Recipe| Box::new(Svm { tol: recipe.tol(), ..Svm::new(recipe.gram()) }))
}

/// The entry of the ν-SVM.
pub(in crate::estimators) fn nu_entry<T: Scalar>() -> EstimatorEntry<T> {
    let about =
        "ν-SVM with a symmetric or symmetrised kernel, exact or by landmarks: ν bounds the share of margin errors";
    let build: Build<T> =
        |recipe: Recipe| Box::new(Svm { tol: recipe.tol(), ..Svm::new(recipe.gram()) }.with_kind(SvmKind::Nu(NU)));
    EstimatorEntry { penalties: [&[], &[]], ..entry_of("nu-svm", about, &NU_SETTINGS, build) }
}
