//! Commands that read a run without a report, or with one that is not whole.

use std::fs;

use test_support::{CompressionStub, StubMode};

use crate::program::{Place, finish, signal, words};

#[test]
fn a_run_without_its_report_is_finished_and_readable() {
    let place = Place::new();
    let run = words("run --level 1 --provider offline --run-dir dir");
    place.alone(&run).exits(0);
    let csv = place.alone(&["export", "dir"]).exits(0).stdout;
    fs::remove_file(place.path("dir/report.json")).unwrap();
    let status = place.alone(&["status", "dir"]).exits(0);
    assert!(
        status.stdout.starts_with("finished: 2 of 2"),
        "{}",
        status.stdout
    );
    let report = place.alone(&["report", "dir"]).exits(0);
    assert_eq!(report.stdout, "dir/report.html\n");
    let again = place.alone(&["export", "dir"]).exits(0).stdout;
    assert_eq!(again.lines().count(), csv.lines().count());
}

#[cfg(unix)]
#[test]
fn a_run_that_works_or_was_stopped_says_how_much_is_missing() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place.file(
        "set.jsonl",
        "{\"text\": \"Hello world!\"}\n{\"text\": \"[hold] it\"}\n",
    );
    let run = words("run set.jsonl --run-dir dir --concurrency 1");
    let child = place.start_asking(&stub, &run);
    stub.wait_calls(7);
    let working = place.alone(&["report", "dir"]).exits(0);
    let told =
        "of 2 experiments did not run; the run works: `zer0gravity report dir --watch` follows it";
    assert!(working.stderr.contains(told), "{}", working.stderr);
    let unranked = "dir: expected all results of a finished run";
    place.alone(&["board", "dir"]).exits(2).tells(&[unranked]);
    signal(child.id(), "-INT");
    stub.release();
    finish(child).exits(130);
    fs::copy(place.path("dir/report.json"), place.path("old.json")).unwrap();
    for command in ["report dir", "export dir", "compare old.json dir"] {
        let stopped = place.alone(&words(command)).exits(0);
        let told = "of 2 experiments did not run; `zer0gravity resume dir` continues the run";
        assert!(
            stopped.stderr.contains(told),
            "{command}: {}",
            stopped.stderr
        );
    }
    place.alone(&["board", "dir"]).exits(2).tells(&[unranked]);
    place.alone(&["board", "old.json"]).exits(2);
}

#[test]
fn a_total_that_is_not_the_sum_of_its_parts_is_refused() {
    let place = Place::new();
    let run = words("run --level 1 --provider offline --run-dir dir -o out.json");
    place.alone(&run).exits(0);
    for file in ["dir/report.json", "out.json"] {
        let edited = place.read(file).replace("\"total\": 58", "\"total\": 99");
        place.file(file, edited);
    }
    let told = "total 99 is not the sum of its parts, 58";
    for command in [
        "report dir",
        "export dir",
        "compare out.json dir",
        "report out.json",
    ] {
        let ran = place.alone(&words(command)).exits(2);
        assert!(ran.stderr.contains(told), "{command}: {}", ran.stderr);
    }
}

#[test]
fn a_finished_run_resumes_to_the_same_bytes() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let offline = words("matrix --level 1 --provider offline --run-dir offline");
    place.alone(&offline).exits(0);
    place
        .asking(&stub, &words("matrix --level 1 --run-dir asked"))
        .exits(0);
    for folder in ["offline", "asked"] {
        let report = place.read(&format!("{folder}/report.json"));
        let resume = ["resume", "--json", folder];
        let ran = if folder == "asked" {
            place.asking(&stub, &resume)
        } else {
            place.alone(&resume)
        };
        assert_eq!(ran.exits(0).stdout, report, "{folder}");
    }
}
