use std::fs::File;
use std::io;
use std::path::Path;

use durable::Disk;

/// Opens a journal for reading.
///
/// # Errors
/// The system refuses, and a pipe, a device or a folder, which may have no end.
pub fn open_journal(path: &Path) -> io::Result<File> {
    Disk::default().open_read(path)
}
