use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;
use crate::workspace::{Workspace, finish};

/// The programs that a build needs, next to those of coreutils.
const PROGRAMS: &str = "cargo rustc rustdoc cc gcc ld ar as git sh env sed grep";

/// The programs of coreutils that scripts use.
const COREUTILS: &str = "[ basename cat chmod cp cut date dd dirname du echo expr false head id install link ln ls \
    mkdir mkfifo mktemp mv nice nohup nproc od paste printenv printf pwd readlink realpath rm rmdir seq sha256sum sleep \
    sort split stat tail tee test timeout touch tr true truncate tty uname uniq unlink wc whoami yes";

/// A folder in place of a machine with nothing but Rust, a C compiler and git: a clone, an empty home, cargo with the
/// packages that were downloaded already, and a PATH of links.
pub struct BareMachine {
    pub folder: PathBuf,
    pub clone: PathBuf,
    /// The variables of rustup, if cargo is its proxy.
    rustup: Vec<(&'static str, OsString)>,
}

impl BareMachine {
    pub fn make(workspace: &Workspace) -> Result<Self, Error> {
        let folder = std::env::temp_dir().join(format!("orrery-fresh-{}", std::process::id()));
        let mut machine = Self {
            clone: folder.join("clone"),
            folder,
            rustup: Vec::new(),
        };
        for name in ["home", "cargo", "tmp", "bin"] {
            let path = machine.folder.join(name);
            fs::create_dir_all(&path).map_err(|source| Error::File { path, source })?;
        }
        machine.link_programs()?;
        finish(
            Command::new("git")
                .args(["clone", "--quiet", "--local"])
                .args([&workspace.root, &machine.clone]),
        )?;
        machine.copy_packages()?;
        Ok(machine)
    }

    /// Cargo in the clone, with the environment of the machine.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.folder.join("bin/cargo"));
        command
            .args(arguments)
            .current_dir(&self.clone)
            .env_clear()
            .env("PATH", self.folder.join("bin"))
            .env("HOME", self.folder.join("home"))
            .env("CARGO_HOME", self.folder.join("cargo"))
            .env("TMPDIR", self.folder.join("tmp"))
            .env("CARGO_NET_OFFLINE", "true")
            .envs(self.rustup.iter().cloned());
        command
    }

    /// The files that were written into the home, and the places next to the four folders of the machine.
    pub fn written(&self) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        let known = ["bin", "cargo", "clone", "demo.txt", "home", "tmp"];
        for folder in [&self.folder, &self.folder.join("home")] {
            let failed = |source| Error::File {
                path: folder.clone(),
                source,
            };
            for entry in fs::read_dir(folder).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                let name = path.file_name().unwrap_or_default();
                let is_known = folder == &self.folder && known.iter().any(|known| name == *known);
                if !is_known {
                    found.push(format!("written outside: {}", path.display()));
                }
            }
        }
        found.sort();
        Ok(found)
    }

    pub fn remove(self) -> Result<(), Error> {
        let path = self.folder;
        fs::remove_dir_all(&path).map_err(|source| Error::File { path, source })
    }

    fn link_programs(&mut self) -> Result<(), Error> {
        let bin = self.folder.join("bin");
        let link = |name: &str, program: &Path| {
            let path = bin.join(name);
            symlink(program, &path).map_err(|source| Error::File { path, source })
        };
        for name in PROGRAMS
            .split_whitespace()
            .chain(COREUTILS.split_whitespace())
        {
            let Some(program) = on_path(name) else {
                continue;
            };
            link(name, &program)?;
            let target = program.canonicalize().unwrap_or(program);
            if name == "cargo" && target.file_name().is_some_and(|name| name == "rustup") {
                link("rustup", &target)?;
                let home = std::env::var_os("HOME").unwrap_or_default();
                let default = || Path::new(&home).join(".rustup").into_os_string();
                let home = std::env::var_os("RUSTUP_HOME").unwrap_or_else(default);
                self.rustup.push(("RUSTUP_HOME", home));
                let toolchain = std::env::var_os("RUSTUP_TOOLCHAIN");
                self.rustup
                    .extend(toolchain.map(|name| ("RUSTUP_TOOLCHAIN", name)));
            }
        }
        Ok(())
    }

    /// Copies what cargo has downloaded, and its settings, which may name a mirror.
    fn copy_packages(&self) -> Result<(), Error> {
        let home = std::env::var_os("HOME").unwrap_or_default();
        let default = || Path::new(&home).join(".cargo").into_os_string();
        let cargo = PathBuf::from(std::env::var_os("CARGO_HOME").unwrap_or_else(default));
        let target = self.folder.join("cargo");
        for part in ["registry/cache", "registry/index", "config.toml"] {
            let (from, to) = (cargo.join(part), target.join(part));
            if from.exists() {
                let folder = to.parent().unwrap_or(&target);
                fs::create_dir_all(folder).map_err(|source| Error::File {
                    path: folder.to_owned(),
                    source,
                })?;
                finish(Command::new("cp").arg("-r").args([from, to]))?;
            }
        }
        Ok(())
    }
}

/// The first program of that name on the PATH.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let programs = std::env::split_paths(&path).map(|folder| folder.join(name));
    let mut programs = programs.filter(|program| program.is_file());
    programs.next()
}
