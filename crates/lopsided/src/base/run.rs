use super::checkpoint::Checkpoint;
use super::device::Device;
use super::watch::Watch;

/// What a run needs besides the problem.
///
/// Everything random is drawn from the seed, so that a run can be repeated bit by bit, also with another number of
/// threads. The default is seed 0 and a watch that nobody looks at.
///
/// ```
/// use lopsided::{Dataset, KernelSvd, Mat, Run, Samples, Side};
///
/// let x = || Samples::Dense(Mat::from_fn(30, 3, |i, j| ((i * 7 + j * 3) % 11) as f64));
/// let run = Run { seed: 7, ..Run::default() };
/// let fit = || KernelSvd::new("sne").with_rank(3).fit(Dataset::new(x()), &run);
/// assert_eq!(fit()?.embedding(Side::Row), fit()?.embedding(Side::Row));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Same seed, same bits.
    pub seed: u64,
    /// Progress and cancellation.
    pub watch: Watch,
    /// Where long work leaves its state, to be taken up again; nowhere by default.
    pub checkpoint: Checkpoint,
    /// Where products with dense kernel matrices are computed.
    pub device: Device,
    /// Whether one half for each number is enough where a card computes in single precision: about 4e-4 instead of 1e-6.
    pub fast: bool,
}
