//! Output files that are written completely or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use durable::{Disk, StagedFile};

use crate::{Error, Failure};

/// A file that is being written: a draft with a random name in the same folder.
///
/// [`OutputFile::finish`] syncs the draft and renames it to the target in one step; the old file stays until then. A draft
/// that is dropped before is removed.
///
/// A link is followed. A device or a pipe, such as `/dev/null`, is written to directly.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Staged(StagedFile),
    /// A device or a pipe.
    Device(File),
}

impl OutputFile {
    /// Begins a file, which fails early if `path` cannot be written. A missing folder is made. The file gets the mode of the one
    /// that it replaces.
    ///
    /// # Errors
    /// [`Error::OutputFile`].
    pub fn begin(path: &Path) -> Result<Self, Error> {
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let opened = match fs::metadata(&place) {
            Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => {
                (File::options().write(true).open(&place)).map(Sink::Device)
            }
            _ => make_parent(&place)
                .and_then(|()| Disk::default().stage(&place))
                .map(Sink::Staged),
        };
        Ok(Self {
            sink: opened.map_err(|source| failed(path, source))?,
            path: place,
        })
    }

    /// Refuses a path that is one of `inputs`, then begins as [`OutputFile::begin`].
    ///
    /// # Errors
    /// [`Error::OutputFile`], or [`Error::OverInput`] as [`Failure::usage`].
    pub fn begin_checked(
        path: &Path,
        inputs: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<Self, Failure> {
        ensure_not_input(path, inputs)?;
        Ok(Self::begin(path)?)
    }

    /// Writes a part of the content, before [`OutputFile::finish`] writes the rest.
    ///
    /// # Errors
    /// [`Error::OutputFile`]; the old file is unchanged, and the draft is of no use any more.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut file = match &self.sink {
            Sink::Staged(staged) => staged.file(),
            Sink::Device(file) => file,
        };
        let written = file.write_all(bytes);
        written.map_err(|source| failed(&self.path, source))
    }

    /// Writes the content and renames the draft to the target.
    ///
    /// # Errors
    /// [`Error::OutputFile`]; the old file is unchanged.
    pub fn finish(
        self,
        fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
    ) -> Result<(), Error> {
        let Self { path, sink } = self;
        let file = match &sink {
            Sink::Staged(staged) => staged.file(),
            Sink::Device(file) => file,
        };
        let mut writer = BufWriter::new(file);
        let written = fill(&mut writer).and_then(|()| writer.flush());
        drop(writer);
        let kept = written.and_then(|()| match sink {
            Sink::Staged(staged) => staged.keep(),
            Sink::Device(_) => Ok(()),
        });
        kept.map_err(|source| failed(&path, source))
    }
}

/// Makes the folder of a file.
fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// Refuses an output path that names one of `inputs`, also through links.
///
/// # Errors
/// [`Error::OverInput`], as [`Failure::usage`].
pub fn ensure_not_input(
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

/// A canonical path for a file that may not exist yet.
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

/// Writes a file completely or not at all.
///
/// # Errors
/// [`Error::OutputFile`]; the old file at `path` is unchanged.
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
        assert!(OutputFile::begin(&path.join("in/a/file")).is_err());
        let below = folder.join("made/for/it");
        write_file(&below, |file| file.write_all(b"three")).unwrap();
        assert_eq!(fs::read(&below).unwrap(), b"three");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn parts_appear_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "old").unwrap();
        let mut output = OutputFile::begin(&path).unwrap();
        output.append(b"a, ").unwrap();
        output.append(b"b, ").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(output);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let mut output = OutputFile::begin(&path).unwrap();
        output.append(b"a, ").unwrap();
        output.finish(|file| file.write_all(b"z")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"a, z");
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

    #[cfg(unix)]
    fn mode(path: &Path) -> u32 {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_replaced_keeps_its_mode_also_in_the_making() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        for kept in [0o600, 0o664, 0o640] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
            let output = OutputFile::begin(&path).unwrap();
            let drafts = fs::read_dir(folder.path()).unwrap().flatten();
            let mut drafts = drafts.filter(|entry| entry.path() != path);
            assert_eq!(mode(&drafts.next().unwrap().path()), kept);
            output.finish(|out| out.write_all(b"new")).unwrap();
            assert_eq!(
                (mode(&path), fs::read(&path).unwrap()),
                (kept, b"new".to_vec())
            );
        }
        // A new one has the mode that any other new file has.
        write_file(&folder.path().join("new"), |out| out.write_all(b"new")).unwrap();
        fs::write(folder.path().join("other"), "").unwrap();
        assert_eq!(
            mode(&folder.path().join("new")),
            mode(&folder.path().join("other"))
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_waits_where_a_draft_might_be_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, victim) = (folder.path().join("out"), folder.path().join("victim"));
        fs::write(&victim, "precious").unwrap();
        let planted = format!(".out.{}.part", std::process::id());
        std::os::unix::fs::symlink(&victim, folder.path().join(planted)).unwrap();
        write_file(&path, |out| out.write_all(b"text")).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        assert_eq!(fs::read(&path).unwrap(), b"text");
    }

    #[test]
    fn two_writers_of_one_file_do_not_share_a_draft() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let (first, second) = (OutputFile::begin(&path), OutputFile::begin(&path));
        let write = |output: Result<OutputFile, Error>, text: &[u8]| {
            output.unwrap().finish(|out| out.write_all(text)).unwrap();
            assert_eq!(fs::read(&path).unwrap(), text);
        };
        write(second, b"second");
        write(first, b"1");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
