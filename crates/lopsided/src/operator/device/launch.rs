//! One launch of a product: which kernel, how its work is cut, and how long a launch may take.

use super::Arithmetic;
use super::packed::Function;
use crate::base::device::{Argument, Buffer, Shape, Worker};
use crate::base::error::{Error, Result};
use crate::base::watch::Watch;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Numbers of vectors that kernels are made for.
const COLUMNS: [usize; 6] = [8, 16, 24, 32, 64, 128];
const COLUMNS_DOUBLE: [usize; 4] = [16, 32, 64, 128];
/// Seconds of a launch, between which a wish to stop is heard.
const TURN: f64 = 0.2;
/// Share of the multiprocessors that should be busy to the end.
const BUSY: f64 = 0.95;
/// Tiles of columns that are worth a block of their own.
const LEAST_SHARE: usize = 16;

/// How quick products were so far, in units of [`Cut::units`] a second.
pub(super) struct Pace(AtomicU64);

impl Default for Pace {
    /// A hundredth of what one H200 does, for a start.
    fn default() -> Self {
        Pace(AtomicU64::new(1_000_000_000_000))
    }
}

/// The kernel of a product and what is handed to it.
pub(super) struct Kernel<'a> {
    pub(super) worker: &'a Worker,
    pub(super) arithmetic: Arithmetic,
    pub(super) function: Function,
    /// Vectors that the kernel is made for, 0 for the largest exponents.
    pub(super) columns: usize,
    /// Steps of 16 coordinates.
    pub(super) depth: usize,
}

/// How a product is cut into blocks.
pub(super) struct Cut {
    /// Rows of a block.
    rows: usize,
    /// Blocks of rows.
    blocks: usize,
    /// Tiles of columns in all, of a block, and how many blocks share a row.
    tiles: usize,
    share: usize,
    pub(super) shares: usize,
    /// Rows of the result, padding included.
    pub(super) height: usize,
}

/// What a kernel reads and writes.
pub(super) struct Buffers<'a> {
    pub(super) rows: &'a Buffer,
    pub(super) cols: &'a Buffer,
    pub(super) vectors: &'a Buffer,
    pub(super) row_sizes: &'a Buffer,
    pub(super) col_sizes: &'a Buffer,
    pub(super) out: &'a Buffer,
}

/// Shared memory of a block, and how it is divided.
struct Memory {
    bytes: usize,
    resident: bool,
    stages: usize,
    buffers: usize,
}

/// The smallest kernel for so many vectors, or the largest one that the card has room for.
pub(super) fn columns(worker: &Worker, arithmetic: Arithmetic, depth: usize, wanted: usize) -> usize {
    let all: &[usize] = if arithmetic == Arithmetic::Doubles { &COLUMNS_DOUBLE } else { &COLUMNS };
    let function = Function { name: "", scale: 1.0, shift: 0.0, degree: 0, factor: 1.0 };
    let fits = |columns: usize| Kernel { worker, arithmetic, function, columns, depth }.memory().is_some();
    let mut possible = all.iter().copied().filter(|c| fits(*c));
    possible.clone().find(|c| *c >= wanted).or_else(|| possible.next_back()).unwrap_or(all[0])
}

impl Kernel<'_> {
    /// Rows of a block.
    fn rows(&self) -> usize {
        match self.arithmetic {
            Arithmetic::Doubles => 64,
            Arithmetic::Halves(_) if self.worker.is_native() => 64 * self.groups(),
            Arithmetic::Halves(_) => 128,
        }
    }

    /// Warpgroups of a block, as `cuda/build.py` compiles them: three where registers and shared memory are enough.
    fn groups(&self) -> usize {
        let ahead = |memory: &Memory| memory.resident || memory.stages > 2;
        let possible = self.columns <= 32 && (self.steps() < 4 || self.native_memory(3).as_ref().is_some_and(ahead));
        if possible { 3 } else { 2 }
    }

    /// Columns of a tile.
    fn tile(&self) -> usize {
        if self.arithmetic == Arithmetic::Doubles { 64 } else { 128 }
    }

    fn threads(&self) -> usize {
        match self.arithmetic {
            Arithmetic::Halves(_) if self.worker.is_native() => 128 * self.groups() + 128,
            _ => 256,
        }
    }

    /// Steps of 16 coordinates that are multiplied at once.
    fn steps(&self) -> usize {
        if self.depth <= 2 { self.depth } else { 4 }
    }

    /// Its name in the archive of kernels.
    fn name(&self) -> String {
        let columns = if self.columns == 0 { String::new() } else { format!("-{}", self.columns) };
        let function = if self.columns == 0 { "largest" } else { self.function.name };
        match self.arithmetic {
            Arithmetic::Doubles => format!("double-{function}{columns}"),
            Arithmetic::Halves(parts) if self.worker.is_native() => {
                format!("half{parts}-{function}{columns}-{}-{}", self.steps(), self.groups())
            }
            Arithmetic::Halves(parts) => format!("half{parts}-{function}{columns}"),
        }
    }

    /// Shared memory, as the kernels divide it; `None` where the card has too little.
    fn memory(&self) -> Option<Memory> {
        if self.worker.is_native() && self.arithmetic != Arithmetic::Doubles {
            return self.native_memory(self.groups());
        }
        let bytes = if self.arithmetic == Arithmetic::Doubles {
            8 * (4 * 64 * 20 + 64 * 68 + 64 * (self.columns.max(16) + 4))
        } else {
            let (row, col, vectors) = self.tiles();
            2 * (2 * row + col) + vectors
        };
        (bytes <= self.worker.shared).then_some(Memory { bytes, resident: false, stages: 2, buffers: 1 })
    }

    /// The first way to divide the memory of a block of so many warpgroups that fits: rows that stay, much on its way.
    fn native_memory(&self, groups: usize) -> Option<Memory> {
        let (row, col, vectors) = self.tiles();
        let divided = |(resident, buffers, stages): (bool, usize, usize)| {
            let rows = groups * row * if resident { self.depth } else { stages * self.steps() };
            let barriers = 8 * (2 * stages + 2 * buffers + 1) + 64;
            let bytes = rows + stages * self.steps() * col + buffers * vectors + barriers;
            Memory { bytes, resident, stages, buffers }
        };
        let ways = [true, false].into_iter().flat_map(|resident| [2, 1].map(|buffers| (resident, buffers)));
        let mut ways = ways.flat_map(|(resident, buffers)| [4, 3, 2].map(|stages| (resident, buffers, stages)));
        ways.find_map(|way| Some(divided(way)).filter(|memory| memory.bytes <= self.worker.shared))
    }

    /// Bytes of 16 coordinates of 64 rows and of 128 columns, and of 128 rows of V with the sizes of as many columns.
    fn tiles(&self) -> (usize, usize, usize) {
        let parts = if let Arithmetic::Halves(parts) = self.arithmetic { parts } else { 1 };
        (64 * 32 * parts, 128 * 32 * parts, 8 * self.columns.max(8) * 32 * parts + 512)
    }

    /// Cuts a product of n rows and m columns so that all multiprocessors are busy to the end.
    pub(super) fn cut(&self, n: usize, m: usize) -> Cut {
        let (rows, processors) = (self.rows(), self.worker.card.processors);
        let (blocks, tiles) = (n.div_ceil(rows), m.div_ceil(self.tile()));
        let busy = |shares: usize| {
            let all = blocks * shares;
            all as f64 / all.next_multiple_of(processors) as f64
        };
        let most = (tiles / LEAST_SHARE).clamp(1, 16);
        let best = (1..=most).max_by(|a, b| busy(*a).total_cmp(&busy(*b)).then(b.cmp(a))).unwrap_or(1);
        let shares = (1..=most).find(|shares| busy(*shares) >= BUSY).unwrap_or(best);
        let share = tiles.div_ceil(shares).max(1);
        Cut { rows, blocks, tiles, share, shares: tiles.div_ceil(share).max(1), height: blocks * rows }
    }

    /// Launches the product, in turns of a fraction of a second.
    ///
    /// # Errors
    /// [`Error::Interrupted`] between two turns; what the driver says.
    pub(super) fn launch(&self, cut: &Cut, buffers: &Buffers<'_>, pace: &Pace, watch: &Watch) -> Result<()> {
        let Some(memory) = self.memory() else {
            let reason = format!("its {} bytes of shared memory are too few", self.worker.shared);
            return Err(Error::Device { device: self.worker.card.device.clone(), reason });
        };
        let name = self.name();
        let units = self.units(cut);
        let mut first = 0;
        while first < cut.blocks {
            let count = pace.blocks(units, self.worker.card.processors).min(cut.blocks - first);
            let shape = Shape {
                scale: self.function.scale as f32,
                shift: self.function.shift as f32,
                degree: self.function.degree,
                depth: self.depth as i32,
                stages: memory.stages as i32,
                buffers: memory.buffers as i32,
                resident: i32::from(memory.resident),
                first: first as i32,
                tiles: cut.tiles as i32,
                share: cut.share as i32,
                height: cut.height as i32,
            };
            let mut arguments = vec![Argument::Shape(&shape)];
            let Buffers { rows, cols, vectors, row_sizes, col_sizes, out } = *buffers;
            arguments.extend([rows, cols, vectors, row_sizes, col_sizes, out].map(Argument::Buffer));
            if self.arithmetic == Arithmetic::Doubles {
                arguments.extend([self.function.scale, self.function.shift].map(Argument::Double));
            }
            let start = Instant::now();
            self.worker.launch((&name, "product"), ((count, cut.shares), self.threads(), memory.bytes), &arguments)?;
            first += count;
            if first < cut.blocks || units * count as f64 > pace.of_a_turn() / 8.0 {
                self.worker.finish()?;
                pace.learn(units * count as f64, start.elapsed().as_secs_f64());
            }
            watch.check()?;
        }
        Ok(())
    }

    /// Work of a block of rows: its values, with their coordinates and vectors.
    fn units(&self, cut: &Cut) -> f64 {
        let each = 16 * self.depth + self.columns + 32;
        (cut.rows * cut.tiles * self.tile() * each) as f64
    }
}

impl Pace {
    fn of_a_turn(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64 * TURN
    }

    /// Blocks of a turn: whole rounds of the multiprocessors.
    fn blocks(&self, units: f64, processors: usize) -> usize {
        let rounds = (self.of_a_turn() / units / processors as f64) as usize;
        rounds.max(1) * processors
    }

    fn learn(&self, units: f64, seconds: f64) {
        self.0.store((units / seconds.max(1e-6)) as u64, Ordering::Relaxed);
    }
}
