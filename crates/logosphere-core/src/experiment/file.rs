//! Files that are written completely or not at all.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use durable::Disk;

use super::error::ExperimentError;

/// Returns the disk of the files in the folder `root` of an experiment, a sweep or a fork. Their names begin with the prefix until
/// they are complete. Nothing is written through a link below the folder, which may come from others.
pub(crate) fn disk(root: &Path) -> Disk {
    Disk::new(".draft-").inside(root)
}

/// Checks that a file of the folder `root` can be written: no link is at it, or at a folder between, and no pipe, device or
/// folder is in its place. A pipe could be waited for without end.
///
/// # Errors
/// [`ExperimentError::Write`] and [`ExperimentError::Irregular`].
pub fn check_place(root: &Path, file: &Path) -> Result<(), ExperimentError> {
    check(file, disk(root).check_place(file))
}

/// As [`check_place`], for a file that is changed in place and not replaced: it has no other name either, which may be that of a
/// file outside of the folder.
///
/// # Errors
/// Those of [`check_place`].
pub fn check_change(root: &Path, file: &Path) -> Result<(), ExperimentError> {
    check(file, disk(root).check_change(file))
}

fn check(file: &Path, checked: io::Result<()>) -> Result<(), ExperimentError> {
    checked.map_err(|source| ExperimentError::Write {
        path: file.to_owned(),
        source,
    })?;
    match fs::symlink_metadata(file) {
        Ok(found) if !found.is_file() => Err(irregular(file, NOT_REGULAR)),
        _ => Ok(()),
    }
}

const NOT_REGULAR: &str = "not a regular file";

fn irregular(path: &Path, why: &'static str) -> ExperimentError {
    let path = path.to_owned();
    ExperimentError::Irregular { path, why }
}

/// The treatment of an existing file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExistingFile {
    /// The file is replaced.
    Replace,
    /// The file stays, and nothing is written.
    Spare,
}

/// Writes a file of the folder `root` to the disk, then moves it to its place in one step.
pub(crate) fn write(
    root: &Path,
    path: &Path,
    content: &[u8],
    old: ExistingFile,
) -> Result<(), ExperimentError> {
    check_place(root, path)?;
    let written = match old {
        ExistingFile::Replace => disk(root).replace(path, content),
        ExistingFile::Spare => disk(root).create(path, content),
    };
    written.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists if old == ExistingFile::Spare => ExperimentError::Exists {
            path: path.to_owned(),
        },
        _ => ExperimentError::Write {
            path: path.to_owned(),
            source,
        },
    })
}

/// Writes a file of the folder `root` in parts, then moves it to its place in one step.
pub(super) fn write_with(
    root: &Path,
    path: &Path,
    write: impl FnOnce(&mut io::BufWriter<&fs::File>) -> io::Result<()>,
) -> Result<(), ExperimentError> {
    check_place(root, path)?;
    let all = || {
        let staged = disk(root).stage(path)?;
        let mut out = io::BufWriter::new(staged.file());
        write(&mut out)?;
        out.flush()?;
        drop(out);
        staged.keep()
    };
    all().map_err(|source| ExperimentError::Write {
        path: path.to_owned(),
        source,
    })
}

/// The largest size in bytes of a file that is read whole.
const LONGEST: u64 = 1 << 30;
const TOO_LONG: &str = "longer than 1 GiB";

/// Reads a regular file of a limited size; `None` if it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, ExperimentError> {
    let failed = |source| ExperimentError::Read {
        path: path.to_owned(),
        source,
    };
    // A pipe could block, and a device has no end.
    match fs::metadata(path) {
        Ok(found) if found.len() > LONGEST => return Err(irregular(path, TOO_LONG)),
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(irregular(path, NOT_REGULAR)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(failed(source)),
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(failed)?;
    (file.take(LONGEST + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > LONGEST {
        return Err(irregular(path, TOO_LONG));
    }
    Ok(Some(bytes))
}

/// Makes a directory in the folder `root` and its parents if they do not exist.
pub(crate) fn make_folder(root: &Path, path: &Path) -> Result<(), ExperimentError> {
    disk(root)
        .make_folder(path)
        .map_err(|source| ExperimentError::Write {
            path: path.to_owned(),
            source,
        })
}
