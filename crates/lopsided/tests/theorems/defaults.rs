//! A builder of the library, the recipe of the same name and its description agree where a user says nothing.

use lopsided::base::settings::{Setting, Settings};
use lopsided::data::synth;
use lopsided::estimators::compat::Compatibility;
use lopsided::estimators::recipe::{COMPAT_SETTINGS, SVD_SETTINGS, Usual};
use lopsided::estimators::{
    Approach, Approximation, AskLs, Biclustering, Estimator, Gram, KernelLogistic, KernelPca, KernelRidge, KernelSvd,
    Member, NystromFeatures, OwnLandmarks, SolverSpec, SvdPredictor, Svm, SvmKind, Symmetrize, catalogue,
};
use lopsided::online::{Budget, LearnerSpec, Removal, learner_spec, learners};
use lopsided::solvers::lowrank::NystromBasis;
use lopsided::{Dataset, Samples, Target};
use std::collections::BTreeSet;

/// Settings in which a builder is not its recipe, and why.
const EXCEPTIONS: [(&str, &str); 3] = [
    (
        "penalty",
        "A recipe tries several on held-out rows, each time preparing the columns anew; a builder is one machine.",
    ),
    ("scale", "Columns are scaled before a machine sees them, so only a recipe can."),
    ("impute", "Missing values are filled before a machine sees them, so only a recipe can."),
];

/// What must be given to the recipe of a biclustering.
const CLUSTERS: [&str; 2] = ["row-clusters", "col-clusters"];

fn of(estimator: impl Estimator<f64>) -> Settings {
    estimator.settings()
}

/// The settings of every builder as it is made, by the name of its recipe.
fn builders() -> Vec<(&'static str, Settings)> {
    let rows = Usual::ROWS.gram();
    vec![
        ("kernel-svd", of(SvdPredictor::default())),
        ("ask-ls", of(AskLs::default())),
        ("ls-svm", of(AskLs::symmetric(rows, Symmetrize::Average))),
        ("svm", of(Svm::default())),
        ("nu-svm", of(Svm::default().with_kind(SvmKind::Nu(0.5)))),
        ("logistic", of(KernelLogistic::default())),
        ("krr", of(KernelRidge::default())),
        ("embed", KernelSvd::default().settings()),
        ("bicluster", Biclustering::default().settings()),
        ("kpca", KernelPca::default().settings()),
        ("features", NystromFeatures::default().settings()),
    ]
}

/// The rows of a table with classes, so many that no default is capped by their number.
fn table() -> Dataset<f64> {
    let (x, codes) = synth::clusters::<f64>(320, 40, 3, 1);
    let names = (0..3).map(|c| format!("class {c}")).collect();
    let y = Target::Classes { names, codes: codes.into_iter().map(Some).collect() };
    Dataset { y: Some(y), ..Dataset::new(Samples::Dense(x)) }
}

fn members() -> Vec<(Member<f64>, Settings)> {
    let (mut members, mut out) = (catalogue::<f64>(), Vec::new());
    for (name, settings) in builders() {
        let at = members.iter().position(|member| member.name == name).expect("a builder of the catalogue");
        out.push((members.remove(at), settings));
    }
    let left: Vec<&str> = members.iter().map(|member| member.name).collect();
    assert!(left.is_empty(), "no builder is compared with {left:?}");
    out
}

fn needed(member: &Member<f64>) -> Settings {
    if member.name == "bicluster" { Settings::default().with("row-clusters", 2) } else { Settings::default() }
}

fn is_exception(name: &str) -> bool {
    EXCEPTIONS.iter().any(|(exception, _)| *exception == name)
}

#[test]
fn builders_have_the_defaults_of_their_recipes() {
    let (data, mut different) = (table(), BTreeSet::new());
    for (member, builder) in members() {
        let recipe = member.build(needed(&member), &data).unwrap().settings();
        let names: BTreeSet<&str> = recipe.iter().chain(builder.iter()).map(|(name, _)| name).collect();
        for name in names {
            if recipe.value(name) == builder.value(name) {
                continue;
            }
            let (theirs, ours) = (recipe.value(name), builder.value(name));
            assert!(is_exception(name), "{}: {name} is {theirs:?} in the recipe, {ours:?} here", member.name);
            different.insert(name.to_string());
        }
    }
    let listed: BTreeSet<String> = EXCEPTIONS.iter().map(|(name, _)| (*name).to_string()).collect();
    assert_eq!(different, listed, "an exception that is none any more");
}

/// Whether a description names a value among its words.
fn says(setting: &Setting, value: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '-' || c == '.';
    setting.default.split(|c| !inside(c)).any(|word| word == value)
}

#[test]
fn descriptions_name_the_defaults_of_builders() {
    for (member, builder) in members() {
        let known = [&SVD_SETTINGS[..], &COMPAT_SETTINGS, &member.settings].concat();
        for (name, value) in builder.iter().filter(|(name, _)| !is_exception(name) && !CLUSTERS.contains(name)) {
            // Of two settings of one name the estimator's own comes last.
            let setting = known.iter().rfind(|setting| setting.name == name);
            let setting = setting.unwrap_or_else(|| panic!("{} has no setting {name}", member.name));
            assert!(says(setting, &value.to_string()), "{}: {name} is {value}, not {}", member.name, setting.default);
        }
    }
}

#[test]
fn recipes_make_what_builders_say_of_themselves() {
    let data = table();
    for (member, builder) in members() {
        let made = member.build(builder.clone(), &data).unwrap().settings();
        for (name, value) in builder.iter() {
            assert_eq!(made.value(name), Some(value), "{}: {name}", member.name);
        }
    }
}

#[test]
fn learners_have_the_defaults_of_their_recipes() {
    for entry in learners() {
        assert_eq!(learner_spec(entry.name, Settings::default()).unwrap(), LearnerSpec::new(entry.name));
    }
}

/// Takes a builder apart and puts it together by its setters: without one of them for every field it does not compile.
macro_rules! by_setters {
    ($kind:ident { $($field:ident => $setter:ident($value:expr)),* }) => {{
        let $kind { $($field),* } = $kind::default();
        $kind::default()$(.$setter($value))*
    }};
}

#[test]
fn every_field_of_a_builder_has_a_setter() {
    let gram = by_setters!(Gram { kernel => with_kernel(kernel), gamma => with_gamma(gamma),
        gamma_factor => with_gamma_factor(gamma_factor), operator => with_operator(operator),
        memory => with_memory(memory.unwrap_or(1)) });
    let basis =
        by_setters!(NystromBasis { method => with_method(method), truncate => with_truncate(truncate.unwrap_or(5)) });
    let approximation = by_setters!(Approximation { approach => with_approach(approach.unwrap_or(Approach::Lla)),
        sampler => with_sampler(&sampler), landmarks => with_landmarks(landmarks.unwrap_or(9)),
        own => with_own(own.unwrap_or(OwnLandmarks::Rows(vec![1, 2]))), basis => with_basis(basis) });
    let compat = by_setters!(Compatibility { kind => with_kind(kind), width => with_width(width.unwrap_or(3)) });
    let svd = by_setters!(KernelSvd { gram => with_gram(gram), rank => with_rank(rank), solver => with_solver(&solver),
        solver_params => with_solver_params(solver_params), center => with_center(center), scaling => with_scaling(scaling) });
    assert_eq!(svd.settings(), KernelSvd::default().settings());
    let ask_ls = by_setters!(AskLs { gram => with_gram(gram), penalty => with_penalty(penalty),
        on_singular => with_on_singular(on_singular), merge => with_merge(merge), route => with_route(route),
        symmetrize => with_symmetrize(symmetrize.unwrap_or(Symmetrize::Rows)), class_weight => with_class_weight(class_weight) });
    assert_eq!(of(ask_ls), of(AskLs::default()).with("symmetrize", "rows"));
    let svm = by_setters!(Svm { gram => with_gram(gram), tol => with_tol(tol.unwrap_or(0.1)), kind => with_kind(kind),
        symmetrize => with_symmetrize(symmetrize), multi_class => with_multi_class(multi_class),
        probability => with_probability(probability), class_weight => with_class_weight(class_weight),
        approximation => with_approximation(approximation), loss => with_loss(loss) });
    assert_eq!(of(svm), of(Svm::default()).with("tol", 0.1));
    let logistic = by_setters!(KernelLogistic { gram => with_gram(gram), tol => with_tol(tol.unwrap_or(0.1)),
        penalty => with_penalty(penalty), symmetrize => with_symmetrize(symmetrize),
        class_weight => with_class_weight(class_weight), approximation => with_approximation(approximation) });
    assert_eq!(of(logistic), of(KernelLogistic::default()).with("tol", 0.1));
    let ridge = by_setters!(KernelRidge { gram => with_gram(gram), approximation => with_approximation(approximation),
        penalty => with_penalty(penalty) });
    assert_eq!(of(ridge), of(KernelRidge::default()));
    let predictor = by_setters!(SvdPredictor { svd => with_svd(svd), compat => with_compat(compat),
        penalty => with_penalty(penalty.unwrap_or(2.0)) });
    assert_eq!(of(predictor), of(SvdPredictor::default()).with("penalty", 2.0));
    let pca = by_setters!(KernelPca { gram => with_gram(gram), rank => with_rank(rank), tol => with_tol(tol.unwrap_or(0.1)),
        approximation => with_approximation(approximation), center => with_center(center) });
    assert_eq!(pca.settings(), KernelPca::default().settings().with("tol", 0.1));
    let features =
        by_setters!(NystromFeatures { gram => with_gram(gram), approximation => with_approximation(approximation) });
    assert_eq!(features.settings(), NystromFeatures::default().settings());
    let clusters = by_setters!(Biclustering { row_clusters => with_row_clusters(row_clusters),
        col_clusters => with_col_clusters(col_clusters), svd => with_svd(svd), compat => with_compat(compat),
        unit_rows => with_unit_rows(unit_rows), unit_features => with_unit_features(unit_features),
        restarts => with_restarts(restarts), col_features => with_col_features(col_features) });
    assert_eq!(clusters.settings(), Biclustering::default().settings());
    let solver = by_setters!(SolverSpec { name => with_name(&name), params => with_params(params) });
    assert_eq!(solver, SolverSpec::default());
    let LearnerSpec { name, loss, left, right, step, params, normalize, budget } = LearnerSpec::default();
    let budget = budget.unwrap_or(Budget { size: 9, removal: Removal::default() });
    let learner = LearnerSpec::new(&name).with_loss(loss).with_left(left).with_step(step).with_params(params);
    let learner =
        learner.with_normalize(normalize).with_right(right.unwrap_or_else(|| "rbf".into())).with_budget(budget);
    assert_eq!((learner.budget, learner.right.is_some()), (Some(budget), true));
    assert_eq!(
        (gram.memory, basis.truncate, approximation.landmarks, compat.width),
        (Some(1), Some(5), Some(9), Some(3))
    );
}
