use super::watch::Watch;

/// What a run needs besides the problem.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Same seed, same bits.
    pub seed: u64,
    /// Progress and cancellation.
    pub watch: Watch,
}
