//! Runs that are judged again.

use std::time::Duration;
use std::{fs, thread};

use test_support::{CompressionStub, StubMode};

use crate::program::{Place, column, finish, signal, timeless, words};

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
    let rescore = words("rescore dir --judge-model other --concurrency 1");
    let child = place.start_asking(&stub, &rescore);
    stub.wait_calls(1);
    signal(child.id(), "-INT");
    finish(child).exits(130);
    assert!(stub.stats().calls < 4);
    stub.set_latency(Duration::ZERO);
    place
        .asking(&stub, &["rescore", "dir", "--resume"])
        .exits(0);
    assert_eq!(stub.stats().calls, 4);
    let results = place.read_json("dir/report.json")["results"].clone();
    let results = results.as_array().unwrap();
    assert_eq!(column(results, "/total"), ["73", "72"]);
    assert_eq!(column(results, "/previousScores/total"), ["73", "72"]);
    assert_eq!(column(results, "/metadata/models/judges/0"), ["other"; 2]);
}

/// Twelve experiments, run and scored.
fn scored(stub: &CompressionStub) -> Place {
    let place = Place::new();
    let run = ["run", "--all", "--trials", "3", "--run-dir", "dir"];
    place.asking(stub, &run).exits(0);
    place
}

#[test]
fn z13_a_judge_that_does_not_exist_leaves_the_run_as_it_was() {
    let stub = CompressionStub::start(StubMode::Ok);
    let place = scored(&stub);
    let kept = || ["dir/run.json", "dir/report.json"].map(|name| place.read(name));
    let before = kept();
    stub.reset(StubMode::NoModel);
    let typo = ["rescore", "dir", "--judge-model", "typo"];
    let ran = place
        .asking(&stub, &[&typo[..], &["--concurrency", "1"]].concat())
        .exits(1);
    assert_eq!(kept(), before);
    for told in ["were not judged", "rescore dir --resume", "--judge-model"] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    // Both ways on: the same judges later, or others.
    let again = ["rescore", "dir", "--resume"];
    place.asking(&stub, &again).exits(1);
    assert_eq!(kept(), before);
    stub.reset(StubMode::Ok);
    let right = ["rescore", "dir", "--judge-model", "right"];
    place.asking(&stub, &right).exits(0);
    let results = place.read_json("dir/report.json")["results"].clone();
    let results = results.as_array().unwrap();
    assert_eq!(column(results, "/metadata/models/judges/0"), ["right"; 12]);
    assert!(!place.path("dir/rescore.json").exists());
    place.asking(&stub, &["resume", "dir"]).exits(0);
    let nothing = place.asking(&stub, &again).exits(2);
    assert!(nothing.stderr.contains("no rescore to continue"));
}

#[test]
fn z13_a_directory_that_an_earlier_version_left_with_a_wrong_judge_is_judged_again() {
    let stub = CompressionStub::start(StubMode::Ok);
    let place = scored(&stub);
    stub.reset(StubMode::NoModel);
    let typo = ["rescore", "dir", "--judge-model", "typo"];
    place
        .asking(&stub, &[&typo[..], &["--concurrency", "1"]].concat())
        .exits(1);
    // That version put the plan and the report of a failed rescore in the place of the run's own.
    let mut rescored = place.read_json("dir/rescore.json");
    rescored["complete"] = true.into();
    place.file("dir/rescore.json", rescored.to_string());
    stub.reset(StubMode::Ok);
    let right = ["rescore", "dir", "--judge-model", "right"];
    place.asking(&stub, &right).exits(0);
    let results = place.read_json("dir/report.json")["results"].clone();
    assert_eq!(
        column(results.as_array().unwrap(), "/outcome/status"),
        ["ok"; 12]
    );
}

#[cfg(unix)]
#[test]
fn z13_kill_9_leaves_the_old_report_or_the_new_one() {
    let stub = CompressionStub::start(StubMode::Ok);
    let whole = scored(&stub);
    let files = whole.names("dir");
    let copies = files
        .iter()
        .map(|name| fs::read(whole.path("dir").join(name)).unwrap());
    let copies: Vec<_> = copies.collect();
    let old = timeless(whole.read_json("dir/report.json"));
    let rescore = ["rescore", "dir", "--judge-model", "other"];
    whole.asking(&stub, &rescore).exits(0);
    let new = timeless(whole.read_json("dir/report.json"));
    for moment in 0..25_u64 {
        let place = Place::new();
        for (name, content) in files.iter().zip(&copies) {
            place.file(&format!("dir/{name}"), content);
        }
        stub.reset(StubMode::Ok);
        stub.set_latency(Duration::from_millis(2));
        let mut child = place.start_asking(&stub, &rescore);
        // In the calls of the rescore, or in what is written after them.
        stub.wait_calls(moment.min(20) as usize);
        thread::sleep(Duration::from_micros(moment * 977 % 12_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let report = timeless(place.read_json("dir/report.json"));
        assert!(report == old || report == new, "moment {moment}");
        stub.set_latency(Duration::ZERO);
        place.asking(&stub, &rescore).exits(0);
        let report = timeless(place.read_json("dir/report.json"));
        assert_eq!(report, new, "moment {moment}");
    }
}

#[test]
fn z10_an_offline_run_has_no_judge_and_an_online_run_has_no_offline_judge() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let offline = ["run", "--level", "1", "--run-dir", "off", "--quiet"];
    place.alone(&offline).exits(0);
    let before = place.read("off/report.json");
    let ran = place
        .alone(&["rescore", "off", "--judge-model", "gpt-5"])
        .exits(2);
    let told = "--judge-model names a model, and this run is offline: all roles or none";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(place.read("off/report.json"), before);
    place
        .asking(&stub, &["run", "--level", "1", "--run-dir", "on"])
        .exits(0);
    stub.reset(StubMode::Ok);
    let ran = place.asking(&stub, &["rescore", "on", "--judge-model", "offline"]);
    assert!(
        ran.stderr.contains("--judge-model offline"),
        "{}",
        ran.stderr
    );
    assert_eq!((ran.code, stub.stats().calls), (Some(2), 0));
}

#[test]
fn z10_a_cap_needs_the_price_of_the_new_judge() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &["run", "--level", "1", "--run-dir", "dir"])
        .exits(0);
    stub.reset(StubMode::Ok);
    let capped = words("rescore dir --judge-model unheard-of --max-usd 1");
    let ran = place.asking(&stub, &capped).exits(2);
    assert!(ran.stderr.contains("price of unheard-of"), "{}", ran.stderr);
    assert_eq!(stub.stats().calls, 0);
}

#[test]
fn z14_the_same_command_keeps_the_scores_of_before() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let run = ["run", "--level", "1", "--run-dir", "dir"];
    place.asking(&stub, &run).exits(0);
    // The same judge again: the plan is the same, and so is the command.
    place.asking(&stub, &["rescore", "dir"]).exits(0);
    let previous = || {
        let results = place.read_json("dir/report.json")["results"].clone();
        column(results.as_array().unwrap(), "/previousScores/total")
    };
    assert_eq!(previous(), ["73", "72"]);
    place.asking(&stub, &run).exits(0);
    assert_eq!(previous(), ["73", "72"]);
}

#[test]
fn z23_a_panel_with_a_silent_judge_shows_the_other_score_and_the_silent_one_can_be_asked_again() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let mute = CompressionStub::MUTE;
    let run = ["run", "--level", "1", "--run-dir", "dir"];
    let judges = ["--judge-model", "good", "--judge-model", mute];
    let ran = place.asking(&stub, &[&run[..], &judges].concat()).exits(1);
    let told = "unparseable at judge_semantic: mute (good: 38/40): no score can be read";
    let summary = format!("Failed:      {told}");
    assert!(ran.stderr.contains(&summary), "{}", ran.stderr);
    let page = ["report", "dir", "--output", "page.html"];
    place.alone(&page).exits(0);
    assert!(place.read("page.html").contains(told));

    stub.reset(StubMode::Fenced);
    let again = ["rescore", "dir", "--only-failed"];
    place.asking(&stub, &again).exits(0);
    let models: Vec<_> = stub
        .calls()
        .into_iter()
        .map(|call| call.body["model"].clone())
        .collect();
    // The meaning and the rules of two texts.
    assert_eq!(models, [mute; 4]);
    let results = place.read_json("dir/report.json")["results"].clone();
    assert_eq!(
        column(results.as_array().unwrap(), "/outcome/status"),
        ["ok"; 2]
    );

    let before = place.read("dir/report.json");
    stub.reset(StubMode::Fenced);
    let ran = place.asking(&stub, &again).exits(0);
    assert!(
        ran.stderr.contains("every judge gave a score"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        (place.read("dir/report.json"), stub.stats().calls),
        (before, 0)
    );
    place.asking(&stub, &["resume", "dir"]).exits(0);
    assert_eq!(stub.stats().calls, 0);
}

#[test]
fn z13_a_rescore_whose_judges_do_not_answer_leaves_the_old_report() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &["run", "--level", "1", "--run-dir", "dir"])
        .exits(0);
    let before = place.read("dir/report.json");
    let rescore = ["rescore", "dir", "--judge-model", "other"];
    // Two results: no failure comes early enough to stop the other.
    for mode in [
        StubMode::NoModel,
        StubMode::E401,
        StubMode::E529Always,
        StubMode::BadJson,
    ] {
        stub.reset(mode);
        let ran = place.asking(&stub, &rescore).exits(1);
        assert_eq!(place.read("dir/report.json"), before, "{mode:?}");
        assert!(
            ran.stderr.contains("rescore dir --resume"),
            "{mode:?}: {}",
            ran.stderr
        );
    }
    stub.reset(StubMode::Ok);
    place
        .asking(&stub, &["rescore", "dir", "--resume"])
        .exits(0);
    let results = place.read_json("dir/report.json")["results"].clone();
    let results = results.as_array().unwrap();
    assert_eq!(column(results, "/metadata/models/judges/0"), ["other"; 2]);
    let earlier = column(results, "/previousScores/judges/0");

    // The same again changes nothing of what was before.
    place.asking(&stub, &rescore).exits(0);
    let results = place.read_json("dir/report.json")["results"].clone();
    assert_eq!(
        column(results.as_array().unwrap(), "/previousScores/judges/0"),
        earlier
    );
    assert!(!earlier.contains(&"other".to_owned()), "{earlier:?}");
}
