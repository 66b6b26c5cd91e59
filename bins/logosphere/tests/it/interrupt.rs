//! Ctrl-C, a terminal that goes away, a reader that goes away.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStderr, Stdio};

use serde_json::json;
use test_support::{MindScript, MindStub};

use crate::journal::{self, calls, events, of_type};
use crate::program::{Place, finish, server, signal, start};

fn held(hold: std::ops::Range<usize>) -> MindStub {
    MindStub::start(MindScript {
        hold,
        ..MindScript::default()
    })
}

const RUN: &str = "run E --minds 3 --rounds 4 --seed 5 --scheduling SCHEDULING --concurrency 2";

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[test]
fn a_signal_waits_for_calls_under_way_and_the_run_can_be_resumed() {
    for (scheduling, in_flight, name) in [
        ("sequential", 1, "-INT"),
        ("snapshot", 2, "-INT"),
        ("sequential", 1, "-TERM"),
        ("snapshot", 2, "-HUP"),
    ] {
        for at in [0, 1, 4] {
            let place = Place::new();
            place.experiment("E");
            let stub = held(at..usize::MAX);
            let line = RUN.replace("SCHEDULING", scheduling);
            let mut child = place.start_asking(&stub, &words(&line));
            // A round has three calls: there may be fewer left than can be under way.
            stub.wait_requests(at + in_flight.min(3 - at % 3));
            let made = stub.stats().requests;
            let mut stderr = interrupt(&mut child, name);
            stub.release();
            finish(child).exits(130);
            let mut said = String::new();
            stderr.read_to_string(&mut said).unwrap();
            assert!(said.contains("resume"), "{said}");
            let told = format!("{name} {scheduling} {at}");
            assert_eq!(stub.stats().requests, made, "{told}: nothing new is begun");
            let before = events(&place, "E");
            let last = before.last().unwrap();
            assert_eq!(last["type"], "run_interrupted", "{told}");
            assert_eq!(
                (&last["cause"], &last["resumable"]),
                (&json!("signal"), &json!(true))
            );
            place.resuming(&stub, "E", &[]).exits(0);
            assert_eq!(stub.stats().requests, 12, "{told}: no call is made twice");
            assert_eq!(calls(&events(&place, "E")).len(), 12);
            place.experiment("C");
            place
                .asking(&stub, &words(&line.replace(" E ", " C ")))
                .exits(0);
            place
                .alone(&["diff", &journal::path("E"), &journal::path("C")])
                .exits(0);
        }
    }
}

/// Sends the signal and reads stderr until the program says that it stops.
fn interrupt(child: &mut Child, name: &str) -> BufReader<ChildStderr> {
    signal(child.id(), name);
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    while !told.contains("stopping") {
        let read = stderr.read_line(&mut told).unwrap();
        assert_ne!(read, 0, "it ends without a word about that: {told}");
    }
    stderr
}

/// The program waits for its prices, which come through a pipe, when the signal does.
#[test]
fn a_signal_before_the_first_call_leaves_a_run_that_can_be_resumed() {
    for name in ["-INT", "-TERM"] {
        let place = Place::new();
        place.experiment("E");
        let prices = place.path("prices.json");
        let made = std::process::Command::new("mkfifo").arg(&prices).status();
        assert!(made.unwrap().success());
        let table = json!({"schema_version": 1, "read_on": "2026-11-01", "models": []});
        let stub = held(0..usize::MAX);
        let line = RUN.replace("SCHEDULING", "sequential") + " --prices prices.json";
        let mut child = place.start_asking(&stub, &words(&line));
        // A pipe opens when both ends do.
        let mut pipe = std::fs::File::options().write(true).open(&prices).unwrap();
        let stderr = interrupt(&mut child, name);
        // The estimate reads the file again.
        std::fs::remove_file(&prices).unwrap();
        std::fs::write(&prices, table.to_string()).unwrap();
        pipe.write_all(table.to_string().as_bytes()).unwrap();
        drop(pipe);
        finish(child).exits(130);
        drop(stderr);
        let last = events(&place, "E").pop().unwrap();
        assert_eq!(last["type"], "run_interrupted", "{name}");
        assert_eq!(stub.stats().requests, 0, "{name}");
        let names = place.names("E");
        assert!(names.iter().all(|file| !file.starts_with('.')), "{names:?}");
        stub.release();
        stub.set(MindScript::default());
        place.resuming(&stub, "E", &[]).exits(0);
        assert_eq!(stub.stats().requests, 12, "{name}");
    }
}

#[test]
fn l06_fifteen_signals_cost_no_call() {
    for name in ["SIGTERM", "SIGHUP", "SIGINT"] {
        let place = Place::new();
        place.experiment("E");
        let stub = held(6..usize::MAX);
        let line = "run E --minds 10 --rounds 10 --seed 5";
        let mut child = place.start_asking(&stub, &words(line));
        for at in (1..=15).map(|interrupted| 6 * interrupted) {
            stub.wait_requests(at + 1);
            let _ = interrupt(&mut child, &name.replace("SIG", "-"));
            stub.release();
            finish(child).exits(130);
            let last = events(&place, "E").pop().unwrap();
            assert_eq!(last["type"], "run_interrupted");
            assert_eq!(
                (&last["cause"], &last["detail"]),
                (&json!("signal"), &json!(name))
            );
            stub.set(MindScript {
                hold: at + 6..usize::MAX,
                ..MindScript::default()
            });
            child = place.start_resuming(&stub, "E", &[]);
        }
        stub.wait_requests(97);
        stub.release();
        finish(child).exits(0);
        assert_eq!(stub.stats().requests, 100, "{name}");
    }
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    let place = Place::new();
    place.experiment("E");
    let stub = held(4..usize::MAX);
    let line = RUN.replace("SCHEDULING", "sequential");
    let mut child = place.start_asking(&stub, &words(&line));
    stub.wait_requests(5);
    // Two that come too close are one: more are sent until it has ended.
    while child.try_wait().unwrap().is_none() {
        signal(child.id(), "-INT");
    }
    let ran = finish(child);
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    stub.release();
    assert_eq!(calls(&events(&place, "E")).len(), 4);
    place.resuming(&stub, "E", &[]).exits(0);
    // One call was under way and is made again.
    assert_eq!(stub.stats().requests, 13);
    place.alone(&["verify", &journal::path("E")]).exits(0);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let stub = MindStub::start(MindScript::default());
    let place = Place::new();
    place.experiment("E");
    let mut command = place.command(&["run", "E", "--rounds", "3", "--seed", "1"]);
    command.args(server(&stub.url())).stdout(Stdio::piped());
    let mut child = start(&mut command);
    drop(child.stdout.take());
    let ran = finish(child).exits(0);
    assert_eq!(ran.stdout, "");
    // Whatever it did, the journal is sound, and goes on if it has not ended.
    if of_type(&events(&place, "E"), "experiment_end").is_empty() {
        place.resuming(&stub, "E", &[]).exits(0);
    }
    assert_eq!(stub.stats().requests, 9);
}

#[test]
fn small_commands_do_not_mind_either() {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&["run", "E", "--rounds", "3", "--seed", "1"])
        .exits(0);
    for arguments in [
        &["verify", "E/logs/experiment.jsonl"][..],
        &["parse", "E/init.md"],
        &["analyze", "E"],
        &["--help"],
    ] {
        let mut child = start(&mut place.command(arguments));
        drop(child.stdout.take());
        finish(child).exits(0);
    }
}

#[test]
fn a_journal_that_was_removed_is_not_said_to_be_kept() {
    let place = Place::new();
    place.experiment("E");
    let stub = held(4..usize::MAX);
    let line = RUN.replace("SCHEDULING", "sequential");
    let child = place.start_asking(&stub, &words(&line));
    stub.wait_requests(5);
    std::fs::remove_dir_all(place.path("E")).unwrap();
    stub.release();
    let ran = finish(child).exits(1);
    assert!(!ran.stderr.contains("is kept"), "{}", ran.stderr);
}
