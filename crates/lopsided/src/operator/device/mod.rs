//! Products with dense kernel matrices on a card, and when they are worth one.
//!
//! A card makes the values of G anew in every product, 128 columns at a time, in registers: nothing of n·m numbers is ever in
//! memory. What one product does there, for G·V:
//!
//! 1. V goes to the card and is packed, each column times a power of two.
//! 2. One kernel: scalar products of 64 rows with 128 columns, the formula of the kernel, the product with 128 rows of V.
//! 3. The sums go back, without the powers of two.
//!
//! Gᵀ·U is the same with rows and columns exchanged. In single precision every number is two halves, of which three products
//! are taken (about 1e-6), or one (`fast`, about 4e-4); in double precision it is itself. Every sum has one order, so one
//! card gives the same bits again.

#[cfg(not(feature = "cuda"))]
mod disabled;
#[cfg(feature = "cuda")]
mod enabled;
#[cfg(feature = "cuda")]
mod launch;
#[cfg(feature = "cuda")]
mod packed;

#[cfg(not(feature = "cuda"))]
pub use disabled::DeviceOperator;
#[cfg(feature = "cuda")]
pub use enabled::DeviceOperator;

use super::{KernelMatrix, OperatorChoice, OperatorKind, OperatorPlan};
use crate::base::device::{self, Card, Device};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;

/// Seconds on all cores from which a product is worth a card, whose start alone takes one or two.
const WORTHWHILE: f64 = 2.0;
/// Multiprocessors of the card that [`seconds`] was measured on.
const MEASURED_PROCESSORS: f64 = 132.0;

/// Where the products of an operator are computed.
///
/// ```
/// use lopsided::base::device::Device;
/// use lopsided::kernel::KernelSpec;
/// use lopsided::operator::KernelMatrix;
/// use lopsided::{Mat, Samples};
///
/// let x = Samples::Dense(Mat::from_fn(5, 2, |i, j| (i + j) as f64));
/// let kernel = KernelSpec::new("rbf").with("gamma", 0.1).build::<f64>()?;
/// let place = KernelMatrix::new(&*kernel, x.as_ref(), x.as_ref()).plan()?.place;
/// assert_eq!((place.device, place.bytes), (Device::Cpu, 0)); // much too small for a card
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The processor or a card.
    pub device: Device,
    /// Why there.
    pub why: String,
    /// Bytes of the card's memory.
    pub bytes: u64,
}

impl Default for Place {
    /// The processor, for no reason.
    fn default() -> Self {
        Place::processor("")
    }
}

impl Place {
    /// On the processor.
    fn processor(why: impl Into<String>) -> Self {
        Place { device: Device::Cpu, why: why.into(), bytes: 0 }
    }
}

/// The precision of products on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arithmetic {
    /// So many halves for each number, 1 or 2.
    Halves(usize),
    /// Doubles.
    Doubles,
}

impl Arithmetic {
    fn of<T: Scalar>(fast: bool) -> Self {
        match (T::BYTES, fast) {
            (8, _) => Arithmetic::Doubles,
            (_, true) => Arithmetic::Halves(1),
            (_, false) => Arithmetic::Halves(2),
        }
    }

    /// Bytes of one number in tiles.
    fn bytes(self) -> usize {
        match self {
            Arithmetic::Halves(parts) => 2 * parts,
            Arithmetic::Doubles => 8,
        }
    }
}

impl<T: Scalar> KernelMatrix<'_, T> {
    /// Where the products of a planned operator are computed.
    ///
    /// # Errors
    /// [`Error::Device`] and [`Error::Memory`] where a card is asked for that cannot do it.
    pub(super) fn place(&self, plan: &OperatorPlan) -> Result<Place> {
        self.device.check()?;
        let asked = match self.device {
            Device::Cpu => return Ok(Place::processor("asked for")),
            Device::Cuda(number) => Some(number),
            Device::Auto => None,
        };
        if let Some(why) = self.not_for_cards(plan) {
            return Ok(Place::processor(why));
        }
        // The values once, on all cores.
        let alone = plan.seconds.1 / rayon::current_num_threads() as f64;
        if asked.is_none() && alone < WORTHWHILE {
            return Ok(Place::processor("a card would hardly be quicker"));
        }
        match (asked, device::card(asked.unwrap_or(0))) {
            (None, Err(Error::Device { reason, .. })) => Ok(Place::processor(reason)),
            (_, card) => self.on_card(asked, &card?, alone),
        }
    }

    /// The plan of an operator on a card.
    pub(super) fn planned_on_card(&self, place: Place) -> OperatorPlan {
        let cores = rayon::current_num_threads() as f64;
        let (kind, why) = (OperatorKind::Tiles, format!("{} evaluates them anew in every product", place.device));
        let bytes = ((self.x.count() + self.z.count()) * T::BYTES) as u64;
        OperatorPlan { kind, blocks_only: false, bytes, why, seconds: (self.card_seconds() * cores, cores), place }
    }

    /// On this card, if it is good at it.
    fn on_card(&self, asked: Option<usize>, card: &Card, alone: f64) -> Result<Place> {
        let bytes = bytes((self.x, self.z), Arithmetic::of::<T>(self.fast));
        let number = asked.unwrap_or(0);
        if asked.is_none() && T::BYTES == 8 && !card.is_good_at_doubles() {
            return Ok(Place::processor(format!(
                "{} is slow in double precision; f32 would be quicker there",
                card.name
            )));
        }
        if bytes <= card.memory / 10 * 9 {
            let why = if asked.is_some() {
                format!("asked for ({})", card.name)
            } else {
                format!("{} does in a moment what takes the processor {alone:.0} s for each product", card.name)
            };
            return Ok(Place { device: Device::Cuda(number), why, bytes });
        }
        if asked.is_none() {
            return Ok(Place::processor(format!("the samples do not fit the memory of {}", card.name)));
        }
        let advice = "alternatives: the precision f32 or fast, fewer samples, or the processor (device cpu)".into();
        let what = format!("the kernel matrix on {}", card.device);
        Err(Error::Memory { what, needed: bytes, available: card.memory, advice })
    }

    /// What is in the way of any card.
    fn not_for_cards(&self, plan: &OperatorPlan) -> Option<&'static str> {
        let dense = matches!((self.x, self.z), (SamplesRef::Dense(_), SamplesRef::Dense(_)));
        if !matches!(plan.kind, OperatorKind::Tiles | OperatorKind::Dense) || !dense {
            Some("cards are for kernels of dense samples")
        } else if self.kernel.formula().is_none() {
            Some("cards are for the kernels rbf, sne, t and poly")
        } else if self.choice == OperatorChoice::Dense {
            Some("the matrix is to be stored")
        } else if plan.blocks_only || self.reads_entries {
            Some("entries are asked for, not only products")
        } else {
            None
        }
    }

    /// Seconds of a product with one vector among many, on the card of the plan.
    fn card_seconds(&self) -> f64 {
        let processors = device::card(0).map_or(MEASURED_PROCESSORS, |card| card.processors as f64);
        let cells = self.x.count() as f64 * self.z.count() as f64;
        // A value with its share of the product, and a coordinate: rates of one H200.
        let (value, coordinate) = match Arithmetic::of::<T>(self.fast) {
            Arithmetic::Doubles => (5e-12, 3e-14),
            Arithmetic::Halves(1) => (3e-13, 3e-15),
            Arithmetic::Halves(_) => (5e-13, 9e-15),
        };
        cells * (value + coordinate * self.x.width() as f64) * MEASURED_PROCESSORS / processors / 24.0
    }
}

/// Bytes of a card's memory: both sides packed in two ways, and vectors.
fn bytes<T: Scalar>((x, z): (SamplesRef<'_, T>, SamplesRef<'_, T>), arithmetic: Arithmetic) -> u64 {
    let each = arithmetic.bytes().max(T::BYTES);
    let width = x.width().div_ceil(16).next_multiple_of(4) * 16;
    let (n, m) = (x.count(), if x.is(z) { 0 } else { z.count() });
    let samples = (n + m) * (2 * width * each + x.width() * T::BYTES);
    (samples + n.max(z.count()) * 128 * (8 + 2 * T::BYTES)) as u64 + (64 << 20)
}
