//! Files of the data directory that a person may write: settings, keys, an export.

use std::io::ErrorKind;
use std::path::Path;
use std::{fs, io};

/// Whether there is a file to read.
///
/// # Errors
/// A pipe, a socket or a device in its place: reading one might wait without end.
pub fn is_there(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() || found.is_dir() => Ok(true),
        Ok(_) => Err(io::Error::other("not a regular file")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The text of a file; `None` if there is none.
///
/// # Errors
/// Those of [`is_there`], or it cannot be read.
pub fn read_text(path: &Path) -> io::Result<Option<String>> {
    is_there(path)?
        .then(|| fs::read_to_string(path))
        .transpose()
}
