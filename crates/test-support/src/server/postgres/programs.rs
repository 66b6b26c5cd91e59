//! The server programs: found on the PATH, where `pg_config` says, or in the folders of Debian.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest version that the tests accept.
const OLDEST: u32 = 15;

/// The folder with a folder for each version, on Debian and its relatives.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The folder that holds `initdb` and `postgres`.
pub struct PostgresPrograms {
    folder: PathBuf,
}

impl PostgresPrograms {
    /// The first folder with both programs in a version that is new enough.
    pub fn find() -> Option<Self> {
        let found = folders().into_iter().find(|folder| {
            folder.join("initdb").is_file() && version(folder).is_some_and(|found| found >= OLDEST)
        })?;
        Some(Self { folder: found })
    }

    pub fn initdb(&self) -> PathBuf {
        self.folder.join("initdb")
    }

    pub fn postgres(&self) -> PathBuf {
        self.folder.join("postgres")
    }
}

/// The first client program of this name, such as `psql`.
pub(super) fn client(name: &str) -> Option<PathBuf> {
    let mut paths = folders().into_iter().map(|folder| folder.join(name));
    paths.find(|path| path.is_file())
}

/// The folders in which the programs may be.
fn folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<_> = std::env::split_paths(&path).collect();
    folders.extend(configured());
    folders.extend(versions(Path::new(VERSIONS)));
    folders
}

/// The folder that `pg_config` names.
fn configured() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().into())
}

/// The folders of versions under `folder`, the newest first.
fn versions(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let numbered = entries.filter_map(|entry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((number, entry.path().join("bin")))
    });
    let mut numbered: Vec<_> = numbered.collect();
    numbered.sort();
    numbered.into_iter().rev().map(|(_, path)| path).collect()
}

/// The first number of the version that `postgres` prints.
fn version(folder: &Path) -> Option<u32> {
    let output = Command::new(folder.join("postgres"))
        .arg("--version")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let number = text
        .split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    number
        .split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["9.6", "9", "15", "100", "notes"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let expected = ["100", "15", "9"].map(|name| folder.path().join(name).join("bin"));
        assert_eq!(versions(folder.path()), expected);
    }
}
