//! Files of the data directory that a person may have written: settings, keys, an export.

use std::io::ErrorKind;
use std::path::Path;
use std::{fs, io};

/// Returns whether the file exists.
///
/// # Errors
/// The path is a pipe, a socket or a device, which might never end.
pub fn is_there(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() || found.is_dir() => Ok(true),
        Ok(_) => Err(io::Error::other("not a regular file")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the text of a file, or `None` if it does not exist.
///
/// # Errors
/// Those of [`is_there`], or the file cannot be read.
pub fn read_text(path: &Path) -> io::Result<Option<String>> {
    is_there(path)?
        .then(|| fs::read_to_string(path))
        .transpose()
}
