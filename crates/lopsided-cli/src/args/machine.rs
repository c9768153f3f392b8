//! Options of svm, nu-svm and logistic.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(next_help_heading = "Support vector machines and logistic regression")]
pub(crate) struct MachineArgs {
    /// Bound of the share of margin errors of nu-svm, at most 2 min(n₊, n₋)/n. Default: 0.5.
    #[arg(long, value_name = "NU", allow_negative_numbers = true)]
    pub(crate) nu: Option<String>,
    /// Several classes of svm and nu-svm: ovo for a machine for each pair, ovr for each class against the rest. Default: ovr.
    #[arg(long, value_name = "ovo|ovr")]
    multi_class: Option<String>,
    /// Learn probabilities as well, from sigmoids of held-out values; logistic always has them.
    #[arg(long)]
    probability: bool,
    /// What samples count because of their class: balanced, or NAME=WEIGHT,…; other classes count 1.
    #[arg(long, value_name = "balanced|NAME=W,…")]
    class_weight: Option<String>,
    /// The loss of svm with landmarks: hinge or squared-hinge. Default: hinge.
    #[arg(long, value_name = "NAME")]
    loss: Option<String>,
    /// What each sample counts in svm, nu-svm, logistic and krr: lines `id,weight`, or one number for each row.
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: Option<PathBuf>,
}

impl MachineArgs {
    /// The settings that were given, by name.
    pub(crate) fn given(&self) -> impl Iterator<Item = (String, String)> {
        let probability = self.probability.then(|| "true".to_string());
        let all = [
            ("nu", self.nu.clone()),
            ("multi-class", self.multi_class.clone()),
            ("probability", probability),
            ("loss", self.loss.clone()),
            ("class-weight", self.class_weight.clone()),
        ];
        all.into_iter().filter_map(|(name, value)| value.map(|value| (name.into(), value)))
    }
}
