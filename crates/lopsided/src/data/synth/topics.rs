use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Share of rows whose class is not that of their topic.
const NOISE: f64 = 0.1;

/// A sparse table of any size, made row by row: every row has a topic, and its class is the parity of the topic.
///
/// A row has 1 to 2·`entries` − 1 entries of equal value and unit length, fewer where a column is drawn twice. The
/// column of each is drawn with a heavy tail, column j of M with a probability that falls as j^(−2/3); with probability
/// `contrast` it is moved to a neighbour that belongs to the topic of the row. One class in ten is wrong.
///
/// ```
/// use lopsided::data::synth::TopicTable;
///
/// let table = TopicTable { rows: 50, cols: 40, entries: 4, topics: 6, contrast: 0.8, seed: 1 };
/// let mut count = 0;
/// table.for_each_row(|class, row| {
///     let length: f64 = row.iter().map(|(_, value)| value * value).sum();
///     assert!(class < 2 && (length - 1.0).abs() < 1e-12);
///     count += 1;
///     Ok(())
/// })?;
/// assert_eq!(count, 50);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TopicTable {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns, at least one per topic and 2·`entries`.
    pub cols: usize,
    /// Mean number of entries in a row.
    pub entries: usize,
    /// Number of topics, at least 2.
    pub topics: usize,
    /// Share of entries that tell of the topic, from 0 to 1.
    pub contrast: f64,
    /// Seed.
    pub seed: u64,
}

impl TopicTable {
    /// Shows class and entries of each row, columns ascending from 0.
    ///
    /// # Errors
    /// [`Error::Param`] for a parameter outside its range, and those of `visit`.
    pub fn for_each_row(&self, mut visit: impl FnMut(u32, &[(u32, f64)]) -> Result<()>) -> Result<()> {
        self.check()?;
        let mut rng = random::generator(self.seed, Purpose::Topics);
        let mut row = Vec::new();
        for _ in 0..self.rows {
            let topic = rng.random_range(0..self.topics);
            let wrong = rng.random::<f64>() < NOISE;
            let class = (topic % 2) as u32 ^ u32::from(wrong);
            self.fill(topic, &mut row, &mut rng);
            visit(class, &row)?;
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let counts = [("rows", self.rows, 1), ("entries", self.entries, 1), ("topics", self.topics, 2)];
        if let Some((name, value, least)) = counts.into_iter().find(|(_, value, least)| value < least) {
            return Err(Error::param(name, value, format!("at least {least}")));
        }
        if self.cols < self.topics.max(2 * self.entries) || self.cols > u32::MAX as usize {
            let least = self.topics.max(2 * self.entries);
            return Err(Error::param("cols", self.cols, format!("between {least} and {}", u32::MAX)));
        }
        if !(0.0..=1.0).contains(&self.contrast) {
            return Err(Error::param("contrast", self.contrast, "between 0 and 1"));
        }
        Ok(())
    }

    /// One row, its entries sorted and without doubles.
    fn fill(&self, topic: usize, row: &mut Vec<(u32, f64)>, rng: &mut ChaCha8Rng) {
        let count = rng.random_range(1..2 * self.entries);
        row.clear();
        row.extend((0..count).map(|_| (self.column(topic, rng), 0.0)));
        row.sort_unstable_by_key(|entry| entry.0);
        row.dedup_by_key(|entry| entry.0);
        let value = 1.0 / (row.len() as f64).sqrt();
        row.iter_mut().for_each(|entry| entry.1 = value);
    }

    /// ⌊u³·M⌋ for a uniform u, moved within its group of `topics` neighbours to the one of the topic; the last group
    /// may be short, and the one before it takes its place.
    fn column(&self, topic: usize, rng: &mut ChaCha8Rng) -> u32 {
        let column = (rng.random::<f64>().powi(3) * self.cols as f64) as usize;
        if rng.random::<f64>() >= self.contrast {
            return column as u32;
        }
        let moved = column - column % self.topics + topic;
        (if moved < self.cols { moved } else { moved - self.topics }) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sparse_of_unit_length_and_seeded() {
        let table = TopicTable { rows: 500, cols: 20_003, entries: 8, topics: 10, contrast: 0.7, seed: 3 };
        let rows = |table: &TopicTable| {
            let mut all = Vec::new();
            table
                .for_each_row(|class, row| {
                    all.push((class, row.to_vec()));
                    Ok(())
                })
                .unwrap();
            all
        };
        let all = rows(&table);
        assert_eq!((all.len(), &all), (500, &rows(&table)));
        for (class, row) in &all {
            assert!(*class < 2 && row.windows(2).all(|w| w[0].0 < w[1].0) && row.iter().all(|e| e.0 < 20_003));
            assert!((row.iter().map(|e| e.1 * e.1).sum::<f64>() - 1.0).abs() < 1e-12);
        }
        let mean = all.iter().map(|(_, row)| row.len()).sum::<usize>() as f64 / 500.0;
        assert!((7.0..8.5).contains(&mean), "{mean}");
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        let good = TopicTable { rows: 5, cols: 20, entries: 3, topics: 4, contrast: 0.5, seed: 0 };
        let refused = |table: TopicTable| table.for_each_row(|_, _| Ok(())).is_err();
        assert!(!refused(good.clone()));
        assert!(refused(TopicTable { rows: 0, ..good.clone() }) && refused(TopicTable { cols: 5, ..good.clone() }));
        assert!(refused(TopicTable { topics: 1, ..good.clone() }) && refused(TopicTable { contrast: 1.5, ..good }));
    }
}
