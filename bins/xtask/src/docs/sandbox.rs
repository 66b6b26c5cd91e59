//! The folder in which the commands of a page run, and what they keep from one to the next.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::Error;
use crate::workspace::Workspace;

/// The time after which a command that waits for something is stopped.
const LIMIT: Duration = Duration::from_mins(5);

/// Runs a command after what earlier ones left, `$0` being the folder that holds that, and leaves its own: exported variables and the
/// working folder.
const SCRIPT: &str = r#"trap 'export -p > "$0/variables"; pwd > "$0/folder"' EXIT
. "$0/variables"
cd "$(cat "$0/folder")"
"#;

/// A folder with its own home, without keys, in which the programs of the dev build can be called.
pub struct Sandbox {
    home: PathBuf,
    path: OsString,
}

/// The result of a command.
#[derive(Debug)]
pub struct Ran {
    /// `None` after a signal.
    pub code: Option<i32>,
    /// stdout, then stderr.
    pub output: String,
}

impl Sandbox {
    /// An empty folder of that name; `fixtures` in it is a copy of that of the workspace.
    pub fn new(workspace: &Workspace, name: &str) -> Result<Self, Error> {
        let home = folder(workspace).join(name);
        let sandbox = Self {
            path: search_path(workspace),
            home,
        };
        sandbox.prepare(workspace).map_err(|source| Error::File {
            path: sandbox.home.clone(),
            source,
        })?;
        Ok(sandbox)
    }

    fn prepare(&self, workspace: &Workspace) -> std::io::Result<()> {
        let (work, state) = (self.home.join("work"), self.state());
        fs::create_dir_all(&work)?;
        fs::create_dir_all(&state)?;
        // Copied by the system, as every file keeps its mode.
        let mut copy = Command::new("cp");
        copy.arg("-R").arg(workspace.root.join("fixtures"));
        copy.arg(&work).status()?;
        fs::write(state.join("variables"), "")?;
        fs::write(state.join("folder"), work.as_os_str().as_encoded_bytes())
    }

    fn state(&self) -> PathBuf {
        self.home.join("state")
    }

    /// Writes a file into the working folder.
    pub fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.home.join("work").join(name);
        let folder = path.parent().unwrap_or(&self.home);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
        written.map_err(|source| Error::File { path, source })
    }

    /// Runs a command to its end, which is also that of all that it started.
    pub fn run(&self, command: &str) -> Result<Ran, Error> {
        let [stdout, stderr] = ["stdout", "stderr"].map(|name| self.state().join(name));
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::File { path, source }
        };
        let mut shell = Command::new("sh");
        shell
            .args(["-euc", &format!("{SCRIPT}{command}")])
            .arg(self.state())
            .env_clear()
            .envs(self.variables())
            .stdin(Stdio::null())
            .stdout(File::create(&stdout).map_err(failed(&stdout))?)
            .stderr(File::create(&stderr).map_err(failed(&stderr))?)
            .process_group(0);
        let process = shell.spawn().map_err(|source| Error::Start {
            command: command.to_owned(),
            source,
        })?;
        let status = wait(process).map_err(failed(&self.home))?;
        let mut output = String::new();
        for path in [stdout, stderr] {
            let bytes = fs::read(&path).map_err(failed(&path))?;
            output.push_str(&String::from_utf8_lossy(&bytes));
        }
        Ok(Ran {
            code: status.code(),
            output,
        })
    }

    /// The whole environment: an address that nothing listens on takes every request to another machine.
    fn variables(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![
            ("PATH", self.path.clone()),
            ("HOME", self.home.clone().into()),
            ("LC_ALL", "C.UTF-8".into()),
            ("TZ", "UTC".into()),
            ("NO_PROXY", "127.0.0.1,localhost".into()),
        ];
        for name in [
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "http_proxy",
            "https_proxy",
            "ALL_PROXY",
        ] {
            variables.push((name, "http://127.0.0.1:1".into()));
        }
        variables
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // What is left of it is removed with the folder of all sandboxes.
        let _removed = fs::remove_dir_all(&self.home);
    }
}

/// The folder of all sandboxes of this process.
pub fn folder(workspace: &Workspace) -> PathBuf {
    let process = std::process::id().to_string();
    workspace.target.join("docs").join(process)
}

/// The programs of the dev build, then those of the system.
fn search_path(workspace: &Workspace) -> OsString {
    let mut path = workspace.target.join("debug").into_os_string();
    path.push(":/usr/bin:/bin");
    path
}

/// Waits for the end of a process, but not longer than [`LIMIT`], and kills what is left of its group.
fn wait(mut process: Child) -> std::io::Result<ExitStatus> {
    let begun = Instant::now();
    let mut ended = process.try_wait()?;
    while ended.is_none() && begun.elapsed() < LIMIT {
        thread::sleep(Duration::from_millis(5));
        ended = process.try_wait()?;
    }
    // The shell's own, since a program of that name is not on every machine.
    let mut kill = Command::new("sh");
    kill.args([
        "-c",
        "kill -s KILL -- \"$0\"",
        &format!("-{}", process.id()),
    ]);
    // Mostly nothing is left to kill.
    kill.stderr(Stdio::null()).status()?;
    ended.map_or_else(|| process.wait(), Ok)
}
