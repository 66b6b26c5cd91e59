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

/// Checks that a file of the folder `root` can be written: no link is at it, or at a folder between.
///
/// # Errors
/// [`ExperimentError::Write`].
pub fn check_place(root: &Path, file: &Path) -> Result<(), ExperimentError> {
    let checked = disk(root).check_place(file);
    checked.map_err(|source| ExperimentError::Write {
        path: file.to_owned(),
        source,
    })
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

/// Reads a regular file of a limited size; `None` if it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, ExperimentError> {
    let refused = |why| ExperimentError::Irregular {
        path: path.to_owned(),
        why,
    };
    let failed = |source| ExperimentError::Read {
        path: path.to_owned(),
        source,
    };
    // A pipe could block, and a device has no end.
    match fs::metadata(path) {
        Ok(found) if found.len() > LONGEST => return Err(refused("longer than 1 GiB")),
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(refused("not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(failed(source)),
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(failed)?;
    (file.take(LONGEST + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > LONGEST {
        return Err(refused("longer than 1 GiB"));
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
