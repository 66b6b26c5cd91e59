//! A file that is written as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::Error;

/// A file in the making: it lies beside its place until everything is on the disk, and is moved there in one step. What stood
/// there stays until then; dropped before, it leaves nothing.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    draft: PathBuf,
    file: File,
}

impl OutputFile {
    /// Begins a file, which shows early whether `path` can be written at all.
    ///
    /// # Errors
    /// [`Error::OutputFile`].
    pub fn begin(path: &Path) -> Result<Self, Error> {
        if path.is_dir() {
            return Err(failed(path, ErrorKind::IsADirectory.into()));
        }
        let draft = beside(path);
        let file = File::create(&draft).map_err(|source| failed(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            draft,
            file,
        })
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
        let written = fill(&mut writer)
            .and_then(|()| writer.flush())
            .and_then(|()| self.file.sync_all())
            .and_then(|()| fs::rename(&self.draft, &self.path));
        written.map_err(|source| failed(&self.path, source))
    }
}

/// Takes the file away unless it was moved.
impl Drop for OutputFile {
    fn drop(&mut self) {
        // After the move there is nothing to take away.
        let _ = fs::remove_file(&self.draft);
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
}
