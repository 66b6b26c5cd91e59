use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::Disk;
use crate::disk::{Step, folder};

/// Replaces the file at `path`, or creates it, as [`Disk::default`] does.
///
/// # Errors
/// The file cannot be written; its old content remains.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    Disk::default().replace(path, bytes)
}

/// A new file with a random name in the folder of the file that it will replace. Dropped before that, it is removed.
#[derive(Debug)]
pub struct StagedFile {
    file: NamedTempFile,
    place: PathBuf,
    disk: Disk,
}

impl Disk {
    /// Replaces the file at `path`, or creates it.
    ///
    /// # Errors
    /// The file cannot be written; its old content remains.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let staged = self.stage(path)?;
        staged.write(bytes)?;
        staged.keep()
    }

    /// Creates the file at `path`.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`], and the file stays as it is; or it cannot be written.
    pub fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let staged = self.stage(path)?;
        staged.write(bytes)?;
        staged.sync()?;
        staged.file.persist_noclobber(path)?;
        self.sync_folder(path)
    }

    /// Begins a file for `path`. This shows early whether the folder takes one.
    ///
    /// # Errors
    /// The folder takes no new file, or a link is on the way to a file of a disk with a root.
    pub fn stage(&self, path: &Path) -> io::Result<StagedFile> {
        self.check_place(path)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(self.prefix).suffix(".part");
        // The name must not be taken, so that no link that waits there is followed and no other writer has it.
        let (file, place) = if self.is_private {
            // Its mode is 0600.
            (builder.tempfile_in(folder(path))?, path.to_owned())
        } else {
            let followed = self
                .root
                .is_none()
                .then(|| path.canonicalize().ok())
                .flatten();
            let place = followed.unwrap_or_else(|| path.to_owned());
            // As any other new file: the process' mask takes from these.
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            let file = builder.tempfile_in(folder(&place))?;
            if let Ok(old) = fs::metadata(&place) {
                file.as_file().set_permissions(old.permissions())?;
            }
            (file, place)
        };
        let disk = self.clone();
        Ok(StagedFile { file, place, disk })
    }
}

impl StagedFile {
    /// The file, to be written to.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Writes bytes at the end of the file.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        (self.disk).write(Step::Write, self.file(), &self.place, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        (self.disk).sync(self.file(), &self.place, File::sync_all)?;
        self.disk.step(Step::Rename, &self.place)
    }

    /// Brings the file to the disk, moves it to its place in one step, and brings its name to the disk.
    ///
    /// # Errors
    /// The file cannot be synced or moved, or its name cannot be synced.
    pub fn keep(self) -> io::Result<()> {
        let (disk, place) = (self.disk.clone(), self.place.clone());
        self.move_to_place()?;
        disk.sync_folder(&place)
    }

    /// As [`StagedFile::keep`], but for the name: [`Disk::sync_folder`] brings it to the disk.
    ///
    /// # Errors
    /// The file cannot be synced or moved; the old one remains.
    pub fn move_to_place(self) -> io::Result<()> {
        self.sync()?;
        let kept = self.file.persist(&self.place);
        kept.map(drop).map_err(|error| error.error)
    }
}
