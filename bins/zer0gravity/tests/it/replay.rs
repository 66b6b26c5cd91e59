//! Recorded runs, and rescored ones.

use std::net::TcpListener;

use test_support::program::with_fixed_times;
use test_support::{CompressionStub, StubMode};

use crate::program::{Place, column, timeless, words};

#[test]
fn a_replay_is_the_same_run_without_a_socket() {
    let place = Place::new();
    let url;
    let recorded = {
        let stub = CompressionStub::start(StubMode::Prose);
        url = stub.url();
        let arguments = words("run --all --trials 2 --judge-samples 2 --record calls.jsonl");
        place.asking(&stub, &arguments).exits(0).json()
    };
    // The port is closed now. Nobody but this test may open it meanwhile: a request would be noticed.
    let guard = TcpListener::bind(url.strip_prefix("http://").unwrap()).unwrap();
    guard.set_nonblocking(true).unwrap();
    let arguments =
        format!("run --all --trials 2 --judge-samples 2 --replay calls.jsonl --base-url {url}");
    let arguments = words(&arguments);
    let ran = place.alone(&arguments).exits(0);
    assert_eq!(timeless(ran.json()), timeless(recorded));
    assert!(guard.accept().is_err());
}

#[test]
fn what_was_not_recorded_fails_and_is_not_asked() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &["run", "--level", "1", "--record", "calls.jsonl"])
        .exits(0);
    let calls = stub.stats().calls;
    let url = stub.url();
    let arguments = format!("run --all --replay calls.jsonl --base-url {url}");
    let arguments = words(&arguments);
    let results = place.alone(&arguments).exits(3).results();
    assert_eq!(
        column(&results, "/outcome/status"),
        ["ok", "ok", "api_error", "api_error"]
    );
    assert_eq!(column(&results[2..], "/outcome/kind"), ["replay_miss"; 2]);
    assert_eq!(column(&results[2..], "/outcome/stage"), ["encode"; 2]);
    assert_eq!(stub.stats().calls, calls);
}

#[test]
fn a_replay_takes_the_time_of_its_recording_whatever_its_concurrency() {
    let place = Place::new();
    let url;
    {
        let stub = CompressionStub::start(StubMode::Prose);
        url = stub.url();
        let arguments = words("matrix --all --trials 2 --run-dir live --record calls.jsonl");
        place.asking(&stub, &arguments).exits(0);
    }
    place.file("calls.jsonl", with_fixed_times(&place.read("calls.jsonl")));
    let run = |folder: &str, flags: &str| {
        let arguments = format!(
            "matrix --all --trials 2 --run-dir {folder} --replay calls.jsonl --base-url {url} {flags}"
        );
        place.alone(&words(&arguments)).exits(0);
        place.alone(&["report", folder]).exits(0);
        place.files(folder)
    };
    let first = run("first", "--concurrency 1");
    assert_eq!(run("second", "--concurrency 4"), first);
    assert_eq!(run("third", ""), first);
    let report = place.read_json("first/report.json");
    // The time of the first line before any call, then that of the calls.
    assert_eq!(report["createdAt"], "2031-05-06T07:00:00.000Z");
    let results = report["results"].as_array().unwrap();
    let times = column(results, "/metadata/timestamp");
    assert!(times.is_sorted() && times[0] < times[7], "{times:?}");
    assert!(times.iter().all(|time| time.starts_with("2031-05-06T07:0")));
}
