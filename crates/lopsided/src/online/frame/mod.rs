//! An orthonormal basis of the features seen so far, known only through the kernel.
//!
//! How a sample x is looked at, with t stored samples and b basis vectors E = Φ·P:
//!
//! 1. k(x, x) and the t values k(x, stored), scaled to unit length if asked.
//! 2. Coordinates p = Pᵀ·k(stored, x); the rest k(stored, x) − ΦᵀE·p; the same once more for what rounding left.
//! 3. Squared distance from the span: ρ² = k(x, x) − pᵀp.
//!
//! How it is absorbed: where ρ² is above 1e-8 of k(x, x), x is stored and e = (φ(x) − E·p)/ρ is one more basis vector;
//! P gets a row and a column. It is an incremental Cholesky factorisation of the kernel matrix, O(t·b) for each sample.

mod given;

use super::matrices::{column, dot, product, reflect_columns, remove_row, reserve, transposed_inverse};
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::data::archive::Archive;
use crate::data::samples::{Samples, SamplesRef};
use crate::kernel::{Kernel, KernelSpec};
use faer::{Mat, MatRef};

/// A sample whose squared distance from the span is below this share of its squared length is taken to be in it: the kernel values of
/// such samples are wrong by about 1e-6. With a smaller number smooth kernels, whose matrices are singular to rounding, would
/// need coefficients so large that the basis becomes skew.
const IN_SPAN: f64 = 1e-8;

/// E = Φ·P with orthonormal columns: t stored samples, b basis vectors, P of size t×b.
pub(super) struct Frame {
    kernel: Box<dyn Kernel<f64>>,
    /// Every sample is scaled to unit length in feature space.
    normalize: bool,
    stored: Option<Samples<f64>>,
    /// What the features of each stored sample are multiplied by.
    scales: Vec<f64>,
    /// The length of each stored sample in feature space, after that.
    lengths: Vec<f64>,
    coefficients: Mat<f64>,
    /// ΦᵀE, a row of coordinates for each stored sample.
    inner: Mat<f64>,
}

/// How one sample stands to the frame.
pub(super) struct Look {
    /// Coordinates of its projection.
    pub(super) inside: Vec<f64>,
    /// Its squared length in feature space.
    pub(super) square: f64,
    scale: f64,
    /// Its kernel values against the stored samples, less those of its projection.
    rest: Vec<f64>,
}

impl Look {
    /// Squared distance from the span.
    pub(super) fn outside(&self) -> f64 {
        (self.square - dot(&self.inside, &self.inside)).max(0.0)
    }
}

impl Frame {
    /// An empty frame.
    ///
    /// # Errors
    /// [`Error::Param`] for a kernel that is no scalar product of features.
    pub(super) fn new(spec: &KernelSpec, normalize: bool) -> Result<Self> {
        let kernel = kernel(spec)?;
        let (scales, lengths) = (Vec::new(), Vec::new());
        let (coefficients, inner) = (Mat::zeros(0, 0), Mat::zeros(0, 0));
        Ok(Frame { kernel, normalize, stored: None, scales, lengths, coefficients, inner })
    }

    /// Number t of stored samples.
    pub(super) fn stored(&self) -> usize {
        self.scales.len()
    }

    /// Number b of basis vectors.
    pub(super) fn size(&self) -> usize {
        self.coefficients.ncols()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.stored.as_ref().map_or(0, |s| s.as_ref().bytes()) + 16 * self.scales.len() * (1 + self.size())
    }

    /// The coefficients P.
    pub(super) fn coefficients(&self) -> MatRef<'_, f64> {
        self.coefficients.as_ref()
    }

    /// Looks at sample `at` of `samples`. Costs t kernel values and t·b operations.
    pub(super) fn look(&self, samples: SamplesRef<'_, f64>, at: usize) -> Result<Look> {
        let sample = samples.subrows(at, 1);
        self.check_width(sample)?;
        let mut own = Mat::zeros(1, 1);
        self.kernel.block(sample, sample, own.as_mut())?;
        let raw = own[(0, 0)];
        if !raw.is_finite() {
            let what = "the kernel of an instance with itself".into();
            return Err(Error::NotFinite { what, value: raw.to_string(), row: 0, col: 0 });
        }
        let scale = if !self.normalize {
            1.0
        } else if raw > 0.0 {
            1.0 / raw.sqrt()
        } else {
            0.0
        };
        let mut rest = self.values(sample, scale)?;
        let mut inside = vec![0.0; self.size()];
        // Twice: the first projection leaves what rounding and small distances of earlier samples made skew.
        for _ in 0..2 {
            for (j, coordinate) in self.projected(&rest).into_iter().enumerate() {
                inside[j] += coordinate;
                rest.iter_mut().zip(column(&self.inner, j)).for_each(|(r, g)| *r -= coordinate * g);
            }
        }
        Ok(Look { inside, square: raw * scale * scale, scale, rest })
    }

    /// Pᵀ·values.
    fn projected(&self, values: &[f64]) -> Vec<f64> {
        (0..self.size()).map(|j| dot(column(&self.coefficients, j), values)).collect()
    }

    /// Kernel values of a scaled sample against the stored ones.
    fn values(&self, sample: SamplesRef<'_, f64>, scale: f64) -> Result<Vec<f64>> {
        let Some(stored) = &self.stored else { return Ok(Vec::new()) };
        let mut out = Mat::zeros(self.stored(), 1);
        self.kernel.block(stored.as_ref(), sample, out.as_mut())?;
        Ok(self.scales.iter().zip(out.col(0).iter()).map(|(own, value)| own * scale * value).collect())
    }

    fn check_width(&self, sample: SamplesRef<'_, f64>) -> Result<()> {
        match &self.stored {
            Some(stored) if stored.width() != sample.width() => {
                Err(Error::shape("number of coordinates of an instance", stored.width(), sample.width()))
            }
            _ => Ok(()),
        }
    }

    /// Takes a sample into the span and returns its coordinates; a sample already in it is not stored.
    ///
    /// # Errors
    /// [`Error::Param`] when the kernel turns out not to be positive semidefinite.
    pub(super) fn absorb(&mut self, samples: SamplesRef<'_, f64>, at: usize, look: &Look) -> Result<Vec<f64>> {
        let rest = look.square - dot(&look.inside, &look.inside);
        if rest < -1e-3 * look.square.abs() || look.square < 0.0 {
            return Err(Error::param("kernel", "not positive semidefinite on these instances", "a scalar product"));
        }
        let mut coordinates = look.inside.clone();
        if rest <= IN_SPAN * look.square {
            return Ok(coordinates);
        }
        let distance = rest.sqrt();
        self.store(samples.subrows(at, 1), look.scale);
        self.lengths.push(look.square.sqrt());
        self.add_direction(&look.inside, distance);
        coordinates.push(distance);
        let (t, b) = self.inner.shape();
        reserve(&mut self.inner, t + 1, b + 1);
        self.inner.resize_with(t + 1, b + 1, |i, j| if i == t { coordinates[j] } else { look.rest[i] / distance });
        Ok(coordinates)
    }

    fn store(&mut self, sample: SamplesRef<'_, f64>, scale: f64) {
        self.scales.push(scale);
        match (&mut self.stored, sample) {
            (Some(Samples::Dense(rows)), SamplesRef::Dense(new)) => {
                let t = rows.nrows();
                reserve(rows, t + 1, rows.ncols());
                rows.resize_with(t + 1, rows.ncols(), |_, j| new[(0, j)]);
            }
            (Some(Samples::Sparse(rows)), SamplesRef::Sparse(new)) => {
                let (cols, vals) = new.row(0);
                rows.push_row(cols.iter().copied().zip(vals.iter().copied()));
            }
            (Some(Samples::Dense(rows)), other) => {
                let t = rows.nrows();
                rows.resize_with(t + 1, rows.ncols(), |_, _| 0.0);
                other.for_each(0, |j, v| rows[(t, j)] = v);
            }
            (Some(Samples::Sparse(rows)), SamplesRef::Dense(new)) => {
                rows.push_row((0..new.ncols()).map(|j| (j as u32, new[(0, j)])));
            }
            (none, first) => *none = Some(first.to_owned()),
        }
    }

    /// A new last row and column of P: e = (φ − E·p)/ρ.
    fn add_direction(&mut self, inside: &[f64], distance: f64) {
        let (t, b) = self.coefficients.shape();
        let mut new = vec![0.0; t];
        for (j, p) in inside.iter().enumerate() {
            new.iter_mut().zip(column(&self.coefficients, j)).for_each(|(n, c)| *n -= p * c);
        }
        reserve(&mut self.coefficients, t + 1, b + 1);
        self.coefficients.resize_with(t + 1, b + 1, |i, j| match (i == t, j == b) {
            (true, false) => 0.0,
            (true, true) => 1.0 / distance,
            _ => new[i] / distance,
        });
    }

    /// The length of each stored sample in feature space.
    pub(super) fn lengths(&self) -> &[f64] {
        &self.lengths
    }

    /// The kernel matrix of an instance's own samples.
    pub(super) fn gram(&self, samples: SamplesRef<'_, f64>, looks: &[Look]) -> Result<Mat<f64>> {
        let mut gram = Mat::zeros(looks.len(), looks.len());
        self.kernel.block(samples, samples, gram.as_mut())?;
        Ok(Mat::from_fn(looks.len(), looks.len(), |a, b| looks[a].scale * gram[(a, b)] * looks[b].scale))
    }

    /// E ← E·(I − 2vvᵀ).
    pub(super) fn reflect(&mut self, v: &[f64]) {
        reflect_columns(&mut self.coefficients, v);
        reflect_columns(&mut self.inner, v);
    }

    /// E ← E·turn for a matrix with orthonormal columns.
    pub(super) fn turn(&mut self, turn: MatRef<'_, f64>) {
        self.coefficients = product(self.coefficients.as_ref(), turn);
        self.inner = product(self.inner.as_ref(), turn);
    }

    /// Coordinates of stored sample `at`.
    pub(super) fn coordinates(&self, at: usize) -> Vec<f64> {
        self.inner.row(at).iter().copied().collect()
    }

    /// Forgets a sample whose row of P is 0 and the last direction, which it alone reached.
    pub(super) fn forget(&mut self, at: usize) {
        let b = self.size();
        remove_row(&mut self.coefficients, at);
        remove_row(&mut self.inner, at);
        let t = self.coefficients.nrows();
        self.coefficients.truncate(t, b - 1);
        self.inner.truncate(t, b - 1);
        match &mut self.stored {
            Some(Samples::Dense(rows)) => remove_row(rows, at),
            Some(stored) => {
                let kept: Vec<usize> = (0..=t).filter(|i| *i != at).collect();
                *stored = stored.as_ref().select(&kept);
            }
            None => {}
        }
        self.scales.remove(at);
        self.lengths.remove(at);
    }

    /// Makes P anew from the kernel of the stored samples and returns the turn R with E_old = E_new·R, if b = t and the kernel
    /// matrix allows it: rounding errors of many changes are gone afterwards.
    pub(super) fn refreshed(&mut self) -> Result<Option<Mat<f64>>> {
        let (t, b) = self.coefficients.shape();
        let Some(stored) = self.stored.as_ref().filter(|_| t == b) else { return Ok(None) };
        let mut gram = Mat::zeros(t, t);
        self.kernel.block(stored.as_ref(), stored.as_ref(), gram.as_mut())?;
        let gram = Mat::from_fn(t, t, |i, j| self.scales[i] * gram[(i, j)] * self.scales[j]);
        let Some(lower) = linalg::lower_factor(gram) else { return Ok(None) };
        let turn = product(lower.transpose(), self.coefficients.as_ref());
        self.coefficients = transposed_inverse(&lower);
        self.inner = lower;
        Ok(Some(turn))
    }

    /// Writes the frame under a name.
    pub(super) fn save(&self, archive: &mut Archive, name: &str) {
        if let Some(stored) = &self.stored {
            archive.set_samples(&format!("{name}.samples"), stored.as_ref());
        }
        archive.set_vector(&format!("{name}.scales"), &self.scales);
        archive.set_vector(&format!("{name}.lengths"), &self.lengths);
        archive.set_matrix(&format!("{name}.coefficients"), self.coefficients.as_ref());
        archive.set_matrix(&format!("{name}.inner"), self.inner.as_ref());
    }

    /// Reads what [`Frame::save`] wrote.
    pub(super) fn restore(&mut self, archive: &Archive, name: &str) -> Result<()> {
        self.scales = archive.vector(&format!("{name}.scales"))?;
        self.lengths = archive.vector(&format!("{name}.lengths"))?;
        self.coefficients = archive.matrix(&format!("{name}.coefficients"))?;
        self.inner = archive.matrix(&format!("{name}.inner"))?;
        self.stored =
            if self.scales.is_empty() { None } else { Some(growing(archive.samples(&format!("{name}.samples"))?)) };
        let count = self.stored.as_ref().map_or(0, Samples::count);
        let sizes = [self.scales.len(), self.lengths.len(), self.coefficients.nrows(), self.inner.nrows()];
        if sizes != [count; 4] || self.inner.ncols() != self.size() {
            return Err(archive.error(format!("the arrays of `{name}` do not fit together")));
        }
        Ok(())
    }
}

/// The same samples in memory of their own, to which others can be added.
fn growing(samples: Samples<f64>) -> Samples<f64> {
    match samples {
        Samples::Shared(_) => Samples::Dense(samples.into_dense()),
        own => own,
    }
}

fn kernel(spec: &KernelSpec) -> Result<Box<dyn Kernel<f64>>> {
    let kernel = spec.build::<f64>()?;
    if kernel.is_precomputed() && kernel.graph().is_none() {
        return Ok(Box::new(given::Given));
    }
    if !spec.is_symmetric() {
        let allowed = "a scalar product of features for online learning: linear, poly, rbf, laplacian or precomputed";
        return Err(Error::param("kernel", &spec.name, allowed));
    }
    Ok(kernel)
}

#[cfg(test)]
mod tests;
