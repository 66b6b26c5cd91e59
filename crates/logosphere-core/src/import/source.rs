//! The bytes of a source: their hash, and lines of a limited length.

use std::io::{self, BufRead, Read};

use sha2::{Digest as _, Sha256};

/// The largest length of a line or a record in bytes.
pub(super) const LONGEST: usize = 16 << 20;

/// A file that is hashed while it is read.
pub(super) struct Source<R> {
    inner: R,
    sha256: Sha256,
}

impl<R: Read> Source<R> {
    pub(super) fn new(inner: R) -> Self {
        let sha256 = Sha256::new();
        Self { inner, sha256 }
    }

    /// Returns the SHA-256 of the bytes that were read.
    pub(super) fn sha256(self) -> String {
        hex::encode(self.sha256.finalize())
    }
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.sha256.update(&buffer[..read]);
        Ok(read)
    }
}

/// The lines of a source, without line ends and without a byte order mark at the start.
pub(super) struct SourceLines<R> {
    reader: R,
    line: Vec<u8>,
    number: u64,
    next: u64,
}

/// A line of a source.
#[derive(Debug, Clone, Copy)]
pub(super) struct SourceLine<'a> {
    /// The number, from 1.
    pub(super) number: u64,
    /// The position of its first byte.
    pub(super) offset: u64,
    /// The bytes; `None` if it is longer than [`LONGEST`].
    pub(super) bytes: Option<&'a [u8]>,
}

impl<R: BufRead> SourceLines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            line: Vec::new(),
            number: 0,
            next: 0,
        }
    }

    /// Returns the next line; `None` at the end.
    pub(super) fn next_line(&mut self) -> io::Result<Option<SourceLine<'_>>> {
        let mut offset = self.next;
        self.line.clear();
        let (mut is_long, mut is_ended) = (false, false);
        while !is_ended {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', buffer);
            let read = end.map_or(buffer.len(), |end| end + 1);
            is_ended = end.is_some();
            is_long = is_long || self.line.len() + read > LONGEST;
            if !is_long {
                self.line.extend_from_slice(&buffer[..read]);
            }
            self.reader.consume(read);
            self.next += read as u64;
        }
        if self.next == offset {
            return Ok(None);
        }
        self.number += 1;
        let mut bytes = &self.line[..];
        if let Some(marked) = bytes.strip_prefix("\u{feff}".as_bytes())
            && self.number == 1
        {
            offset += 3;
            bytes = marked;
        }
        bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        Ok(Some(SourceLine {
            number: self.number,
            offset,
            bytes: (!is_long).then_some(bytes),
        }))
    }
}

impl<'a> SourceLine<'a> {
    /// Returns the text of the line, or the problem with it.
    pub(super) fn text(self) -> Result<&'a str, String> {
        let Some(bytes) = self.bytes else {
            return Err(format!("longer than {LONGEST} bytes"));
        };
        str::from_utf8(bytes).map_err(|error| {
            let at = self.offset + error.valid_up_to() as u64;
            format!("invalid UTF-8 at byte {at} of the file")
        })
    }
}
