//! The command to run after a comparison.

use crate::args::{CompareArgs, Task};
use crate::context::Context;
use lopsided::base::settings::Value;
use lopsided::evaluation::{Compared, Decision};

/// Fits the method that won, with the settings that it chose most often; more repeats where nothing is decided.
pub(super) fn command(args: &CompareArgs, found: &Compared, context: &Context) -> String {
    let mut words = vec!["lopsided".to_string()];
    if found.verdict == Decision::Undecided {
        words.extend(["compare".into(), args.input.display().to_string()]);
        words.extend(input_words(args));
        words.extend(["--repeats".into(), (4 * args.repeats).to_string()]);
    } else {
        let method = found.preferred();
        words.extend(["fit".into(), method.estimator.into(), args.input.display().to_string()]);
        words.extend(input_words(args));
        for (name, value) in method.settings.iter() {
            match value {
                Value::Flag(true) => words.push(format!("--{name}")),
                Value::Flag(false) => words.push(format!("--no-{name}")),
                other => words.extend([format!("--{name}"), other.to_string()]),
            }
        }
        words.extend(["--model".into(), "compared.model".into()]);
    }
    if context.global.seed != 0 {
        words.extend(["--seed".into(), context.global.seed.to_string()]);
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// The options that say what the input is.
fn input_words(args: &CompareArgs) -> Vec<String> {
    let (graph, read) = (&args.graph, &args.graph.read);
    let path = |path: &std::path::PathBuf| path.display().to_string();
    let task = args.task.map(|task| if task == Task::Classes { "classes" } else { "values" }.to_string());
    let list = |names: &[String]| (!names.is_empty()).then(|| names.join(","));
    let given = [
        ("--labels", graph.labels.as_ref().map(path)),
        ("--nodes", graph.nodes.as_ref().map(path)),
        ("--target", read.target.clone()),
        ("--task", task),
        ("--format", read.format.map(|format| format.to_string())),
        ("--array", read.array.clone()),
        ("--categories", list(&read.categories)),
        ("--drop", list(&read.drop)),
    ];
    given.into_iter().filter_map(|(option, value)| Some([option.to_string(), value?])).flatten().collect()
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("a/b-c.csv"), "a/b-c.csv");
        assert_eq!(quoted("it's $HOME"), "'it'\\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
