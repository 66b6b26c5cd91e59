//! Runs that were recorded, and scores that are judged anew.

use std::net::TcpListener;
use std::time::Duration;

use test_support::{CompressionStub, StubMode};

use crate::program::{Place, column, finish, signal, timeless};

#[test]
fn a_replay_is_the_same_run_without_a_socket() {
    let place = Place::new();
    let url;
    let recorded = {
        let stub = CompressionStub::start(StubMode::Prose);
        url = stub.url();
        let arguments = [
            "run",
            "--all",
            "--trials",
            "2",
            "--judge-samples",
            "2",
            "--record",
            "calls.jsonl",
        ];
        place.asking(&stub, &arguments).exits(0).json()
    };
    // The port is closed now. Nobody but this test may open it meanwhile: a request would be noticed.
    let guard = TcpListener::bind(url.strip_prefix("http://").unwrap()).unwrap();
    guard.set_nonblocking(true).unwrap();
    let arguments = [
        "run",
        "--all",
        "--trials",
        "2",
        "--judge-samples",
        "2",
        "--replay",
        "calls.jsonl",
        "--base-url",
        &url,
    ];
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
    let arguments = [
        "run",
        "--all",
        "--replay",
        "calls.jsonl",
        "--base-url",
        &url,
    ];
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
fn rescore_asks_judges_only_and_keeps_the_old_scores() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let arguments = ["run", "--all", "--run-dir", "dir"];
    place.asking(&stub, &arguments).exits(0);
    let before = place.read_json("dir/report.json");
    stub.reset(StubMode::Ok);
    let arguments = ["rescore", "dir", "--judge-model", "other"];
    place.asking(&stub, &arguments).exits(0);
    let roles: Vec<_> = stub.stats().by_role.into_iter().collect();
    let judges = [
        (("implementability_judge", 200), 4),
        (("semantic_judge", 200), 4),
    ];
    assert_eq!(roles, judges);
    let models = stub
        .calls()
        .into_iter()
        .map(|call| call.body["model"].clone());
    assert!(models.into_iter().all(|model| model == "other"));

    let report = place.read_json("dir/report.json");
    let (old, new) = (
        before["results"].as_array().unwrap(),
        report["results"].as_array().unwrap(),
    );
    for (old, new) in old.iter().zip(new) {
        assert_eq!(new["previousScores"]["scores"], old["scores"]);
        assert_eq!(new["previousScores"]["total"], old["total"]);
        for field in [
            "encodedText",
            "decodedText",
            "originalTokens",
            "encodedTokens",
        ] {
            assert_eq!(new[field], old[field]);
        }
        assert_eq!(new["metadata"]["models"]["judges"][0], "other");
    }
}

#[test]
fn a_rescore_that_fails_does_not_lose_the_old_scores() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &["run", "--level", "1", "--run-dir", "dir"])
        .exits(0);
    let rescore = ["rescore", "dir", "--judge-model", "other"];
    stub.reset(StubMode::NoScore);
    place.asking(&stub, &rescore).exits(1);
    let scores = |report: &serde_json::Value| {
        let results = report["results"].as_array().unwrap().clone();
        column(&results, "/previousScores/total")
    };
    assert_eq!(scores(&place.read_json("dir/report.json")), ["73", "72"]);
    stub.reset(StubMode::Ok);
    let again = ["rescore", "dir", "--judge-model", "third"];
    place.asking(&stub, &again).exits(0);
    assert_eq!(scores(&place.read_json("dir/report.json")), ["73", "72"]);
}

#[cfg(unix)]
#[test]
fn a_rescore_that_is_interrupted_goes_on_and_keeps_the_old_scores() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &["run", "--level", "1", "--run-dir", "dir"])
        .exits(0);
    stub.reset(StubMode::Ok);
    // Two results have four calls to judges; one at a time, the second is not sent.
    stub.set_latency(Duration::from_millis(200));
    let rescore = [
        "rescore",
        "dir",
        "--judge-model",
        "other",
        "--concurrency",
        "1",
    ];
    let child = place.start_asking(&stub, &rescore);
    stub.wait_calls(1);
    signal(child.id(), "-INT");
    finish(child).exits(130);
    assert!(stub.stats().calls < 4);
    stub.set_latency(Duration::ZERO);
    place.asking(&stub, &["resume", "dir"]).exits(0);
    assert_eq!(stub.stats().calls, 4);
    let results = place.read_json("dir/report.json")["results"].clone();
    let results = results.as_array().unwrap();
    assert_eq!(column(results, "/total"), ["73", "72"]);
    assert_eq!(column(results, "/previousScores/total"), ["73", "72"]);
    assert_eq!(column(results, "/metadata/models/judges/0"), ["other"; 2]);
}
