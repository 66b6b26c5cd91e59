//! A `PostgreSQL` server for the tests: there already, installed, or done without.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::workspace::{Workspace, is_ci};
use crate::{Error, apt};

/// The line for a machine without the programs.
const MISSING: &str = "the PostgreSQL server programs (15 or later) are not installed: install them (Debian: apt-get install postgresql)";

/// The server that all tests share, until this is dropped. Each test has its own database on it.
pub struct TestServer {
    /// `None` without the programs.
    running: Option<(Child, String)>,
    /// The file with a line for each test that was skipped.
    skipped: PathBuf,
}

impl TestServer {
    /// Sees to a server. Where none can be had, the tests that need one are left out, except in CI.
    pub fn provide(workspace: &Workspace, may_install: bool) -> Result<Self, Error> {
        let skipped = workspace.target.join("skipped-tests");
        // The file of an earlier run.
        let _removed = fs::remove_file(&skipped);
        workspace.build_programs()?;
        let start = || start(&mut workspace.binary("examples/postgres"));
        let install = || {
            (may_install && apt::install(&["postgresql"]))
                .then(start)
                .flatten()
        };
        let running = start().or_else(install);
        if running.is_none() {
            if is_ci() {
                return Err(Error::NotInstalled {
                    missing: MISSING.to_owned(),
                });
            }
            eprintln!("xtask: {MISSING}; the tests that need a server are left out");
        }
        Ok(Self { running, skipped })
    }

    /// The address of the database `postgres`, if there is a server.
    fn url(&self) -> Option<&str> {
        self.running.as_ref().map(|(_, url)| url.as_str())
    }

    /// Tells a command that runs tests where the server is.
    pub fn tell(&self, command: &mut Command) {
        command.env("ORRERY_SKIPPED", &self.skipped);
        if let Some(url) = self.url() {
            command.env("ORRERY_POSTGRES", url);
        }
    }

    /// The number of tests that were skipped.
    pub fn skipped(&self) -> usize {
        self.skipped_lines().lines().count()
    }

    /// A line for each reason for which tests were skipped.
    pub fn report(&self) -> Vec<String> {
        let mut reasons = BTreeMap::new();
        for line in self.skipped_lines().lines() {
            *reasons.entry(line.to_owned()).or_insert(0) += 1;
        }
        (reasons.into_iter())
            .map(|(reason, count)| format!("{count} tests {reason}"))
            .collect()
    }

    fn skipped_lines(&self) -> String {
        fs::read_to_string(&self.skipped).unwrap_or_default()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some((process, _)) = &mut self.running {
            drop(process.stdin.take());
            let _ended = process.wait();
        }
    }
}

/// Starts the program, which prints the server's address, or ends without the programs of `PostgreSQL`.
fn start(command: &mut Command) -> Option<(Child, String)> {
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut process = command.spawn().ok()?;
    let mut line = String::new();
    let read = BufReader::new(process.stdout.take()?).read_line(&mut line);
    if read.is_ok_and(|bytes| bytes > 0) {
        return Some((process, line.trim_end().to_owned()));
    }
    let _ended = process.wait();
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_server_ends_with_its_owner_and_a_missing_one_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let ended = folder.path().join("ended");
        let script = format!("echo postgres://there; cat; echo > {}", ended.display());
        let running = start(&mut shell(&script));
        assert_eq!(running.as_ref().unwrap().1, "postgres://there");
        let server = TestServer {
            running,
            skipped: folder.path().join("skipped"),
        };
        let mut command = shell("echo $ORRERY_POSTGRES");
        server.tell(&mut command);
        assert_eq!(command.output().unwrap().stdout, b"postgres://there\n");
        assert!(!ended.exists());
        drop(server);
        assert!(ended.exists());
        assert!(start(&mut shell("exit 1")).is_none());
        assert!(start(&mut Command::new(folder.path().join("absent"))).is_none());
    }

    #[test]
    fn skipped_tests_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let server = TestServer {
            running: None,
            skipped: folder.path().join("skipped"),
        };
        assert!(server.report().is_empty());
        let mut test = shell(
            "echo SKIPPED: no moon >> $ORRERY_SKIPPED; echo SKIPPED: no sun >> $ORRERY_SKIPPED; test -z \"$ORRERY_POSTGRES\"",
        );
        test.env_remove("ORRERY_POSTGRES");
        server.tell(&mut test);
        assert!(test.status().unwrap().success() && test.status().unwrap().success());
        let expected = ["2 tests SKIPPED: no moon", "2 tests SKIPPED: no sun"];
        assert_eq!(server.report(), expected);
        assert_eq!(server.skipped(), 4);
    }
}
