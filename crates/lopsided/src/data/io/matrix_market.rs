//! Matrix Market: coordinate files become sparse samples, array files dense ones.
//!
//! | first line | stored | becomes |
//! | --- | --- | --- |
//! | `coordinate`, `real` or `integer` | `row column value`, from 1 | sparse; equal positions add up |
//! | `coordinate`, `pattern` | `row column` | sparse with ones |
//! | `array` | values, column by column | dense |
//!
//! `symmetric` and `skew-symmetric` files hold the lower triangle, which is mirrored. Complex numbers are refused.

use super::Reasoned;
use super::matrix::{Order, TRUSTED, check_size, check_sparse, dense};
use super::source::{Lines, Source};
use crate::base::error::{Error, Result};
use crate::base::memory::Meter;
use crate::base::scalar::Scalar;
use crate::data::samples::{Csr, Samples};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

#[derive(Clone, Copy, Debug)]
struct Header {
    coordinate: bool,
    pattern: bool,
    symmetry: Symmetry,
}

/// The matrix of the file.
pub(super) fn read<T: Scalar>(source: Source) -> Result<Samples<T>> {
    let mut lines = source.lines();
    lines.advance()?;
    let header = Header::parse(lines.line()).map_err(|reason| lines.error(reason))?;
    if !lines.advance_to_data()? {
        return Err(lines.error("the size of the matrix is missing"));
    }
    if header.coordinate { read_coordinate(&mut lines, header) } else { read_array(&mut lines, header) }
}

impl Header {
    /// The banner, in any case: `%%MatrixMarket matrix LAYOUT FIELD SYMMETRY`.
    fn parse(line: &str) -> Reasoned<Self> {
        let line = line.to_ascii_lowercase();
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let ["%%matrixmarket", "matrix", layout, field, symmetry] = words[..] else {
            return Err("the first line must be `%%MatrixMarket matrix LAYOUT FIELD SYMMETRY`".into());
        };
        let coordinate = allowed("layout", layout, &[("coordinate", true), ("array", false)])?;
        let pattern = allowed("field", field, &[("real", false), ("integer", false), ("pattern", true)])?;
        let symmetries =
            [("general", Symmetry::General), ("symmetric", Symmetry::Symmetric), ("skew-symmetric", Symmetry::Skew)];
        let symmetry = allowed("symmetry", symmetry, &symmetries)?;
        if pattern && !coordinate {
            return Err("an array cannot have the field `pattern`".into());
        }
        Ok(Header { coordinate, pattern, symmetry })
    }

    fn check_square(self, rows: usize, cols: usize) -> Reasoned<()> {
        if self.symmetry == Symmetry::General || rows == cols {
            return Ok(());
        }
        Err(format!("a matrix of size {rows} x {cols} cannot be symmetric"))
    }

    /// The first row of a column that an array file stores.
    fn stored_from(self, column: usize) -> usize {
        match self.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric => column,
            Symmetry::Skew => column + 1,
        }
    }
}

fn allowed<V: Copy>(what: &str, word: &str, known: &[(&str, V)]) -> Reasoned<V> {
    let names = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = known.iter().find(|(name, _)| *name == word);
    found.map(|(_, value)| *value).ok_or_else(|| format!("the {what} `{word}` is not supported; allowed: {}", names()))
}

fn sizes<const N: usize>(line: &str, meaning: &str) -> Reasoned<[usize; N]> {
    let numbers: Option<Vec<usize>> = line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    let fitting = numbers.and_then(|n| <[usize; N]>::try_from(n).ok());
    fitting.ok_or_else(|| format!("the size line `{}` must be {meaning}", clip(line)))
}

/// A value as it may be shown in an error.
fn clip(text: &str) -> String {
    text.trim().chars().take(40).collect()
}

/// Size line, then exactly the promised number of entries.
fn read_coordinate<T: Scalar>(lines: &mut Lines, header: Header) -> Result<Samples<T>> {
    let size = sizes::<3>(lines.line(), "three whole numbers: rows, columns and entries");
    let [rows, cols, promised] = size.map_err(|reason| lines.error(reason))?;
    header.check_square(rows, cols).map_err(|reason| lines.error(reason))?;
    check_sparse(lines.name(), rows, cols, promised)?;
    let mut entries: Vec<(u32, u32, T)> = Vec::with_capacity(promised.min(TRUSTED));
    let (mut found, meter) = (0, Meter::new(lines.name()));
    while lines.advance_to_data()? {
        if found == promised {
            return Err(lines.error(format!("more entries than the {promised} promised")));
        }
        let entry = entry(lines.line(), header, rows, cols).map_err(|reason| lines.error(reason))?;
        mirror(entry, header.symmetry, &mut entries).map_err(|reason| lines.error(reason))?;
        meter.holds(entries.len() * size_of::<(u32, u32, T)>())?;
        found += 1;
    }
    check_count(lines, promised, found)?;
    Ok(Samples::Sparse(Csr::from_triplets(rows, cols, &entries)))
}

fn check_count(lines: &Lines, promised: usize, found: usize) -> Result<()> {
    if found == promised {
        return Ok(());
    }
    Err(Error::parse(lines.name(), format!("promises {promised} entries but has {found}")))
}

fn entry<T: Scalar>(line: &str, header: Header, rows: usize, cols: usize) -> Reasoned<(u32, u32, T)> {
    let mut words = line.split_ascii_whitespace();
    let row = index("row", words.next(), rows)?;
    let col = index("column", words.next(), cols)?;
    let value = match (header.pattern, words.next()) {
        (true, None) => T::one(),
        (false, Some(word)) => value(word)?,
        (true, Some(word)) => return Err(format!("`{}` follows the two indices of a pattern", clip(word))),
        (false, None) => return Err("the value of the entry is missing".into()),
    };
    match words.next() {
        Some(word) => Err(format!("`{}` follows the value", clip(word))),
        None => Ok((row, col, value)),
    }
}

/// An index from 1 to `size`, as one from 0.
fn index(what: &str, word: Option<&str>, size: usize) -> Reasoned<u32> {
    let word = word.ok_or_else(|| format!("the {what} index is missing"))?;
    let index: i64 = word.parse().map_err(|_| format!("{what} index `{}` is not a whole number", clip(word)))?;
    if index < 1 || index.cast_unsigned() > size as u64 {
        return Err(format!("{what} index {index} is outside 1 to {size}"));
    }
    Ok((index - 1) as u32)
}

fn value<T: Scalar>(word: &str) -> Reasoned<T> {
    let value: f64 = word.parse().map_err(|_| format!("`{}` is not a number", clip(word)))?;
    Ok(T::of(value))
}

/// The entry, and its mirror image where the file holds one triangle only.
fn mirror<T: Scalar>(
    (row, col, value): (u32, u32, T),
    symmetry: Symmetry,
    entries: &mut Vec<(u32, u32, T)>,
) -> Reasoned<()> {
    if symmetry == Symmetry::Skew && row == col && value != T::zero() {
        return Err("a skew-symmetric matrix has zeros on its diagonal".into());
    }
    entries.push((row, col, value));
    match symmetry {
        Symmetry::Symmetric if row != col => entries.push((col, row, value)),
        Symmetry::Skew if row != col => entries.push((col, row, -value)),
        _ => {}
    }
    Ok(())
}

fn read_array<T: Scalar>(lines: &mut Lines, header: Header) -> Result<Samples<T>> {
    let [rows, cols] = sizes::<2>(lines.line(), "two whole numbers: rows and columns").map_err(|r| lines.error(r))?;
    header.check_square(rows, cols).map_err(|reason| lines.error(reason))?;
    check_size(lines.name(), rows, cols)?;
    let promised = promised_values(header.symmetry, rows, cols);
    let promised = promised.ok_or_else(|| lines.error(format!("a matrix of {rows} x {cols} is too large")))?;
    let mut values: Vec<T> = Vec::with_capacity(promised.min(TRUSTED));
    let meter = Meter::new(lines.name());
    while lines.advance_to_data()? {
        for word in lines.line().split_ascii_whitespace() {
            values.push(value(word).map_err(|reason| lines.error(reason))?);
        }
        meter.holds(values.len() * T::BYTES)?;
        if values.len() > promised {
            return Err(lines.error(format!("more entries than the {promised} promised")));
        }
    }
    check_count(lines, promised, values.len())?;
    let values = if header.symmetry == Symmetry::General { values } else { unfold(&values, rows, header) };
    dense(lines.name(), (rows, cols), values, Order::Columns)
}

/// How many values the layout stores; `None` where they could not be counted.
fn promised_values(symmetry: Symmetry, rows: usize, cols: usize) -> Option<usize> {
    // Also for triangles the full square must fit.
    let full = rows.checked_mul(cols)?.checked_mul(8)? / 8;
    Some(match symmetry {
        Symmetry::General => full,
        Symmetry::Symmetric => (full - rows) / 2 + rows,
        Symmetry::Skew => (full - rows) / 2,
    })
}

/// The full square from the lower triangle, both by columns.
fn unfold<T: Scalar>(triangle: &[T], size: usize, header: Header) -> Vec<T> {
    let mut full = vec![T::zero(); size * size];
    let mut stored = triangle.iter().copied();
    for j in 0..size {
        for (i, value) in (header.stored_from(j)..size).zip(&mut stored) {
            full[i * size + j] = if header.symmetry == Symmetry::Skew { -value } else { value };
            full[j * size + i] = value;
        }
    }
    full
}

#[cfg(test)]
mod tests {
    use super::super::tests::{dense_rows, scratch};
    use super::*;

    fn matrix(text: &str) -> Result<Samples<f64>> {
        let (_dir, path) = scratch("m.mtx", format!("%%MatrixMarket matrix {text}"));
        read(Source::open(&path)?)
    }

    fn rows(text: &str) -> Vec<Vec<f64>> {
        dense_rows(&matrix(text).unwrap())
    }

    fn message(text: &str) -> String {
        let error = matrix(text).unwrap_err().to_string();
        error[error.find("m.mtx").unwrap()..].to_owned()
    }

    #[test]
    fn coordinates_are_sparse() {
        let text = "coordinate real general\n% c\n2 3 3\n1 1 5\n2 3 -1.5\n1 1 1\n";
        assert!(matches!(matrix(text).unwrap(), Samples::Sparse(s) if s.nnz() == 2));
        assert_eq!(rows(text), [[6.0, 0.0, 0.0], [0.0, 0.0, -1.5]]);
        assert_eq!(rows("Coordinate Pattern General\n1 2 1\n1 2\n"), [[0.0, 1.0]]);
        assert_eq!(rows("coordinate integer symmetric\n2 2 2\n1 1 3\n2 1 4\n"), [[3.0, 4.0], [4.0, 0.0]]);
        assert_eq!(rows("coordinate real skew-symmetric\n2 2 1\n2 1 4\n"), [[0.0, -4.0], [4.0, 0.0]]);
    }

    #[test]
    fn arrays_are_dense_and_run_by_columns() {
        assert_eq!(rows("array integer general\n2 2\n1\n2\n3\n4\n"), [[1.0, 3.0], [2.0, 4.0]]);
        assert_eq!(rows("array real symmetric\n2 2\n1\n2\n3\n"), [[1.0, 2.0], [2.0, 3.0]]);
        let skew = [[0.0, -1.0, -2.0], [1.0, 0.0, -3.0], [2.0, 3.0, 0.0]];
        assert_eq!(rows("array real skew-symmetric\n3 3\n1\n2\n3\n"), skew);
    }

    #[test]
    fn errors_name_line_and_value() {
        let head = "coordinate real general\n";
        assert_eq!(message(&format!("{head}2 2 1\n0 1 1\n")), "m.mtx:3: row index 0 is outside 1 to 2");
        assert_eq!(message(&format!("{head}2 2 1\n1 3 1\n")), "m.mtx:3: column index 3 is outside 1 to 2");
        assert_eq!(message(&format!("{head}2 2 1\n-1 1 1\n")), "m.mtx:3: row index -1 is outside 1 to 2");
        assert_eq!(message(&format!("{head}2 2 1\n1 1 x\n")), "m.mtx:3: `x` is not a number");
        assert_eq!(message(&format!("{head}2 2 1\n1 1\n")), "m.mtx:3: the value of the entry is missing");
        assert_eq!(message(&format!("{head}2 2 2\n1 1 1\n")), "m.mtx: promises 2 entries but has 1");
        assert_eq!(message(&format!("{head}2 2 0\n1 1 1\n")), "m.mtx:3: more entries than the 0 promised");
        assert_eq!(message("array real general\n2 1\n1\n2\n3\n"), "m.mtx:5: more entries than the 2 promised");
        assert_eq!(message("array real general\n0 1\n"), "m.mtx: has no rows");
        assert!(
            message("coordinate complex general\n").contains("the field `complex` is not supported; allowed: real")
        );
        assert!(message("array real hermitian\n").contains("the symmetry `hermitian` is not supported"));
        assert!(message("coordinate real symmetric\n2 3 0\n").ends_with("of size 2 x 3 cannot be symmetric"));
        assert!(message("x\n").contains("the first line must be"));
    }

    #[test]
    fn bogus_sizes_allocate_nothing() {
        assert!(message("coordinate real general\n1000000000000 3 1\n1 1 1\n").contains("is too large; at most"));
        assert!(message("coordinate real general\n4000000000 3 1\n1 1 1\n").contains("is too empty to be meant"));
        assert!(message("coordinate real general\n9 9 999999999999\n1 1 1\n").contains("promises 999999999999"));
        assert!(message("array real general\n9999999999 9999999999\n1\n").contains("is too large"));
        assert!(message("array real general\n999999 999999\n1\n").contains("promises 999998000001 entries but has 1"));
    }
}
