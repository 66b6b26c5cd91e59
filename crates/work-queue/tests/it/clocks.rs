//! Processes whose clocks are wrong: every time in the tables is the server's.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::child::WorkerProcess;
use crate::scene::{Scene, answer, skipped};
use crate::scripted::Scripted;

/// A library that moves the clock of a process that loads it first by `CLOCK_SHIFT` seconds.
const SHIFT: &str = r#"
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, id, now);
    if (!failed && id == CLOCK_REALTIME)
        now->tv_sec += atol(getenv("CLOCK_SHIFT"));
    return failed;
}
"#;

/// Compiles the library; false without a C compiler for Linux.
fn compile(library: &Path) -> bool {
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-x", "c", "-", "-o"])
        .arg(library);
    let Ok(mut cc) = cc.stdin(Stdio::piped()).stderr(Stdio::null()).spawn() else {
        return false;
    };
    let written = cc.stdin.take().unwrap().write_all(SHIFT.as_bytes());
    cc.wait().unwrap().success() && written.is_ok()
}

/// Every time that a process had a part in.
const TIMES: &str = "(
    SELECT created_at AS at FROM work_queue.work UNION ALL
    SELECT at FROM work_queue.results UNION ALL
    SELECT started_at FROM work_queue.workers UNION ALL
    SELECT last_heartbeat_at FROM graphile_worker._private_workers UNION ALL
    SELECT run_at FROM graphile_worker._private_jobs UNION ALL
    SELECT created_at FROM graphile_worker._private_jobs UNION ALL
    SELECT locked_at FROM graphile_worker._private_jobs WHERE locked_at IS NOT NULL
) AS times";

/// Two processes, whose clocks are an hour fast and an hour slow: each submits a job, does one, and looks for the dead.
#[tokio::test]
async fn an_hour_ahead_and_an_hour_behind_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [library, gate] = ["shift.so", "gate"].map(|name| folder.path().join(name));
    if !cfg!(target_os = "linux") || !compile(&library) {
        return skipped("no C compiler for a library that moves a clock");
    }
    let Some(scene) = Scene::new(&*Scripted::new("s")).await else {
        return;
    };
    let scene = scene.with_lease(Duration::from_secs(4)).await;
    let micros = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
    let began = scene.number(micros).await;
    let mut inputs = Vec::new();
    let mut workers = Vec::new();
    for shift in [3600, -3600_i64] {
        let (shift, input) = (
            shift.to_string(),
            format!("echo {shift};file {}", gate.display()),
        );
        let settings = [
            ("LD_PRELOAD", library.to_str().unwrap()),
            ("CLOCK_SHIFT", &shift),
            ("CHILD_LEASE", "4000"),
            ("CHILD_SUBMIT", &input),
        ];
        workers.push(WorkerProcess::start_at(&scene.url, "s", &shift, &settings));
        inputs.push(input);
    }
    // Both hold a job beyond the time in which each looks for the dead.
    let held = "SELECT count(*) FROM graphile_worker._private_jobs j
        JOIN graphile_worker._private_workers w ON w.id = j.locked_by
        WHERE w.last_heartbeat_at > j.locked_at + interval '3 seconds'";
    scene.reaches(held, 2).await;
    let shifted = "SELECT count(*) FROM work_queue.workers
        WHERE abs(host::bigint - extract(epoch FROM started_at) - name::bigint) < 60";
    assert_eq!(scene.number(shifted).await, 2, "the clocks are not moved");
    let elsewhere = format!(
        "SELECT count(*) FROM {TIMES} WHERE (extract(epoch FROM at) * 1000000)::bigint
            NOT BETWEEN {began} AND ({micros})"
    );
    assert_eq!(scene.number(&elsewhere).await, 0);
    std::fs::write(gate, "").unwrap();
    let ended = scene.collect(2).await;
    for input in inputs {
        assert_eq!(answer(&ended[&input]), input);
    }
    assert_eq!(scene.number(&elsewhere).await, 0);
    let once = "SELECT count(*) FROM work_queue.work WHERE deliveries = 1";
    assert_eq!(scene.number(once).await, 2);
}
