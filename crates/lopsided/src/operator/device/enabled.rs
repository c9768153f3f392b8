//! The operator whose products a card computes.

use super::Arithmetic;
use super::launch::{self, Buffers, Kernel, Pace};
use super::packed::{Packed, Prepared, matrix, padded, tools};
use crate::base::device::{Argument, Buffer, Device, Worker, worker};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::base::watch::Watch;
use crate::data::samples::SamplesRef;
use crate::kernel::{self, Normalization};
use crate::operator::{KernelOperator, Operator, delegated};
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use std::f64::consts::{LN_2, LOG2_E};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A kernel matrix of dense samples whose products a card computes; blocks of entries are left to the processor.
///
/// [`super::KernelMatrix`] takes it by itself where that pays. Vectors go to the card and back in every product.
///
/// # Cost
/// Samples packed in the memory of the card; n·m·(width + r) operations there for a product with r vectors.
pub struct DeviceOperator<'a, T: Scalar> {
    entries: KernelOperator<'a, T>,
    worker: Arc<Worker>,
    prepared: Prepared,
    rows: Packed,
    /// `None` where the columns are the same samples as the rows.
    cols: Option<Packed>,
    /// Sizes of the rows with the logarithms of their sums, for softmax rows.
    row_sizes: Option<Buffer>,
    symmetric: bool,
    watch: Watch,
    pace: Pace,
    nanoseconds: AtomicU64,
}

/// G·V or Gᵀ·U.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Forth,
    Back,
}

impl<'a, T: Scalar> DeviceOperator<'a, T> {
    /// The kernel's values between the samples (x, z), before any [`Normalization::RowSum`], on a device, with one half for each
    /// number if the flag beside it says that this is enough for single precision.
    ///
    /// `log_sums` are those of an earlier operator, for columns that were not part of it.
    ///
    /// # Errors
    /// [`Error::Shape`] for samples of different widths; [`Error::Param`] for sparse samples and kernels without a
    /// [`kernel::Formula`]; [`Error::Device`] for what the device or its driver cannot do; [`Error::Interrupted`].
    pub fn new(
        kernel: &'a dyn kernel::Kernel<T>,
        (x, z): (SamplesRef<'a, T>, SamplesRef<'a, T>),
        log_sums: Option<Vec<T>>,
        (device, fast): (Device, bool),
        watch: &Watch,
    ) -> Result<Self> {
        let entries = KernelOperator::unprepared(kernel, x, z, log_sums.clone(), watch)?;
        let (SamplesRef::Dense(rows), SamplesRef::Dense(cols)) = (x, z) else {
            return Err(Error::param("device", device, "cpu for sparse samples"));
        };
        let formula = kernel
            .formula()
            .ok_or_else(|| Error::param("device", device, "cpu for kernels other than rbf, sne, t and poly"))?;
        let number = if let Device::Cuda(number) = device { number } else { 0 };
        let worker = worker(number)?;
        let arithmetic = Arithmetic::of::<T>(fast);
        check_memory(&worker, super::bytes((x, z), arithmetic))?;
        let prepared = Prepared::of(formula, (rows, cols), arithmetic);
        let packed = Packed::new(&worker, rows, 0, &prepared)?;
        // The two sides of a polynomial are scaled alike where they are the same samples.
        let other = (!x.is(z)).then(|| Packed::new(&worker, cols, 1, &prepared)).transpose()?;
        let softmax = kernel.normalization() == Normalization::Softmax;
        let mut operator = DeviceOperator {
            entries,
            worker,
            prepared,
            rows: packed,
            cols: other,
            row_sizes: None,
            symmetric: x.is(z) && !softmax,
            watch: watch.clone(),
            pace: Pace::default(),
            nanoseconds: AtomicU64::new(0),
        };
        if softmax {
            let log_sums = operator.normalize(log_sums)?;
            operator.entries = KernelOperator::unprepared(kernel, x, z, Some(log_sums), watch)?;
        }
        Ok(operator)
    }

    /// Seconds that the card was at work on products: packing, the kernels, and unpacking.
    pub fn seconds(&self) -> f64 {
        self.nanoseconds.load(Ordering::Relaxed) as f64 * 1e-9
    }

    /// Logarithm of each row's sum of exponentials, for kernels with softmax rows.
    pub fn log_sums(&self) -> Option<&[T]> {
        self.entries.log_sums()
    }

    fn cols(&self) -> &Packed {
        self.cols.as_ref().unwrap_or(&self.rows)
    }

    /// Puts the sums of softmax rows into the sizes of the rows, so that values come out normalised.
    ///
    /// With the exponents e_j of a row, in powers of two, and the largest of them e: ln Σ 2^e_j = ln 2·(e + log₂ Σ 2^(e_j − e)).
    fn normalize(&mut self, log_sums: Option<Vec<T>>) -> Result<Vec<T>> {
        let n = self.rows.count;
        let sizes = self.numbers(&self.rows.sizes, n)?;
        if let Some(log_sums) = log_sums {
            let own = sizes.iter().zip(&log_sums).map(|(size, l)| size + l.as_f64() * LOG2_E).collect();
            self.row_sizes = Some(self.sizes(own)?);
            return Ok(log_sums);
        }
        let largest = self.largest()?;
        self.row_sizes = Some(self.sizes(largest.clone())?);
        let mut sums = Mat::<T>::zeros(n, 1);
        let ones = Mat::from_fn(self.cols().count, 1, |_, _| T::one());
        self.product(Way::Forth, ones.as_ref(), sums.as_mut())?;
        let logs: Vec<f64> = sums.col(0).iter().map(|sum| sum.as_f64().log2()).collect();
        self.row_sizes = Some(self.sizes(largest.iter().zip(&logs).map(|(e, log)| e + log).collect())?);
        let log_sum = |((e, log), size): ((&f64, &f64), &f64)| T::of(LN_2 * (e - size + log));
        Ok(largest.iter().zip(&logs).zip(&sizes).map(log_sum).collect())
    }

    /// The largest exponent of each row, without the row's own size.
    fn largest(&self) -> Result<Vec<f64>> {
        let kernel = self.kernel(0);
        let (rows, cols) = (&self.rows, self.cols());
        let cut = kernel.cut(rows.count, cols.count);
        let out = self.worker.buffer(cut.shares * cut.height * self.number_bytes())?;
        let none = self.worker.buffer(0)?;
        let buffers = Buffers {
            rows: &rows.as_rows,
            cols: cols.cols(self.prepared.arithmetic),
            vectors: &none,
            row_sizes: &rows.sizes,
            col_sizes: &cols.sizes,
            out: &out,
        };
        self.watch.evaluating(rows.count * cols.count)?;
        kernel.launch(&cut, &buffers, &self.pace, &self.watch)?;
        let shares = self.numbers(&out, cut.shares * cut.height)?;
        let of_row = |i: usize| shares.iter().skip(i).step_by(cut.height).copied().fold(f64::NEG_INFINITY, f64::max);
        Ok((0..rows.count).map(of_row).collect())
    }

    /// Bytes of a sum on the card.
    fn number_bytes(&self) -> usize {
        if self.prepared.arithmetic == Arithmetic::Doubles { 8 } else { 4 }
    }

    /// The first numbers of a buffer.
    fn numbers(&self, buffer: &Buffer, count: usize) -> Result<Vec<f64>> {
        if self.prepared.arithmetic == Arithmetic::Doubles {
            let mut out = vec![0.0_f64; count];
            self.worker.download(buffer, 0, &mut out)?;
            return Ok(out);
        }
        let mut out = vec![0.0_f32; count];
        self.worker.download(buffer, 0, &mut out)?;
        Ok(out.into_iter().map(f64::from).collect())
    }

    /// Sizes of the rows on the card, beyond the last one those of no sample.
    fn sizes(&self, mut sizes: Vec<f64>) -> Result<Buffer> {
        sizes.resize(padded(sizes.len()), 1e30);
        if self.prepared.arithmetic == Arithmetic::Doubles {
            return self.worker.uploaded::<f64>(&sizes);
        }
        self.worker.uploaded::<f32>(&sizes.into_iter().map(|size| size as f32).collect::<Vec<f32>>())
    }

    fn kernel(&self, columns: usize) -> Kernel<'_> {
        let Prepared { arithmetic, function, .. } = self.prepared;
        Kernel { worker: &self.worker, arithmetic, function, columns, depth: self.rows.depth }
    }

    /// out ← G·V or Gᵀ·U, as many vectors at a time as the kernels are made for.
    fn product(&self, way: Way, v: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        let most = launch::columns(&self.worker, self.prepared.arithmetic, self.rows.depth, usize::MAX);
        for start in (0..v.ncols()).step_by(most) {
            let count = most.min(v.ncols() - start);
            self.narrow_product(way, v.subcols(start, count), out.rb_mut().subcols_mut(start, count))?;
        }
        Ok(())
    }

    fn narrow_product(&self, way: Way, v: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        let Prepared { arithmetic, function, .. } = self.prepared;
        let row_sizes = self.row_sizes.as_ref().unwrap_or(&self.rows.sizes);
        let (rows, cols, sizes) = match way {
            Way::Forth => (&self.rows, self.cols(), (row_sizes, &self.cols().sizes)),
            Way::Back => (self.cols(), &self.rows, (&self.cols().sizes, row_sizes)),
        };
        let (n, m, r) = (rows.count, cols.count, v.ncols());
        self.watch.evaluating(n * m)?;
        let columns = launch::columns(&self.worker, arithmetic, rows.depth, r);
        let (kernel, worker) = (self.kernel(columns), &self.worker);
        let cut = kernel.cut(n, m);
        let int = |value: usize| Argument::Int(value as i32);
        let (grid, tools) = (((4096, 1), 256, 0), tools::<T>());
        let vectors = matrix(worker, v)?;
        let sums = worker.buffer(cut.shares * cut.height * columns * self.number_bytes())?;
        let result = worker.buffer(n * r * T::BYTES)?;
        let packed = worker.buffer(padded(m) * columns * arithmetic.bytes())?;
        let scales = worker.buffer(r * 4)?;
        let buffers = Buffers {
            rows: &rows.as_rows,
            cols: cols.cols(arithmetic),
            vectors: &packed,
            row_sizes: sizes.0,
            col_sizes: sizes.1,
            out: &sums,
        };
        let start = worker.mark()?;
        let of = |buffer| Argument::Buffer(buffer);
        if let Arithmetic::Halves(parts) = arithmetic {
            worker.launch((tools, "column_scales"), ((r, 1), 256, 0), &[of(&scales), of(&vectors), int(m)])?;
            let sizes = [int(m), int(r), int(padded(m)), int(columns), int(parts)];
            let arguments: Vec<_> = [of(&packed), of(&vectors), of(&scales)].into_iter().chain(sizes).collect();
            worker.launch((tools, "pack_vectors"), grid, &arguments)?;
            kernel.launch(&cut, &buffers, &self.pace, &self.watch)?;
            let sizes = [int(n), int(r), int(cut.height), int(columns), int(cut.shares)];
            let given = [of(&result), of(&sums), of(&scales), Argument::Double(function.factor)];
            worker.launch((tools, "unpack"), grid, &given.into_iter().chain(sizes).collect::<Vec<_>>())?;
        } else {
            let sizes = [int(m), int(r), int(padded(m)), int(columns)];
            let arguments: Vec<_> = [of(&packed), of(&vectors)].into_iter().chain(sizes).collect();
            worker.launch((tools, "pack_vectors_double"), grid, &arguments)?;
            kernel.launch(&cut, &buffers, &self.pace, &self.watch)?;
            let sizes = [int(n), int(r), int(cut.height), int(columns), int(cut.shares)];
            let arguments: Vec<_> = [of(&result), of(&sums)].into_iter().chain(sizes).collect();
            worker.launch((tools, "unpack_double"), grid, &arguments)?;
        }
        let end = worker.mark()?;
        self.fetch(&result, out)?;
        let seconds = worker.seconds(&start, &end)?;
        self.nanoseconds.fetch_add((seconds * 1e9) as u64, Ordering::Relaxed);
        Ok(())
    }

    /// The result, column by column.
    fn fetch(&self, result: &Buffer, mut out: MatMut<'_, T>) -> Result<()> {
        let n = out.nrows();
        for (j, mut column) in out.rb_mut().col_iter_mut().enumerate() {
            let at = j * n * T::BYTES;
            if let Some(contiguous) = column.rb_mut().try_as_col_major_mut() {
                self.worker.download(result, at, contiguous.as_slice_mut())?;
            } else {
                let mut values = vec![T::zero(); n];
                self.worker.download(result, at, &mut values)?;
                column.iter_mut().zip(values).for_each(|(to, from)| *to = from);
            }
        }
        Ok(())
    }
}

/// Refuses what other programs have left no memory for.
fn check_memory(worker: &Worker, needed: u64) -> Result<()> {
    let available = worker.free()?;
    if needed <= available {
        return Ok(());
    }
    let what = format!("the kernel matrix on {}", worker.card.device);
    let advice = "alternatives: the precision f32 or fast, fewer samples, or the processor (device cpu)".into();
    Err(Error::Memory { what, needed, available, advice })
}

impl<T: Scalar> Operator<T> for DeviceOperator<'_, T> {
    delegated!(entries: size);

    fn block(&self, rows: &[usize], cols: &[usize], out: MatMut<'_, T>) -> Result<()> {
        self.entries.block(rows, cols, out)
    }

    fn rounding(&self) -> f64 {
        match self.prepared.arithmetic {
            Arithmetic::Halves(1) => 4e-4,
            Arithmetic::Halves(_) => 1e-6,
            Arithmetic::Doubles => T::eps(),
        }
    }

    fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    fn apply(&self, v: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        self.product(Way::Forth, v, out)
    }

    fn apply_transpose(&self, u: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        self.product(Way::Back, u, out)
    }
}
