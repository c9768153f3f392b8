//! The machines of nkm-1: how they are tuned and judged.

use super::super::Settings;
use super::{Split, divide};
use anyhow::Result;
use lopsided::base::settings::{Settings as Given, Value};
use lopsided::estimators::linear::LinearLsSvm;
use lopsided::estimators::{Approximation, Estimator, Gram, KernelRidge, Svm, SvmKind, score};
use lopsided::evaluation::Search;
use lopsided::kernel::Gamma;
use lopsided::solvers::lowrank::KernelFunctions;
use lopsided::solvers::svm::{Classes, MultiClass, NuSvm, class_values};
use lopsided::{Dataset, Run, Target};

/// Penalties of ridge regression to choose from.
const PENALTIES: [f64; 5] = [0.1, 1.0, 10.0, 100.0, 1000.0];
/// Those of the support vector machine.
const SVM_PENALTIES: [f64; 4] = [0.1, 1.0, 10.0, 100.0];
/// ν to choose from.
const NUS: [f64; 4] = [0.1, 0.2, 0.3, 0.5];
/// Most rows while kernel and penalties are chosen.
const TUNING: usize = 1200;
/// A machine for each pair of classes, as in the paper.
const WAY: MultiClass = MultiClass::OneVsOne;

/// Ridge regression with bandwidth and penalty by cross-validation of the exact machine.
pub(super) fn ridge(train: &Dataset<f64>, settings: &Settings, run: &Run) -> Result<(KernelRidge, Given)> {
    let machine =
        KernelRidge::new(Gram::new("rbf").with_gamma(Gamma::Median)).with_approximation(Approximation::exact());
    let factors = settings.factors.iter().map(|factor| Value::Number(*factor)).collect();
    let grid = vec![("gamma-factor".into(), factors), ("penalty".into(), PENALTIES.map(Value::Number).to_vec())];
    let point = chosen(&machine, grid, train, settings, run)?;
    Ok((machine.at(&point)?, point))
}

/// The C-SVM with the same kernel and a penalty of its own.
pub(super) fn svm(gram: Gram, train: &Dataset<f64>, settings: &Settings, run: &Run) -> Result<(Svm, f64)> {
    let machine = Svm::new(gram).with_multi_class(WAY);
    let grid = vec![("penalty".into(), SVM_PENALTIES.map(Value::Number).to_vec())];
    let point = chosen(&machine, grid, train, settings, run)?;
    let penalty = point.get("penalty").unwrap_or(1.0);
    Ok((machine.with_kind(SvmKind::C(penalty)), penalty))
}

/// ν of the same machine; `None` where the rarest class allows none.
pub(super) fn nu(machine: &Svm, train: &Dataset<f64>, settings: &Settings, run: &Run) -> Result<Option<f64>> {
    let Some(Target::Classes { names, codes }) = &train.y else { return Ok(None) };
    let codes: Vec<u32> = codes.iter().flatten().copied().collect();
    let classes = Classes { codes: &codes, count: names.len(), weights: None };
    let most = classes.pairs(WAY).into_iter().map(|pair| NuSvm::most(&classes.part(pair))).fold(1.0, f64::min);
    // A part of the rows may allow a little less.
    let nus: Vec<Value> = NUS.into_iter().filter(|nu| *nu <= 0.9 * most).map(Value::Number).collect();
    if nus.is_empty() {
        return Ok(None);
    }
    let machine = machine.clone().with_kind(SvmKind::Nu(0.5));
    let point = chosen(&machine, vec![("nu".into(), nus)], train, settings, run)?;
    Ok(point.get("nu"))
}

/// The best settings for some of the rows.
fn chosen(
    machine: &dyn Estimator<f64>,
    grid: Vec<(String, Vec<Value>)>,
    train: &Dataset<f64>,
    settings: &Settings,
    run: &Run,
) -> Result<Given> {
    let n = train.x.count();
    let (rows, _) = divide(n, TUNING as f64 / n as f64, run.seed);
    let search = Search { folds: settings.folds.min(3), grid };
    let (_, tuning) = search.run::<f64>(machine, &train.rows(&rows), run)?;
    Ok(Given::of_words(&tuning.best.params))
}

/// Share of the test rows whose class is found: by the functions themselves, or by a linear machine on components.
pub(super) fn accuracy(
    machine: &str,
    functions: &KernelFunctions<f64>,
    split: &Split,
    run: &Run,
) -> lopsided::Result<f64> {
    let (Some(Target::Classes { names, codes }), Some(truth)) = (&split.train.y, &split.test.y) else {
        return Ok(f64::NAN);
    };
    let truth = renamed(truth, names);
    let known: Vec<u32> = codes.iter().flatten().copied().collect();
    let new = functions.apply(split.test.x.as_ref(), run)?;
    let decision = match machine {
        "krr" => new,
        "svm" | "nu-svm" => {
            let pairs = Classes { codes: &known, count: names.len(), weights: None }.pairs(WAY);
            class_values(new.as_ref(), &pairs, names.len())
        }
        _ => {
            let own = functions.apply(split.train.x.as_ref(), run)?;
            let linear = LinearLsSvm::default().with_penalty(100.0).fit(own.as_ref(), &known, names.len())?;
            linear.decision(new.as_ref())
        }
    };
    Ok(score(&truth, decision.as_ref()))
}

/// The same classes by their position among the training classes.
fn renamed(target: &Target, names: &[String]) -> Target {
    let Target::Classes { names: own, codes } = target else { return target.clone() };
    let place = |code: &Option<u32>| {
        let wanted = &own[(*code)? as usize];
        let at = names.iter().position(|name| name == wanted);
        // A class that was never seen is one more, which is never predicted.
        Some(at.unwrap_or(names.len()) as u32)
    };
    Target::Classes { names: names.to_vec(), codes: codes.iter().map(place).collect() }
}
