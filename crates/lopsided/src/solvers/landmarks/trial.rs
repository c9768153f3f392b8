use super::{Sampler, check_count, generator};
use crate::base::error::Result;
use crate::base::random;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::Side;
use crate::operator::Operator;

/// Every set of landmarks is equally likely; none is drawn twice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trial;

impl<T: Scalar> Sampler<T> for Trial {
    fn pick(&self, g: &dyn Operator<T>, side: Side, count: usize, seed: u64) -> Result<Vec<usize>> {
        let size = check_count(g, side, count)?;
        Ok(random::subset(size, count, &mut generator(side, seed)))
    }
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn Sampler<T>> {
    Entry {
        name: "trial",
        about: "every sample is equally likely, without replacement",
        settings: &[],
        build: |_| Ok(Box::new(Trial)),
    }
}
