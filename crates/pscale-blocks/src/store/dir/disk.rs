use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use jiff::Timestamp;

use crate::StoreError;

/// Files that are not finished. What is left of them is swept away at the next opening.
pub(super) const DRAFT: &str = ".pscale-";

/// What is done to the disk next. Bytes are written in two halves for a [`Watch`], so that it can stop between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Bytes are written at the end of a log.
    Append,
    /// Bytes are written to a new file.
    Write,
    /// A file or a folder is brought to the disk.
    Sync,
    /// A file gets its name.
    Rename,
    /// A log loses its end.
    Cut,
}

/// Is asked before each step; its error is the step's. For tests that stop a save where it hurts.
pub type Watch = Box<dyn Fn(Step, &Path) -> io::Result<()> + Send + Sync>;

/// All that changes the disk.
pub(super) struct Disk {
    pub fsync: bool,
    pub watch: Option<Watch>,
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Disk");
        shown.field("fsync", &self.fsync).finish_non_exhaustive()
    }
}

impl Disk {
    /// Puts a file of these bytes at `to`: what is there is the old file or the new one, never a part. The folder is not
    /// synced.
    pub fn replace(&self, to: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        self.draft(to, bytes, None).map_err(StoreError::io(to))
    }

    /// A copy of `from`, with `at` as the time of its last change.
    pub fn copy(&self, from: &Path, to: &Path, at: Timestamp) -> Result<(), StoreError> {
        let bytes = fs::read(from).map_err(StoreError::io(from))?;
        self.draft(to, &bytes, Some(at)).map_err(StoreError::io(to))
    }

    fn draft(&self, to: &Path, bytes: &[u8], at: Option<Timestamp>) -> io::Result<()> {
        let folder = to.parent().unwrap_or(to);
        // Its mode is 0600, and it goes when anything fails.
        let mut draft = tempfile::Builder::new()
            .prefix(DRAFT)
            .suffix(".tmp")
            .tempfile_in(folder)?;
        self.write(Step::Write, draft.as_file_mut(), to, bytes)?;
        if let Some(at) = at {
            draft.as_file().set_modified(at.into())?;
        }
        self.sync(draft.as_file(), to)?;
        self.step(Step::Rename, to)?;
        draft.persist(to)?;
        Ok(())
    }

    /// Writes `bytes` behind the first `length` bytes of a log; what stood there is lost.
    pub fn append(&self, path: &Path, length: u64, bytes: &[u8]) -> Result<(), StoreError> {
        let failed = StoreError::io(path);
        self.append_to(path, length, bytes).map_err(failed)
    }

    fn append_to(&self, path: &Path, length: u64, bytes: &[u8]) -> io::Result<()> {
        if let Some(reason) = foreign(path) {
            return Err(io::Error::other(reason));
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        if file.metadata()?.len() < length {
            let reason = "the log is shorter than this process left it: open the store again";
            return Err(io::Error::other(reason));
        }
        // An earlier write may have failed half-way, and its cut, too.
        file.set_len(length)?;
        file.seek(SeekFrom::End(0))?;
        self.write(Step::Append, &mut file, path, bytes)?;
        self.sync(&file, path)?;
        if length == 0 {
            self.sync_folder(path)?;
        }
        Ok(())
    }

    /// Takes away what stands behind the first `length` bytes of a log.
    pub fn cut(&self, path: &Path, length: u64) -> Result<(), StoreError> {
        let cut = || {
            self.step(Step::Cut, path)?;
            let file = OpenOptions::new().write(true).open(path)?;
            if file.metadata()?.len() > length {
                file.set_len(length)?;
            }
            self.sync(&file, path)
        };
        cut().map_err(StoreError::io(path))
    }

    /// Moves a file to another folder.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<(), StoreError> {
        let rename = || {
            self.step(Step::Rename, to)?;
            fs::rename(from, to)
        };
        rename().map_err(StoreError::io(to))?;
        self.settle(to)?;
        self.settle(from)
    }

    /// Brings the name of a file to the disk.
    pub fn settle(&self, path: &Path) -> Result<(), StoreError> {
        self.sync_folder(path).map_err(StoreError::io(path))
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        // Only Unix opens a folder as a file; elsewhere the system sees to it.
        if cfg!(unix) {
            let folder = match path.parent() {
                Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
                Some(folder) => folder,
                None => path,
            };
            self.sync(&File::open(folder)?, folder)?;
        }
        Ok(())
    }

    fn write(&self, step: Step, file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let half = self.watch.as_ref().map_or(0, |_| bytes.len() / 2);
        let (first, rest) = bytes.split_at(half);
        if half > 0 {
            self.step(step, path)?;
            file.write_all(first)?;
        }
        self.step(step, path)?;
        file.write_all(rest)
    }

    fn sync(&self, file: &File, path: &Path) -> io::Result<()> {
        self.step(Step::Sync, path)?;
        if self.fsync { file.sync_all() } else { Ok(()) }
    }

    fn step(&self, step: Step, path: &Path) -> io::Result<()> {
        self.watch
            .as_ref()
            .map_or(Ok(()), |watch| watch(step, path))
    }
}

/// Makes a folder that only its owner can enter, and those above it.
pub(super) fn make_folder(path: &Path) -> Result<(), StoreError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(StoreError::io(path))
}

/// Why what stands at `path` is not opened: a link leads elsewhere, and a pipe could be waited for without end.
fn foreign(path: &Path) -> Option<&'static str> {
    let found = fs::symlink_metadata(path).ok()?.file_type();
    if found.is_symlink() {
        Some("a symbolic link, which is not followed")
    } else if !found.is_file() && !found.is_dir() {
        Some("neither a file nor a folder")
    } else {
        None
    }
}

/// The bytes of a file that is no symbolic link; none if there is none.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    if let Some(reason) = foreign(path) {
        return Err(StoreError::Corrupt {
            path: path.to_owned(),
            reason: reason.to_owned(),
        });
    }
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io(path)(error)),
    }
}
