use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Replaces the file at `path`, or creates it; a link is followed.
///
/// # Errors
/// The file cannot be written; its old content remains.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = Draft::begin(path)?;
    draft.file().write_all(bytes)?;
    draft.keep()
}

/// A new file with a random name in the folder of the file that it will replace.
#[derive(Debug)]
pub struct Draft {
    file: NamedTempFile,
    place: PathBuf,
}

impl Draft {
    /// Begins a file with the mode of the one at `path`, or that of any new file. A link is followed.
    ///
    /// # Errors
    /// The folder takes no new file.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".orrery-").suffix(".part");
        // As any other new file: the process' mask takes from these.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        // The name must not be taken, so that no link that waits there is followed and no other writer has it.
        let file = builder.tempfile_in(folder(&place))?;
        if let Ok(old) = fs::metadata(&place) {
            file.as_file().set_permissions(old.permissions())?;
        }
        Ok(Self { file, place })
    }

    /// The file, to be written to.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Moves the file to its place in one step, and puts both on the disk.
    ///
    /// # Errors
    /// The file cannot be synced or moved.
    pub fn keep(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file
            .persist(&self.place)
            .map_err(|error| error.error)?;
        // A folder that may be written to and not read cannot be opened, and some file systems sync none.
        match File::open(folder(&self.place)).and_then(|folder| folder.sync_all()) {
            Err(error) if error.raw_os_error().is_some_and(is_io_error) => Err(error),
            _ => Ok(()),
        }
    }
}

/// `EIO`: the disk has lost something.
fn is_io_error(code: i32) -> bool {
    code == 5
}

fn folder(place: &Path) -> &Path {
    match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
