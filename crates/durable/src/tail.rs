use std::io::{self, Read, Seek, SeekFrom};

use crate::Line;

/// The fewest bytes that are read at once.
const STEP: u64 = 1 << 16;

/// The complete lines of a file from its end: see [`tail`].
#[derive(Debug)]
pub struct TailLines<R> {
    file: R,
    /// The bytes of the file from `begin` on, up to the end of the next line. Empty if there is none.
    bytes: Vec<u8>,
    begin: u64,
    whole: u64,
    number: usize,
}

/// Reads the complete lines of a file, the last one first. Only as much of the file is read as the lines that are taken
/// need, 64 KiB at a time.
///
/// Lines are numbered as they come: the last one of the file is number 1. An incomplete last line is passed over; see
/// [`TailLines::whole`]. After an error there are no more lines.
///
/// # Errors
/// The end of the file cannot be read.
pub fn tail<R: Read + Seek>(mut file: R) -> io::Result<TailLines<R>> {
    let begin = file.seek(SeekFrom::End(0))?;
    let mut tail = TailLines {
        file,
        bytes: Vec::new(),
        begin,
        whole: 0,
        number: 0,
    };
    while tail.begin > 0 {
        tail.read_step()?;
        let end = tail.bytes.iter().rposition(|byte| *byte == b'\n');
        tail.bytes.truncate(end.map_or(0, |end| end + 1));
        if end.is_some() {
            tail.whole = tail.begin + tail.bytes.len() as u64;
            break;
        }
    }
    Ok(tail)
}

impl<R: Read + Seek> TailLines<R> {
    /// The number of bytes in the complete lines of the file. What follows them was not written to its end.
    pub fn whole(&self) -> u64 {
        self.whole
    }

    /// Reads what is before the bytes in memory; answers how much it is. A long line takes longer steps, so that its bytes
    /// are not moved once for each of them.
    fn read_step(&mut self) -> io::Result<usize> {
        let step = STEP.max(self.bytes.len() as u64).min(self.begin);
        self.file.seek(SeekFrom::Start(self.begin - step))?;
        let mut bytes = vec![0; step as usize];
        self.file.read_exact(&mut bytes)?;
        bytes.append(&mut self.bytes);
        self.bytes = bytes;
        self.begin -= step;
        Ok(step as usize)
    }

    fn line(&mut self) -> io::Result<Line> {
        // The last byte is the end of this line.
        let mut unseen = self.bytes.len() - 1;
        let start = loop {
            match self.bytes[..unseen].iter().rposition(|byte| *byte == b'\n') {
                Some(end) => break end + 1,
                None if self.begin == 0 => break 0,
                None => unseen = self.read_step()?,
            }
        };
        self.number += 1;
        Ok(Line {
            number: self.number,
            offset: self.begin + start as u64,
            bytes: self.bytes.split_off(start),
        })
    }
}

impl<R: Read + Seek> Iterator for TailLines<R> {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let line = self.line();
        if line.is_err() {
            self.bytes.clear();
        }
        Some(line)
    }
}
