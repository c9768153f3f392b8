//! Where bytes come from: files, pipes and standard input, plain or gzipped.
//!
//! [`Source`] opens and unpacks, once for all formats; then it is taken as bytes ([`Source::reader`]), as lines
//! ([`Source::lines`]) or as something to seek in ([`Source::seekable`]). Text may start with a byte order mark and end
//! its lines with `\r\n`.

use crate::base::error::{Error, Result};
use crate::base::memory::Meter;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::Path;

const BUFFER: usize = 1 << 17;
/// What is read at once where threads share the work.
const BLOCK: u64 = 1 << 24;
/// Longer lines are taken for a file that is not text.
pub(super) const LONGEST_LINE: u64 = 1 << 30;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Whether the path stands for standard input.
pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The first line of a file without a byte order mark.
pub(super) fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
}

/// The extension in lower case, without `.gz`.
pub(super) fn extension(path: &Path) -> String {
    let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').map(|(_, extension)| extension.to_owned()).unwrap_or_default()
}

/// An opened input, unpacked on the way.
pub(super) struct Source {
    name: String,
    body: Body,
}

enum Body {
    File(File),
    Stream(Box<dyn BufRead>),
}

/// An input that can be read at any position.
pub(super) enum Seekable {
    File(File),
    Memory(Vec<u8>),
}

impl Source {
    /// Opens a path, `-` being standard input.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let name = if is_stdin(path) { "standard input".into() } else { path.display().to_string() };
        let body = open_body(path).map_err(|e| Error::io(&name, e))?;
        Ok(Source { name, body })
    }

    /// The name shown in errors.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The unpacked bytes.
    pub(super) fn reader(self) -> Box<dyn BufRead> {
        match self.body {
            Body::File(file) => buffered(file),
            Body::Stream(stream) => stream,
        }
    }

    /// The plain file, if it is one.
    pub(super) fn into_file(self) -> std::result::Result<File, Self> {
        match self.body {
            Body::File(file) => Ok(file),
            body @ Body::Stream(_) => Err(Source { body, ..self }),
        }
    }

    /// The unpacked lines.
    pub(super) fn lines(self) -> Lines {
        let name = self.name.clone();
        Lines { reader: self.reader(), name, number: 0, text: String::new() }
    }

    /// The file itself, or everything unpacked in memory when there is no plain file.
    pub(super) fn seekable(self) -> Result<Seekable> {
        match self.body {
            Body::File(file) => Ok(Seekable::File(file)),
            Body::Stream(_) => self.whole().map(Seekable::Memory),
        }
    }

    /// Everything unpacked in memory, if that is allowed to hold it: a few bytes can be packed gigabytes.
    pub(super) fn whole(self) -> Result<Vec<u8>> {
        let (name, meter) = (self.name.clone(), Meter::new(&format!("{}, unpacked,", self.name)));
        if let Body::File(file) = &self.body {
            meter.holds(file.metadata().map_or(0, |known| known.len() as usize))?;
        }
        let mut bytes = Vec::new();
        let most = meter.available().saturating_add(1);
        self.reader().take(most).read_to_end(&mut bytes).map_err(|e| Error::io(&name, e))?;
        if bytes.len() as u64 == most {
            let allowed = crate::base::error::bytes(meter.available());
            return Err(Error::parse(
                name,
                format!("holds more bytes than the memory, of which {allowed} are allowed"),
            ));
        }
        Ok(bytes)
    }

    /// Up to two lines of data from the beginning, without consuming them; a byte order mark is dropped.
    pub(super) fn peek(&mut self) -> Result<Vec<String>> {
        let body = std::mem::replace(&mut self.body, Body::Stream(Box::new(io::empty())));
        let mut lines = Source { name: self.name.clone(), body }.lines();
        let (mut seen, mut raw) = (Vec::new(), Vec::new());
        while seen.len() < 2 && lines.advance()? {
            raw.extend_from_slice(lines.text.as_bytes());
            if lines.is_data() {
                seen.push(lines.line().to_owned());
            }
        }
        self.body = Body::Stream(Box::new(Cursor::new(raw).chain(lines.reader)));
        Ok(seen)
    }
}

fn buffered(reader: impl Read + 'static) -> Box<dyn BufRead> {
    Box::new(BufReader::with_capacity(BUFFER, reader))
}

/// A plain file stays one, so that it can be sought in; everything else is a stream.
fn open_body(path: &Path) -> io::Result<Body> {
    if is_stdin(path) {
        return open_stream(io::stdin(), false);
    }
    let mut file = File::open(path)?;
    let packed = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    // Pipes that have a path cannot be rewound.
    if packed || !file.metadata()?.is_file() {
        return open_stream(file, packed);
    }
    let magic = is_gzip(&first_bytes(&mut file)?);
    file.rewind()?;
    if magic { open_stream(file, true) } else { Ok(Body::File(file)) }
}

/// Looks at the first two bytes for gzip's mark and puts them back.
fn open_stream(mut reader: impl Read + 'static, packed: bool) -> io::Result<Body> {
    let head = first_bytes(&mut reader)?;
    let packed = packed || is_gzip(&head);
    let whole = buffered(Cursor::new(head).chain(reader));
    Ok(Body::Stream(if packed { buffered(Gunzip(MultiGzDecoder::new(whole))) } else { whole }))
}

fn first_bytes(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(2).read_to_end(&mut head)?;
    Ok(head)
}

fn is_gzip(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b])
}

/// Unpacks, with errors that say that the packing is at fault.
struct Gunzip<R>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other("the gzip stream ends early"),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                io::Error::other(format!("the gzip stream is damaged ({e})"))
            }
            _ => e,
        })
    }
}

/// Text read line by line into one buffer.
pub(super) struct Lines {
    reader: Box<dyn BufRead>,
    name: String,
    number: usize,
    text: String,
}

impl Lines {
    /// Goes to the next line; false at the end.
    pub(super) fn advance(&mut self) -> Result<bool> {
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
        let mut limited = (&mut self.reader).take(LONGEST_LINE);
        let length = limited.read_until(b'\n', &mut bytes).map_err(|e| Error::io(&self.name, e))?;
        self.number += 1;
        if length as u64 == LONGEST_LINE {
            return Err(self.error("the line is longer than 1 GB; text with line breaks is expected"));
        }
        if self.number == 1 && bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        self.text = String::from_utf8(bytes).map_err(|_| self.error("the line is not UTF-8 text"))?;
        Ok(length > 0)
    }

    /// The next few megabytes, to the end of a line; none at the end. Whoever takes them says with [`Lines::skip`] how many lines they were.
    pub(super) fn block(&mut self) -> Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        let fault = |e| Error::io(&self.name, e);
        (&mut self.reader).take(BLOCK).read_to_end(&mut bytes).map_err(fault)?;
        if bytes.last().is_some_and(|b| *b != b'\n') {
            (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut bytes).map_err(fault)?;
        }
        Ok((!bytes.is_empty()).then_some(bytes))
    }

    /// The lines of a part of a block that begins here.
    pub(super) fn piece(&self, bytes: &[u8]) -> Lines {
        let reader = Box::new(Cursor::new(bytes.to_vec()));
        Lines { reader, name: self.name.clone(), number: self.number, text: String::new() }
    }

    /// Goes on by lines that were read as a block.
    pub(super) fn skip(&mut self, lines: usize) {
        self.number += lines;
    }

    /// Goes to the next line that is neither empty nor a comment; false at the end.
    pub(super) fn advance_to_data(&mut self) -> Result<bool> {
        while self.advance()? {
            if self.is_data() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Not a comment and not blank.
    fn is_data(&self) -> bool {
        let line = self.line();
        !line.starts_with(['#', '%']) && !line.trim_ascii().is_empty()
    }

    /// The line without its end.
    pub(super) fn line(&self) -> &str {
        self.text.trim_end_matches(['\n', '\r'])
    }

    /// The name shown in errors.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// An error that names the line.
    pub(super) fn error(&self, reason: impl Into<String>) -> Error {
        Error::parse(format!("{}:{}", self.name, self.number), reason)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{gzip, scratch};
    use super::*;

    fn all(path: &Path) -> Result<Vec<String>> {
        let mut lines = Source::open(path)?.lines();
        let mut out = Vec::new();
        while lines.advance_to_data()? {
            out.push(lines.line().to_owned());
        }
        Ok(out)
    }

    #[test]
    fn gzip_is_seen_by_suffix_and_by_content() {
        let text = "\u{feff}a\r\n# remark\n\nb";
        for (name, bytes) in [("x.txt", text.as_bytes().to_vec()), ("x.txt.gz", gzip(text)), ("x.txt", gzip(text))] {
            let (_dir, path) = scratch(name, bytes);
            assert_eq!(all(&path).unwrap(), ["a", "b"]);
        }
    }

    #[test]
    fn broken_gzip_is_an_error() {
        let packed = gzip("1 2\n".repeat(1000));
        let (_dir, path) = scratch("x.txt.gz", &packed[..packed.len() - 9]);
        assert!(all(&path).unwrap_err().to_string().ends_with("x.txt.gz: the gzip stream ends early"));
        let (_dir, path) = scratch("x.txt.gz", "plain text that nobody has packed");
        assert!(all(&path).unwrap_err().to_string().contains("the gzip stream is damaged"));
    }

    #[test]
    fn text_must_be_utf8() {
        let (_dir, path) = scratch("x.txt", b"ok\n\xff\xfe\n");
        assert!(all(&path).unwrap_err().to_string().ends_with("x.txt:2: the line is not UTF-8 text"));
    }

    #[test]
    fn peeking_consumes_nothing() {
        let (_dir, path) = scratch("x.csv", "# c\n1,2\n3,4\n5,6\n");
        let mut source = Source::open(&path).unwrap();
        assert_eq!(source.peek().unwrap(), ["1,2", "3,4"]);
        let mut text = String::new();
        source.reader().read_to_string(&mut text).unwrap();
        assert_eq!(text, "# c\n1,2\n3,4\n5,6\n");
    }

    #[test]
    fn the_extension_ignores_gz() {
        assert_eq!(extension(Path::new("a/b.CSV.gz")), "csv");
        assert_eq!(extension(Path::new("plain")), "");
    }
}
