//! Tiles of ⟨x, z⟩ and |x − z|₁, shared by all pointwise kernels.

use crate::linalg;
use crate::samples::{CsrRef, SamplesRef};
use crate::scalar::Scalar;
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};

/// How two samples meet before the kernel's function is applied.
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
    #[inline]
    pub fn contribution<T: Scalar>(self, x: T, z: T) -> T {
        match self {
            Meeting::Dot => x * z,
            Meeting::L1 => x.abs() + z.abs() - (x - z).abs(),
        }
    }

    /// What the squared (or absolute) distance is made of: |x − z|² = |x|² + |z|² − 2⟨x, z⟩, likewise for L1.
    #[inline]
    pub fn distance<T: Scalar>(self, met: T, x: T, z: T) -> T {
        let twice = match self {
            Meeting::Dot => met + met,
            Meeting::L1 => met,
        };
        (x + z - twice).max(T::zero())
    }

    /// out\[i, j\] ← how x_i and z_j meet.
    pub fn tile<T: Scalar>(self, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, mut out: MatMut<'_, T>) {
        assert_eq!((out.nrows(), out.ncols()), (x.count(), z.count()), "tile shape");
        assert_eq!(x.width(), z.width(), "widths of X and Z");
        match (x, z) {
            (SamplesRef::Sparse(x), SamplesRef::Sparse(z)) => {
                out.fill(T::zero());
                self.sparse_tile(x, z, out);
            }
            (SamplesRef::Dense(x), SamplesRef::Dense(z)) => self.dense_tile(x, z, out),
            (SamplesRef::Sparse(x), SamplesRef::Dense(z)) => self.dense_tile(dense(x).as_ref(), z, out),
            (SamplesRef::Dense(x), SamplesRef::Sparse(z)) => self.dense_tile(x, dense(z).as_ref(), out),
        }
    }

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
        if cols.len() <= self.starts.len() {
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

fn dense<T: Scalar>(rows: CsrRef<'_, T>) -> Mat<T> {
    let mut out = Mat::zeros(rows.nrows(), rows.ncols());
    for i in 0..rows.nrows() {
        let (cols, vals) = rows.row(i);
        cols.iter().zip(vals).for_each(|(&k, &v)| out[(i, k as usize)] = v);
    }
    out
}
