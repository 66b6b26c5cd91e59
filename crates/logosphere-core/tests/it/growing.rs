//! A journal that is read while it grows.

use std::cell::{Cell, RefCell};
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

use logosphere_core::Transcript;
use logosphere_core::config::Scheduling;
use logosphere_core::verify::{GrowingRun, ResumeError, ResumedRun};

use crate::desk;

/// A file that another process writes, and the number of its bytes that were read.
#[derive(Clone, Default)]
struct Growing {
    bytes: Rc<RefCell<Vec<u8>>>,
    read: Rc<Cell<u64>>,
    at: usize,
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bytes.borrow();
        let mut rest = &bytes[self.at.min(bytes.len())..];
        let read = rest.read(buffer)?;
        self.at += read;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}

impl Seek for Growing {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at as usize,
            _ => self.bytes.borrow().len(),
        };
        Ok(self.at as u64)
    }
}

fn journal() -> Vec<u8> {
    let settings = desk::settings(Scheduling::Snapshot);
    desk::run(&settings, desk::mind(&settings)).1
}

#[test]
fn at_every_line_the_run_is_that_of_the_journal_so_far() {
    let journal = journal();
    let file = Growing::default();
    file.bytes.borrow_mut().extend_from_slice(&journal[..9]);
    assert!(GrowingRun::begin(file.clone()).unwrap().is_none());
    file.bytes.borrow_mut().clear();
    let mut run = None;
    let mut end = 0;
    for line in journal.split_inclusive(|byte| *byte == b'\n') {
        // The start of a line changes nothing.
        for part in [&line[..line.len() / 2], &line[line.len() / 2..]] {
            file.bytes.borrow_mut().extend_from_slice(part);
            if run.is_none() {
                run = GrowingRun::begin(file.clone()).unwrap();
            }
            if let Some(run) = &mut run {
                run.advance().unwrap();
            }
        }
        end += line.len();
        let run = run.as_ref().unwrap();
        let whole = ResumedRun::read(&journal[..end]).unwrap();
        assert_eq!(
            run.transcript(),
            &Transcript::read(&journal[..end]).unwrap()
        );
        assert_eq!(run.state().next(), whole.state.next());
        assert_eq!(run.state().protocol(), whole.state.protocol());
        assert_eq!(run.spent_ms(), whole.spent_ms);
    }
    // Half a line was read twice, and no line again.
    assert!(file.read.get() < 2 * journal.len() as u64);
}

#[test]
fn lines_that_are_read_are_not_read_again() {
    let journal = journal();
    let file = Growing::default();
    file.bytes.borrow_mut().extend_from_slice(&journal);
    let mut run = GrowingRun::begin(file.clone()).unwrap().unwrap();
    for _ in 0..100 {
        run.advance().unwrap();
    }
    assert_eq!(file.read.get(), journal.len() as u64);
}

#[test]
fn a_line_that_was_altered_is_an_error() {
    let mut journal = journal();
    let at = journal.len() - 40;
    journal[at] ^= 1;
    let file = Growing::default();
    file.bytes.borrow_mut().extend_from_slice(&journal);
    let mut run = GrowingRun::begin(file).unwrap().unwrap();
    assert!(run.advance().is_err());
}

#[test]
fn a_file_that_was_removed_or_replaced_is_not_read_on() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("journal"), folder.path().join("other"));
    assert!(GrowingRun::open(&path).unwrap().is_none());
    for is_replaced in [true, false] {
        std::fs::write(&path, journal()).unwrap();
        std::fs::write(&other, journal()).unwrap();
        let mut run = GrowingRun::open(&path).unwrap().unwrap();
        run.advance().unwrap();
        if is_replaced {
            std::fs::rename(&other, &path).unwrap();
        } else {
            std::fs::remove_file(&path).unwrap();
        }
        let error = run.advance().unwrap_err();
        assert!(matches!(error, ResumeError::File { .. }), "{error:?}");
    }
    assert!(matches!(
        GrowingRun::open(folder.path()),
        Err(ResumeError::File { .. })
    ));
}
