//! Tiles of ⟨x, z⟩ and |x − z|₁, shared by all pointwise kernels.
//!
//! Kernels of samples are functions of a single number for each pair, and that number is a sum over coordinates to
//! which a coordinate contributes only if both samples have it. [`Meeting`] is that sum: it is what stays sparse for
//! sparse samples, and distances follow from it and the sizes of the two samples.
//!
//! | x | z | how a tile is made |
//! | --- | --- | --- |
//! | dense | dense | one matrix product; for L1 a loop over coordinates |
//! | sparse | sparse | entries of the emptier side sorted by coordinate, the other side looks its entries up |
//! | sparse | dense | sparse rows against 32 dense samples side by side, or made dense where they are not very sparse |

use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::data::samples::{CsrRef, SamplesRef};
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use pulp::{Arch, Simd, WithSimd};

/// How two samples meet before the kernel's function is applied.
///
/// ```
/// use lopsided::Samples;
/// use lopsided::kernel::pair::Meeting;
///
/// let x = Samples::Dense(faer::mat![[3.0, -4.0]]);
/// assert_eq!(Meeting::Dot.sizes(x.as_ref()), [25.0]);
/// assert_eq!(Meeting::L1.sizes(x.as_ref()), [7.0]);
/// // x = 2 and z = 5 on a line: |x − z|² = 4 + 25 − 2·10 and |x − z|₁ = 2 + 5 − 4.
/// assert_eq!(Meeting::Dot.distance(Meeting::Dot.contribution(2.0, 5.0), 4.0, 25.0), 9.0);
/// assert_eq!(Meeting::L1.distance(Meeting::L1.contribution(2.0, 5.0), 2.0, 5.0), 3.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// The scalar product ⟨x, z⟩, with size |x|².
    Dot,
    /// The overlap |x|₁ + |z|₁ − |x − z|₁, with size |x|₁.
    L1,
}

impl Meeting {
    /// |x|² or |x|₁ of every sample.
    pub fn sizes<T: Scalar>(self, samples: SamplesRef<'_, T>) -> Vec<T> {
        let mut sizes = vec![T::zero(); samples.count()];
        match samples {
            // Along the columns, as they are stored; the order of each sum is the same.
            SamplesRef::Dense(m) if m.row_stride() == 1 => m.col_iter().for_each(|column| {
                sizes.iter_mut().zip(column.iter()).for_each(|(size, &v)| *size += self.contribution(v, v));
            }),
            _ => sizes.iter_mut().enumerate().for_each(|(i, size)| {
                samples.for_each(i, |_, v| *size += self.contribution(v, v));
            }),
        }
        if self == Meeting::L1 {
            sizes.iter_mut().for_each(|size| *size *= T::of(0.5));
        }
        sizes
    }

    /// What one shared coordinate adds; zero when either value is zero.
    ///
    /// For L1 it is 2·min(|x|, |z|) where the signs agree and 0 where they do not.
    #[inline]
    pub fn contribution<T: Scalar>(self, x: T, z: T) -> T {
        match self {
            Meeting::Dot => x * z,
            Meeting::L1 => x.abs() + z.abs() - (x - z).abs(),
        }
    }

    /// What the squared (or absolute) distance is made of: |x − z|² = |x|² + |z|² − 2⟨x, z⟩, likewise for L1.
    ///
    /// `met` is how the samples meet, `x` and `z` are their sizes. Rounding may leave a number just below 0 for equal
    /// samples, which is taken up to 0.
    #[inline]
    pub fn distance<T: Scalar>(self, met: T, x: T, z: T) -> T {
        let twice = match self {
            Meeting::Dot => met + met,
            Meeting::L1 => met,
        };
        (x + z - twice).max(T::zero())
    }

    /// out\[i, j\] ← how x_i and z_j meet.
    ///
    /// ```
    /// use lopsided::kernel::pair::Meeting;
    /// use lopsided::{Csr, Mat, Samples};
    ///
    /// let x = Samples::Sparse(Csr::from_triplets(2, 5, &[(0, 1, 2.0), (1, 4, 3.0)]));
    /// let mut met = Mat::<f64>::zeros(2, 2);
    /// Meeting::Dot.tile(x.as_ref(), x.as_ref(), met.as_mut());
    /// assert_eq!(met, faer::mat![[4.0, 0.0], [0.0, 9.0]]); // the two share no coordinate
    /// ```
    ///
    /// # Cost
    /// n·m·width operations for dense samples; for sparse ones the shared coordinates and the lookups that find them.
    ///
    /// # Panics
    /// If `out` is not as many rows by columns as there are samples, or the samples differ in width.
    pub fn tile<T: Scalar>(self, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, mut out: MatMut<'_, T>) {
        assert_eq!((out.nrows(), out.ncols()), (x.count(), z.count()), "tile shape");
        assert_eq!(x.width(), z.width(), "widths of X and Z");
        match (x, z) {
            (SamplesRef::Sparse(x), SamplesRef::Sparse(z)) => {
                out.fill(T::zero());
                self.sparse_tile(x, z, out);
            }
            (SamplesRef::Dense(x), SamplesRef::Dense(z)) => self.dense_tile(x, z, out),
            (SamplesRef::Sparse(x), SamplesRef::Dense(z)) => self.mixed_tile(x, z, out),
            (SamplesRef::Dense(x), SamplesRef::Sparse(z)) => self.mixed_tile(z, x, out.transpose_mut()),
        }
    }

    /// How x_i and z_j meet, for single pairs that follow no order: a sparse sample is walked through, and of two the
    /// shorter one, whose coordinates are searched for in the longer.
    pub(super) fn pair<T: Scalar>(self, x: SamplesRef<'_, T>, i: usize, z: SamplesRef<'_, T>, j: usize) -> T {
        let mut sum = T::zero();
        match (x, z) {
            (SamplesRef::Sparse(_), SamplesRef::Dense(z)) => {
                x.for_each(i, |k, v| sum += self.contribution(v, z[(j, k)]));
            }
            (SamplesRef::Dense(x), SamplesRef::Sparse(_)) => {
                z.for_each(j, |k, v| sum += self.contribution(x[(i, k)], v));
            }
            (SamplesRef::Sparse(x), SamplesRef::Sparse(z)) => {
                let (xs, zs) = (x.row(i), z.row(j));
                let (few, many) = if xs.0.len() <= zs.0.len() { (xs, zs) } else { (zs, xs) };
                for (k, &v) in few.0.iter().zip(few.1) {
                    if let Ok(at) = many.0.binary_search(k) {
                        sum += self.contribution(v, many.1[at]);
                    }
                }
            }
            (SamplesRef::Dense(x), SamplesRef::Dense(z)) => {
                (0..x.ncols()).for_each(|k| sum += self.contribution(x[(i, k)], z[(j, k)]));
            }
        }
        sum
    }

    /// Scalar products of few coordinates cost less in the sparse rows than in a product of whole matrices.
    fn mixed_tile<T: Scalar>(self, x: CsrRef<'_, T>, z: MatRef<'_, T>, out: MatMut<'_, T>) {
        let sparse = SPARSE * x.nnz() <= x.nrows() * x.ncols();
        if self == Meeting::Dot && sparse && z.row_stride() == 1 {
            Arch::new().dispatch(MixedTile { x, z, out });
        } else {
            self.dense_tile(dense(x).as_ref(), z, out);
        }
    }

    /// A matrix product for scalar products; for L1 column by column, in the order in which both matrices are stored.
    fn dense_tile<T: Scalar>(self, x: MatRef<'_, T>, z: MatRef<'_, T>, mut out: MatMut<'_, T>) {
        if self == Meeting::Dot {
            return linalg::replace(out, x, z.transpose(), T::one());
        }
        out.fill(T::zero());
        let x = x.to_owned(); // contiguous columns
        for j in 0..z.nrows() {
            let mut column = out.rb_mut().col_mut(j);
            for k in 0..z.ncols() {
                let zk = z[(j, k)];
                for (o, &xk) in column.rb_mut().iter_mut().zip(x.col(k).iter()) {
                    *o += self.contribution(xk, zk);
                }
            }
        }
    }

    /// Costs O(meetings + lookups), not O(n·m·width). The side with fewer entries is sorted by coordinate; a sample of the
    /// other looks its entries up there, or the coordinates there in itself, whichever is less work (a hub has many).
    fn sparse_tile<T: Scalar>(self, x: CsrRef<'_, T>, z: CsrRef<'_, T>, mut out: MatMut<'_, T>) {
        if x.nnz() <= z.nnz() {
            let index = Coordinates::of(x);
            (0..z.nrows()).for_each(|j| index.meet(z.row(j), |i, xk, zk| out[(i, j)] += self.contribution(xk, zk)));
        } else {
            let index = Coordinates::of(z);
            (0..x.nrows()).for_each(|i| index.meet(x.row(i), |j, zk, xk| out[(i, j)] += self.contribution(xk, zk)));
        }
    }
}

/// As many times as fast, per entry, are products of whole matrices.
const SPARSE: usize = 8;
/// Scalar products that are summed up side by side.
const LANES: usize = 32;

/// out\[i, j\] ← ⟨x_i, z_j⟩ for sparse x and dense z that is stored by columns.
struct MixedTile<'a, T> {
    x: CsrRef<'a, T>,
    z: MatRef<'a, T>,
    out: MatMut<'a, T>,
}

impl<T: Scalar> WithSimd for MixedTile<'_, T> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "it must become part of a function compiled for the vector unit")]
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        let mut strip = vec![[T::zero(); LANES]; self.z.ncols()];
        for start in (0..self.z.nrows()).step_by(LANES) {
            let count = LANES.min(self.z.nrows() - start);
            for (lanes, column) in strip.iter_mut().zip(self.z.subrows(start, count).col_iter()) {
                lanes.iter_mut().zip(column.iter()).for_each(|(lane, &v)| *lane = v);
            }
            for i in 0..self.x.nrows() {
                let mut sum = [T::zero(); LANES];
                let (cols, vals) = self.x.row(i);
                for (&k, &value) in cols.iter().zip(vals) {
                    let other = &strip[k as usize];
                    (0..LANES).for_each(|lane| sum[lane] += value * other[lane]);
                }
                let out = self.out.rb_mut().row_mut(i).subcols_mut(start, count);
                out.iter_mut().zip(sum).for_each(|(out, sum)| *out = sum);
            }
        }
    }
}

/// Entries of sparse rows, ordered by coordinate.
struct Coordinates<T> {
    entries: Vec<(u32, usize, T)>,
    /// First entry of each coordinate that occurs.
    starts: Vec<usize>,
}

impl<T: Scalar> Coordinates<T> {
    fn of(rows: CsrRef<'_, T>) -> Self {
        let mut entries: Vec<(u32, usize, T)> = Vec::with_capacity(rows.nnz());
        for i in 0..rows.nrows() {
            let (cols, vals) = rows.row(i);
            entries.extend(cols.iter().zip(vals).map(|(&k, &v)| (k, i, v)));
        }
        entries.sort_by_key(|e| e.0);
        let starts = (0..entries.len()).filter(|&at| at == 0 || entries[at - 1].0 != entries[at].0).collect();
        Coordinates { entries, starts }
    }

    /// Calls `f(row, its value, the sample's value)` for every shared coordinate, in ascending order.
    fn meet(&self, (cols, vals): (&[u32], &[T]), mut f: impl FnMut(usize, T, T)) {
        let mut visit = |start: usize, value: T| {
            let k = self.entries[start].0;
            self.entries[start..].iter().take_while(|e| e.0 == k).for_each(|&(_, i, v)| f(i, v, value));
        };
        let (few, many) = (cols.len().min(self.starts.len()), cols.len().max(self.starts.len()));
        if few * (usize::BITS - many.leading_zeros()) as usize > few + many {
            // Neither side is so short that searches would be fewer steps than a walk along both.
            let mut at = 0;
            for &start in &self.starts {
                let k = self.entries[start].0;
                at += cols[at..].iter().take_while(|c| **c < k).count();
                match cols.get(at) {
                    Some(&c) if c == k => visit(start, vals[at]),
                    Some(_) => {}
                    None => break,
                }
            }
        } else if cols.len() <= self.starts.len() {
            for (&k, &value) in cols.iter().zip(vals) {
                let at = self.starts.partition_point(|&start| self.entries[start].0 < k);
                if let Some(&start) = self.starts.get(at).filter(|&&start| self.entries[start].0 == k) {
                    visit(start, value);
                }
            }
        } else {
            for &start in &self.starts {
                if let Ok(at) = cols.binary_search(&self.entries[start].0) {
                    visit(start, vals[at]);
                }
            }
        }
    }
}

/// out\[i, j\] ← f of how x_i and z_j meet, column by column: `f(column, sizes of x, size of z_j)`.
///
/// `f` gets a whole column at once so that it can be vectorised; it finds how the samples meet in it and leaves kernel
/// values.
///
/// ```
/// use lopsided::kernel::pair::{self, Meeting};
/// use lopsided::{Mat, Samples};
///
/// let x = Samples::Dense(faer::mat![[0.0], [1.0], [3.0]]);
/// let mut squared = Mat::<f64>::zeros(3, 3);
/// pair::block(Meeting::Dot, x.as_ref(), x.as_ref(), squared.as_mut(), |column, sizes, size| {
///     column.iter_mut().zip(sizes).for_each(|(v, &own)| *v = Meeting::Dot.distance(*v, own, size));
/// });
/// assert_eq!(squared, faer::mat![[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]]);
/// ```
pub fn block<T: Scalar>(
    meeting: Meeting,
    x: SamplesRef<'_, T>,
    z: SamplesRef<'_, T>,
    mut out: MatMut<'_, T>,
    f: impl Fn(&mut [T], &[T], T),
) {
    meeting.tile(x, z, out.rb_mut());
    let (xs, zs) = (meeting.sizes(x), meeting.sizes(z));
    let mut column = vec![T::zero(); x.count()];
    for (j, &size) in zs.iter().enumerate() {
        if let Some(contiguous) = out.rb_mut().col_mut(j).try_as_col_major_mut() {
            f(contiguous.as_slice_mut(), &xs, size);
        } else {
            (0..column.len()).for_each(|i| column[i] = out[(i, j)]);
            f(&mut column, &xs, size);
            (0..column.len()).for_each(|i| out[(i, j)] = column[i]);
        }
    }
}

/// out ← f(|x − z|²) of every pair.
pub(super) fn by_distance<T: Scalar>(
    x: SamplesRef<'_, T>,
    z: SamplesRef<'_, T>,
    out: MatMut<'_, T>,
    f: impl Fn(T) -> T,
) {
    block(Meeting::Dot, x, z, out, |column, xs, size| {
        column.iter_mut().zip(xs).for_each(|(v, &xx)| *v = f(Meeting::Dot.distance(*v, xx, size)));
    });
}

/// The rows with their zeros, for samples that are sparse in name only.
fn dense<T: Scalar>(rows: CsrRef<'_, T>) -> Mat<T> {
    let mut out = Mat::zeros(rows.nrows(), rows.ncols());
    for i in 0..rows.nrows() {
        let (cols, vals) = rows.row(i);
        cols.iter().zip(vals).for_each(|(&k, &v)| out[(i, k as usize)] = v);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::{Csr, Samples};
    use crate::data::synth;

    /// Rows of which a few coordinates are not zero, dense and sparse.
    fn samples(count: usize, seed: u64) -> [Samples<f64>; 2] {
        let mut dense = synth::gaussian::<f64>(count, 40, seed);
        for (i, k) in (0..count).flat_map(|i| (0..40).map(move |k| (i, k))).filter(|(i, k)| (i + k) % 11 > 0) {
            dense[(i, k)] = 0.0;
        }
        let entries = (0..count).flat_map(|i| (0..40).map(move |k| (i, k))).filter(|at| dense[*at] != 0.0);
        let entries: Vec<(u32, u32, f64)> = entries.map(|(i, k)| (i as u32, k as u32, dense[(i, k)])).collect();
        [Samples::Sparse(Csr::from_triplets(count, 40, &entries)), Samples::Dense(dense)]
    }

    #[test]
    fn sparse_and_dense_samples_meet_alike() {
        let (xs, zs) = (samples(7, 1), samples(70, 2));
        for meeting in [Meeting::Dot, Meeting::L1] {
            let met = |x: &Samples<f64>, z: &Samples<f64>| {
                let mut out = Mat::zeros(7, 70);
                meeting.tile(x.as_ref(), z.as_ref(), out.as_mut());
                out
            };
            let expected = met(&xs[1], &zs[1]);
            for (x, z) in xs.iter().flat_map(|x| zs.iter().map(move |z| (x, z))) {
                assert!((met(x, z) - &expected).norm_max() < 1e-14);
                let pair = Mat::from_fn(7, 70, |i, j| meeting.pair(x.as_ref(), i, z.as_ref(), j));
                assert!((pair - &expected).norm_max() < 1e-14);
            }
        }
    }
}
