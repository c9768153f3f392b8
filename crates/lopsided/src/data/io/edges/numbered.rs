//! Lines of whole numbers, read by all threads.

use super::Separator;
use rayon::prelude::*;
use std::ops::Range;

/// Bytes of a piece.
const PIECE: usize = 1 << 18;

/// Some lines of a block.
pub(super) struct Piece {
    pub(super) bytes: Range<usize>,
    pub(super) lines: usize,
    /// Their links, if each of them is a link between whole numbers and nothing else.
    pub(super) links: Option<Vec<(u64, u64, f64)>>,
}

/// A block of whole lines in pieces, in its order.
pub(super) fn pieces(block: &[u8], separator: Option<Separator>) -> Vec<Piece> {
    let mut ranges = Vec::new();
    let mut start = 0;
    while start < block.len() {
        let tail = &block[(start + PIECE).min(block.len())..];
        let end = tail.iter().position(|b| *b == b'\n').map_or(block.len(), |at| block.len() - tail.len() + at + 1);
        ranges.push(start..end);
        start = end;
    }
    let piece = |bytes: Range<usize>| {
        let text = &block[bytes.clone()];
        let lines = text.split(|b| *b == b'\n').count() - usize::from(text.ends_with(b"\n"));
        Piece { bytes, lines, links: separator.and_then(|separator| links(text, separator, lines)) }
    };
    // One piece asks no other thread.
    if ranges.len() == 1 {
        ranges.into_iter().map(piece).collect()
    } else {
        ranges.into_par_iter().map(piece).collect()
    }
}

fn links(mut text: &[u8], separator: Separator, lines: usize) -> Option<Vec<(u64, u64, f64)>> {
    let mut links = Vec::with_capacity(lines);
    while !text.is_empty() {
        let source = number(&mut text)?;
        separate(&mut text, separator)?;
        let target = number(&mut text)?;
        let weight = if ends(&mut text) {
            1.0
        } else {
            separate(&mut text, separator)?;
            weight(&mut text)?
        };
        links.push((source, target, weight));
    }
    Some(links)
}

/// A number without sign or leading zeros, as [`super::super::fields::whole`] wants it.
fn number(text: &mut &[u8]) -> Option<u64> {
    let length = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    // All numbers of 19 digits can be held.
    if length == 0 || length > 19 || length > 1 && digits[0] == b'0' {
        return None;
    }
    *text = rest;
    Some(digits.iter().fold(0, |number, digit| 10 * number + u64::from(digit - b'0')))
}

fn separate(text: &mut &[u8], separator: Separator) -> Option<()> {
    let length = match separator {
        Separator::Char(char) => usize::from(text.first() == Some(&(char as u8))),
        Separator::White => text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count(),
    };
    *text = &text[length..];
    (length > 0).then_some(())
}

/// Whether the line ends here; its end is taken.
fn ends(text: &mut &[u8]) -> bool {
    let length = match text {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        [] => 0,
        _ => return false,
    };
    *text = &text[length..];
    true
}

/// The rest of the line, which is a finite number.
fn weight(text: &mut &[u8]) -> Option<f64> {
    let length = text.iter().position(|b| *b == b'\n').map_or(text.len(), |at| at + 1);
    let (line, rest) = text.split_at(length);
    *text = rest;
    let weight: f64 = str::from_utf8(line.trim_ascii()).ok()?.parse().ok()?;
    weight.is_finite().then_some(weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, separator: Separator) -> Option<Vec<(u64, u64, f64)>> {
        let pieces = pieces(text.as_bytes(), Some(separator));
        assert_eq!(pieces[0].lines, text.lines().count());
        pieces[0].links.clone()
    }

    #[test]
    fn only_plain_numbers_are_taken() {
        let comma = Separator::Char(',');
        assert_eq!(of("1,2\n0,30,0.5\r\n4,5", comma), Some(vec![(1, 2, 1.0), (0, 30, 0.5), (4, 5, 1.0)]));
        assert_eq!(of("1 2\n3\t 4 -1e3\n", Separator::White), Some(vec![(1, 2, 1.0), (3, 4, -1000.0)]));
        for text in [
            "01,2",
            "1,2,",
            "1,2,nan",
            "1,2,3,4",
            "a,1",
            "1",
            "\n",
            "# 1,2",
            "-1,2",
            "1, 2",
            "\"1\",2",
            "12345678901234567890,1",
        ] {
            assert_eq!(of(text, comma), None, "{text}");
        }
    }

    #[test]
    fn pieces_end_with_lines() {
        let text = "12345,67890\n".repeat(PIECE / 4);
        let pieces = pieces(text.as_bytes(), Some(Separator::Char(',')));
        assert!(pieces.len() > 2);
        assert_eq!(pieces.iter().map(|p| p.lines).sum::<usize>(), PIECE / 4);
        assert!(pieces.iter().all(|p| text.as_bytes()[p.bytes.end - 1] == b'\n' && p.links.is_some()));
    }
}
