use std::io::{self, BufRead};

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Line {
    /// The number of the line, from 1, counted from the side where the reading begins.
    pub number: usize,
    /// Bytes of the file before it.
    pub offset: u64,
    /// The line with its end.
    pub bytes: Vec<u8>,
}

impl Line {
    /// Whether the line has its end. A last line without it was not written to its end.
    pub fn is_whole(&self) -> bool {
        self.bytes.ends_with(b"\n")
    }

    /// The line without its end.
    pub fn text(&self) -> &[u8] {
        self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes)
    }
}

/// The lines of a file, one in memory at a time. After an error there are no more.
pub fn lines(mut file: impl BufRead) -> impl Iterator<Item = io::Result<Line>> {
    let (mut number, mut offset, mut has_failed) = (0, 0, false);
    std::iter::from_fn(move || {
        if has_failed {
            return None;
        }
        let mut bytes = Vec::new();
        let line = match file.read_until(b'\n', &mut bytes) {
            Ok(0) => return None,
            Ok(_) => Line {
                number: number + 1,
                offset,
                bytes,
            },
            Err(error) => {
                has_failed = true;
                return Some(Err(error));
            }
        };
        number += 1;
        offset += line.bytes.len() as u64;
        Some(Ok(line))
    })
}
