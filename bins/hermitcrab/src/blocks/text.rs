//! The text of an edit.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::PathBuf;

use pscale_blocks::MAX_FILE;

use crate::error::Error;

/// Returns the text of the command line, or that of stdin if there is no text or it is `-`.
///
/// The line break at the end of stdin is left out, because a shell adds it.
///
/// # Errors
/// [`Error::MissingText`] with the `purpose` of the text if stdin is a terminal, where the command would wait without a word.
pub fn read(argument: Option<&str>, purpose: &'static str) -> Result<String, Error> {
    match argument {
        Some("-") => from_stdin(),
        Some(text) => Ok(text.to_owned()),
        None if io::stdin().is_terminal() => Err(Error::MissingText { purpose }),
        None => from_stdin(),
    }
}

fn from_stdin() -> Result<String, Error> {
    let path = || PathBuf::from("stdin");
    let mut bytes = Vec::new();
    // A text may not be longer, so the rest is not read.
    let mut stdin = io::stdin().take(MAX_FILE as u64);
    let read = stdin.read_to_end(&mut bytes);
    read.map_err(|source| Error::Read {
        path: path(),
        source,
    })?;
    let mut text = String::from_utf8(bytes).map_err(|_| Error::NotText { path: path() })?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}
