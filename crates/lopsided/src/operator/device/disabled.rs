//! No cards: the library was built without them.

use crate::base::device::{Device, cards};
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::base::watch::Watch;
use crate::data::samples::SamplesRef;
use crate::kernel::Kernel;
use crate::operator::Operator;
use faer::MatMut;
use std::convert::Infallible;
use std::marker::PhantomData;

/// A kernel matrix multiplied on a card: there is none in a library without the feature `cuda`.
pub struct DeviceOperator<'a, T> {
    never: Infallible,
    samples: PhantomData<&'a T>,
}

impl<'a, T: Scalar> DeviceOperator<'a, T> {
    /// Never succeeds.
    ///
    /// # Errors
    /// [`crate::Error::Device`].
    pub fn new(
        _: &'a dyn Kernel<T>,
        _: (SamplesRef<'a, T>, SamplesRef<'a, T>),
        _: Option<Vec<T>>,
        _: (Device, bool),
        _: &Watch,
    ) -> Result<Self> {
        Err(cards().expect_err("there are no cards without the feature"))
    }

    /// Seconds that the card was at work.
    pub fn seconds(&self) -> f64 {
        match self.never {}
    }

    /// Logarithm of each row's sum of exponentials.
    pub fn log_sums(&self) -> Option<&[T]> {
        match self.never {}
    }
}

impl<T: Scalar> Operator<T> for DeviceOperator<'_, T> {
    fn nrows(&self) -> usize {
        match self.never {}
    }

    fn ncols(&self) -> usize {
        match self.never {}
    }

    fn block(&self, _: &[usize], _: &[usize], _: MatMut<'_, T>) -> Result<()> {
        match self.never {}
    }
}
