//! What the pages of a Parquet file promise, looked at before its reader believes it.
//!
//! A page begins with a header in Thrift's compact protocol, in which texts and lists say how long they are, and which says how
//! large the page is when it is decompressed. The reader allocates what these numbers say; here they are compared with the bytes
//! that are there and with the memory allowed.

use crate::base::error::{Error, Result};
use crate::base::memory;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::ChunkReader;

/// Bytes of a header that are read at first; statistics of long texts make longer ones.
const USUAL: usize = 1 << 12;
/// Structures within structures.
const DEEPEST: usize = 16;
/// Fields of a page's header: bytes as they are when decompressed, and in the file.
const UNCOMPRESSED: i64 = 2;
const COMPRESSED: i64 = 3;

/// Refuses a file whose chunks or pages promise what is not there, or more than is allowed.
pub(super) fn check(name: &str, file: &impl ChunkReader, described: &ParquetMetaData) -> Result<()> {
    for group in described.row_groups() {
        let largest = group.columns().iter().map(|column| check_chunk(name, file, column));
        // A page and a dictionary of every column are held at once.
        let held = largest.collect::<Result<Vec<u64>>>()?.into_iter().fold(0, u64::saturating_add);
        memory::check(name, held, "write it with smaller pages, or allow more memory (memory)")?;
    }
    Ok(())
}

/// The bytes of the two largest pages of a column.
fn check_chunk(name: &str, file: &impl ChunkReader, column: &ColumnChunkMetaData) -> Result<u64> {
    let broken = |what: &str| Error::parse(name, format!("is no valid Parquet file: {what}"));
    let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    let range = u64::try_from(start).ok().zip(u64::try_from(column.compressed_size()).ok());
    let (mut at, size) = range.ok_or_else(|| broken("a column has a negative place or length"))?;
    let end = at.checked_add(size).filter(|end| *end <= file.len());
    let end = end.ok_or_else(|| broken("a column lies beyond the end of the file"))?;
    let mut largest = [0u64; 2];
    while at < end {
        let left = usize::try_from(end - at).map_err(|_| broken("a column is too long"))?;
        let header = Header::read(file, at, left).ok_or_else(|| broken("the header of a page is damaged"))?;
        at = at + header.length + header.compressed;
        if at > end {
            return Err(broken("a page is longer than its column"));
        }
        if header.uncompressed > largest[0] {
            largest = [header.uncompressed, largest[0]];
        } else {
            largest[1] = largest[1].max(header.uncompressed);
        }
    }
    Ok(largest[0].saturating_add(largest[1]))
}

/// What the header of a page says, and how long it is.
#[derive(Debug, PartialEq)]
struct Header {
    length: u64,
    uncompressed: u64,
    compressed: u64,
}

impl Header {
    /// Of a page at some place of a file with so many bytes left in its column; none for a damaged one.
    fn read(file: &impl ChunkReader, at: u64, left: usize) -> Option<Self> {
        let some = file.get_bytes(at, left.min(USUAL)).ok()?;
        if let Some(header) = Header::of(&some) {
            return Some(header);
        }
        // Longer than usual, or damaged.
        if left > USUAL { Header::of(&file.get_bytes(at, left).ok()?) } else { None }
    }

    fn of(bytes: &[u8]) -> Option<Self> {
        let mut walk = Walk { left: bytes };
        let sizes = walk.fields(0)?;
        let size = |id| u64::try_from(sizes.iter().find(|(field, _)| *field == id)?.1).ok();
        let length = (bytes.len() - walk.left.len()) as u64;
        Some(Header { length, uncompressed: size(UNCOMPRESSED)?, compressed: size(COMPRESSED)? })
    }
}

/// Goes through values in Thrift's compact protocol; none where they are longer than what is left.
struct Walk<'a> {
    left: &'a [u8],
}

impl Walk<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.left.split_first()?;
        self.left = rest;
        Some(*first)
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        self.left = self.left.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    /// A number of seven bits in each byte, the lowest first.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// The fields of a structure: numbers of those that are 32-bit numbers, all others are skipped.
    fn fields(&mut self, depth: usize) -> Option<Vec<(i64, i64)>> {
        let (mut id, mut numbers) = (0i64, Vec::new());
        loop {
            let start = self.byte()?;
            if start == 0 {
                return Some(numbers);
            }
            id = if start >> 4 == 0 { self.signed()? } else { id.checked_add(i64::from(start >> 4))? };
            match start & 0xf {
                5 => numbers.push((id, self.signed()?)),
                // The value of a flag is its kind.
                1 | 2 => {}
                kind => self.value(kind, depth)?,
            }
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match kind {
            1..=3 => self.skip(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.skip(8),
            8 => {
                let length = self.number()?;
                self.skip(length)
            }
            9 | 10 => {
                let start = self.byte()?;
                let count = if start >> 4 == 15 { self.number()? } else { u64::from(start >> 4) };
                // Every element has a byte at least.
                if count > self.left.len() as u64 {
                    return None;
                }
                (0..count).try_for_each(|_| self.value(start & 0xf, depth + 1))
            }
            12 => self.fields(depth + 1).map(|_| ()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Type 0, 1000 bytes uncompressed, 300 in the file, then a structure with a text and a list of flags.
    fn header() -> Vec<u8> {
        let (type_, uncompressed, compressed) = ([0x15, 0x00], [0x15, 0xd0, 0x0f], [0x15, 0xd8, 0x04]);
        let inner = [0x2c, 0x18, 0x03, b'a', b'b', b'c', 0x19, 0x21, 1, 2, 0x11, 0x00];
        [&type_[..], &uncompressed, &compressed, &inner, &[0x00]].concat()
    }

    #[test]
    fn sizes_are_found() {
        let mut bytes = header();
        let length = bytes.len() as u64;
        bytes.extend([9; 20]);
        assert_eq!(Header::of(&bytes), Some(Header { length, uncompressed: 1000, compressed: 300 }));
    }

    #[test]
    fn nothing_is_believed() {
        let whole = header();
        for end in 0..whole.len() {
            assert_eq!(Header::of(&whole[..end]), None, "{end}");
        }
        // The text says that it is as long as can be.
        let mut long = whole[..10].to_vec();
        long.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
        assert_eq!(Header::of(&long), None);
        let mut deep = vec![0x1c; 100];
        deep.extend([0; 101]);
        assert_eq!(Header::of(&deep), None);
        let negative = [0x15, 0x00, 0x15, 0x01, 0x15, 0x02, 0x00];
        assert_eq!(Header::of(&negative), None);
    }
}
