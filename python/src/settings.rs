//! Settings by name and value, the same names as on the command line.

use lopsided::base::registry::Params;
use lopsided::estimators::{Point, Recipe, estimators};
use lopsided::kernel::{Gamma, KernelSpec, kernels};
use lopsided::solvers::landmarks;
use lopsided::solvers::svd;
use lopsided::{Compatibility, Dataset, Error, Graph, GraphRule, KernelSvd, Links, Result, Run, Scalar};
use std::str::FromStr;

/// Parameters of kernels besides gamma.
const KERNEL: [&str; 6] = ["degree", "coef0", "epsilon", "beta", "alpha", "decay"];
/// Numbers that solvers take.
const SOLVER: [&str; 4] = ["tol", "block", "rows-sample", "cols-sample"];
/// Bandwidth of machines on graphs unless given.
const GRAPH_FACTOR: f64 = 5.0;

/// What an estimator takes where the user says nothing.
pub(crate) struct Usual {
    pub(crate) gamma: Gamma,
    pub(crate) gamma_factor: f64,
    /// Components, before they are capped by the size of the data.
    pub(crate) rank: usize,
}

/// Settings that are taken one after the other; what is left belongs to the estimator itself.
pub(crate) struct Settings(Vec<(String, String)>);

impl Settings {
    pub(crate) fn new(given: Vec<(String, String)>) -> Self {
        Settings(given)
    }

    /// What is left.
    pub(crate) fn rest(self) -> Point {
        self.0
    }

    /// Whether a setting has this value.
    pub(crate) fn is(&self, name: &str, value: &str) -> bool {
        self.0.iter().any(|(known, given)| known == name && given == value)
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(at).1)
    }

    fn parsed<V: FromStr<Err = Error>>(&mut self, name: &str) -> Result<Option<V>> {
        self.take(name).map(|text| text.parse()).transpose()
    }

    fn number(&mut self, name: &str) -> Result<Option<f64>> {
        let parse = |text: String| text.parse().map_err(|_| Error::param(name, &text, "a number"));
        self.take(name).map(parse).transpose()
    }

    pub(crate) fn count(&mut self, name: &str) -> Result<Option<usize>> {
        let parse = |text: String| text.parse().map_err(|_| Error::param(name, &text, "a whole number of at least 0"));
        self.take(name).map(parse).transpose()
    }

    pub(crate) fn flag(&mut self, name: &str) -> Result<Option<bool>> {
        let parse = |text: String| text.parse().map_err(|_| Error::param(name, &text, "True or False"));
        self.take(name).map(parse).transpose()
    }

    /// The compatibility matrix, where one is asked for.
    pub(crate) fn compat(&mut self) -> Result<Option<Compatibility>> {
        let (kind, width) = (self.parsed("compat")?, self.count("compat-width")?);
        match (kind, width) {
            (Some(kind), width) => Ok(Some(Compatibility { kind, width })),
            (None, Some(width)) => Err(Error::param("compat-width", width, "left out without `compat`")),
            (None, None) => Ok(None),
        }
    }

    /// The nodes of a graph as samples.
    pub(crate) fn nodes<T: Scalar>(&mut self, graph: &Graph, run: &Run) -> Result<Dataset<T>> {
        let kernel = self.0.iter().find(|(name, _)| name == "kernel").map_or("sne", |(_, kernel)| kernel.as_str());
        let usual = KernelSpec::new(kernel).graph_rule();
        let links = match self.take("links").as_deref() {
            None | Some("in") => Links::In,
            Some("out") => Links::Out,
            Some(other) => return Err(Error::param("links", other, "`in` or `out`")),
        };
        let normalize = match self.take("normalize").as_deref() {
            None => usual.normalize,
            Some("row") => true,
            Some("none") => false,
            Some(other) => return Err(Error::param("normalize", other, "`row` or `none`")),
        };
        let self_loops = self.flag("self-loops")?.unwrap_or(usual.self_loops);
        let rule = GraphRule { links, self_loops, normalize };
        match self.count("max-degree")? {
            None => Dataset::from_graph(graph, &rule),
            Some(0) => Err(Error::param("max-degree", 0, "at least 1")),
            Some(most) => Dataset::from_graph(&graph.cap_degrees(most, run.seed), &rule),
        }
    }

    /// Kernel, solver and rank; a sampler is the solver's unless landmarks are the machine's.
    pub(crate) fn svd<T: Scalar>(&mut self, usual: &Usual, own_landmarks: bool, most: usize) -> Result<KernelSvd> {
        let (kernel, gamma, gamma_factor) = self.kernel::<T>(usual)?;
        let solver = self.take("solver").unwrap_or_else(|| "auto".into());
        let mut solver_params = Params::default();
        for name in SOLVER {
            solver_params = self.number(name)?.map_or(solver_params.clone(), |value| solver_params.with(name, value));
        }
        if let Some(sampler) = self.0.iter().position(|(name, _)| name == "sampler").filter(|_| !own_landmarks) {
            let place = landmarks::position(&self.0.remove(sampler).1)?;
            solver_params = solver_params.with("sampler", place as f64);
        }
        if let Some(polish) = self.flag("polish")? {
            solver_params = solver_params.with("polish", f64::from(u8::from(polish)));
        }
        svd::solver::<T>(&solver, &solver_params)?;
        let plain = KernelSvd::new(&kernel.name);
        Ok(KernelSvd {
            kernel,
            gamma,
            gamma_factor,
            rank: self.count("rank")?.unwrap_or(usual.rank.min(most)),
            solver,
            solver_params,
            center: self.flag("center")?.unwrap_or(plain.center),
            scaling: self.parsed("scaling")?.unwrap_or(plain.scaling),
            operator: self.parsed("operator")?.unwrap_or(plain.operator),
            memory: self.count("memory")?.map(|bytes| bytes as u64),
        })
    }

    /// What an estimator of the list is made from.
    pub(crate) fn recipe<T: Scalar>(&mut self, estimator: &str, data: &Dataset<T>) -> Result<Recipe> {
        let gamma_given = self.0.iter().any(|(name, _)| name == "gamma");
        let usual = match (&data.frame, gamma_given) {
            (None, _) => Usual { gamma: Gamma::Median, gamma_factor: 1.0, rank: 100 },
            (Some(_), true) => Usual { gamma: Gamma::Scale, gamma_factor: 1.0, rank: 100 },
            (Some(_), false) => Usual { gamma: Gamma::Scale, gamma_factor: GRAPH_FACTOR, rank: 100 },
        };
        let landmarks = estimators::<T>().iter().any(|entry| entry.name == estimator && entry.has("landmarks"));
        let known = data.y.as_ref().map_or(0, |y| y.known().len());
        let rows = if data.frame.is_some() { data.x.count() } else { known };
        let svd = self.svd::<T>(&usual, landmarks, rows.min(data.cols().count()).max(1))?;
        Ok(Recipe { svd, compat: Compatibility::default() })
    }

    /// The kernel with the parameters that do not depend on the data, and the rule for the gamma that does.
    fn kernel<T: Scalar>(&mut self, usual: &Usual) -> Result<(KernelSpec, Gamma, f64)> {
        let mut spec = KernelSpec::new(&self.take("kernel").unwrap_or_else(|| "sne".into()));
        for name in KERNEL {
            if let Some(value) = self.number(name)? {
                refuse_unknown::<T>(name, &value.to_string(), &spec.name)?;
                spec = spec.with(name, value);
            }
        }
        let (gamma, factor) = (self.take("gamma"), self.number("gamma-factor")?);
        if let Some(text) = &gamma {
            refuse_unknown::<T>("gamma", text, &spec.name)?;
        }
        if spec.gamma_from_data() {
            spec.clone().with("gamma", 1.0).build::<T>()?;
            let rule = gamma.map_or(Ok(usual.gamma), |text| text.parse())?;
            return Ok((spec, rule, factor.unwrap_or(usual.gamma_factor)));
        }
        if let Some(factor) = factor {
            return Err(Error::param("gamma-factor", factor, format!("left out for the kernel `{}`", spec.name)));
        }
        spec = match gamma.map(|text| text.parse()).transpose()? {
            None => spec,
            Some(Gamma::Value(value)) => spec.with("gamma", value),
            Some(rule) => return Err(Error::param("gamma", rule, format!("a number for the kernel `{}`", spec.name))),
        };
        spec.build::<T>()?;
        Ok((spec, Gamma::default(), 1.0))
    }
}

/// Says so when a kernel has no such parameter; an unknown kernel is left to the registry.
fn refuse_unknown<T: Scalar>(name: &str, value: &str, kernel: &str) -> Result<()> {
    match kernels::<T>().iter().find(|entry| entry.name == kernel) {
        Some(entry) if !entry.params.contains(&name) => {
            Err(Error::param(name, value, format!("left out: the kernel `{kernel}` has no {name}")))
        }
        _ => Ok(()),
    }
}
