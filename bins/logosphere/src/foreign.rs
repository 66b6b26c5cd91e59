//! Imported messages that a command reads.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use bin_support::Failure;
use logosphere_core::import::ImportedRun;

use crate::error::Error;

/// The number of bytes by which a file of imported messages is known.
const BEGINNING: u64 = 64;

/// Returns the file of imported messages that a path refers to: that of a directory without a journal, or the file itself.
pub fn file(given: &Path) -> Option<PathBuf> {
    let path = if given.is_dir() {
        let has_journal = given.join("logs/experiment.jsonl").exists();
        (!has_journal).then(|| given.join("imported.jsonl"))?
    } else {
        given.to_owned()
    };
    if !path.is_file() {
        return None;
    }
    let mut beginning = Vec::new();
    let read = File::open(&path)
        .ok()?
        .take(BEGINNING)
        .read_to_end(&mut beginning);
    let is_import = read.is_ok() && ImportedRun::is_begun_by(&beginning);
    // A damaged file of this name is still one, and its error says what is wrong.
    (is_import || path.ends_with("imported.jsonl")).then_some(path)
}

/// Reads imported messages; `None` if a path refers to something else.
pub fn read(given: &Path) -> Result<Option<ImportedRun>, Failure> {
    let Some(path) = file(given) else {
        return Ok(None);
    };
    let opened = File::open(&path).map_err(|source| {
        let path = path.clone();
        Failure::usage(Error::Read { path, source })
    })?;
    let read = ImportedRun::read(BufReader::new(opened));
    let run = read.map_err(|source| Failure::usage(Error::ImportedFile { path, source }))?;
    Ok(Some(run))
}
