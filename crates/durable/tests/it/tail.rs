use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use durable::{Line, lines, tail};

/// A file in memory that counts the bytes that are read of it, and ends with an error after `limit` of them.
struct Counting {
    file: Cursor<Vec<u8>>,
    read: Arc<AtomicU64>,
    limit: u64,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        let before = self.read.fetch_add(read as u64, Ordering::Relaxed);
        if before + read as u64 > self.limit {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(read)
    }
}

impl Seek for Counting {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

fn counting(bytes: Vec<u8>, limit: u64) -> (Counting, Arc<AtomicU64>) {
    let read = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&read);
    let file = Cursor::new(bytes);
    (Counting { file, read, limit }, counted)
}

/// As the line is: where it begins and its bytes.
fn place(line: Line) -> (u64, Vec<u8>) {
    (line.offset, line.bytes)
}

#[test]
fn the_lines_from_the_end_are_those_from_the_start() {
    let step = 1 << 16;
    for lengths in [
        &[][..],
        &[0],
        &[0, 0, 0],
        &[step - 1, step - 1],
        &[step, 1, step - 2, 0],
        &[3 * step + 7, 10, 9 * step],
        &[1; 1 << 10],
    ] {
        for torn in [0, 1, step, 3 * step + 1] {
            let mut text = Vec::new();
            for (index, length) in lengths.iter().enumerate() {
                text.extend(vec![b'a' + (index % 26) as u8; *length]);
                text.push(b'\n');
            }
            let whole = text.len() as u64;
            text.extend(vec![b'~'; torn]);
            let forward = lines(&*text).map(Result::unwrap);
            let mut forward: Vec<_> = forward.filter(Line::is_whole).map(place).collect();
            forward.reverse();
            let found = tail(Cursor::new(&text)).unwrap();
            assert_eq!(found.whole(), whole);
            let backward: Vec<_> = found.map(Result::unwrap).collect();
            assert!((1..).zip(&backward).all(|(n, line)| line.number == n));
            assert!(backward.into_iter().map(place).eq(forward));
        }
    }
}

#[test]
fn the_last_line_costs_one_step_however_long_the_file_is() {
    let text = b"a line of some bytes\n".repeat(1 << 16);
    let (file, read) = counting(text, u64::MAX);
    let mut found = tail(file).unwrap();
    assert!(found.next().unwrap().is_ok());
    assert_eq!(read.load(Ordering::Relaxed), 1 << 16);
    // Three steps have some 9,000 lines.
    assert_eq!(found.by_ref().take(9_000).count(), 9_000);
    assert_eq!(read.load(Ordering::Relaxed), 3 << 16);
}

#[test]
fn after_an_error_there_are_no_more_lines() {
    let (file, _) = counting(b"0123456\n".repeat(1 << 14), 1 << 16);
    let found: Vec<_> = tail(file).unwrap().map(|line| line.is_ok()).collect();
    // The first line of the step in memory may begin before it.
    assert_eq!(found.len(), 1 << 13);
    assert_eq!(found.iter().filter(|is_ok| !**is_ok).count(), 1);
    assert!(!found[found.len() - 1]);
}
