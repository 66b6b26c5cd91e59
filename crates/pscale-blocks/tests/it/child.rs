//! This test binary once more, as another process that runs one test which is ignored otherwise.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

const DIR: &str = "PSCALE_CHILD_DIR";
const TASK: &str = "PSCALE_CHILD_TASK";
const MARK: &str = "child says: ";

/// A process that does not outlive the test.
pub struct Process {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Process {
    /// Runs the ignored test `test` with a directory and a task.
    #[expect(clippy::disallowed_methods, reason = "the child is this very program")]
    pub fn start(test: &str, dir: &Path, task: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--ignored", "--nocapture"])
            .env(DIR, dir)
            .env(TASK, task)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next message of the child. `None` when it has ended.
    pub fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            if let Some((_, said)) = line.trim_end().split_once(MARK) {
                return Some(said.to_owned());
            }
            line.clear();
        }
        None
    }

    /// Waits for the child's end; whether all went well.
    pub fn end(mut self) -> bool {
        self.child.wait().unwrap().success()
    }

    /// Ends the child with a signal that it cannot handle.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// In the child: its directory and task.
#[expect(
    clippy::disallowed_methods,
    reason = "how the parent tells its child what to do"
)]
pub fn task() -> (PathBuf, String) {
    let dir = std::env::var_os(DIR).unwrap();
    (dir.into(), std::env::var(TASK).unwrap())
}

/// In the child: tells the parent.
#[expect(clippy::disallowed_macros, reason = "how the parent hears its child")]
pub fn say(what: &str) {
    println!("{MARK}{what}");
}
