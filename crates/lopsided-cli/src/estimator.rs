//! From options to the estimator.

use crate::args::{CompatArgs, KernelArgs, SolverArgs};
use crate::context::Context;
use lopsided::base::settings::Settings;
use lopsided::kernel::{Gamma, KernelSpec, kernels};
use lopsided::solvers::landmarks;
use lopsided::solvers::svd;
use lopsided::{Compat, Compatibility, Error, KernelSvd, Result, Scalar};

/// Components when the user does not say, fewer where there are fewer samples.
const DEFAULT_RANK: usize = 16;

/// The estimator of the options, with kernel and solver checked before any file is read.
pub(crate) fn from_args<T: Scalar>(args: &KernelArgs, solver: &SolverArgs, context: &Context) -> Result<KernelSvd> {
    let (kernel, gamma) = kernel::<T>(args)?;
    let solver_params = solver_params::<T>(solver)?;
    svd::solver::<T>(&solver.solver, &solver_params)?;
    Ok(KernelSvd {
        kernel,
        gamma,
        gamma_factor: args.gamma_factor.unwrap_or(1.0),
        rank: solver.rank.unwrap_or(DEFAULT_RANK),
        solver: solver.solver.clone(),
        solver_params,
        center: args.center,
        scaling: solver.scaling,
        operator: solver.operator,
        memory: context.global.memory,
    })
}

/// The kernel of the options for a machine that needs no singular vectors.
pub(crate) fn of_machine<T: Scalar>(args: &KernelArgs, context: &Context) -> Result<KernelSvd> {
    let (kernel, gamma) = kernel::<T>(args)?;
    let gamma_factor = args.gamma_factor.unwrap_or(1.0);
    let plain = KernelSvd::new(&args.kernel);
    Ok(KernelSvd { kernel, gamma, gamma_factor, memory: context.global.memory, ..plain })
}

/// The compatibility matrix of the options.
pub(crate) fn compat(args: &CompatArgs, default: Compat) -> Result<Compatibility> {
    let kind = args.compat.unwrap_or(default);
    match args.compat_width {
        Some(width) if kind == Compat::None => {
            Err(Error::param("compat-width", width, "left out without --compat pinv, pca, random or learned"))
        }
        width => Ok(Compatibility { kind, width }),
    }
}

fn solver_params<T: Scalar>(args: &SolverArgs) -> Result<Settings> {
    let sampler = args.sampler.as_deref().map(landmarks::position).transpose()?;
    let polish = (args.polish || args.no_polish).then_some(f64::from(u8::from(args.polish)));
    let of_samples = [
        ("rows-sample", args.rows_sample.map(f64::from)),
        ("cols-sample", args.cols_sample.map(f64::from)),
        ("sampler", sampler.map(|at| at as f64)),
        ("polish", polish),
    ];
    let mut params = Settings::default();
    for (name, value) in of_samples {
        if let Some(value) = value {
            refuse_without_sample::<T>(name, &args.solver)?;
            params = params.with(name, value);
        }
    }
    let others = [("tol", args.tol), ("block", args.block.map(f64::from))];
    Ok(others.iter().filter_map(|(name, value)| Some((name, (*value)?))).fold(params, |p, (n, v)| p.with(n, v)))
}

/// Says so when a solver has no landmarks; an unknown solver is left to the registry.
fn refuse_without_sample<T: Scalar>(name: &'static str, solver: &str) -> Result<()> {
    match svd::solvers::<T>().iter().find(|entry| entry.name == solver) {
        Some(entry) if !entry.params.contains(&name) => {
            let allowed = format!("left out: the solver `{solver}` has no such option, `nystrom` has");
            Err(Error::param(name, "given", allowed))
        }
        _ => Ok(()),
    }
}

/// The kernel with all parameters that do not depend on the data, and the rule for the gamma that does.
fn kernel<T: Scalar>(args: &KernelArgs) -> Result<(KernelSpec, Gamma)> {
    let mut spec = KernelSpec::new(&args.kernel);
    let given = [
        ("degree", args.degree),
        ("coef0", args.coef0),
        ("epsilon", args.epsilon),
        ("beta", args.beta),
        ("alpha", args.alpha),
        ("decay", args.decay),
    ];
    for (name, value) in given {
        if let Some(value) = value {
            refuse_unknown::<T>(name, &value.to_string(), &spec.name)?;
            spec = spec.with(name, value);
        }
    }
    let gamma = match &args.gamma {
        Some(text) => {
            refuse_unknown::<T>("gamma", text, &spec.name)?;
            text.parse()?
        }
        None => Gamma::default(),
    };
    if spec.gamma_from_data() {
        spec.clone().with("gamma", 1.0).build::<T>()?;
        return Ok((spec, gamma));
    }
    if let Some(factor) = args.gamma_factor {
        return Err(Error::param("gamma-factor", factor, format!("left out for the kernel `{}`", spec.name)));
    }
    spec = match (gamma, &args.gamma) {
        (_, None) => spec,
        (Gamma::Value(value), _) => spec.with("gamma", value),
        (rule, _) => return Err(Error::param("gamma", rule, format!("a number for the kernel `{}`", spec.name))),
    };
    spec.build::<T>()?;
    Ok((spec, gamma))
}

/// Says so when a kernel has no such parameter; an unknown kernel is left to the registry.
fn refuse_unknown<T: Scalar>(name: &'static str, value: &str, kernel: &str) -> Result<()> {
    match kernels::<T>().iter().find(|entry| entry.name == kernel) {
        Some(entry) if !entry.params.contains(&name) => {
            Err(Error::param(name, value, format!("left out: the kernel `{kernel}` has no {name}")))
        }
        _ => Ok(()),
    }
}

/// The rank for data of this size.
pub(crate) fn rank(args: &SolverArgs, size: (usize, usize)) -> usize {
    args.rank.unwrap_or_else(|| DEFAULT_RANK.min(size.0).min(size.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(kernel: &str, gamma: Option<&str>) -> Result<(KernelSpec, Gamma)> {
        let args = KernelArgs { kernel: kernel.into(), gamma: gamma.map(Into::into), ..KernelArgs::default() };
        super::kernel::<f64>(&args)
    }

    #[test]
    fn gamma_goes_where_the_kernel_wants_it() {
        assert_eq!(parse("rbf", Some("median")).unwrap(), (KernelSpec::new("rbf"), Gamma::Median));
        assert_eq!(parse("poly", Some("2")).unwrap().0, KernelSpec::new("poly").with("gamma", 2.0));
        let message = |kernel, gamma| parse(kernel, Some(gamma)).unwrap_err().to_string();
        assert_eq!(message("poly", "median"), "`gamma` is median but must be a number for the kernel `poly`");
        assert_eq!(message("linear", "2"), "`gamma` is 2 but must be left out: the kernel `linear` has no gamma");
        assert!(message("rbf", "-1").starts_with("`gamma` is -1 but must be a number above 0"));
        assert!(message("gausian", "1").starts_with("no kernel `gausian`"));
    }
}
