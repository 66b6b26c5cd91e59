//! React's two scripts: as they have to be, and the folder that keeps them. They are checked before each use.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use durable::{Disk, Lock, LockError};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::error::{RuntimeError, at};

pub(super) const NAME: &str = "React 18.3.1";
pub(super) const VERSION: &str = "18.3.1";

/// A script as it has to be.
pub(super) struct Script {
    pub package: &'static str,
    pub file: &'static str,
    pub bytes: u64,
    pub sha256: &'static str,
}

/// In the order in which they run.
pub(super) const SCRIPTS: [Script; 2] = [
    Script {
        package: "react",
        file: "react.production.min.js",
        bytes: 10_751,
        sha256: "d949f1c3687aedadcedac85261865f29b17cd273997e7f6b2bfc53b2f9d4c4dd",
    },
    Script {
        package: "react-dom",
        file: "react-dom.production.min.js",
        bytes: 131_835,
        sha256: "35f4f974f4b2bcd44da73963347f8952e341f83909e4498227d4e26b98f66f0d",
    },
];

/// The prefix of a folder in which a client works, and of a file that is not finished. Those of a start that was killed are removed by the next installation.
pub(super) const WORK: &str = ".installing-";
/// The file next to the scripts with the name of the source.
const SOURCE: &str = "source";
/// The lock of an installation.
const LOCK: &str = "lock";
/// The most bytes of the name of a source.
const NAMED: u64 = 4096;

/// The folder of everything about React in a data directory.
pub(super) fn place(data: &Path) -> PathBuf {
    data.join("runtime")
}

/// The folder of the two scripts in a data directory.
pub(super) fn folder(data: &Path) -> PathBuf {
    place(data).join(format!("react-{VERSION}"))
}

/// The scripts of a folder, one after the other, if all are what they should be.
pub(super) fn kept(folder: &Path, scripts: &[Script]) -> Result<String, RuntimeError> {
    let all = checked(scripts, |script| folder.join(script.file))?;
    Ok(joined(&all))
}

/// The texts of the scripts in a folder of the person's, or in its folder `umd`.
pub(super) fn given(dir: &Path, scripts: &[Script]) -> Result<Vec<String>, RuntimeError> {
    let umd = dir.join("umd");
    let is_below = scripts.iter().all(|script| umd.join(script.file).is_file());
    let dir = if is_below { &umd } else { dir };
    checked(scripts, |script| dir.join(script.file))
}

pub(super) fn joined(texts: &[String]) -> String {
    texts.iter().flat_map(|text| [text, "\n"]).collect()
}

/// The texts of the scripts, if all are what they should be.
pub(super) fn checked(
    scripts: &[Script],
    place: impl Fn(&Script) -> PathBuf,
) -> Result<Vec<String>, RuntimeError> {
    scripts
        .iter()
        .map(|script| text_of(script, &place(script)))
        .collect()
}

fn text_of(script: &Script, path: &Path) -> Result<String, RuntimeError> {
    let mut bytes = Vec::new();
    // One byte more than it has is enough to tell a longer file from it.
    File::open(path)
        .and_then(|file| file.take(script.bytes + 1).read_to_end(&mut bytes))
        .map_err(at(path))?;
    let found = hex::encode(Sha256::digest(&bytes));
    if found != script.sha256 {
        return Err(RuntimeError::Other {
            path: path.to_owned(),
            found,
            expected: script.sha256,
        });
    }
    String::from_utf8(bytes)
        .map_err(|error| at(path)(io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// The name of the source of the scripts in a folder, on one line.
pub(super) fn source(folder: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = File::open(folder.join(SOURCE)).ok()?;
    file.take(NAMED).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().next()?.replace(char::is_control, "");
    (!line.is_empty()).then_some(line)
}

/// An installation under way: no other process works in the same place.
pub(super) struct Installation {
    folder: PathBuf,
    work: TempDir,
    _lock: Lock,
}

impl Installation {
    /// Makes the folder for the client's work, next to `folder`, and removes what an earlier one left.
    pub fn begin(folder: &Path) -> Result<Self, RuntimeError> {
        let parent = folder.parent().unwrap_or(folder);
        let disk = Disk::private(WORK);
        disk.make_folder(parent).map_err(at(parent))?;
        let lock = disk.lock(&parent.join(LOCK)).map_err(|error| match error {
            LockError::Held { .. } => RuntimeError::Busy {
                folder: parent.to_owned(),
            },
            error => at(&parent.join(LOCK))(error.into()),
        })?;
        // As far as possible: a rest does no harm.
        disk.sweep(parent);
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(WORK) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let mut builder = tempfile::Builder::new();
        let work = builder.prefix(WORK).tempdir_in(parent);
        Ok(Self {
            folder: folder.to_owned(),
            work: work.map_err(at(parent))?,
            _lock: lock,
        })
    }

    pub fn work(&self) -> &Path {
        self.work.path()
    }

    /// Keeps these texts, which were checked, and nothing else of the work.
    pub fn keep(
        self,
        scripts: &[Script],
        texts: &[String],
        source: &str,
    ) -> Result<String, RuntimeError> {
        let ready = self.work.path().join("ready");
        fs::create_dir(&ready).map_err(at(&ready))?;
        let files = scripts.iter().map(|script| script.file).zip(texts);
        for (name, text) in files.chain([(SOURCE, &format!("{source}\n"))]) {
            let path = ready.join(name);
            fs::write(&path, text).map_err(at(&path))?;
        }
        // What is there is not React, or this would not run.
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(at(&self.folder)(error));
            }
            _ => {}
        }
        fs::rename(&ready, &self.folder).map_err(at(&self.folder))?;
        Ok(joined(texts))
    }
}
