//! Where products with dense kernel matrices are computed: on the processor or on an NVIDIA card.
//!
//! The driver is looked for when a card is first asked for; nothing is linked. Without the feature `cuda`, without a driver
//! and without a card there are none, and everything is computed on the processor.

#[cfg(not(feature = "cuda"))]
mod disabled;
#[cfg(feature = "cuda")]
mod enabled;

#[cfg(not(feature = "cuda"))]
use disabled::found;
#[cfg(feature = "cuda")]
use enabled::found;
#[cfg(feature = "cuda")]
pub(crate) use enabled::{Argument, Buffer, Shape, Worker, worker};

use crate::base::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// What may compute products with dense kernel matrices.
///
/// ```
/// use lopsided::base::device::Device;
///
/// assert_eq!("cuda".parse::<Device>()?, Device::Cuda(0));
/// assert_eq!("cuda:1".parse::<Device>()?.to_string(), "cuda:1");
/// assert!("gpu".parse::<Device>().is_err());
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// A card where there is one and the problem is large enough, the processor otherwise.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The NVIDIA card of this number; an error where it is not there.
    Cuda(usize),
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Device::Auto),
            "cpu" => Ok(Device::Cpu),
            "cuda" => Ok(Device::Cuda(0)),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|number| number.parse().ok())
                .map(Device::Cuda)
                .ok_or_else(|| Error::param("device", text, "auto, cpu, cuda, or cuda:K with the number of a card")),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Auto => f.write_str("auto"),
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl Device {
    /// Refuses a card that is not there.
    ///
    /// # Errors
    /// [`Error::Device`] with the reason.
    pub fn check(self) -> Result<()> {
        let Device::Cuda(number) = self else { return Ok(()) };
        card(number).map(|_| ())
    }
}

/// A card that the driver knows.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Card {
    /// How it is named here: `cuda:0`.
    pub device: String,
    /// How its maker names it.
    pub name: String,
    /// Bytes of its memory.
    pub memory: u64,
    /// Compute capability.
    pub capability: (i32, i32),
    /// The version of CUDA that the driver supports.
    pub driver: (i32, i32),
    /// Multiprocessors.
    pub processors: usize,
}

impl Card {
    /// Whether double precision is worth its while: cards for screens have a sixty-fourth of the rate.
    pub fn is_good_at_doubles(&self) -> bool {
        matches!(self.capability, (8..=10, 0))
    }
}

/// All cards that can be used.
///
/// # Errors
/// [`Error::Device`] that says why there is none: no driver, no card, a driver that is too old.
pub fn cards() -> Result<Vec<Card>> {
    found().map_err(|reason| Error::Device { device: "cuda".into(), reason })
}

/// The card of this number.
pub(crate) fn card(number: usize) -> Result<Card> {
    let all = cards()?;
    let last = all.len().saturating_sub(1);
    all.into_iter().nth(number).ok_or_else(|| {
        let known = if last == 0 { "there is only cuda:0".into() } else { format!("there are cuda:0 to cuda:{last}") };
        Error::Device { device: Device::Cuda(number).to_string(), reason: known }
    })
}
