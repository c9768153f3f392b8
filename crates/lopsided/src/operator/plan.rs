//! Which operator, at what price: everything that can be known before memory is touched.
//!
//! Without a wish of the user, in this order:
//!
//! 1. A linear kernel is always two products with the samples.
//! 2. Sparse samples and a separable kernel: the sparse form, if at most a quarter of the pairs share a coordinate and
//!    it fits half of the memory. Its entries are counted by an estimate that forms nothing.
//! 3. More than 10¹¹ entries that do not fit: blocks, where the solver can do with them; for sparse samples an error
//!    that says what would help; tiles otherwise.
//! 4. Tiles, where about every entry is needed once.
//! 5. Stored, where G fits a quarter of the memory; tiles otherwise.
//!
//! Seconds are for one core. What a kernel value costs is measured where a plan is asked for; all other rates are those of
//! `benchsuite/plans.py`, which compares plans with what they are about.

use super::device::Place;
use super::sparse::estimate_meetings;
use super::symmetric::is_symmetric;
use crate::base::device::Device;
use crate::base::error::{Error, Result};
use crate::base::registry::words;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use crate::kernel::{Kernel, Separable};
use crate::products::exponents::Exponents;
use std::fmt;

/// Kernel evaluations per product beyond which streaming tiles is not offered on its own.
const TILE_LIMIT: f64 = 1e11;

/// Columns that row sums are estimated from where a pass over all of G is out of reach.
pub(super) const SAMPLED_COLUMNS: usize = 2000;

/// How products with G are computed.
///
/// ```
/// use lopsided::operator::OperatorKind;
///
/// assert_eq!(OperatorKind::Precomputed.to_string(), "precomputed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorKind {
    /// Rank one plus sparse, exact for sparse samples.
    Sparse,
    /// Evaluated tile by tile in every product.
    Tiles,
    /// Evaluated once and stored.
    Dense,
    /// Given by the user.
    Precomputed,
}

/// Which [`OperatorKind`] the user wants.
///
/// A choice that cannot be met is an error, never replaced by another in silence.
///
/// ```
/// use lopsided::operator::OperatorChoice;
///
/// assert_eq!("tiles".parse::<OperatorChoice>()?, OperatorChoice::Tiles);
/// assert!("tile".parse::<OperatorChoice>().is_err());
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OperatorChoice {
    /// Chosen by kernel, samples and memory.
    #[default]
    Auto,
    /// Rank one plus sparse.
    Sparse,
    /// Streamed.
    Tiles,
    /// Stored.
    Dense,
}

words!(OperatorChoice, "operator": Auto = "auto", Sparse = "sparse", Tiles = "tiles", Dense = "dense");

/// What a product with G will cost, known before anything is allocated.
#[derive(Clone, Debug)]
pub struct OperatorPlan {
    /// How G is multiplied.
    pub kind: OperatorKind,
    /// True when only sampled blocks of G are in reach.
    pub blocks_only: bool,
    /// Bytes the operator holds at its peak, besides the samples.
    pub bytes: u64,
    /// Why this kind.
    pub why: String,
    /// Rough seconds on one core for a product with one vector, and once for setting up; a card is counted as all cores.
    pub seconds: (f64, f64),
    /// Where products are computed.
    pub place: Place,
}

impl OperatorPlan {
    /// The kind, and the card where there is one.
    pub fn name(&self) -> String {
        if self.place.device == Device::Cpu {
            self.kind.to_string()
        } else {
            format!("{} on {}", self.kind, self.place.device)
        }
    }
}

/// Seconds of a floating-point operation in products of matrices.
pub(crate) const FLOP: f64 = 5.6e-11;

/// What G is for.
#[derive(Clone, Copy)]
pub(super) struct Uses {
    /// The solver needs no products with all of G.
    pub(super) blocks_suffice: bool,
    /// About every entry is asked for once.
    pub(super) once: bool,
}

/// What a choice between kinds is made from.
pub(super) struct Costs {
    pub(super) cells: f64,
    dense_bytes: u64,
    /// Samples made ready for tiles.
    prepared_bytes: u64,
    /// Share of the entries that is evaluated or stored.
    share: f64,
    /// Estimated entries of S = X·Zᵀ, where the sparse form applies.
    pub(super) meetings: Option<u64>,
    sparse_bytes: u64,
    /// Seconds of a kernel value.
    value: f64,
    factored: Option<f64>,
    memory: u64,
}

impl Costs {
    pub(super) fn of<T: Scalar>(
        kernel: &dyn Kernel<T>,
        x: SamplesRef<'_, T>,
        z: SamplesRef<'_, T>,
        (memory, value): (u64, Option<f64>),
    ) -> Self {
        let cells = x.count() as f64 * z.count() as f64;
        let width = (x.nnz() + z.nnz()) as f64 / (x.count() + z.count()).max(1) as f64;
        // Without a measurement a nanosecond for the kernel's function and 0.04 for each coordinate.
        let value = value.unwrap_or(1e-9 + width * 4e-11);
        let factored = matches!(kernel.separable(), Some(Separable::Dot)).then(|| (x.nnz() + z.nnz()) as f64);
        let meetings = match (x, z, kernel.separable()) {
            (SamplesRef::Sparse(x), SamplesRef::Sparse(z), Some(_)) if factored.is_none() => {
                Some(estimate_meetings(x, z))
            }
            _ => None,
        };
        let entry = (4 + T::BYTES) as u64;
        // The entries, their transpose, and the pieces they are put together from.
        let sparse_bytes = meetings.unwrap_or(0) * entry * 2 + (x.count() + z.count()) as u64 * 32;
        let share = if is_symmetric(kernel, x, z) { 0.5 } else { 1.0 };
        let prepared_bytes = Exponents::bytes(x, z);
        let dense_bytes = (cells * share * T::BYTES as f64) as u64 + prepared_bytes;
        Costs { cells, dense_bytes, prepared_bytes, share, meetings, sparse_bytes, value, factored, memory }
    }

    pub(super) fn plan(&self, choice: OperatorChoice, sparse_samples: bool, uses: Uses) -> Result<OperatorPlan> {
        if let Some(entries) = self.factored {
            let kind = if sparse_samples { OperatorKind::Sparse } else { OperatorKind::Tiles };
            let why = "the linear kernel is two products with the samples".into();
            let (seconds, place) = ((entries * 1e-9, 0.0), Place::default());
            return Ok(OperatorPlan { kind, blocks_only: false, bytes: 0, why, seconds, place });
        }
        match choice {
            OperatorChoice::Auto => self.automatic(uses),
            OperatorChoice::Tiles => Ok(self.tiles("asked for".into())),
            OperatorChoice::Dense if self.dense_bytes <= self.memory => Ok(self.dense("asked for".into())),
            OperatorChoice::Dense => Err(self.too_large("the stored matrix G".into(), self.dense_bytes)),
            OperatorChoice::Sparse => match self.meetings {
                None => Err(Error::param(
                    "operator",
                    "sparse",
                    "`tiles` or `dense`: the sparse form needs sparse samples and a kernel of the form a(x)·b(z)·f(<x, z>)",
                )),
                Some(_) if self.sparse_bytes <= self.memory => Ok(self.sparse("asked for".into())),
                Some(_) => Err(self.sparse_too_large()),
            },
        }
    }

    /// Steps 2 to 5 of the list above.
    fn automatic(&self, uses: Uses) -> Result<OperatorPlan> {
        let fits = self.dense_bytes <= self.memory / 4;
        if let Some(meetings) = self.meetings {
            let share = meetings as f64 / self.cells.max(1.0);
            if share <= 0.25 && self.sparse_bytes <= self.memory / 2 {
                return Ok(self.sparse(format!("only {} of the pairs share a coordinate", percent(share))));
            }
        }
        let out_of_reach = !fits && self.cells > TILE_LIMIT;
        if out_of_reach && uses.blocks_suffice {
            return Ok(self.blocks());
        }
        if out_of_reach && self.meetings.is_some() {
            return Err(self.sparse_too_large());
        }
        Ok(if uses.once {
            self.tiles("every entry is needed about once".into())
        } else if fits {
            self.dense("G fits a quarter of the memory allowed".into())
        } else {
            self.tiles("G does not fit a quarter of the memory allowed".into())
        })
    }

    fn sparse(&self, why: String) -> OperatorPlan {
        let entries = self.meetings.unwrap_or(0) as f64;
        OperatorPlan {
            kind: OperatorKind::Sparse,
            blocks_only: false,
            bytes: self.sparse_bytes,
            why,
            seconds: (entries * 1.5e-9, entries * 4e-8),
            place: Place::default(),
        }
    }

    fn dense(&self, why: String) -> OperatorPlan {
        let seconds = (self.cells * 1e-10, self.tile_seconds());
        let (kind, bytes, place) = (OperatorKind::Dense, self.dense_bytes, Place::default());
        OperatorPlan { kind, blocks_only: false, bytes, why, seconds, place }
    }

    fn tiles(&self, why: String) -> OperatorPlan {
        // A tile is evaluated once for a whole block of vectors, of which there are a few dozen.
        let seconds = (self.tile_seconds() / 24.0 + self.cells * 5e-11, self.tile_seconds());
        let bytes = (1 << 20) + self.prepared_bytes;
        let (kind, place) = (OperatorKind::Tiles, Place::default());
        OperatorPlan { kind, blocks_only: false, bytes, why, seconds, place }
    }

    /// Tiles for a solver that does with blocks, with row sums from [`SAMPLED_COLUMNS`] columns.
    pub(super) fn blocks(&self) -> OperatorPlan {
        let entries = self.cells.sqrt() * (SAMPLED_COLUMNS + 1000) as f64;
        let seconds = (0.0, entries * self.tile_seconds() / self.cells.max(1.0));
        let why = "products with all of G are out of reach, so only sampled blocks are evaluated".into();
        OperatorPlan { blocks_only: true, bytes: 1 << 20, seconds, ..self.tiles(why) }
    }

    /// Seconds to evaluate the entries once.
    fn tile_seconds(&self) -> f64 {
        self.cells * self.share * self.value
    }

    fn sparse_too_large(&self) -> Error {
        let meetings = self.meetings.unwrap_or(0);
        self.too_large(format!("the sparse form of G with about {meetings} entries"), self.sparse_bytes)
    }

    fn too_large(&self, what: String, needed: u64) -> Error {
        Error::Memory {
            what,
            needed,
            available: self.memory,
            advice: "alternatives: the Nyström solver on a sample (nystrom), a cap on the links of hubs (max-degree), or more memory (memory)".into(),
        }
    }
}

fn percent(share: f64) -> String {
    if share < 1e-4 { format!("{:.1e} %", share * 100.0) } else { format!("{:.2} %", share * 100.0) }
}

impl fmt::Display for OperatorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OperatorKind::Sparse => "sparse",
            OperatorKind::Tiles => "tiles",
            OperatorKind::Dense => "dense",
            OperatorKind::Precomputed => "precomputed",
        })
    }
}
