//! From settings and facts of the data to the typed thing: the one owner of every default.
//!
//! The command line, Python and recipes in files hand over what the user gave; whatever was not given is decided here, also
//! where it depends on the data (a graph or a table, how many rows). What is left in the settings belongs to the estimator
//! itself, which refuses what it does not know.

use super::compat::{Compat, Compatibility};
use super::directions::Directions;
use super::gram::products_fit;
use super::preparation::{Impute, Scale};
use super::prepared::{PREPARED_SETTINGS, Prepared, WIDER};
use super::searched::SEARCHED;
use super::svd_predictor::COMPARED;
use super::{
    Approximation, Biclustering, Estimator, EstimatorEntry, FitReport, Gram, KernelPca, KernelSvd, KernelSvdModel,
    NystromFeatures, Recipe, Scaling, estimators,
};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::registry;
use crate::base::scalar::Scalar;
use crate::base::settings::{Setting, Settings, Value};
use crate::data::archive::Archive;
use crate::data::columns::refuse_words;
use crate::data::dataset::Dataset;
use crate::data::graph::{Graph, GraphRule, Links};
use crate::data::node_features::{FeatureBlock, NodeFeatures, USUAL_WEIGHT};
use crate::data::samples::SamplesRef;
use crate::kernel::{Form, Gamma, KernelSpec, kernels};
use crate::solvers::svd;
use std::collections::BTreeMap;

/// Settings of every kernel SVD besides those of its kernel and of its solver.
pub const SVD_SETTINGS: [Setting; 7] = [
    Setting::new(
        "kernel",
        "the kernel",
        "one of `lopsided list kernels`",
        "sne to embed two sample sets and for ask-ls unless it learns values of rows, else rbf",
    ),
    Setting::new(
        "rank",
        "number of components",
        "between 1 and the smaller side of G",
        "16; 20 to bicluster, 100 to learn, up to 200 on graphs of more than 1000 nodes, 64 for links; fewer where the data have fewer samples",
    ),
    Setting::new("solver", "who finds the singular triplets", "one of `lopsided list solvers`", "auto"),
    Setting::new("center", "centres both feature maps", "true or false", "false; true for kpca and to bicluster"),
    Setting::new(
        "scaling",
        "scales components by the singular values",
        "none, sqrt or full",
        "none; sqrt for rows of tables that are learned",
    ),
    Setting::new("operator", "how G is multiplied", "auto, sparse, tiles or dense", "auto"),
    Setting::new("memory", "bytes that may be used", "a number of bytes", "80 % of what is free"),
];

/// Settings of the matrix of a graph.
pub const GRAPH_SETTINGS: [Setting; 5] = [
    Setting::new(
        "links",
        "links that make up a node's row; either: those of both directions as one; both: those that arrive beside those that leave",
        "in, out, either, both or auto",
        "in; auto to learn: in, either or both, by held-out labels",
    ),
    Setting::new("self-loops", "links every node to itself", "true or false", "true; false for the kernel katz"),
    Setting::new(
        "normalize",
        "divides each row by its sum; unit: and brings rows and columns to unit length",
        "row, unit or none",
        "unit with kernels of distances, else row; none for the kernel katz",
    ),
    Setting::new("max-degree", "most links in and most links out of a node", "at least 1", "all of them"),
    Setting::new(
        "walk",
        "steps K of the walk that compares nodes: (P + P² + … + P^K)/K",
        "a whole number between 1 and 16",
        "1, a node's own links",
    ),
];

/// Settings of features of nodes beside their links.
pub const FEATURE_SETTINGS: [Setting; 1] = [Setting::new(
    "feature-weight",
    "share w of the features: (1 - w)·(links) + w·(features) with the kernel linear, the product of both with rbf",
    "auto or a number between 0 and 1",
    "auto: by held-out labels to learn, 0.5 to embed",
)];

/// Settings of the compatibility of rows and columns.
pub const COMPAT_SETTINGS: [Setting; 2] = [
    Setting::new(
        "compat",
        "brings rows and columns of a matrix to the same coordinates",
        "pinv, pca, random, gram, learned or none",
        "pca to cluster, gram out of core, else none: rows of a table that are learned are compared with each other",
    ),
    Setting::new("compat-width", "number of those coordinates", "at least 1", "by the size of the matrix"),
];

/// Components of the nodes of a large graph that a machine learns from.
const NODE_RANK: usize = 200;

/// What a task takes where the user says nothing.
#[derive(Clone, Copy, Debug)]
pub struct Usual {
    /// The kernel.
    pub kernel: &'static str,
    /// How gamma is found.
    pub gamma: Gamma,
    /// The factor of the bandwidth where no gamma is given.
    pub gamma_factor: f64,
    /// Components, before they are capped by the size of the data.
    pub rank: usize,
    /// Whether both feature maps are centred.
    pub center: bool,
    /// Whether rows and columns of a graph have unit length for kernels of distances.
    pub unit: bool,
    /// Links that make up a node's row, for kernels that compare samples.
    pub links: Links,
    /// How components that a machine learns from are scaled.
    pub scaling: Scaling,
}

impl Usual {
    /// Two sets of features.
    pub const EMBEDDING: Usual = Usual {
        kernel: "sne",
        gamma: Gamma::Scale,
        gamma_factor: 1.0,
        rank: 16,
        center: false,
        unit: false,
        links: Links::In,
        scaling: Scaling::None,
    };
    /// Two sets of features of the nodes of a graph. Lengths grow with the number of links, and narrow kernels see little beyond
    /// a node's own links.
    pub const NODES: Usual = Usual { kernel: "rbf", gamma_factor: 3.0, unit: true, ..Usual::EMBEDDING };
    /// Clusters of rows and columns.
    pub const CLUSTERS: Usual =
        Usual { kernel: "rbf", gamma: Gamma::Median, rank: 20, center: true, ..Usual::EMBEDDING };
    /// Principal components.
    pub const COMPONENTS: Usual = Usual { kernel: "rbf", gamma: Gamma::Median, center: true, ..Usual::EMBEDDING };
    /// Scores of links.
    pub const LINKS: Usual = Usual { rank: 64, ..Usual::NODES };
    /// A machine that learns a target from the rows of a table.
    pub const ROWS: Usual =
        Usual { kernel: "rbf", gamma: Gamma::Median, rank: 100, scaling: Scaling::Sqrt, ..Usual::EMBEDDING };

    /// A machine that learns a target, on the nodes of a graph or on the rows of a table.
    pub fn learning(kernel: &'static str, graph: bool) -> Usual {
        if graph {
            return Usual { kernel, rank: 100, links: Links::Auto, ..Usual::NODES };
        }
        Usual { kernel, ..Usual::ROWS }
    }

    /// What makes G where nothing is said.
    pub fn gram(&self) -> Gram {
        Gram::new(self.kernel).with_gamma(self.gamma).with_gamma_factor(self.gamma_factor)
    }

    /// The kernel SVD where nothing is said.
    pub fn svd(&self) -> KernelSvd {
        let (solver, solver_params) = ("auto".into(), Settings::default());
        let Usual { rank, center, scaling, .. } = *self;
        KernelSvd { gram: self.gram(), rank, solver, solver_params, center, scaling }
    }
}

fn has_features<T: Scalar>(data: &Dataset<T>) -> bool {
    data.frame.as_ref().is_some_and(|frame| frame.features.is_some())
}

/// Takes the kernel and its bandwidth out of the settings.
///
/// # Errors
/// [`Error::Unknown`] for a kernel that is not in the list, [`Error::Param`] for a value out of range or a setting that the kernel
/// does not have.
///
/// # Example
/// What belongs to others stays in the settings:
///
/// ```
/// use lopsided::base::settings::Settings;
/// use lopsided::estimators::recipe::{Usual, take_gram};
/// use lopsided::kernel::Gamma;
///
/// let mut given = Settings::default().with("kernel", "rbf").with("gamma", 0.5).with("penalty", 2.0);
/// let gram = take_gram(&mut given, &Usual::EMBEDDING)?;
/// assert_eq!((gram.kernel.name.as_str(), gram.gamma), ("rbf", Gamma::Value(0.5)));
/// assert_eq!(given, Settings::default().with("penalty", 2.0));
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn take_gram(given: &mut Settings, usual: &Usual) -> Result<Gram> {
    let name = given.take("kernel").map_or_else(|| usual.kernel.into(), |name| name.to_string());
    let listed = kernels::<f64>();
    let entry = registry::find("kernel", &listed, &name)?;
    let known = super::gram::settings();
    let own = given.take_all(&known);
    if let Some((extra, value)) = own.iter().find(|(n, _)| *n != "gamma-factor" && !entry.has(n)) {
        return Err(Error::param(extra, value, format!("left out: the kernel `{name}` has no {extra}")));
    }
    let mut gram = Gram::new(&name);
    if gram.kernel.gamma_from_data() {
        gram.gamma = usual.gamma;
        gram.gamma_factor = if own.value("gamma").is_some() { 1.0 } else { usual.gamma_factor };
        gram.kernel.clone().with("gamma", 1.0).build::<f64>()?;
    } else {
        gram.kernel.build::<f64>()?;
    }
    gram.operator = given.word("operator")?.unwrap_or(gram.operator);
    given.take("operator");
    if given.value("memory").is_some() {
        gram.memory = Some(given.positive("memory", None)? as u64);
        given.take("memory");
    }
    gram.with(&own)
}

/// Takes a kernel SVD out of the settings, with at most `most` components unless more are asked for; a sampler is the solver's unless
/// landmarks are the machine's.
///
/// # Errors
/// Those of [`take_gram`]; [`Error::Unknown`] and [`Error::Param`] for the solver.
pub fn take_svd<T: Scalar>(
    given: &mut Settings,
    usual: &Usual,
    machine_landmarks: bool,
    most: usize,
) -> Result<KernelSvd> {
    let (gram, plain) = (take_gram(given, usual)?, usual.svd());
    let solver = given.take("solver").map_or(plain.solver, |name| name.to_string());
    let solver_params = take_solver_settings::<T>(given, &solver, machine_landmarks)?;
    let rank = given.take("rank").map(|rank| Settings::default().with("rank", rank));
    let rank = rank.map_or(Ok(plain.rank.min(most)), |given| given.count("rank", 1).map(|rank| rank as usize))?;
    let (center, scaling) = (given.flag("center", plain.center)?, given.word("scaling")?.unwrap_or(plain.scaling));
    given.take("center");
    given.take("scaling");
    Ok(KernelSvd { gram, rank, solver, solver_params, center, scaling })
}

/// Settings of the solver; one that only other solvers have is refused.
fn take_solver_settings<T: Scalar>(given: &mut Settings, solver: &str, machine_landmarks: bool) -> Result<Settings> {
    let all = svd::solvers::<T>();
    let entry = registry::find("solver", &all, solver)?;
    let of_machine = |s: &Setting| machine_landmarks && s.name == "sampler";
    let known: Vec<Setting> = all.iter().flat_map(|e| e.settings).filter(|s| !of_machine(s)).copied().collect();
    let own = given.take_all(&known);
    if let Some((extra, _)) = own.iter().find(|(name, _)| !entry.has(name)) {
        let who = all.iter().find(|e| e.has(extra) && e.name != "auto").map_or("nystrom", |e| e.name);
        let allowed = format!("left out: the solver `{solver}` has no such option, `{who}` has");
        return Err(Error::param(extra, "given", allowed));
    }
    svd::solver::<T>(solver, &own)?;
    Ok(own)
}

/// Takes the compatibility of rows and columns out of the settings, `usual` where its kind is not said.
///
/// # Errors
/// [`Error::Param`] for a width of a kind that has none.
pub fn take_compat(given: &mut Settings, usual: Compat) -> Result<Compatibility> {
    let kind = given.word("compat")?.unwrap_or(usual);
    let width = given.value("compat-width").map(|_| given.count("compat-width", 1)).transpose()?;
    given.take_all(&COMPAT_SETTINGS);
    match width {
        Some(width) if kind == Compat::None => {
            Err(Error::param("compat-width", width, "left out without --compat pinv, pca, random or learned"))
        }
        width => Ok(Compatibility { kind, width: width.map(|w| w as usize) }),
    }
}

/// Takes out how a graph becomes a matrix for a kernel, and how many links a node may have.
///
/// # Errors
/// [`Error::Param`] for a value that is not allowed.
pub fn take_graph_rule(given: &mut Settings, kernel: &KernelSpec, task: &Usual) -> Result<(GraphRule, Option<usize>)> {
    let usual = kernel.graph_rule();
    let (normalize, unit) = match given.value("normalize") {
        None => (usual.normalize, task.unit && kernel.nature().form == Form::Distance),
        Some(Value::Text(word)) if word == "unit" => (true, true),
        Some(Value::Text(word)) if word == "row" => (true, false),
        Some(Value::Text(word)) if word == "none" => (false, false),
        Some(other) => return Err(Error::param("normalize", other, "`row`, `unit` or `none`")),
    };
    let walk = given.value("walk").map_or(Ok(1), |_| given.count("walk", 1));
    let walk =
        walk.map_err(|_| Error::param("walk", given.get("walk").unwrap_or(0.0), "a whole number between 1 and 16"))?;
    if walk > 1 && kernel.of_graph() {
        return Err(Error::param(
            "walk",
            walk,
            format!("1 for the kernel `{}`, which has steps of its own", kernel.name),
        ));
    }
    let self_loops = given.flag("self-loops", usual.self_loops)?;
    let compares = !kernel.is_precomputed() && !kernel.of_graph();
    let links = match given.value("links").map(ToString::to_string).as_deref() {
        None if compares && walk == 1 => task.links,
        None => usual.links,
        Some("in") => Links::In,
        Some("out") => Links::Out,
        Some("either") => Links::Either,
        Some("both") if !compares => {
            let allowed = format!(
                "`in`, `out` or `either` for the kernel `{}`, which has a value for each pair of nodes",
                kernel.name
            );
            return Err(Error::param("links", "both", allowed));
        }
        Some("both") => Links::Both,
        Some("auto") if task.links == Links::Auto => Links::Auto,
        Some(other) if task.links == Links::Auto => {
            return Err(Error::param("links", other, "`in`, `out`, `either`, `both` or `auto`"));
        }
        Some(other) => return Err(Error::param("links", other, "`in`, `out`, `either` or `both`")),
    };
    let rule = GraphRule { links, self_loops, normalize, unit, walk: walk as usize };
    let most = given.value("max-degree").map(|_| given.count("max-degree", 1)).transpose();
    let most = most.map_err(|_| Error::param("max-degree", given.get("max-degree").unwrap_or(0.0), "at least 1"))?;
    given.take_all(&GRAPH_SETTINGS);
    Ok((rule, most.map(|most| most as usize)))
}

/// The nodes of a graph as samples, by the settings, with their features where there are any.
///
/// # Errors
/// Those of [`take_graph_rule`], [`Dataset::from_graph`] and [`with_features`].
pub fn take_nodes<T: Scalar>(
    given: &mut Settings,
    graph: &Graph,
    features: Option<&NodeFeatures<T>>,
    usual: &Usual,
    run: &Run,
) -> Result<Dataset<T>> {
    let kernel = given.value("kernel").map_or_else(|| usual.kernel.into(), ToString::to_string);
    let kernel = KernelSpec::new(&kernel);
    let (rule, most) = take_graph_rule(given, &kernel, usual)?;
    let data = match most {
        None => Dataset::from_graph(graph, &rule),
        Some(most) => Dataset::from_graph(&graph.cap_degrees(most, run.seed), &rule),
    }?;
    with_features(data, features, &kernel)
}

/// Nodes with their features, half of each until a weight is settled.
///
/// # Errors
/// [`Error::Param`] for a kernel that compares no samples; those of [`Dataset::with_features`].
pub fn with_features<T: Scalar>(
    data: Dataset<T>,
    features: Option<&NodeFeatures<T>>,
    kernel: &KernelSpec,
) -> Result<Dataset<T>> {
    let Some(features) = features else { return Ok(data) };
    if kernel.is_precomputed() || kernel.of_graph() {
        let allowed = format!("left out for the kernel `{}`, which compares no samples", kernel.name);
        return Err(Error::param("features", "given", allowed));
    }
    data.with_features(features, USUAL_WEIGHT)
}

/// Takes out the share of features beside links; none where it is to be found.
///
/// # Errors
/// [`Error::Param`] for a share outside [0, 1].
pub fn take_feature_weight(given: &mut Settings) -> Result<Option<f64>> {
    match given.take("feature-weight") {
        None => Ok(None),
        Some(Value::Text(word)) if word == "auto" => Ok(None),
        Some(Value::Number(weight)) => crate::data::node_features::check(weight).map(|()| Some(weight)),
        Some(other) => Err(Error::param("feature-weight", other, "auto or a number between 0 and 1")),
    }
}

/// Nodes that are embedded, with the share of their features that is asked for.
///
/// # Errors
/// Those of [`take_feature_weight`]; [`Error::Param`] for a share without features.
pub fn weighed<T: Scalar>(given: &mut Settings, data: Dataset<T>) -> Result<Dataset<T>> {
    match take_feature_weight(given)? {
        Some(weight) => data.with_feature_weight(weight),
        None => Ok(data),
    }
}

/// The estimator of the list called `name`.
///
/// # Errors
/// [`Error::Unknown`] with the one that may have been meant.
///
/// # Example
/// ```
/// use lopsided::estimators::recipe;
///
/// assert!(recipe::entry::<f64>("krr")?.has("landmarks"));
/// assert!(recipe::entry::<f64>("kr").is_err());
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn entry<T: Scalar>(name: &str) -> Result<EstimatorEntry<T>> {
    let all = estimators::<T>();
    let known = all.iter().map(|entry| entry.name.to_string()).collect();
    all.into_iter().find(|entry| entry.name == name).ok_or_else(|| Error::Unknown {
        kind: "estimator",
        name: name.into(),
        known,
    })
}

/// What the estimator called `name` is made from, and the estimator itself; everything given is used or refused.
///
/// # Errors
/// [`Error::Unknown`] and [`Error::Param`] for names and values that cannot be.
pub fn estimator<T: Scalar>(
    name: &str,
    mut given: Settings,
    data: &Dataset<T>,
) -> Result<(Recipe, Box<dyn Estimator<T>>)> {
    let entry = entry::<T>(name)?;
    let values = data.y.as_ref().is_some_and(|y| !y.is_classes());
    let usual = Usual::learning(usual_kernel(entry.kernel, values, data), data.frame.is_some());
    let weight = take_feature_weight(&mut given)?;
    if let Some(weight) = weight.filter(|_| !has_features(data)) {
        return Err(Error::param("feature-weight", weight, "left out for samples without features beside links"));
    }
    let kernel = given.value("kernel").map_or_else(|| usual.kernel.into(), ToString::to_string);
    let table = data.frame.is_none() && data.z.is_none() && !KernelSpec::new(&kernel).is_precomputed();
    let compat = take_compat(&mut given, Compat::None)?;
    let asked = given.value("rank").is_some();
    let width = given.value("gamma").is_some() || given.value("gamma-factor").is_some();
    let mut svd = take_svd::<T>(&mut given, &usual, entry.has("landmarks"), usize::MAX)?;
    if !asked {
        // Large graphs have more to tell than small ones.
        let most = if data.frame.is_some() { data.x.count() / 10 } else { 0 };
        svd.rank = svd.rank.max(most.min(NODE_RANK)).min(most_components(&svd.gram.kernel, compat.kind, data, None));
    }
    if !asked && table && compat.kind == Compat::None {
        // Searches within searches see a third of the rows.
        let known = data.y.as_ref().map_or(0, |y| y.known().len());
        svd.rank = svd.rank.min((known / 3).max(1));
    }
    check_compat(&compat, table)?;
    let recipe = Recipe { svd, compat };
    let (scale, impute) = take_preparation(&mut given, &recipe, data)?;
    // Right and wrong classes of a few hundred rows cannot tell one bandwidth from another; errors of values can.
    let wider = values && table && compat.kind == Compat::None && !width && recipe.svd.gram.kernel.gamma_from_data();
    let prepared = Prepared {
        factors: if wider { WIDER.to_vec() } else { Vec::new() },
        scale,
        impute,
        weight,
        // A given matrix has the values of all nodes, and a part of it another meaning.
        most: if recipe.svd.gram.kernel.is_precomputed() { usize::MAX } else { SEARCHED },
        penalties: entry.penalties[usize::from(values)].to_vec(),
        inner: (entry.build)(recipe.clone()),
    };
    let open = data.frame.as_ref().is_some_and(|frame| frame.rule.links == Links::Auto);
    if !open {
        return Ok((recipe, prepared.with(&given)?));
    }
    let directions = Directions { judge: prepared.at(&Settings::default())?, inner: Box::new(prepared) };
    Ok((recipe, directions.with(&given)?))
}

/// The kernel of an estimator for the data. Rows of sums 1 flatten what the values of rows depend on: those are learned with the kernel
/// before it is normalised.
fn usual_kernel<T: Scalar>(kernel: &'static str, values: bool, data: &Dataset<T>) -> &'static str {
    let rows = data.frame.is_none() && data.z.is_none();
    if values && rows && kernel == "sne" { "rbf" } else { kernel }
}

/// Takes out how columns are scaled and what fills them. What compares the rows of a table with its columns changes neither, points of the user's own
/// stand in the units of the table, and two sample sets have columns of their own each.
fn take_preparation<T: Scalar>(given: &mut Settings, recipe: &Recipe, data: &Dataset<T>) -> Result<(Scale, Impute)> {
    let kernel = &recipe.svd.gram.kernel;
    let scale = given.word("scale")?.unwrap_or_default();
    let impute = given.word("impute")?.unwrap_or_default();
    given.take_all(&PREPARED_SETTINGS);
    let rows = data.frame.is_none() && data.z.is_none() && !kernel.is_precomputed();
    let table = rows && recipe.compat.kind == Compat::None;
    let dense = matches!(data.x.as_ref(), SamplesRef::Dense(_));
    let points = given.value("landmark-points").is_some();
    if !rows || points {
        let who = if points {
            "landmarks of your own are rows of numbers"
        } else {
            "a graph, --cols and a precomputed kernel need numbers"
        };
        refuse_words(data.columns.as_deref(), "the table", who)?;
    }
    if impute != Impute::None && !(rows && dense) {
        return Err(Error::param("impute", impute, "none unless the input is a table without --cols"));
    }
    match scale {
        // Scalar products of numbers beyond what a precision holds: standard columns say the same in numbers that it does.
        Scale::Auto
            if table
                && dense
                && !points
                && (kernel.nature().form == Form::Distance || !products_fit(data.x.as_ref())) =>
        {
            Ok((Scale::Standard, impute))
        }
        Scale::Auto | Scale::None => Ok((Scale::None, impute)),
        scale if table && !points => Ok((scale, impute)),
        scale => Err(Error::param("scale", scale, "none unless the rows of a table are compared with each other")),
    }
}

fn check_compat(compat: &Compatibility, table: bool) -> Result<()> {
    let refused = |allowed| Err(Error::param("compat", compat.kind, allowed));
    match compat.kind {
        Compat::Learned => refused("pinv, pca, random, gram or none for fit: only `embed --compat learned` learns one"),
        Compat::None => Ok(()),
        _ if table => Ok(()),
        _ => refused("none unless the input is a table whose rows are compared with its columns"),
    }
}

/// The most components that a machine can have, of the smallest training part if there are folds; at least 1.
pub fn most_components<T: Scalar>(
    kernel: &KernelSpec,
    compat: Compat,
    data: &Dataset<T>,
    folds: Option<usize>,
) -> usize {
    let known = data.y.as_ref().map_or(0, |y| y.known().len());
    let left = folds.map_or(known, |folds| known - known.div_ceil(folds.max(1)));
    let rows = if data.frame.is_some() { data.x.count() } else { left };
    let cols = match &data.z {
        Some(z) if !kernel.is_precomputed() => z.count(),
        None if data.frame.is_none() && compat == Compat::None && !kernel.is_precomputed() => left.min(COMPARED),
        _ => data.x.width(),
    };
    rows.min(cols).max(1)
}

/// A kernel SVD of the data by the settings; `own_columns` where the columns to come are those of the matrix X itself.
///
/// # Errors
/// [`Error::Unknown`] and [`Error::Param`] for names and values that cannot be.
pub fn embedding<T: Scalar>(mut given: Settings, data: &Dataset<T>, own_columns: bool) -> Result<KernelSvd> {
    let asked = given.value("rank").is_some();
    let usual = if data.frame.is_some() { Usual::NODES } else { Usual::EMBEDDING };
    let mut svd = take_svd::<T>(&mut given, &usual, false, usize::MAX)?;
    given.refuse_unknown(&[])?;
    if !asked {
        let own_columns = own_columns || svd.gram.kernel.is_precomputed();
        let cols = if own_columns { data.x.width() } else { data.cols().count() };
        svd.rank = svd.rank.min(data.x.count()).min(cols).max(1);
    }
    Ok(svd)
}

/// Kernel principal components by the settings.
///
/// # Errors
/// [`Error::Unknown`] and [`Error::Param`] for names and values that cannot be.
pub fn components<T: Scalar>(mut given: Settings, data: &Dataset<T>) -> Result<KernelPca> {
    let svd = take_svd::<T>(&mut given, &Usual::COMPONENTS, true, data.x.count().max(1))?;
    let (rank, center, tol) = (svd.rank, svd.center, svd.solver_params.get("tol"));
    given.refuse_unknown(&[&super::APPROXIMATION_SETTINGS])?;
    Ok(KernelPca { gram: svd.gram, rank, tol, approximation: Approximation::default().with(&given)?, center })
}

/// The features of landmarks by the settings.
///
/// # Errors
/// [`Error::Unknown`] and [`Error::Param`] for names and values that cannot be.
pub fn features<T: Scalar>(mut given: Settings, _data: &Dataset<T>) -> Result<NystromFeatures> {
    let gram = take_gram(&mut given, &Usual::COMPONENTS)?;
    given.refuse_unknown(&[&super::APPROXIMATION_SETTINGS])?;
    Ok(NystromFeatures::new(gram).with_approximation(Approximation::default().with(&given)?))
}

/// A biclustering of a matrix of this size by the settings.
///
/// # Errors
/// [`Error::Unknown`] and [`Error::Param`] for names and values that cannot be.
pub fn biclustering<T: Scalar>(mut given: Settings, (rows, cols): (usize, usize)) -> Result<Biclustering> {
    let row_clusters = given.needed(&BICLUSTER_SETTINGS[0])? as usize;
    let col_clusters = given.count("col-clusters", row_clusters as u32)? as usize;
    let kernel = given.value("kernel").map_or_else(|| Usual::CLUSTERS.kernel.into(), ToString::to_string);
    let plain = Biclustering::new(&kernel, row_clusters, col_clusters);
    let compat = take_compat(&mut given, plain.compat.kind)?;
    let unit_rows = given.flag("unit-rows", plain.unit_rows)?;
    let unit_features = given.flag("unit-features", plain.unit_features)?;
    let restarts = given.count("restarts", plain.restarts as u32)? as usize;
    let col_features = given.word("col-features")?.unwrap_or(plain.col_features);
    given.take_all(&BICLUSTER_SETTINGS);
    let usual = Usual { rank: plain.svd.rank, center: plain.svd.center, ..Usual::CLUSTERS };
    let svd = take_svd::<T>(&mut given, &usual, false, rows.min(cols).max(1))?;
    given.refuse_unknown(&[])?;
    Ok(Biclustering { row_clusters, col_clusters, svd, compat, unit_rows, unit_features, restarts, col_features })
}

/// Settings of a biclustering besides those of its kernel SVD.
pub const BICLUSTER_SETTINGS: [Setting; 6] = [
    Setting::new(
        "row-clusters",
        "number of row clusters",
        "between 1 and the number of rows",
        "none, it must be given",
    ),
    Setting::new("col-clusters", "number of column clusters", "between 1 and the number of columns", "as of the rows"),
    Setting::new("unit-rows", "scales the rows of the matrix to unit length", "true or false", "true"),
    Setting::new("unit-features", "scales features to unit length before clustering", "true or false", "false"),
    Setting::new(
        "col-features",
        "features of the columns: those of the rows' decomposition, their own, or the more coherent ones",
        "auto, same or own",
        "auto",
    ),
    Setting::new("restarts", "starts of k-means; the best one counts", "a whole number of at least 1", "10"),
];

/// The settings a model was made with, those found from the data among them: what would make it again.
///
/// # Errors
/// [`Error::Archive`] for a file that holds no model of an estimator.
pub fn of_archive(archive: &Archive) -> Result<Settings> {
    let estimator: String = archive.field("estimator")?;
    let mut found: BTreeMap<String, serde_json::Value> = match (archive.meta.get("fit"), archive.meta.get("params")) {
        (Some(_), _) => archive.field::<FitReport>("fit")?.params,
        (None, Some(_)) => archive.field("params")?,
        (None, None) => BTreeMap::new(),
    };
    if estimator == "kernel-svd" {
        let model = KernelSvdModel::<f64>::from_archive(archive)?;
        found.extend(model.kernel.as_params());
        found.insert("kernel".into(), model.kernel.name.clone().into());
        found.insert("rank".into(), model.singular_values().len().into());
        found.insert("scaling".into(), model.scaling.to_string().into());
        found.insert("center".into(), model.is_centered().into());
    }
    for (name, value) in archive.field::<Option<Settings>>("prepare")?.unwrap_or_default().iter() {
        found.insert(name.into(), serde_json::json!(value));
    }
    if let Some(rule) = archive.field::<Option<GraphRule>>("graph")? {
        found.insert("links".into(), serde_json::json!(rule.links));
        found.insert("self-loops".into(), rule.self_loops.into());
        let normalize = if rule.unit { "unit" } else { ["none", "row"][usize::from(rule.normalize)] };
        found.insert("normalize".into(), normalize.into());
        if rule.walk > 1 {
            found.insert("walk".into(), rule.walk.into());
        }
    }
    if let Some(features) = archive.field::<Option<FeatureBlock>>("features")? {
        found.insert("feature-weight".into(), features.weight.into());
    }
    let own = entry::<f64>(&estimator).map(|entry| entry.settings.concat()).unwrap_or_default();
    let groups = [
        super::gram::settings(),
        SVD_SETTINGS.to_vec(),
        GRAPH_SETTINGS.to_vec(),
        FEATURE_SETTINGS.to_vec(),
        COMPAT_SETTINGS.to_vec(),
        super::APPROXIMATION_SETTINGS.to_vec(),
        BICLUSTER_SETTINGS.to_vec(),
        PREPARED_SETTINGS.to_vec(),
        own,
    ];
    let known = groups.concat();
    let settings = found.into_iter().filter(|(name, _)| known.iter().any(|setting| setting.name == name));
    Ok(settings.filter_map(|(name, value)| Some((name, serde_json::from_value(value).ok()?))).collect())
}
