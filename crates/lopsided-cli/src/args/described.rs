//! Options that the library describes: one for each of its settings, so that a new setting needs no line here.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use lopsided::base::settings::{Setting, Settings, Value};
use lopsided::estimators::recipe::{
    BICLUSTER_SETTINGS, COMPAT_SETTINGS, FEATURE_SETTINGS, GRAPH_SETTINGS, SVD_SETTINGS,
};
use lopsided::estimators::shards::SHARD_SETTINGS;
use lopsided::estimators::{APPROXIMATION_SETTINGS, PREPARED_SETTINGS, estimators, gram_settings};
use lopsided::online::{SIDE_SETTINGS, STEP_SETTINGS, TASK_SETTINGS, learners};
use lopsided::solvers::svd::solvers;
use std::marker::PhantomData;
use std::path::PathBuf;

/// Settings of a command under the headings of its help.
pub(crate) trait Family {
    /// Whether the settings may come from a file as well.
    const RECIPES: bool = true;
    /// Whether a plan can be asked for in place of the work.
    const PLANS: bool = true;

    /// Headings with their settings; of a setting that appears twice the first counts.
    fn groups() -> Vec<(&'static str, Vec<Setting>)>;
}

/// Settings of `embed`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Embedding;
/// Settings of `links`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkScores;
/// Settings of `bicluster`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clusters;
/// Settings of `fit`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Learning;
/// Settings of `online`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Learners;

impl Family for Embedding {
    fn groups() -> Vec<(&'static str, Vec<Setting>)> {
        vec![
            ("Tables", PREPARED_SETTINGS.to_vec()),
            ("Graphs", [GRAPH_SETTINGS.to_vec(), FEATURE_SETTINGS.to_vec()].concat()),
            ("Compatibility", COMPAT_SETTINGS.to_vec()),
            kernel(),
            computation(),
        ]
    }
}

impl Family for LinkScores {
    const RECIPES: bool = false;

    fn groups() -> Vec<(&'static str, Vec<Setting>)> {
        vec![("Graphs", GRAPH_SETTINGS.to_vec()), kernel(), computation()]
    }
}

impl Family for Clusters {
    fn groups() -> Vec<(&'static str, Vec<Setting>)> {
        let compat = ("Compatibility", COMPAT_SETTINGS.to_vec());
        vec![("Clusters", BICLUSTER_SETTINGS.to_vec()), compat, kernel(), computation()]
    }
}

impl Family for Learning {
    fn groups() -> Vec<(&'static str, Vec<Setting>)> {
        // Landmarks of the user's own come from files.
        let given = |s: &Setting| s.name != "landmark-rows" && s.name != "landmark-points";
        let landmarks = APPROXIMATION_SETTINGS.iter().filter(|s| given(s)).copied().collect();
        let later = [computation().1, vec![Setting::new("landmark-rows", "", "", "")]].concat();
        let own = estimators::<f64>().into_iter().flat_map(|entry| entry.settings.concat()).filter(given);
        let own = own.filter(|s| !later.iter().chain(&APPROXIMATION_SETTINGS).any(|known| known.name == s.name));
        let mut groups = vec![
            ("Tables", PREPARED_SETTINGS.to_vec()),
            ("Estimators", own.collect()),
            ("Landmarks of svm, nu-svm, logistic, krr and kpca", landmarks),
        ];
        groups.extend(Embedding::groups());
        groups.push(("Rows that are read in passes", SHARD_SETTINGS.to_vec()));
        groups
    }
}

impl Family for Learners {
    const RECIPES: bool = false;
    const PLANS: bool = false;

    fn groups() -> Vec<(&'static str, Vec<Setting>)> {
        vec![
            ("Learning", TASK_SETTINGS.to_vec()),
            ("Learners", learners().iter().flat_map(|entry| entry.settings).copied().collect()),
            ("Kernels", SIDE_SETTINGS.to_vec()),
            ("Steps", STEP_SETTINGS.to_vec()),
        ]
    }
}

fn kernel() -> (&'static str, Vec<Setting>) {
    let of = |names: &[&str]| SVD_SETTINGS.iter().filter(|s| names.contains(&s.name)).copied().collect::<Vec<_>>();
    ("Kernel", [of(&["kernel"]), gram_settings(), of(&["center"])].concat())
}

fn computation() -> (&'static str, Vec<Setting>) {
    let left = |s: &&Setting| !["kernel", "center", "memory"].contains(&s.name);
    let own = SVD_SETTINGS.iter().filter(left).copied();
    ("Computation", own.chain(solvers::<f64>().iter().flat_map(|entry| entry.settings).copied()).collect())
}

/// The settings that were given on the command line, by name.
#[derive(Clone, Debug)]
pub(crate) struct Given<F> {
    pub(crate) settings: Settings,
    /// A file with settings, over which those of the command line win.
    pub(crate) recipe: Option<PathBuf>,
    /// Only the plan is wanted.
    pub(crate) dry_run: bool,
    family: PhantomData<F>,
}

fn all<F: Family>() -> Vec<(&'static str, Setting)> {
    let mut out: Vec<(&'static str, Setting)> = Vec::new();
    for (heading, settings) in F::groups() {
        for setting in settings {
            if !out.iter().any(|(_, known)| known.name == setting.name) {
                out.push((heading, setting));
            }
        }
    }
    out
}

fn is_flag(setting: &Setting) -> bool {
    setting.allowed == "true or false"
}

fn opposite(name: &str) -> String {
    format!("no-{name}")
}

fn option(heading: &'static str, setting: &Setting) -> Arg {
    let mut about = setting.about.to_string();
    if let Some(first) = about.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    let arg = Arg::new(setting.name).long(setting.name).help_heading(heading);
    if is_flag(setting) {
        let help = format!("{about}. Default: {}", setting.default);
        return arg.help(help).action(ArgAction::SetTrue).overrides_with(opposite(setting.name));
    }
    let help = format!("{about}: {}. Default: {}", setting.allowed, setting.default);
    let kind = if setting.allowed.contains("number") || setting.allowed.contains("between") { "N" } else { "NAME" };
    arg.help(help).value_name(kind).allow_hyphen_values(true)
}

fn recipe() -> Arg {
    let help = "Settings from a file, as `inspect --recipe` writes them; options win over it";
    Arg::new("recipe").long("recipe").value_name("FILE.json").value_parser(clap::value_parser!(PathBuf)).help(help)
}

fn dry_run() -> Arg {
    let help = "Print operator, solver, memory and a time estimate; compute and write nothing";
    Arg::new("dry_run").long("dry-run").action(ArgAction::SetTrue).help(help)
}

impl<F: Family> Args for Given<F> {
    fn augment_args(cmd: Command) -> Command {
        let cmd = if F::RECIPES { cmd.arg(recipe()) } else { cmd };
        let cmd = if F::PLANS { cmd.arg(dry_run()) } else { cmd };
        all::<F>().iter().fold(cmd, |cmd, (heading, setting)| {
            let cmd = cmd.arg(option(heading, setting));
            if !is_flag(setting) {
                return cmd;
            }
            let opposite = opposite(setting.name);
            let help = format!("The opposite of --{}", setting.name);
            let arg = Arg::new(opposite.clone()).long(opposite).help_heading(*heading).help(help);
            cmd.arg(arg.action(ArgAction::SetTrue).overrides_with(setting.name))
        })
    }

    fn augment_args_for_update(cmd: Command) -> Command {
        Self::augment_args(cmd)
    }
}

impl<F: Family> FromArgMatches for Given<F> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let value = |setting: &Setting| {
            if is_flag(setting) {
                let (yes, no) = (matches.get_flag(setting.name), matches.get_flag(&opposite(setting.name)));
                return (yes || no).then_some(Value::Flag(yes));
            }
            matches.get_one::<String>(setting.name).map(|word| Value::of_word(word))
        };
        let given = all::<F>().into_iter().filter_map(|(_, s)| Some((s.name.to_string(), value(&s)?)));
        let recipe = if F::RECIPES { matches.get_one::<PathBuf>("recipe").cloned() } else { None };
        let dry_run = F::PLANS && matches.get_flag("dry_run");
        Ok(Given { settings: given.collect(), recipe, dry_run, family: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
