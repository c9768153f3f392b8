//! A kernel whose values come with the samples.

use crate::base::error::{Error, Result};
use crate::data::samples::SamplesRef;
use crate::kernel::Kernel;
use faer::MatMut;

/// k(a, b) and k(b, a) may differ by this share of the larger one.
const SYMMETRIC: f64 = 1e-6;

/// The samples are numbered from 1; coordinate 0 of a sample is its number, coordinate j its kernel value with sample j.
pub(super) struct Given;

impl Kernel<f64> for Given {
    fn block(&self, x: SamplesRef<'_, f64>, z: SamplesRef<'_, f64>, mut out: MatMut<'_, f64>) -> Result<()> {
        for j in 0..z.count() {
            let column = number(z, j)?;
            for i in 0..x.count() {
                let row = number(x, i)?;
                let (value, mirrored) = (coordinate(z, j, row), coordinate(x, i, column));
                if (value - mirrored).abs() > SYMMETRIC * value.abs().max(mirrored.abs()) {
                    let what = format!("the kernel value of samples {column} and {row}");
                    return Err(Error::shape(what, format!("{mirrored}, as it is the other way round"), value));
                }
                out[(i, j)] = value;
            }
        }
        Ok(())
    }
}

/// The number of a sample, which is also where others have their value with it.
fn number(samples: SamplesRef<'_, f64>, at: usize) -> Result<usize> {
    let last = samples.width().saturating_sub(1);
    let value = if samples.width() > 0 { coordinate(samples, at, 0) } else { 0.0 };
    if value.fract() == 0.0 && value >= 1.0 && value <= last as f64 {
        return Ok(value as usize);
    }
    let allowed = format!("a whole number from 1 to {last}: the number of the sample, before its {last} kernel values");
    Err(Error::param("first coordinate of an instance of the precomputed kernel", value, allowed))
}

fn coordinate(samples: SamplesRef<'_, f64>, at: usize, j: usize) -> f64 {
    match samples {
        SamplesRef::Dense(m) => m[(at, j)],
        SamplesRef::Sparse(s) => {
            let (cols, values) = s.row(at);
            cols.binary_search(&(j as u32)).map_or(0.0, |place| values[place])
        }
    }
}
