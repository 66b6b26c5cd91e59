//! React's two scripts: brought by the person's npm, kept in the data directory, checked before each use.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tokio::process::Command;

pub(super) const NAME: &str = "React 18.3.1";
pub(super) const VERSION: &str = "18.3.1";

const PACKAGE: &str = include_str!("npm/package.json");
/// Pins every package by its integrity. It names no address: npm asks the registry that the person has set.
const LOCK: &str = include_str!("npm/package-lock.json");

/// A script as it has to be.
pub(super) struct Script {
    package: &'static str,
    file: &'static str,
    bytes: u64,
    sha256: &'static str,
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

/// A folder in which npm works. Those of a start that was killed are removed by the next installation.
const WORK: &str = ".installing-";
/// As many bytes of what npm says as an error carries.
const SAID: u64 = 1000;

/// The person's npm.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Npm {
    /// The program, by path or by its name on the search path.
    pub program: PathBuf,
    /// The time limit of npm.
    pub limit: Duration,
    /// Variables of the environment that it does not get, such as keys.
    pub hidden: Vec<String>,
}

impl Npm {
    /// The program `npm` of the search path, with this time limit and all variables of the environment.
    pub fn new(limit: Duration) -> Self {
        Self {
            program: PathBuf::from("npm"),
            limit,
            hidden: Vec::new(),
        }
    }
}

/// The reason why React is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// npm cannot be started.
    #[error("{} cannot be started: install Node.js, or use --runtime builtin", program.display())]
    Start {
        /// The command.
        program: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// npm ended with an error.
    #[error("npm could not install React ({status}): {said}")]
    Failed {
        /// The exit status.
        status: ExitStatus,
        /// The end of what it said.
        said: String,
    },
    /// npm did not end in time.
    #[error("npm did not finish within {} seconds", limit.as_secs())]
    Slow {
        /// The time it had.
        limit: Duration,
    },
    /// A script is not the one that was expected.
    #[error("{} has sha256 {found}, expected {expected}", path.display())]
    Other {
        /// The path of the file.
        path: PathBuf,
        /// The hash of the file.
        found: String,
        /// Of the script of React 18.3.1.
        expected: &'static str,
    },
    /// A file or folder cannot be read or written.
    #[error("{} cannot be read or written", path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> RuntimeError {
    let path = path.to_owned();
    move |source| RuntimeError::File { path, source }
}

/// The paths of the two scripts.
pub(super) fn folder(data: &Path) -> PathBuf {
    data.join("runtime").join(format!("react-{VERSION}"))
}

/// The scripts of a folder, one after the other, if all are what they should be.
pub(super) fn kept(folder: &Path, scripts: &[Script]) -> Result<String, RuntimeError> {
    joined(scripts, |script| folder.join(script.file))
}

fn joined(scripts: &[Script], place: impl Fn(&Script) -> PathBuf) -> Result<String, RuntimeError> {
    let mut all = String::new();
    for script in scripts {
        all.push_str(&checked(script, &place(script))?);
        all.push('\n');
    }
    Ok(all)
}

fn checked(script: &Script, path: &Path) -> Result<String, RuntimeError> {
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

/// Lets npm work in a folder next to `folder`, and moves the scripts there if all are right.
pub(super) async fn install(
    folder: &Path,
    npm: &Npm,
    scripts: &[Script],
) -> Result<String, RuntimeError> {
    let parent = folder.parent().unwrap_or(folder);
    fs::create_dir_all(parent).map_err(at(parent))?;
    remove_leftovers(parent);
    let work = tempfile::Builder::new()
        .prefix(WORK)
        .tempdir_in(parent)
        .map_err(at(parent))?;
    run(npm, &work).await?;

    let brought = |script: &Script| {
        Path::new("node_modules")
            .join(script.package)
            .join("umd")
            .join(script.file)
    };
    let all = joined(scripts, |script| work.path().join(brought(script)))?;
    let ready = work.path().join("ready");
    fs::create_dir(&ready).map_err(at(&ready))?;
    for script in scripts {
        let from = work.path().join(brought(script));
        fs::rename(&from, ready.join(script.file)).map_err(at(&from))?;
    }
    // What lies there is not React, or this would not run.
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(folder)(error)),
        _ => {}
    }
    fs::rename(&ready, folder).map_err(at(folder))?;
    Ok(all)
}

/// Removes the folder as far as possible: a rest does no harm.
fn remove_leftovers(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(WORK) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

async fn run(npm: &Npm, work: &TempDir) -> Result<(), RuntimeError> {
    for (name, text) in [("package.json", PACKAGE), ("package-lock.json", LOCK)] {
        let path = work.path().join(name);
        fs::write(&path, text).map_err(at(&path))?;
    }
    // A file, not a pipe: a child that npm leaves behind cannot hold this program up.
    let path = work.path().join("npm.log");
    let log = File::create_new(&path).map_err(at(&path))?;
    let mut command = Command::new(&npm.program);
    command
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .args(["--no-update-notifier", "--loglevel=error"])
        .current_dir(work.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .kill_on_drop(true);
    for name in &npm.hidden {
        command.env_remove(name);
    }
    let mut child = command.spawn().map_err(|source| RuntimeError::Start {
        program: npm.program.clone(),
        source,
    })?;
    let Ok(ended) = tokio::time::timeout(npm.limit, child.wait()).await else {
        // Dead before its folder is removed.
        let _ = child.kill().await;
        return Err(RuntimeError::Slow { limit: npm.limit });
    };
    let status = ended.map_err(at(&npm.program))?;
    if status.success() {
        return Ok(());
    }
    Err(RuntimeError::Failed {
        status,
        said: end_of(&path).unwrap_or_default(),
    })
}

/// The end of a text file on one line, without anything that a terminal would obey.
fn end_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(SAID)))?;
    let mut bytes = Vec::new();
    file.take(SAID).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let plain = text.split(char::is_control).map(str::trim);
    let lines: Vec<&str> = plain.filter(|line| !line.is_empty()).collect();
    Ok(lines.join("; "))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const SMALL: [Script; 2] = [
        Script {
            package: "react",
            file: "a.js",
            bytes: 6,
            sha256: "ac1bc6b81949c06305e0ef4aee37eaaeeac80552254200063b395fc2e20d7b60",
        },
        Script {
            package: "react-dom",
            file: "b.js",
            bytes: 6,
            sha256: "4108eb108c460a19d8838593f10465ce158ca026fa1ad62a9bdfead39521e0c4",
        },
    ];

    fn npm(folder: &Path) -> Npm {
        let program = folder.join("npm");
        let brings = "mkdir -p node_modules/react/umd node_modules/react-dom/umd
            printf 'let a\n' > node_modules/react/umd/a.js; printf 'let b\n' > node_modules/react-dom/umd/b.js";
        fs::write(&program, format!("#!/bin/sh\n{brings}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Npm {
            program,
            limit: Duration::from_mins(1),
            hidden: Vec::new(),
        }
    }

    #[tokio::test]
    async fn what_npm_brought_is_kept_alone_and_a_torn_file_is_replaced() {
        let root = tempfile::tempdir().unwrap();
        let folder = folder(root.path());
        let npm = npm(root.path());
        let script = "let a\n\nlet b\n\n";
        assert!(kept(&folder, &SMALL).is_err());
        assert_eq!(install(&folder, &npm, &SMALL).await.unwrap(), script);
        assert_eq!(kept(&folder, &SMALL).unwrap(), script);
        // Nothing of npm's own work stays.
        assert_eq!(fs::read_dir(folder.parent().unwrap()).unwrap().count(), 1);

        for torn in ["let", "let a\nlet c\n"] {
            fs::write(folder.join("a.js"), torn).unwrap();
            let error = kept(&folder, &SMALL).unwrap_err();
            assert!(matches!(error, RuntimeError::Other { .. }), "{error}");
            assert_eq!(install(&folder, &npm, &SMALL).await.unwrap(), script);
            assert_eq!(kept(&folder, &SMALL).unwrap(), script);
        }
    }

    #[test]
    fn the_lock_pins_everything_and_names_no_address() {
        let lock: serde_json::Value = serde_json::from_str(LOCK).unwrap();
        let packages = lock["packages"].as_object().unwrap();
        assert_eq!(packages.len(), 6);
        for (name, package) in packages.iter().filter(|(name, _)| !name.is_empty()) {
            let integrity = package["integrity"].as_str().unwrap();
            assert!(integrity.starts_with("sha512-"), "{name}");
        }
        for text in [LOCK, PACKAGE] {
            assert!(!text.contains("resolved") && !text.contains("://"));
        }
    }
}
