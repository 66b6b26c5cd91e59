//! A replay has the time of its recording, and so the same results on every day.

use std::fs;

use test_support::fixture;
use test_support::program::{ProgramFolder, with_fixed_times};

use crate::process::words;

const START: &str = "2031-05-06T07:00:00Z";

/// A folder with a recording of four calls.
fn folder() -> ProgramFolder {
    let folder = ProgramFolder::new(env!("CARGO_BIN_EXE_popper"));
    let cassette = fs::read_to_string(fixture("popper/discovery/cassette.jsonl")).unwrap();
    folder.file("calls.jsonl", with_fixed_times(&cassette));
    folder
}

/// Replays a run in another folder; returns its export and its page.
fn replay(folder: &ProgramFolder, name: &str, flags: &str) -> impl PartialEq + std::fmt::Debug {
    let run = format!("run --db {name}/popper.db --iterations 2 --replay calls.jsonl {flags}");
    folder.alone(&words(&run)).exits(0);
    let export = format!("export 1 --db {name}/popper.db -o {name}/export.json");
    folder.alone(&words(&export)).exits(0);
    let page = format!("report 1 --db {name}/popper.db -o {name}/report.html");
    folder.alone(&words(&page)).exits(0);
    let export = folder.read(&format!("{name}/export.json"));
    assert!(export.contains(START), "{export}");
    (export, folder.read(&format!("{name}/report.html")))
}

#[test]
fn a_replay_takes_the_time_of_its_recording_whatever_its_threads() {
    let folder = folder();
    let first = replay(&folder, "first", "--threads 1 --concurrency 1");
    let second = replay(&folder, "second", "--threads 2 --concurrency 4");
    assert_eq!(first, second);
    let export = folder.read_json("first/export.json");
    let time = |pointer: &str| {
        export
            .pointer(pointer)
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(time("/iterations/0/started_at"), START);
    // A call has the time of its own line.
    assert_eq!(time("/calls/0/created_at"), START);
    assert_eq!(time("/calls/1/created_at"), "2031-05-06T07:00:01Z");
}

#[test]
fn a_run_without_a_model_takes_it_too() {
    let folder = folder();
    let flags = "--proposer enumerative";
    let first = replay(&folder, "first", flags);
    assert_eq!(first, replay(&folder, "second", flags));
}
