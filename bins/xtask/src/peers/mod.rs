//! `cargo xtask peers`: the opt-in tests against servers and clients that other people wrote.

mod peer;
mod server;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::task::Arguments;
use crate::workspace::{Workspace, finish};
use crate::{Error, Exit};
use peer::{PEERS, Peer, Role};
pub use server::Server;

/// A peer that the tests can use. A server is stopped when this is dropped.
enum Ready {
    Server(Server),
    Client(PathBuf),
}

impl Ready {
    /// Starts a server; a client is started by each test.
    fn make(peer: &Peer, folder: &Path) -> Result<Self, Error> {
        Ok(match peer.role {
            Role::Server(command) => Self::Server(Server::start(command, folder)?),
            Role::Client(program) => Self::Client(program(folder)),
        })
    }

    /// The variables that the tests read.
    fn value(&self) -> OsString {
        match self {
            Self::Server(server) => server.url().into(),
            Self::Client(program) => program.into(),
        }
    }
}

/// The result of one peer.
enum Outcome {
    /// Every test of it passed.
    Passed(u32),
    /// Some test failed, or none ran.
    Failed(String),
    /// The peer cannot be installed or started here.
    Absent(Error),
}

/// Installs, starts, tests and stops the peers of these names, or all, and ends with a list of the results.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Exit, Error> {
    let chosen = choose(&arguments.names)?;
    // Before any server runs: it would wait for the compiler.
    for package in packages(&chosen) {
        finish(&mut workspace.cargo(&[
            "test", "-p", package, "--locked", "--test", "it", "--no-run",
        ]))?;
    }
    let mut exit = Exit::Done;
    let mut list = Vec::new();
    for peer in chosen {
        let result = match ask(workspace, peer)? {
            Outcome::Passed(tests) => format!("{tests} tests passed"),
            Outcome::Failed(what) => {
                exit = Exit::Failed;
                what
            }
            Outcome::Absent(error) => {
                eprintln!("xtask: {error}");
                if exit == Exit::Done {
                    exit = Exit::SomeFailed;
                }
                "absent, not tested".to_owned()
            }
        };
        list.push(format!("{:<8}  {result} ({})", peer.name, peer.version));
    }
    println!("\n{}", list.join("\n"));
    Ok(exit)
}

/// Installs and starts the server of a peer. It is stopped when the value is dropped.
pub fn start(workspace: &Workspace, name: &str) -> Result<Server, Error> {
    let peer = choose(&[name.to_owned()])?[0];
    let folder = workspace.peer_folder(peer.name)?;
    peer.install(&folder)?;
    match Ready::make(peer, &folder)? {
        Ready::Server(server) => Ok(server),
        Ready::Client(_) => Err(Error::Check("this peer is a client")),
    }
}

/// The names of all peers.
fn names() -> impl Iterator<Item = &'static str> {
    PEERS.iter().map(|peer| peer.name)
}

fn choose(names: &[String]) -> Result<Vec<&'static Peer>, Error> {
    if names.is_empty() {
        return Ok(PEERS.iter().collect());
    }
    let find = |name: &String| {
        PEERS
            .iter()
            .find(|peer| peer.name == name)
            .ok_or_else(|| Error::Unknown {
                kind: "peer",
                name: name.clone(),
                known: self::names().collect(),
            })
    };
    names.iter().map(find).collect()
}

/// Runs the tests of `peer`, on a fresh server that is gone when this returns.
fn ask(workspace: &Workspace, peer: &Peer) -> Result<Outcome, Error> {
    eprintln!("xtask: {}", peer.name);
    let folder = workspace.peer_folder(peer.name)?;
    let started = peer
        .install(&folder)
        .and_then(|()| peer.configure(workspace, &folder))
        .and_then(|()| Ready::make(peer, &folder));
    let ready = match started {
        Ok(ready) => ready,
        Err(error) => return Ok(Outcome::Absent(error)),
    };
    let mut passed = 0;
    for package in peer.packages {
        match tests(workspace, peer, package, &ready)? {
            Outcome::Passed(tests) => passed += tests,
            other => return Ok(other),
        }
    }
    Ok(Outcome::Passed(passed))
}

/// Runs the tests of one package that are about `peer`.
fn tests(
    workspace: &Workspace,
    peer: &Peer,
    package: &str,
    ready: &Ready,
) -> Result<Outcome, Error> {
    let topic = format!("{}::", peer.name);
    let mut command = workspace.cargo(&["test", "-p", package, "--test", "it", &topic]);
    // One after another: a small server on few cores should be asked, not stormed.
    command.args(["--", "--ignored", "--test-threads", "1", "--nocapture"]);
    command.env(peer.variable, ready.value());
    command.stderr(Stdio::inherit());
    let output = command.output().map_err(|source| Error::Start {
        command: format!("cargo test -p {package} {topic}"),
        source,
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    eprint!("{text}");
    Ok(outcome(&text, output.status.success()))
}

/// The packages whose tests are about these peers, each once.
fn packages(peers: &[&Peer]) -> Vec<&'static str> {
    let mut packages: Vec<_> = peers
        .iter()
        .flat_map(|peer| peer.packages)
        .copied()
        .collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

/// Reads the closing line of the test harness: a run without any test is a failure.
fn outcome(text: &str, success: bool) -> Outcome {
    let passed = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("test result: "))
        .and_then(|line| line.split(' ').nth(1)?.parse().ok());
    match passed {
        Some(0) if success => Outcome::Failed("no test ran".to_owned()),
        Some(passed) if success => Outcome::Passed(passed),
        Some(passed) => Outcome::Failed(format!("FAILED, {passed} tests passed")),
        None => Outcome::Failed("the tests did not run".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, success: bool) -> String {
        match outcome(text, success) {
            Outcome::Passed(tests) => format!("passed {tests}"),
            Outcome::Failed(what) => what,
            Outcome::Absent(error) => error.to_string(),
        }
    }

    #[test]
    fn the_closing_line_tells_how_many_tests_passed() {
        let line = "test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 40 filtered out; finished in 1.20s";
        assert_eq!(shown(line, true), "passed 9");
        let line = "running 2 tests\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n";
        assert_eq!(shown(line, false), "FAILED, 1 tests passed");
    }

    #[test]
    fn a_run_without_tests_is_no_success() {
        assert_eq!(
            shown("test result: ok. 0 passed; 0 failed", true),
            "no test ran"
        );
        assert_eq!(shown("", false), "the tests did not run");
    }

    #[test]
    fn an_unknown_peer_is_refused_and_the_known_ones_are_named() {
        let error = choose(&["gpt".to_owned()]).err().unwrap().to_string();
        assert_eq!(
            error,
            "unknown peer \"gpt\"; known: aimock, ext_apps, inspect, katan, local, mcp"
        );
        assert_eq!(choose(&[]).unwrap().len(), PEERS.len());
    }
}
