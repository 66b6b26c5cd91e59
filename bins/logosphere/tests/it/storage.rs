//! Disks that are full, directories that cannot be written, files that vanish, and two processes in one place.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;
use test_support::{MindScript, MindStub};

use crate::journal::{self, calls, events, of_type, path, spooled};
use crate::program::{Place, finish, server, start};

const RUN: [&str; 8] = ["run", "E", "--minds", "3", "--rounds", "8", "--seed", "5"];

#[test]
fn a_second_process_is_told_who_is_there() {
    let place = Place::new();
    place.experiment("E");
    let stub = MindStub::start(MindScript {
        hold: 2..3,
        ..MindScript::default()
    });
    let child = place.start_asking(&stub, &RUN);
    stub.wait_requests(3);
    let pid = child.id().to_string();
    let before = place.bytes(&path("E"));
    place.asking(&stub, &RUN).exits(2).tells(&[&pid]);
    place.resuming(&stub, "E", &[]).exits(2).tells(&[&pid]);
    assert_eq!(place.bytes(&path("E")), before);
    assert_eq!(stub.stats().requests, 3);
    stub.release();
    finish(child).exits(0);
    assert_eq!(stub.stats().requests, 24);
}

#[test]
fn two_that_start_together_do_not_mix() {
    let place = Place::new();
    place.experiment("E");
    let stub = MindStub::start(MindScript::default());
    let children = [(); 4].map(|()| place.start_asking(&stub, &RUN));
    let codes = children.map(|child| finish(child).code.unwrap());
    let done = codes.iter().filter(|code| **code == 0).count();
    assert_eq!(done, 1, "{codes:?}");
    assert!(codes.iter().all(|code| [0, 2].contains(code)), "{codes:?}");
    assert_eq!(stub.stats().requests, 24);
    place.alone(&["verify", &path("E")]).exits(0);
}

#[test]
fn a_run_is_not_begun_over_another() {
    let place = Place::new();
    place.experiment("E");
    place.alone(&["run", "E", "--rounds", "1"]).exits(0);
    let before = place.bytes(&path("E"));
    let ran = place.alone(&["run", "E", "--rounds", "1"]).exits(2);
    ran.tells(&["resume", "new"]);
    place
        .alone(&["run", "--rounds", "1", "--output-dir", "E"])
        .exits(2);
    assert_eq!(place.bytes(&path("E")), before);
}

#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_run_which_can_be_resumed() {
    let whole = Place::new();
    whole.experiment("E");
    let stub = MindStub::start(MindScript::default());
    whole.asking(&stub, &RUN).exits(0);
    for blocks in [8, 20, 40] {
        let place = Place::new();
        place.experiment("E");
        stub.forget();
        // The size of a file is limited: a write beyond it fails, as on a full disk.
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &limited, env!("CARGO_BIN_EXE_logosphere")])
            .args(RUN)
            .args(server(&stub.url()))
            .current_dir(place.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", place.root())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        finish(start(&mut shell)).exits(1).tells(&["logs"]);
        let made = stub.stats().requests;
        let kept = calls(&events(&place, "E")).len() + spooled(&place, "E").len();
        assert!(
            made < 24,
            "{blocks} blocks of 512 bytes are too few for the run"
        );
        assert!(
            made <= kept + 1,
            "{made} calls made, {kept} kept: no call is started after a failed write"
        );
        if events(&place, "E").is_empty() {
            place.asking(&stub, &RUN).exits(0);
        } else {
            place.resuming(&stub, "E", &[]).exits(0);
        }
        assert!(stub.stats().requests <= 24 + 1, "{}", stub.stats().requests);
        let [a, b] = [&whole, &place].map(|place| place.path(&path("E")));
        place
            .alone(&["diff", a.to_str().unwrap(), b.to_str().unwrap()])
            .exits(0);
        place.alone(&["verify", &path("E")]).exits(0);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_asked_where_nothing_can_be_written() {
    let place = Place::new();
    let stub = MindStub::start(MindScript::default());
    // Not even root writes there.
    let nowhere = "/proc/logosphere-test";
    let ran = place.asking(&stub, &["run", "--rounds", "1", "--output-dir", nowhere]);
    ran.exits_with_one_of(&[1, 2]).tells(&[nowhere]);
    // A file where a directory is needed.
    place.experiment("E");
    place.file("E/logs", "");
    place
        .asking(&stub, &RUN)
        .exits_with_one_of(&[1, 2])
        .tells(&["logs"]);
    // A directory that may not be written; for root there is none.
    place.experiment("R");
    let folder = fs::File::open(place.path("R")).unwrap();
    let mut mode = folder.metadata().unwrap().permissions();
    mode.set_readonly(true);
    fs::set_permissions(place.path("R"), mode).unwrap();
    if fs::write(place.path("R/probe"), "").is_err() {
        let ran = place.asking(&stub, &["run", "R", "--rounds", "1"]);
        ran.exits_with_one_of(&[1, 2]).tells(&["R"]);
    }
    assert_eq!(stub.stats().requests, 0);
}

#[test]
fn a_journal_that_vanishes_ends_the_run() {
    for scheduling in ["sequential", "snapshot"] {
        let place = Place::new();
        place.experiment("E");
        let stub = MindStub::start(MindScript {
            hold: 4..usize::MAX,
            ..MindScript::default()
        });
        let flags = ["--scheduling", scheduling, "--concurrency", "2"];
        let child = place.start_asking(&stub, &[&RUN[..], &flags].concat());
        stub.wait_requests(5);
        fs::remove_file(place.path(&path("E"))).unwrap();
        stub.release();
        finish(child).exits(1).tells(&["experiment.jsonl"]);
        let made = stub.stats().requests;
        assert!(
            (5..=6).contains(&made),
            "{scheduling}: {made} calls were made"
        );
    }
}

#[test]
fn a_torn_last_line_is_set_aside() {
    let place = Place::new();
    place.experiment("E");
    let stub = MindStub::start(MindScript::default());
    place.asking(&stub, &RUN).exits(0);
    let whole = place.bytes(&path("E"));
    place.file("whole.jsonl", &whole);
    let ends: Vec<_> = whole
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .collect();
    for line in [ends.len() - 1, ends.len() - 2, 3, 1] {
        let begin = ends[line - 1];
        for end in [begin + 1, begin.midpoint(ends[line]), ends[line] - 1] {
            place.file(&path("E"), &whole[..end]);
            for name in place.names("E/logs") {
                if name != "experiment.jsonl" {
                    fs::remove_file(place.path(&format!("E/logs/{name}"))).unwrap();
                }
            }
            stub.forget();
            let cut = &whole[begin..end];
            let kept = calls(&events(&place, "E")).len();
            let ran = place.resuming(&stub, "E", &[]).exits(0);
            assert!(ran.stderr.contains("torn"), "{}", ran.stderr);
            assert_eq!(stub.stats().requests, 24 - kept, "line {line}, byte {end}");
            assert_eq!(place.bytes(&format!("E/logs/torn-{line}.part")), cut);
            let events = events(&place, "E");
            let resumed = of_type(&events, "run_resumed");
            assert_eq!(
                (resumed.len(), &resumed[0]["cut_bytes"]),
                (1, &json!(cut.len()))
            );
            assert_eq!(resumed[0]["seq"], line);
            place.alone(&["diff", &path("E"), "whole.jsonl"]).exits(0);
            place.alone(&["verify", &path("E")]).exits(0);
        }
    }
}

#[test]
fn a_journal_cut_in_its_first_line_is_begun_anew() {
    let place = Place::new();
    place.experiment("E");
    let stub = MindStub::start(MindScript::default());
    place.asking(&stub, &RUN).exits(0);
    let whole = place.bytes(&path("E"));
    place.file("whole.jsonl", &whole);
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for end in [0, 1, first / 2, first] {
        place.file(&path("E"), &whole[..end]);
        place.resuming(&stub, "E", &[]).exits(2).tells(&["run"]);
        assert_eq!(place.bytes(&path("E")), &whole[..end]);
        place.asking(&stub, &RUN).exits(0);
        place.alone(&["diff", &path("E"), "whole.jsonl"]).exits(0);
    }
}

#[test]
fn a_broken_chain_is_not_gone_on_with() {
    let place = Place::new();
    place.experiment("E");
    let stub = MindStub::start(MindScript::default());
    place.asking(&stub, &RUN).exits(0);
    let whole = place.read(&path("E"));
    stub.forget();
    for line in [0, 5, 11] {
        let mut lines: Vec<_> = whole.lines().map(str::to_owned).collect();
        lines.truncate(12 + 1);
        lines[line] = lines[line].replacen("\"timestamp\":\"2", "\"timestamp\":\"1", 1);
        let damaged = lines.join("\n") + "\n";
        place.file(&path("E"), &damaged);
        let ran = place.resuming(&stub, "E", &[]).exits(4);
        let number = (line + 1).to_string();
        assert!(
            ran.stderr.contains(&number) || ran.stderr.contains(&line.to_string()),
            "{}",
            ran.stderr
        );
        assert_eq!(place.read(&path("E")), damaged, "nothing is written");
        assert_eq!(stub.stats().requests, 0);
    }
}

#[test]
fn more_rounds_extend_a_finished_run() {
    let place = Place::new();
    let stub = MindStub::start(MindScript::default());
    place.experiment("E");
    place.asking(&stub, &RUN).exits(0);
    place.resuming(&stub, "E", &["--rounds", "10"]).exits(0);
    assert_eq!(stub.stats().requests, 30);
    let events = events(&place, "E");
    let ends = of_type(&events, "experiment_end");
    assert_eq!(ends.len(), 2);
    assert_eq!(
        (&ends[0]["total_rounds"], &ends[1]["total_rounds"]),
        (&json!(8), &json!(10))
    );
    let resumed = of_type(&events, "run_resumed");
    assert_eq!(resumed[0]["changed"]["max_rounds"], json!([8, 10]));
    place.alone(&["verify", &path("E")]).exits(0);
    let times: Vec<_> = events
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    assert!(times.into_iter().eq(0..events.len() as u64));
    let bytes = place.bytes(&path("E"));
    place.file("again", journal::sha256(&bytes));
    // Nothing is left to be done.
    place.resuming(&stub, "E", &[]).exits_with_one_of(&[0, 2]);
    assert_eq!(stub.stats().requests, 30);
}
