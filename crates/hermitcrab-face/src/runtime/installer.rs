//! A client of a package registry, which brings React into a folder within a time limit.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use super::error::{RuntimeError, at};
use super::process::ProcessGroup;
use super::react::{self, Installation, Script};

/// As many bytes of what a client says as an error carries.
const SAID: u64 = 1000;

/// A client of the person's: npm, or Python with its pip.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Installer {
    /// The program, by path or by its name on the search path.
    pub program: PathBuf,
    /// The time limit.
    pub limit: Duration,
    /// Variables of the environment that it does not get, such as keys.
    pub hidden: Vec<String>,
}

impl Installer {
    /// A program with this time limit and all variables of the environment.
    pub fn new(program: impl Into<PathBuf>, limit: Duration) -> Self {
        Self {
            program: program.into(),
            limit,
            hidden: Vec::new(),
        }
    }
}

/// The work of a client.
pub(super) struct Recipe {
    /// The name of the client in errors.
    pub client: &'static str,
    /// The files that it reads, each with its text.
    pub files: &'static [(&'static str, &'static str)],
    /// The arguments of one run after the other.
    pub runs: &'static [&'static [&'static str]],
    /// The place of a script after the last run.
    pub brought: fn(&Script) -> PathBuf,
}

impl Recipe {
    /// Lets the client work in a folder next to `folder`, and keeps the scripts there if all are right.
    pub async fn install(
        &self,
        installer: &Installer,
        folder: &Path,
        scripts: &[Script],
    ) -> Result<String, RuntimeError> {
        let installation = Installation::begin(folder)?;
        let work = installation.work();
        for (name, text) in self.files {
            let path = work.join(name);
            fs::write(&path, text).map_err(at(&path))?;
        }
        let log = work.join(format!("{}.log", self.client));
        // When this ends, also because its caller goes away, no process of the client's is left.
        let runs = async {
            for arguments in self.runs {
                self.run(installer, arguments, work, &log).await?;
            }
            Ok(())
        };
        let ended = timeout(installer.limit, runs).await;
        ended.unwrap_or(Err(RuntimeError::Slow {
            client: self.client,
            limit: installer.limit,
        }))?;
        let texts = react::checked(scripts, |script| work.join((self.brought)(script)))?;
        installation.keep(scripts, &texts, self.client)
    }

    async fn run(
        &self,
        installer: &Installer,
        arguments: &[&str],
        work: &Path,
        log: &Path,
    ) -> Result<(), RuntimeError> {
        // A file, not a pipe: a process that the client leaves running cannot hold this program up.
        let said = File::options().create(true).append(true).open(log);
        let mut command = Command::new(&installer.program);
        command
            .args(arguments)
            .current_dir(work)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said.map_err(at(log))?);
        for name in &installer.hidden {
            command.env_remove(name);
        }
        let spawned = ProcessGroup::spawn(&mut command);
        let (mut child, _group) = spawned.map_err(|source| RuntimeError::Start {
            program: installer.program.clone(),
            source,
        })?;
        let status = child.wait().await.map_err(at(&installer.program))?;
        if status.success() {
            return Ok(());
        }
        Err(RuntimeError::Failed {
            client: self.client,
            status,
            said: end_of(log).unwrap_or_default(),
        })
    }
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
