//! The complete lines of a file that another process appends to.

use std::io::{self, BufRead, ErrorKind, Read, Seek, SeekFrom};

/// The number of bytes that are read at once.
const CHUNK: u64 = 1 << 16;

/// The complete lines of a file that grows. At its end they are read as an empty buffer; later reads return the lines
/// that were added, and the bytes before these are not read again.
#[derive(Debug)]
pub(crate) struct WholeLines<R> {
    file: R,
    /// The position after the last complete line that was read.
    end: u64,
    /// The complete lines of the last read.
    lines: Vec<u8>,
    /// The number of their bytes that were consumed.
    used: usize,
    /// The bytes after them, which may be the start of a line.
    rest: Vec<u8>,
}

impl<R: Read + Seek> WholeLines<R> {
    /// Returns the lines of a file that is read from its start.
    pub(crate) fn new(file: R) -> Self {
        Self {
            file,
            end: 0,
            lines: Vec::new(),
            used: 0,
            rest: Vec::new(),
        }
    }

    /// Forgets an incomplete last line: it is read again, because a process that resumes the run moves it away.
    fn forget_rest(&mut self) -> io::Result<()> {
        self.rest.clear();
        if self.file.seek(SeekFrom::End(0))? < self.end {
            let message = "the journal became shorter while it was read";
            return Err(io::Error::new(ErrorKind::InvalidData, message));
        }
        self.file.seek(SeekFrom::Start(self.end))?;
        Ok(())
    }
}

impl<R: Read + Seek> Read for WholeLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: Read + Seek> BufRead for WholeLines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.used == self.lines.len() {
            self.used = 0;
            self.lines.clear();
            std::mem::swap(&mut self.lines, &mut self.rest);
            loop {
                let searched = self.lines.len();
                let read = (&mut self.file).take(CHUNK).read_to_end(&mut self.lines)?;
                if read == 0 {
                    self.lines.clear();
                    self.forget_rest()?;
                    break;
                }
                if let Some(at) = memchr::memrchr(b'\n', &self.lines[searched..]) {
                    self.rest = self.lines.split_off(searched + at + 1);
                    self.end += self.lines.len() as u64;
                    break;
                }
            }
        }
        Ok(&self.lines[self.used..])
    }

    fn consume(&mut self, bytes: usize) {
        self.used = (self.used + bytes).min(self.lines.len());
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, OpenOptions};
    use std::io::Write as _;

    use super::*;

    fn all(lines: &mut WholeLines<File>) -> io::Result<String> {
        let mut text = String::new();
        while lines.read_line(&mut text)? > 0 {}
        Ok(text)
    }

    #[test]
    fn lines_are_read_once_and_only_when_they_are_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let add = |bytes: &[u8]| {
            let mut file = OpenOptions::new().create(true).append(true).open(&path);
            file.as_mut().unwrap().write_all(bytes).unwrap();
        };
        add(b"one\ntw");
        let mut lines = WholeLines::new(File::open(&path).unwrap());
        assert_eq!(all(&mut lines).unwrap(), "one\n");
        assert_eq!(all(&mut lines).unwrap(), "");
        add(b"o\nthree\nf");
        assert_eq!(all(&mut lines).unwrap(), "two\nthree\n");
        // A process that resumes a run moves an incomplete line away.
        File::options()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_len(14))
            .unwrap();
        assert_eq!(all(&mut lines).unwrap(), "");
        let long = "x".repeat(3 * CHUNK as usize);
        add(format!("{long}\nend\n").as_bytes());
        assert_eq!(all(&mut lines).unwrap(), format!("{long}\nend\n"));
        File::create(&path).unwrap();
        let error = all(&mut lines).unwrap_err().to_string();
        assert!(error.contains("became shorter"), "{error}");
    }
}
