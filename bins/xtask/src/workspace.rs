//! The folders of the workspace, its binaries, and the commands that are run in it.

use std::env::consts::EXE_SUFFIX;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Error;

/// The programs for users, in the order of the demo.
pub const PROGRAMS: [&str; 4] = ["popper", "zer0gravity", "hermitcrab", "logosphere"];

/// The workspace of the working directory.
pub struct Workspace {
    pub root: PathBuf,
    pub target: PathBuf,
    /// The description of the packages by `cargo metadata`.
    pub packages: Vec<Value>,
}

impl Workspace {
    pub fn find() -> Result<Self, Error> {
        let metadata = metadata()?;
        let folder = |key: &str| {
            let missing = || Error::Metadata(format!("no {key} in the output of cargo metadata"));
            metadata[key]
                .as_str()
                .map(PathBuf::from)
                .ok_or_else(missing)
        };
        let packages = metadata["packages"].as_array().cloned();
        Ok(Self {
            root: folder("workspace_root")?,
            target: folder("target_directory")?,
            packages: packages.unwrap_or_default(),
        })
    }

    pub fn has_package(&self, name: &str) -> bool {
        self.packages.iter().any(|package| package["name"] == name)
    }

    /// The folder where `program` leaves the files of the demo, empty.
    pub fn demo_folder(&self, program: &str) -> Result<PathBuf, Error> {
        empty(self.target.join("demo").join(program))
    }

    /// The folder that the server `peer` is installed into; made if it is not there.
    pub fn peer_folder(&self, peer: &str) -> Result<PathBuf, Error> {
        made(self.target.join("peers").join(peer))
    }

    /// A folder for a campaign's files that are not kept; made if it is not there.
    pub fn campaign_folder(&self, name: &str) -> Result<PathBuf, Error> {
        made(self.target.join("campaign").join(name))
    }

    /// A program of the repository, run in the workspace's root.
    pub fn command(&self, path: &str) -> Command {
        let mut command = Command::new(self.root.join(path));
        forget_package(&mut command);
        command.current_dir(&self.root);
        command
    }

    /// Cargo in the workspace's root.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = cargo();
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// Builds all programs, and the one that starts a server for the tests. Because that is an example, cargo takes the features
    /// of the tests' build, and nothing is compiled twice.
    pub fn build_programs(&self) -> Result<(), Error> {
        let mut build = self.cargo(&["build", "--locked", "--workspace", "--bins"]);
        build.args(["--example", "postgres", "--features"]);
        finish(build.arg("test-support/postgres"))
    }

    /// Git in the workspace's root.
    pub fn git(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// A binary of the dev build, run in the workspace's root.
    pub fn binary(&self, name: &str) -> Command {
        self.built(&format!("debug/{name}"))
    }

    /// A program at a path in the target folder, run in the workspace's root.
    pub fn built(&self, path: &str) -> Command {
        let mut command = Command::new(self.target.join(format!("{path}{EXE_SUFFIX}")));
        command.current_dir(&self.root);
        command
    }

    /// `path` as it reads from the root.
    pub fn relative<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }
}

/// The folder without the files of an earlier task.
pub fn empty(path: PathBuf) -> Result<PathBuf, Error> {
    if path.exists()
        && let Err(source) = fs::remove_dir_all(&path)
    {
        return Err(Error::File { path, source });
    }
    made(path)
}

fn made(path: PathBuf) -> Result<PathBuf, Error> {
    match fs::create_dir_all(&path) {
        Ok(()) => Ok(path),
        Err(source) => Err(Error::File { path, source }),
    }
}

/// The packages of the workspace of the working directory, as `cargo metadata` describes them.
fn metadata() -> Result<Value, Error> {
    let mut command = cargo();
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    let output = command.output().map_err(|source| Error::Start {
        command: line(&command),
        source,
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.trim().lines().last().unwrap_or("no output");
        return Err(Error::Metadata(last.to_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| Error::Metadata(error.to_string()))
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    forget_package(&mut command);
    command
}

/// Removes the variables that cargo sets about the package of this program: build scripts that read them would run again.
fn forget_package(command: &mut Command) {
    let parts = [
        "CARGO_BIN_",
        "CARGO_CRATE_",
        "CARGO_MANIFEST_",
        "CARGO_PKG_",
        "CARGO_PRIMARY_",
    ];
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if parts.iter().any(|part| text.starts_with(part)) {
            command.env_remove(&name);
        }
    }
}

/// Whether this runs in CI, where nothing that tests need may be missing.
pub fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty())
}

/// Runs `command` to its end; anything but success is an error.
pub fn finish(command: &mut Command) -> Result<(), Error> {
    let status = command.status().map_err(|source| Error::Start {
        command: line(command),
        source,
    })?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::Ended {
            command: line(command),
            status,
        })
    }
}

/// Runs `command` to its end with its stdout in the file `path`.
pub fn finish_into(path: &Path, command: &mut Command) -> Result<(), Error> {
    let file = File::create(path).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })?;
    finish(command.stdout(file))
}

/// Whether `command` can be run at all.
pub fn works(command: &mut Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs `command` to its end and returns its stdout; its stderr is that of this program.
pub fn output(command: &mut Command) -> Result<String, Error> {
    command.stderr(Stdio::inherit());
    let output = command.output().map_err(|source| Error::Start {
        command: line(command),
        source,
    })?;
    if !output.status.success() {
        return Err(Error::Ended {
            command: line(command),
            status: output.status,
        });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The words of a command.
pub fn line(command: &Command) -> String {
    let mut line = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}
