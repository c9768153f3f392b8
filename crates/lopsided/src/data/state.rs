//! States of long computations, as archives that a checkpoint keeps, and what tells data apart.

use crate::base::Run;
use crate::base::checkpoint::Fingerprint;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::data::archive::Archive;
use crate::data::dataset::Dataset;
use crate::data::samples::SamplesRef;
use faer::MatRef;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value};
use std::fmt::Display;

/// What a state is called in messages.
const STATE: &str = "the checkpoint";
/// The name of a list of numbers that is all there is.
const NUMBERS: &str = "numbers";

impl Run {
    /// The same with states of its own.
    pub(crate) fn within(&self, name: impl Display) -> Run {
        Run { checkpoint: self.checkpoint.within(name), ..self.clone() }
    }

    /// The state that was kept under a name.
    pub(crate) fn state(&self, name: &str) -> Result<Option<Archive>> {
        self.checkpoint.find(name).map(|bytes| Archive::from_bytes(&bytes, STATE)).transpose()
    }

    /// Keeps a state if it is time to.
    pub(crate) fn keep_state(&self, name: &str, state: impl FnOnce(&mut Archive)) -> Result<()> {
        if !self.checkpoint.is_due() {
            return Ok(());
        }
        let mut archive = Archive::of_state();
        state(&mut archive);
        self.checkpoint.keep(name, archive.to_bytes()?)
    }

    /// What `work` gives, or what it gave before it was interrupted. What it kept on its way is forgotten.
    pub(crate) fn remembered(&self, name: &str, work: impl FnOnce(&Run) -> Result<Archive>) -> Result<Archive> {
        if let Some(found) = self.state(name)? {
            return Ok(found);
        }
        let found = work(&self.within(name))?;
        if self.checkpoint.is_on() {
            self.checkpoint.forget_within(name);
            self.checkpoint.keep(name, found.to_bytes()?)?;
        }
        Ok(found)
    }

    /// The same for a list of numbers.
    pub(crate) fn remembered_numbers(
        &self,
        name: &str,
        work: impl FnOnce(&Run) -> Result<Vec<f64>>,
    ) -> Result<Vec<f64>> {
        if !self.checkpoint.is_on() {
            return work(self);
        }
        let found = self.remembered(name, |run| {
            let mut archive = Archive::of_state();
            archive.set_vector(NUMBERS, &work(run)?);
            Ok(archive)
        })?;
        found.vector(NUMBERS)
    }

    /// Says to the checkpoint whose states follow: those of a computation with these settings on these data.
    pub(crate) fn belongs<T: Scalar>(
        &self,
        what: &str,
        settings: impl FnOnce() -> Map<String, Value>,
        data: &Dataset<T>,
    ) -> Result<()> {
        let settings = || {
            let own = [("work", what.into()), ("seed", self.seed.into()), ("precision", T::NAME.into())];
            settings().into_iter().chain(own.map(|(name, value)| (name.to_string(), value))).collect()
        };
        self.checkpoint.belongs(settings, || data.fingerprint())
    }
}

impl<T: Scalar> Dataset<T> {
    /// A number that tells these data from others.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut print = Fingerprint::default();
        put_samples(&mut print, self.x.as_ref());
        if let Some(z) = &self.z {
            put_samples(&mut print, z.as_ref());
        }
        print.debug(&(&self.y, &self.weights, &self.row_ids, &self.col_ids, &self.frame, &self.columns));
        print.value()
    }
}

/// Goes on with samples.
pub(crate) fn put_samples<T: Scalar>(print: &mut Fingerprint, samples: SamplesRef<'_, T>) {
    match samples {
        SamplesRef::Dense(matrix) => put_matrix(print, matrix),
        SamplesRef::Sparse(rows) => {
            [rows.nrows(), rows.ncols()].into_iter().for_each(|size| print.word(size as u64));
            for (cols, values) in (0..rows.nrows()).map(|i| rows.row(i)) {
                cols.iter().zip(values).for_each(|(col, value)| {
                    print.word(u64::from(*col));
                    print.word(value.as_f64().to_bits());
                });
                print.word(cols.len() as u64);
            }
        }
    }
}

/// Goes on with a matrix.
pub(crate) fn put_matrix<T: Scalar>(print: &mut Fingerprint, matrix: MatRef<'_, T>) {
    [matrix.nrows(), matrix.ncols()].into_iter().for_each(|size| print.word(size as u64));
    matrix.col_iter().for_each(|column| column.iter().for_each(|value| print.word(value.as_f64().to_bits())));
}

/// Stores where a generator is.
pub(crate) fn set_generator(state: &mut Archive, name: &str, rng: &ChaCha8Rng) {
    state.set_field(name, rng.get_word_pos().to_string());
}

/// Brings a generator of the same seed and purpose to where the stored one was.
pub(crate) fn restore_generator(state: &Archive, name: &str, rng: &mut ChaCha8Rng) -> Result<()> {
    let place: String = state.field(name)?;
    let place = place.parse().map_err(|_| state.error(format!("`{name}` is no place of a generator")))?;
    rng.set_word_pos(place);
    Ok(())
}
