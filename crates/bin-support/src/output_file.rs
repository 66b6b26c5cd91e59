//! A file that is written as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::{Error, Failure};

/// A file in the making: it lies beside its place until everything is on the disk, and is moved there in one step. What stood
/// there stays until then; dropped before, it leaves nothing.
///
/// A link is followed. A device or a pipe, such as `/dev/null`, is written to as it is.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    /// None for what is no file.
    draft: Option<PathBuf>,
    file: File,
}

impl OutputFile {
    /// Begins a file, which shows early whether `path` can be written at all.
    ///
    /// # Errors
    /// [`Error::OutputFile`].
    pub fn begin(path: &Path) -> Result<Self, Error> {
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let draft = match fs::metadata(&place) {
            Ok(found) if found.is_dir() => {
                return Err(failed(path, ErrorKind::IsADirectory.into()));
            }
            Ok(found) if !found.is_file() => None,
            _ => Some(beside(&place)),
        };
        let opened = match &draft {
            Some(draft) => File::create(draft),
            None => File::options().write(true).open(&place),
        };
        Ok(Self {
            file: opened.map_err(|source| failed(path, source))?,
            path: place,
            draft,
        })
    }

    /// As [`OutputFile::begin`], in a folder that is made if need be, and not in the place of one of `inputs`.
    ///
    /// # Errors
    /// [`Error::OutputFile`], or [`Error::OverInput`] as [`Failure::usage`].
    pub fn begin_beside(
        path: &Path,
        inputs: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<Self, Failure> {
        spare(path, inputs)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|source| failed(path, source))?;
        }
        Ok(Self::begin(path)?)
    }

    /// Writes it and moves it to its place.
    ///
    /// # Errors
    /// [`Error::OutputFile`]; what stood at its place still does.
    pub fn finish(
        self,
        fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
    ) -> Result<(), Error> {
        let mut writer = BufWriter::new(&self.file);
        let written = fill(&mut writer).and_then(|()| writer.flush());
        let kept = written.and_then(|()| match &self.draft {
            Some(draft) => self
                .file
                .sync_all()
                .and_then(|()| fs::rename(draft, &self.path)),
            None => Ok(()),
        });
        kept.map_err(|source| failed(&self.path, source))
    }
}

/// Takes the file away unless it was moved.
impl Drop for OutputFile {
    fn drop(&mut self) {
        // After the move there is nothing to take away.
        let _ = self.draft.as_ref().map(fs::remove_file);
    }
}

/// Refuses a place for output that is one of `inputs`, by whatever name.
///
/// # Errors
/// [`Error::OverInput`], as [`Failure::usage`].
pub fn spare(
    path: &Path,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<(), Failure> {
    let place = resolved(path);
    let mut inputs = inputs.into_iter();
    if inputs.any(|input| resolved(input.as_ref()) == place) {
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

/// Writes a file as a whole or not at all.
///
/// # Errors
/// [`Error::OutputFile`]; what stood at `path` still does.
pub fn write_file(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> Result<(), Error> {
    OutputFile::begin(path)?.finish(fill)
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::OutputFile {
        path: path.to_owned(),
        source,
    }
}

/// A file in the same folder, so that moving it is one step, under a name that no other process takes.
fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "these tests are about files")]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_there_as_a_whole_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("orrery-{}-output", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("out.json");
        write_file(&path, |file| file.write_all(b"one")).unwrap();
        let failed = write_file(&path, |file| {
            file.write_all(b"two")?;
            Err(ErrorKind::StorageFull.into())
        });
        assert!(matches!(failed, Err(Error::OutputFile { .. })));
        drop(OutputFile::begin(&path).unwrap());
        let left: Vec<_> = fs::read_dir(&folder).unwrap().flatten().collect();
        assert_eq!((fs::read(&path).unwrap(), left.len()), (b"one".to_vec(), 1));
        assert!(OutputFile::begin(&folder).is_err());
        assert!(OutputFile::begin(&folder.join("no/such/folder")).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_and_a_device_stays_one() {
        let folder = std::env::temp_dir().join(format!("orrery-{}-link", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (file, link) = (folder.join("file"), folder.join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_file(&link, |out| out.write_all(b"new")).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        let null = folder.join("null");
        std::os::unix::fs::symlink("/dev/null", &null).unwrap();
        write_file(&null, |out| out.write_all(b"gone")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
        fs::remove_dir_all(&folder).unwrap();
    }
}
