//! Files that are there as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

use super::ExperimentError;

/// What the name of a file begins with until it is whole.
const DRAFT: &str = ".draft-";

/// What may be done to a file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Old {
    /// It is replaced.
    Replace,
    /// It stays, and nothing is written.
    Spare,
}

/// Writes a file to the disk, then moves it to its place in one step.
pub(super) fn write(path: &Path, content: &[u8], old: Old) -> Result<(), ExperimentError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    put(path, folder, content, old).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists if old == Old::Spare => ExperimentError::Exists {
            path: path.to_owned(),
        },
        _ => ExperimentError::Write {
            path: path.to_owned(),
            source,
        },
    })
}

fn put(path: &Path, folder: &Path, content: &[u8], old: Old) -> io::Result<()> {
    let draft = tempfile::Builder::new()
        .prefix(DRAFT)
        // Made by hand, it can be read by whom the user lets read new files, and not by the user alone.
        .make_in(folder, |draft| File::create_new(draft))?;
    let mut draft: NamedTempFile = draft;
    draft.write_all(content)?;
    draft.as_file().sync_all()?;
    match old {
        Old::Replace => draft.persist(path)?,
        Old::Spare => draft.persist_noclobber(path)?,
    };
    // The name is on the disk when its folder is. Not every system can do that.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Removes drafts that a killed process left in a folder.
pub(super) fn remove_drafts(folder: &Path) -> Result<(), ExperimentError> {
    let failed = |path: &Path, source| ExperimentError::Write {
        path: path.to_owned(),
        source,
    };
    for entry in fs::read_dir(folder).map_err(|source| failed(folder, source))? {
        let entry = entry.map_err(|source| failed(folder, source))?;
        let is_draft = entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(DRAFT.as_bytes());
        if is_draft && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let path = entry.path();
            fs::remove_file(&path).map_err(|source| failed(&path, source))?;
        }
    }
    Ok(())
}

/// A file's bytes; none if there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, ExperimentError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ExperimentError::Read {
            path: path.to_owned(),
            source,
        }),
    }
}

/// Makes a directory and those that it lies in, where they are not there.
pub(super) fn make_folder(path: &Path) -> Result<(), ExperimentError> {
    fs::create_dir_all(path).map_err(|source| ExperimentError::Write {
        path: path.to_owned(),
        source,
    })
}
