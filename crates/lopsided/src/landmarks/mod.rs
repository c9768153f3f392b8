//! Landmarks: the rows and columns of G that stand for all of them.

mod given;
mod norms;
mod uniform;

pub use given::Given;
pub use norms::Norms;
pub use uniform::Uniform;

use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::random;
use crate::registry::{self, Entry, Params};
use crate::samples::Side;
use crate::scalar::Scalar;
use rand_chacha::ChaCha8Rng;

/// Chooses landmarks on one side of G.
pub trait Sampler<T: Scalar>: Send + Sync {
    /// Indices of `count` landmarks, ascending. The two sides are drawn independently of each other.
    fn pick(&self, g: &dyn Operator<T>, side: Side, count: usize, seed: u64) -> Result<Vec<usize>>;
}

/// All samplers. The order is the order of every listing.
pub fn samplers<T: Scalar>() -> Vec<Entry<dyn Sampler<T>>> {
    vec![uniform::entry(), norms::entry()]
}

/// The sampler called `name`.
pub fn sampler<T: Scalar>(name: &str, params: &Params) -> Result<Box<dyn Sampler<T>>> {
    registry::build("sampler", &samplers::<T>(), name, params)
}

/// Position of a name in the list of [`samplers`], the way a solver's numeric parameters refer to it.
pub fn position(name: &str) -> Result<usize> {
    let entries = samplers::<f64>();
    entries.iter().position(|e| e.name == name).ok_or_else(|| Error::Unknown {
        kind: "sampler",
        name: name.into(),
        known: entries.iter().map(|e| e.name.into()).collect(),
    })
}

/// Number of samples on a side.
pub(crate) fn size<T: Scalar>(g: &dyn Operator<T>, side: Side) -> usize {
    match side {
        Side::Row => g.nrows(),
        Side::Col => g.ncols(),
    }
}

/// The side's size, if `count` landmarks can be drawn from it.
fn check_count<T: Scalar>(g: &dyn Operator<T>, side: Side, count: usize) -> Result<usize> {
    let size = size(g, side);
    let (name, letter) = match side {
        Side::Row => ("rows-sample", "n"),
        Side::Col => ("cols-sample", "m"),
    };
    if count == 0 || count > size {
        return Err(Error::param(name, count, format!("between 1 and {letter} = {size}")));
    }
    Ok(size)
}

/// Independent random numbers for the two sides.
fn generator(side: Side, seed: u64) -> ChaCha8Rng {
    random::generator(seed, if side == Side::Row { 11 } else { 12 })
}
