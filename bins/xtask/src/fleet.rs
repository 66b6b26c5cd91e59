//! The part of the demo with a server: two workers decide the laws of a run, and the rows are those of one process.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::Error;
use crate::demo::{read, remove};
use crate::postgres::TestServer;
use crate::workspace::{Workspace, finish_into};

/// The flags of both runs.
const RUN: [&str; 6] = [
    "--proposer",
    "enumerative",
    "--propose",
    "60",
    "--test",
    "60",
];

/// Returns a line about a run with two workers. Without the programs of `PostgreSQL` it says so.
pub fn run(workspace: &Workspace, folder: &Path) -> Result<String, Error> {
    let server = TestServer::start_if_there(workspace);
    let Some(url) = server.as_ref().and_then(TestServer::url) else {
        return Ok("left out: no PostgreSQL server programs (15 or later)".to_owned());
    };
    let popper = |command: &str| {
        let mut popper = workspace.binary("popper");
        popper.arg(command);
        popper
    };
    let on_server = |command: &str| {
        let mut popper = popper(command);
        popper.env("POPPER_STORE", url);
        popper
    };
    let file = folder.join("alone");
    remove(&file)?;
    let db = file.join("popper.db");
    let in_file = |command: &str| {
        let mut popper = popper(command);
        popper.arg("--db").arg(&db);
        popper
    };

    // The first iteration makes the tables that a worker needs.
    let begun = folder.join("fleet-begun.json");
    let first = ["--iterations", "1", "--threads", "1", "--json"];
    finish_into(&begun, on_server("run").args(RUN).args(first))?;
    let workers = ["one", "two"]
        .map(|name| Worker::start(on_server("worker").args(["--threads", "1", "--name", name])));
    let ended = folder.join("fleet.json");
    let rest = [
        "--run-id",
        "1",
        "--iterations",
        "3",
        "--threads",
        "0",
        "--json",
    ];
    finish_into(&ended, on_server("resume").args(rest))?;
    let status = folder.join("fleet-status.json");
    finish_into(&status, on_server("status").arg("--json"))?;
    drop(workers);
    let shared = folder.join("fleet-export.json");
    finish_into(&shared, &mut on_server("export"))?;

    let alone = folder.join("alone.json");
    finish_into(
        &alone,
        in_file("run")
            .args(RUN)
            .args(["--iterations", "3", "--json"]),
    )?;
    let expected = folder.join("alone-export.json");
    finish_into(&expected, &mut in_file("export"))?;
    let equal = read(&shared, digests)? == read(&expected, digests)?;
    if !equal {
        return Err(Error::Output { path: shared });
    }
    read(&status, finished)
}

/// A worker, which is killed when this is dropped.
struct Worker(Option<Child>);

impl Worker {
    fn start(command: &mut Command) -> Self {
        let quiet = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Self(quiet.spawn().ok())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(worker) = &mut self.0 {
            let _killed = worker.kill();
            let _ended = worker.wait();
        }
    }
}

/// The laws of an export in their order, with their verdicts.
fn digests(export: &Value) -> Option<Vec<String>> {
    let laws = export["laws"].as_array()?;
    let law = |law: &Value| {
        Some(format!(
            "{} {} {}",
            law["law_fingerprint"].as_str()?,
            law["status"],
            law["verdict"]["status"]
        ))
    };
    laws.iter().map(law).collect()
}

/// A line about the jobs of the workers and the verdicts of the run.
fn finished(status: &Value) -> Option<String> {
    let workers = status["queue"]["workers"].as_array()?;
    let jobs = |worker: &Value| {
        Some(format!(
            "{} {}",
            worker["name"].as_str()?,
            worker["finished"].as_u64()?
        ))
    };
    let jobs: Option<Vec<String>> = workers.iter().map(jobs).collect();
    let laws: u64 = (status["verdicts"].as_array()?.iter())
        .filter_map(|verdict| verdict["laws"].as_u64())
        .sum();
    Some(format!(
        "{laws} laws by two workers, as by one process (jobs: {})",
        jobs?.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_line_names_the_workers_and_the_laws() {
        let status = json!({"verdicts": [{"laws": 2}, {"laws": 3}], "queue": {"workers": [
            {"name": "one", "finished": 4}, {"name": "two", "finished": 1}]}});
        let line = "5 laws by two workers, as by one process (jobs: one 4, two 1)";
        assert_eq!(finished(&status).unwrap(), line);
    }

    #[test]
    fn another_verdict_is_another_digest() {
        let export = |status: &str| json!({"laws": [{"law_fingerprint": "f", "status": "tested", "verdict": {"status": status}}]});
        assert_eq!(digests(&export("PASS")), digests(&export("PASS")));
        assert_ne!(digests(&export("PASS")), digests(&export("FAIL")));
    }
}
