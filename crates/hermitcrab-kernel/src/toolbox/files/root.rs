//! A folder that a person opened.
//!
//! A path is taken in two steps. Links are followed first, which finds the names that are really meant, and these are
//! checked. Then the folders are opened one by one under these names without following any link: what was swapped for
//! a link in between is not entered.

use std::io;
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use super::path;
use crate::config::Grant;
use crate::{ErrorKind, ToolError};

pub(super) struct Root {
    pub dir: Dir,
    pub place: PathBuf,
    pub write: bool,
    pub delete: bool,
    /// The names on the way to the data directory, if it is inside.
    data: Option<Vec<String>>,
}

/// A resolved path: the names after links are followed.
pub(super) type Names = Vec<String>;

impl Root {
    pub fn open(grant: &Grant, data: Option<&Path>) -> Result<Self, ToolError> {
        let shown = grant.dir.display().to_string();
        let place = grant
            .dir
            .canonicalize()
            .map_err(|error| fault(&shown, &error))?;
        if data.is_some_and(|data| place.starts_with(data)) {
            return Err(refused(&shown, "it belongs to the kernel's own data"));
        }
        let dir = Dir::open_ambient_dir(&place, ambient_authority())
            .map_err(|error| fault(&shown, &error))?;
        let data = data.and_then(|data| data.strip_prefix(&place).ok());
        Ok(Self {
            dir,
            write: grant.write,
            delete: grant.delete,
            data: data.map(|inside| names(inside).map(|name| path::folded(&name)).collect()),
            place,
        })
    }

    /// Resolves `asked`, links followed. A part that does not exist stays as it is written.
    pub fn real(&self, shown: &str, asked: &[String]) -> Result<Names, ToolError> {
        self.check(shown, asked)?;
        for known in (0..=asked.len()).rev() {
            let (start, missing) = asked.split_at(known);
            let start: PathBuf = [".".to_owned()].iter().chain(start).collect();
            match self.dir.canonicalize(start) {
                Ok(real) => {
                    let real: Names = names(&real).chain(missing.iter().cloned()).collect();
                    self.check(shown, &real)?;
                    return Ok(real);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(fault(shown, &error)),
            }
        }
        Err(ToolError::new(
            ErrorKind::NotFound,
            format!("{shown}: the root is gone"),
        ))
    }

    fn check(&self, shown: &str, names: &[String]) -> Result<(), ToolError> {
        if let Some(name) = names.iter().find(|name| path::is_protected(name)) {
            return Err(refused(shown, &format!("{name} is where secrets are kept")));
        }
        if self.is_data(names) {
            return Err(refused(shown, "it belongs to the kernel's own data"));
        }
        Ok(())
    }

    fn is_data(&self, names: &[String]) -> bool {
        self.data.as_ref().is_some_and(|data| {
            names.len() >= data.len()
                && data
                    .iter()
                    .zip(names)
                    .all(|(own, name)| *own == path::folded(name))
        })
    }

    /// The data directory is inside of `names`.
    pub fn holds_data(&self, names: &[String]) -> bool {
        self.data.as_ref().is_some_and(|data| {
            names.len() <= data.len()
                && data
                    .iter()
                    .zip(names)
                    .all(|(own, name)| *own == path::folded(name))
        })
    }

    /// Whether an entry of the folder `names` may be seen.
    pub fn shows(&self, names: &[String], name: &str) -> bool {
        let names: Names = names.iter().cloned().chain([name.to_owned()]).collect();
        !path::is_protected(name) && !self.is_data(&names)
    }

    /// Opens a folder without following links; with `make` it is made where it is missing.
    pub fn folder(&self, names: &[String], make: bool) -> io::Result<Dir> {
        let mut dir = self.dir.try_clone()?;
        refuse_records(&dir)?;
        for name in names {
            dir = match dir.open_dir_nofollow(name) {
                Err(error) if make && error.kind() == io::ErrorKind::NotFound => {
                    dir.create_dir(name)?;
                    dir.open_dir_nofollow(name)?
                }
                opened => opened?,
            };
            refuse_records(&dir)?;
        }
        Ok(dir)
    }
}

/// Fails for a folder with the records of a companion, also of another one than this kernel's.
fn refuse_records(dir: &Dir) -> io::Result<()> {
    let has = |name: &str| dir.symlink_metadata(name).is_ok();
    let is_data = has("store.json") && has("blocks");
    if is_data || has("keystone.json") && has("constitution.json") {
        let reason = "it holds the records of a companion";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    }
    Ok(())
}

/// Opens a file for reading, if it is one: no link is followed, and no pipe or device is waited for.
pub(super) fn open_file(dir: &Dir, name: &str) -> io::Result<(File, Metadata)> {
    let no_file = || io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
    if !dir.symlink_metadata(name)?.is_file() {
        return Err(no_file());
    }
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = dir.open_with(name, &options)?;
    let metadata = file.metadata()?;
    if metadata.is_file() {
        Ok((file, metadata))
    } else {
        Err(no_file())
    }
}

fn names(path: &Path) -> impl Iterator<Item = String> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    })
}

pub(super) fn refused(shown: &str, why: &str) -> ToolError {
    ToolError::new(ErrorKind::Refused, format!("{shown}: {why}"))
}

pub(super) fn fault(shown: &str, error: &io::Error) -> ToolError {
    let (kind, hint) = match error.kind() {
        io::ErrorKind::NotFound => (ErrorKind::NotFound, Some("fs_list shows what is there")),
        // So does a path that leads out of the root end.
        io::ErrorKind::PermissionDenied => (ErrorKind::Refused, None),
        io::ErrorKind::AlreadyExists => (ErrorKind::Exists, None),
        io::ErrorKind::InvalidInput
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::IsADirectory => (
            ErrorKind::WrongKind,
            Some("fs_list shows what is a file and what a folder"),
        ),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => (ErrorKind::DiskFull, None),
        _ => (ErrorKind::Io, None),
    };
    let fault = ToolError::new(kind, format!("{shown}: {error}"));
    match hint {
        Some(hint) => fault.hint(hint),
        None => fault,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A grant may hold another companion's folder: its blocks are edited by its program alone.
    #[test]
    fn the_records_of_any_companion_are_not_entered() {
        let place = tempfile::tempdir().unwrap();
        let crab = place.path().join("crab");
        fs::create_dir_all(crab.join("blocks")).unwrap();
        let root = |dir: &Path| {
            let (dir, write, delete) = (dir.to_owned(), true, true);
            Root::open(&Grant { dir, write, delete }, None).unwrap()
        };
        let folder = |dir: &Path, way: &[&str]| {
            let way: Vec<_> = way.iter().map(|name| (*name).to_owned()).collect();
            root(dir).folder(&way, true).map(drop)
        };
        folder(place.path(), &["crab", "blocks"]).unwrap();
        fs::write(crab.join("store.json"), "{}").unwrap();
        folder(place.path(), &[]).unwrap();
        for (dir, way) in [
            (place.path(), &["crab"][..]),
            (place.path(), &["crab", "blocks"]),
            (&crab, &[]),
        ] {
            let error = folder(dir, way).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{way:?}");
        }
    }

    /// S7: a folder, then a file, that becomes a link after it was checked.
    #[test]
    fn what_is_swapped_after_the_check_is_not_entered() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("file"), "secret").unwrap();
        let inside = tempfile::tempdir().unwrap();
        let place = inside.path();
        fs::create_dir_all(place.join("dir/.git")).unwrap();
        fs::write(place.join("dir/file"), "open").unwrap();
        fs::write(place.join("dir/.git/file"), "secret").unwrap();
        let grant = Grant {
            dir: place.to_owned(),
            write: true,
            delete: true,
        };
        let root = Root::open(&grant, None).unwrap();
        let asked = path::read("dir/file").unwrap();
        let real = root.real("dir/file", &asked).unwrap();
        assert_eq!(real, asked);
        let (name, parents) = real.split_last().unwrap();
        open_file(&root.folder(parents, false).unwrap(), name).unwrap();

        fs::rename(place.join("dir"), place.join("was")).unwrap();
        for target in [outside.path(), Path::new("was/.git"), Path::new("was")] {
            symlink(target, place.join("dir")).unwrap();
            assert!(root.folder(parents, false).is_err(), "{target:?}");
            assert!(root.folder(parents, true).is_err(), "{target:?}");
            fs::remove_file(place.join("dir")).unwrap();
        }
        fs::rename(place.join("was"), place.join("dir")).unwrap();
        let folder = root.folder(parents, false).unwrap();
        fs::remove_file(place.join("dir/file")).unwrap();
        symlink(".git/file", place.join("dir/file")).unwrap();
        assert!(open_file(&folder, name).is_err());
    }
}
