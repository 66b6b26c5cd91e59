use std::error::Error;
use std::fmt;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Component, Path, PathBuf};
#[cfg(feature = "faults")]
use std::sync::Arc;

/// The step on the disk that comes next. With a [`Watch`], bytes are written in two halves, so that it can stop between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Bytes are written at the end of a file.
    Append,
    /// Bytes are written to a new file.
    Write,
    /// A file or a folder is brought to the disk.
    Sync,
    /// A file gets its name.
    Rename,
    /// A file loses its end.
    Cut,
}

/// A callback before each step, for tests that stop a program at any of them. Its error is the step's error.
#[cfg(feature = "faults")]
pub type Watch = Arc<dyn Fn(Step, &Path) -> io::Result<()> + Send + Sync>;

/// The way the files of one owner are written.
///
/// | | a link at the file | a link at a folder above it |
/// |---|---|---|
/// | [`Disk::new`] | followed | followed |
/// | [`Disk::private`] | replaced or refused | followed |
/// | [`Disk::inside`] | refused: [`Linked`] | refused below the root, followed up to it |
///
/// A lock is never taken on a link. On Unix [`Disk::inside`] refuses a hard link, too, where a file is changed in place: its
/// other name may be that of a file outside. To replace such a file changes this name only.
#[derive(Clone)]
pub struct Disk {
    pub(crate) prefix: &'static str,
    pub(crate) is_private: bool,
    /// The folder below which links are refused.
    pub(crate) root: Option<PathBuf>,
    syncs: bool,
    #[cfg(feature = "faults")]
    watch: Option<Watch>,
}

/// The error of a path below the root of a disk that leads through a link: see [`Disk::inside`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an error with its facts")]
pub struct Linked {
    /// The link.
    pub link: PathBuf,
    /// Whether it is a hard link: a file that has another name.
    pub is_hard: bool,
}

impl fmt::Display for Linked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, remedy) = if self.is_hard {
            ("a hard link", "put a copy in its place")
        } else {
            ("a link", "move it away")
        };
        let link = self.link.display();
        write!(
            f,
            "{link} is {kind}, and nothing is written through links in this folder; {remedy}"
        )
    }
}

impl Error for Linked {}

impl Linked {
    /// Whether this is the error that the system's error was made of.
    pub fn is_cause_of(error: &io::Error) -> bool {
        (error.get_ref()).is_some_and(<dyn Error + Send + Sync>::is::<Self>)
    }
}

impl Default for Disk {
    fn default() -> Self {
        Self::new(".orrery-")
    }
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Disk");
        shown.field("prefix", &self.prefix);
        shown.field("is_private", &self.is_private);
        shown.field("root", &self.root);
        shown.field("syncs", &self.syncs).finish_non_exhaustive()
    }
}

impl Disk {
    /// A disk whose unfinished files have names with this prefix.
    ///
    /// A new file has the mode of any new file. A file that is replaced keeps its mode, and a link to it is followed.
    pub const fn new(prefix: &'static str) -> Self {
        Self {
            prefix,
            is_private: false,
            root: None,
            syncs: true,
            #[cfg(feature = "faults")]
            watch: None,
        }
    }

    /// As [`Disk::new`], with files that their owner alone can read: mode 0600 on Unix. A link is replaced or refused, and
    /// never followed.
    pub const fn private(prefix: &'static str) -> Self {
        Self {
            prefix,
            is_private: true,
            root: None,
            syncs: true,
            #[cfg(feature = "faults")]
            watch: None,
        }
    }

    /// The same for files in the folder `root`, which others may have made, such as an unpacked archive: a link at a file, or at
    /// a folder below `root`, is refused, and nothing is written or removed through it. The folder itself may be a link. A path
    /// outside of it is refused, too.
    ///
    /// A link that another process makes between the check and the write is not seen.
    #[must_use]
    pub fn inside(self, root: &Path) -> Self {
        let root = Some(root.to_owned());
        Self { root, ..self }
    }

    /// Checks that no link is refused on the way to `path`, for a file that is written by other means.
    ///
    /// # Errors
    /// [`Linked`] and a path outside of the root, for a disk with a root; see [`Disk::inside`].
    pub fn check_place(&self, path: &Path) -> io::Result<()> {
        let Some(root) = &self.root else {
            return Ok(());
        };
        let outside = || {
            let root = root.display();
            io::Error::new(
                ErrorKind::InvalidInput,
                format!("it is outside of the folder {root}"),
            )
        };
        let mut link = root.clone();
        for part in path.strip_prefix(root).map_err(|_| outside())?.components() {
            match part {
                Component::Normal(name) => link.push(name),
                Component::CurDir => continue,
                _ => return Err(outside()),
            }
            match fs::symlink_metadata(&link) {
                Ok(found) if found.is_symlink() => {
                    let is_hard = false;
                    return Err(io::Error::other(Linked { link, is_hard }));
                }
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                found => found?,
            };
        }
        Ok(())
    }

    /// As [`Disk::check_place`], for a file that is changed in place: a hard link is refused, too.
    ///
    /// # Errors
    /// As [`Disk::check_place`].
    pub fn check_change(&self, path: &Path) -> io::Result<()> {
        self.check_place(path)?;
        let found = self.root.as_ref().map(|_| fs::symlink_metadata(path));
        match found {
            Some(Ok(found)) if found.is_file() && names(&found) > 1 => {
                let (link, is_hard) = (path.to_owned(), true);
                Err(io::Error::other(Linked { link, is_hard }))
            }
            _ => Ok(()),
        }
    }

    /// The same without waiting for the disk: quicker, and a power cut may lose what was reported. For tests.
    #[must_use]
    pub fn without_sync(self) -> Self {
        Self {
            syncs: false,
            ..self
        }
    }

    /// The same with a callback before each step.
    #[cfg(feature = "faults")]
    #[must_use]
    pub fn watched(self, watch: Watch) -> Self {
        let watch = Some(watch);
        Self { watch, ..self }
    }

    /// Moves a file, and brings both of its names to the disk.
    ///
    /// # Errors
    /// The system refuses, or a link is on the way to a file of a disk with a root.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check_place(from)?;
        self.check_place(to)?;
        self.step(Step::Rename, to)?;
        fs::rename(from, to)?;
        self.sync_folder(to)?;
        self.sync_folder(from)
    }

    /// Cuts a file after its first `length` bytes.
    ///
    /// # Errors
    /// The system refuses, or a link is on the way to a file of a disk with a root.
    pub fn cut(&self, path: &Path, length: u64) -> io::Result<()> {
        self.check_change(path)?;
        let file = OpenOptions::new().write(true).open(path)?;
        self.step(Step::Cut, path)?;
        if file.metadata()?.len() > length {
            file.set_len(length)?;
        }
        self.sync(&file, path, File::sync_all)
    }

    /// Makes a folder and those above it, where they do not exist: those of a private disk can be entered by their owner alone.
    ///
    /// # Errors
    /// The system refuses, or a link is at a folder of a disk with a root.
    pub fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.check_place(path)?;
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        if self.is_private {
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        }
        builder.create(path)
    }

    /// Brings the name of a file to the disk.
    ///
    /// # Errors
    /// The disk refuses. No error: a folder that may be written to and not read, and a system without such a sync.
    pub fn sync_folder(&self, path: &Path) -> io::Result<()> {
        // Only Unix opens a folder as a file.
        if cfg!(not(unix)) {
            return Ok(());
        }
        let folder = folder(path);
        self.step(Step::Sync, folder)?;
        if !self.syncs {
            return Ok(());
        }
        match File::open(folder).and_then(|folder| folder.sync_all()) {
            Err(error) if !is_about_folders(error.kind()) => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes the files that a process left unfinished in `folder`. Called by the holder of the lock, once an opening.
    ///
    /// What cannot be removed stays: no one reads it.
    pub fn sweep(&self, folder: &Path) {
        if self.check_place(folder).is_err() {
            return;
        }
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_unfinished = |name: &[u8]| name.starts_with(self.prefix.as_bytes());
        for entry in entries.filter(|entry| is_unfinished(entry.file_name().as_encoded_bytes())) {
            let _ = fs::remove_file(entry.path());
        }
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// The system refuses. A pipe or a device, which could be waited for without end, a folder, and a link that is not followed.
    pub fn open_read(&self, path: &Path) -> io::Result<File> {
        self.open(path, OpenOptions::new().read(true))
    }

    /// Opens a file, unless it is a pipe or a device, which could be waited for without end, a folder, or a link that is not followed.
    pub(crate) fn open(&self, path: &Path, options: &mut OpenOptions) -> io::Result<File> {
        self.check_place(path)?;
        if !self.is_plain(path) {
            return Err(io::Error::other("it is not a regular file"));
        }
        #[cfg(unix)]
        if self.is_private {
            std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
        }
        options.open(path)
    }

    /// Whether a plain file or nothing is at `path`.
    pub(crate) fn is_plain(&self, path: &Path) -> bool {
        let found = if self.is_private {
            fs::symlink_metadata(path)
        } else {
            fs::metadata(path)
        };
        found.map_or(true, |found| found.is_file())
    }

    pub(crate) fn write(
        &self,
        step: Step,
        mut file: &File,
        path: &Path,
        bytes: &[u8],
    ) -> io::Result<()> {
        let half = if self.is_watched() {
            bytes.len() / 2
        } else {
            0
        };
        let (first, rest) = bytes.split_at(half);
        if half > 0 {
            self.step(step, path)?;
            file.write_all(first)?;
        }
        self.step(step, path)?;
        file.write_all(rest)
    }

    pub(crate) fn sync(
        &self,
        file: &File,
        path: &Path,
        how: fn(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        self.step(Step::Sync, path)?;
        if self.syncs { how(file) } else { Ok(()) }
    }

    #[cfg(feature = "faults")]
    fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    #[cfg(feature = "faults")]
    pub(crate) fn step(&self, step: Step, path: &Path) -> io::Result<()> {
        (self.watch.as_ref()).map_or(Ok(()), |watch| watch(step, path))
    }

    #[cfg(not(feature = "faults"))]
    #[expect(clippy::unused_self, reason = "the same call with and without a watch")]
    fn is_watched(&self) -> bool {
        false
    }

    #[cfg(not(feature = "faults"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "the same call with and without a watch"
    )]
    pub(crate) fn step(&self, _: Step, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Errors of a folder that cannot be opened or synced. They say nothing of the file in it.
fn is_about_folders(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::PermissionDenied | ErrorKind::InvalidInput | ErrorKind::Unsupported
    )
}

/// The folder that a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) => Path::new("."),
        None => path,
    }
}

/// Whether the file at `path` is the one that is open, and not another that has its name now. On systems other than Unix only
/// whether there is one.
///
/// # Errors
/// The system refuses. No error: nothing is at `path`.
pub fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match path.metadata() {
        Ok(found) => Ok(is_same(&found, &file.metadata()?)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The number of names of a file, hard links; one on other systems than Unix.
#[cfg(unix)]
fn names(file: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(file)
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

/// Whether two files are one.
#[cfg(unix)]
pub(crate) fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Elsewhere a file that is open cannot be replaced.
#[cfg(not(unix))]
pub(crate) fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}
