//! Messages of Arrow whose lengths are true.
//!
//! A compressed buffer begins with the length it has unpacked, and the reader of Arrow allocates what it says. Here a message is
//! read whole, which takes no more memory than it has bytes, and its lengths are compared with what is possible and allowed.

use crate::base::memory::Meter;
use arrow_ipc::{MessageHeader, RecordBatch, root_as_message};
use std::io::{self, Cursor, Read};

/// The most bytes that one packed byte can become: Zstandard makes a block of 128 KiB of four bytes.
const MOST: u64 = 1 << 15;
/// What a header takes before anything is packed.
const HEADER: u64 = 1 << 16;
/// Comes before the length of a message, but for those of the oldest writers.
const MARK: [u8; 4] = [0xff; 4];

/// A stream of messages, each of which is checked before it is passed on.
pub(super) struct Checked<R> {
    inner: R,
    /// The message that is passed on.
    message: Cursor<Vec<u8>>,
    /// Whether the messages are over; what follows is passed on as it is.
    over: bool,
    meter: Meter,
}

impl<R: Read> Checked<R> {
    pub(super) fn new(inner: R) -> Self {
        Checked { inner, message: Cursor::default(), over: false, meter: Meter::new("the unpacked columns") }
    }

    /// Reads the next message; what is no message is left to the reader of Arrow.
    fn next(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.over = !self.read_message(&mut bytes)?;
        self.message = Cursor::new(bytes);
        Ok(())
    }

    fn read_message(&mut self, bytes: &mut Vec<u8>) -> io::Result<bool> {
        if !self.more(bytes, 4)? || bytes.ends_with(&MARK) && !self.more(bytes, 4)? {
            return Ok(false);
        }
        let length = bytes.last_chunk().map_or(0, |length| i32::from_le_bytes(*length));
        let start = bytes.len();
        if length <= 0 || !self.more(bytes, u64::from(length.unsigned_abs()))? {
            return Ok(false);
        }
        let Ok(message) = root_as_message(&bytes[start..]) else { return Ok(false) };
        let Ok(length) = u64::try_from(message.bodyLength()) else { return Ok(false) };
        let mut body = Vec::new();
        let whole = self.more(&mut body, length)?;
        if whole {
            let dictionary = || message.header_as_dictionary_batch().and_then(|batch| batch.data());
            let batch = match message.header_type() {
                MessageHeader::RecordBatch => message.header_as_record_batch(),
                MessageHeader::DictionaryBatch => dictionary(),
                _ => None,
            };
            batch.map_or(Ok(()), |batch| self.check(&batch, &body))?;
        }
        bytes.append(&mut body);
        Ok(whole)
    }

    /// Appends so many bytes; false where there are fewer.
    fn more(&mut self, bytes: &mut Vec<u8>, count: u64) -> io::Result<bool> {
        Ok((&mut self.inner).take(count).read_to_end(bytes)? as u64 == count)
    }

    fn check(&self, batch: &RecordBatch<'_>, body: &[u8]) -> io::Result<()> {
        if batch.compression().is_none() {
            return Ok(());
        }
        let mut total: u64 = 0;
        for buffer in batch.buffers().iter().flatten() {
            let start = usize::try_from(buffer.offset()).ok();
            let prefix = start.and_then(|start| body.get(start..)).and_then(|rest| rest.first_chunk());
            // A length of −1 says that nothing is packed; what is out of range the reader of Arrow refuses.
            let promised = prefix.map_or(0, |prefix| i64::from_le_bytes(*prefix)).max(0).unsigned_abs();
            let packed = u64::try_from(buffer.length()).unwrap_or(0).min(body.len() as u64);
            if promised > packed.saturating_mul(MOST).saturating_add(HEADER) {
                return Err(io::Error::other(format!("{packed} packed bytes cannot become the {promised} promised")));
            }
            total = total.saturating_add(promised);
        }
        self.meter.holds(usize::try_from(total).unwrap_or(usize::MAX)).map_err(io::Error::other)
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.message.position() == self.message.get_ref().len() as u64 && !self.over {
            self.next()?;
        }
        match self.message.read(out)? {
            0 => self.inner.read(out),
            count => Ok(count),
        }
    }
}
