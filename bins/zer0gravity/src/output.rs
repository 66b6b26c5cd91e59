//! Where results go: files that are whole or not there, and never in the place of an input.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bin_support::{Failure, OutputFile, Session};
use serde::Serialize;

use crate::error::Error;

/// A file of results that is begun now, so that it is known to be writable, and written at the end. Missing folders are
/// made. `inputs` are files that it must not replace.
pub fn begin(
    path: &Path,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<OutputFile, Failure> {
    spare(path, inputs)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|source| Error::Write {
            path: path.to_owned(),
            source,
        })?;
    }
    Ok(OutputFile::begin(path)?)
}

/// Refuses a place for output that is one of `inputs`.
pub fn spare(
    path: &Path,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<(), Failure> {
    let place = resolved(path);
    if inputs
        .into_iter()
        .any(|input| resolved(input.as_ref()) == place)
    {
        return Err(Failure::usage(Error::OverInput {
            path: path.to_owned(),
        }));
    }
    Ok(())
}

/// One name for a file, whether it is there yet or not.
fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if let Ok(found) = absolute.canonicalize() {
        return found;
    }
    match (absolute.parent(), absolute.file_name()) {
        (Some(folder), Some(name)) => resolved(folder).join(name),
        _ => absolute,
    }
}

/// Writes `value` as JSON to a file, or to stdout; to stdout also where the file takes it no more.
pub fn json(
    file: Option<OutputFile>,
    value: &impl Serialize,
    session: &mut Session,
) -> Result<(), Failure> {
    let Some(file) = file else {
        return Ok(pretty(value, &mut session.results)?);
    };
    if let Err(error) = file.finish(|file| pretty(value, file)) {
        // What was paid for is not lost with a full disk.
        pretty(value, &mut session.results)?;
        return Err(error.into());
    }
    Ok(())
}

/// Two spaces a level, and a newline at the end.
fn pretty(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}
