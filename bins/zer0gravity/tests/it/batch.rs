//! Runs whose calls go in batches.

use std::fs;
use std::process::Child;
use std::thread;

use llm_client::{LedgerFile, Usd};
use serde_json::Value;
use test_support::{CompressionStub, StubMode};

use crate::program::{Place, finish, signal, timeless, words};
use crate::rubric::JUDGE;

/// A report without times and costs.
fn costless(report: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("usd");
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut report = timeless(report);
    strip(&mut report);
    report
}

fn spent(place: &Place, folder: &str) -> Usd {
    let ledger = LedgerFile::new(place.path(&format!("{folder}/spend.jsonl")));
    ledger.spent().unwrap().usd
}

/// The lines of a run's spool that contain `word`.
fn lines(place: &Place, word: &str) -> usize {
    let spool = fs::read_to_string(place.path("dir/batch.jsonl")).unwrap_or_default();
    spool.lines().filter(|line| line.contains(word)).count()
}

/// Waits until the spool of a program has this number of lines with `word`.
fn wait_for(child: &mut Child, place: &Place, word: &str, count: usize) {
    while lines(place, word) < count {
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "the program ended: {ended:?}");
        thread::yield_now();
    }
}

#[test]
fn b7_a_matrix_of_400_calls_has_the_same_report_for_half_the_money() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let line = |n| format!("{{\"id\": \"{n}\", \"text\": \"text number {n} of all texts\"}}\n");
    place.file("texts.jsonl", (0..100).map(line).collect::<String>());
    let matrix = words("matrix texts.jsonl --run-dir direct");
    place.asking(&stub, &matrix).exits(0);
    let calls = stub.stats().calls;
    stub.reset(StubMode::Ok);
    let matrix = words("matrix texts.jsonl --run-dir batches --batch");
    let ran = place.asking(&stub, &matrix).exits(0);
    assert_eq!(stub.stats().calls, calls);
    assert_eq!(stub.batches().iter().sum::<usize>(), 400);
    ran.tells(&["400 of 400 results are in"]);
    let [direct, batches] = ["direct", "batches"]
        .map(|folder| costless(place.read_json(&format!("{folder}/report.json"))));
    // Whole reports would be a long message.
    assert!(direct == batches, "the reports differ");
    let (direct, batches) = (spent(&place, "direct"), spent(&place, "batches"));
    assert!(batches > Usd::ZERO);
    assert_eq!(direct, batches.saturating_add(batches));
}

#[cfg(unix)]
#[test]
fn a_run_that_is_stopped_says_how_many_results_are_in_and_resume_collects_the_rest() {
    for (name, command) in [("-TERM", "run --all"), ("-INT", "matrix --all")] {
        let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
        stub.hold_batches();
        let command = format!("{command} --run-dir dir --batch");
        let mut child = place.start_asking(&stub, &words(&command));
        wait_for(&mut child, &place, "\"submitted\":", 1);
        let held = place.asking(&stub, &["resume", "dir"]).exits(2);
        held.tells(&["another process is using this directory"]);
        signal(child.id(), name);
        let ran = finish(child).exits(130);
        let last = "zer0gravity: 0 of 4 results are in; zer0gravity resume dir collects the rest";
        assert_eq!(ran.stderr.lines().last(), Some(last), "{}", ran.stderr);
        let status = place.alone(&words("status dir")).exits(0).stdout;
        let line = "\n0 of 4 results are in, batches under way: 1\n";
        assert!(status.contains(line), "{status}");
        stub.end_batches();
        place.asking(&stub, &["resume", "dir"]).exits(0);
        // Encodings, decodings, and the judges: nothing was submitted twice.
        let batches = stub.batches();
        assert_eq!((batches[0], batches.iter().sum()), (4, 16), "{batches:?}");
        assert_eq!(stub.stats().calls, 24);
        let stored = place.read("dir/calls.jsonl");
        assert_eq!(stored.lines().count(), 24, "{stored}");
    }
}

#[cfg(unix)]
#[test]
fn kills_in_any_phase_lose_nothing_and_submit_nothing_twice() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let direct = words("run --all --run-dir direct");
    place.asking(&stub, &direct).exits(0);
    let expected = costless(place.read_json("direct/report.json"));
    let run = words("run --all --run-dir dir --batch");
    for phase in 1..=3 {
        stub.hold_batches();
        let mut child = place.start_asking(&stub, &run);
        // The batch of the phase before is over, and this one is not.
        stub.end_batches();
        wait_for(&mut child, &place, "\"closed\":", phase - 1);
        stub.hold_batches();
        wait_for(&mut child, &place, "\"submitted\":", phase);
        signal(child.id(), "-KILL");
        finish(child);
        stub.server().settle();
    }
    stub.end_batches();
    place.asking(&stub, &run).exits(0);
    let report = costless(place.read_json("dir/report.json"));
    assert!(report == expected, "the reports differ");
    assert_eq!(stub.batches().iter().sum::<usize>(), 16);
}

#[test]
fn models_with_temperatures_are_not_tried_one_by_one() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let run = "run --all --run-dir dir --batch --temperature 0.5 --judge-temperature 0";
    place.asking(&stub, &words(run)).exits(0);
    assert_eq!(stub.batches(), [4, 4, 8]);
}

#[test]
fn crossed_models_and_own_judges_have_a_batch_for_each_model_and_phase() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place.file("rubric.toml", JUDGE);
    let matrix = "matrix --all --encoder-model claude-opus-5-5 --encoder-model claude-haiku-4-5 --rubric rubric.toml";
    let direct = format!("{matrix} --run-dir direct");
    place.asking(&stub, &words(&direct)).exits(0);
    let expected = costless(place.read_json("direct/report.json"));
    let calls = stub.stats().calls;
    stub.reset(StubMode::Ok);
    let batches = format!("{matrix} --run-dir dir --batch");
    place.asking(&stub, &words(&batches)).exits(0);
    assert_eq!(stub.stats().calls, calls);
    let report = costless(place.read_json("dir/report.json"));
    assert!(report == expected, "the reports differ");
    assert!(stub.batches().len() >= 5, "{:?}", stub.batches());
}

#[test]
fn the_command_that_continues_names_the_prices() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let prices = r#"{"schema_version": 1, "read_on": "2026-11-21", "models": [{"provider": "anthropic", "id": "m",
        "price": {"in": "10", "out": "100"}, "multipliers": {"batch": "0.5"}}]}"#;
    place.file("my prices.json", prices);
    let run = [
        "matrix",
        "--all",
        "--run-dir",
        "dir",
        "--batch",
        "--model",
        "m",
        "--prices",
        "my prices.json",
        "--max-usd",
        "0.209",
    ];
    let ran = place.asking(&stub, &run).exits(130);
    ran.tells(&["zer0gravity resume dir --prices 'my prices.json'"]);
}

#[test]
fn an_estimate_of_batches_is_half_of_that_of_calls() {
    let place = Place::new();
    let most = |flags: &str| {
        let estimate = format!("estimate --all --json --model claude-opus-5-5 {flags}");
        let estimate = place.alone(&words(&estimate)).exits(0).json();
        let usd = estimate["usdAtMost"].as_str().unwrap().to_owned();
        usd.trim_start_matches('$').parse::<f64>().unwrap()
    };
    let (calls, batches) = (most(""), most("--batch"));
    assert!((calls - 2.0 * batches).abs() < 1e-6, "{calls} {batches}");
}

#[test]
fn a_rescore_by_batches_asks_judges_alone() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &words("run --all --run-dir dir"))
        .exits(0);
    let calls = stub.stats().calls;
    let rescore = words("rescore dir --batch --prompt-profile bands");
    place.asking(&stub, &rescore).exits(0);
    assert_eq!(
        stub.batches().iter().sum::<usize>(),
        stub.stats().calls - calls
    );
    assert!(!stub.batches().is_empty());
}

#[test]
fn a_run_that_cannot_go_in_batches_is_refused_before_it_begins() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place.file("tape.jsonl", "");
    let prices = r#"{"schema_version": 1, "read_on": "2026-11-21", "models": [
        {"provider": "anthropic", "id": "m", "price": {"in": "1", "out": "2"}}]}"#;
    place.file("prices.json", prices);
    let begin = "run --level 1 --run-dir dir --batch";
    for (flags, told) in [
        (
            "--provider offline",
            "--batch: this run is offline, and has no batches; set a key",
        ),
        (
            "",
            "--batch: this run is offline, and has no batches; set a key",
        ),
        (
            "--provider anthropic --replay tape.jsonl",
            "a recording answers calls and no batches",
        ),
    ] {
        let ran = place.alone(&words(&format!("{begin} {flags}"))).exits(2);
        ran.tells(&[told]);
    }
    for (flags, told) in [
        ("--record new.jsonl", "a batch is not recorded"),
        (
            "--model m --prices prices.json",
            "the models table has no \"batch\" for m",
        ),
    ] {
        let ran = place
            .asking(&stub, &words(&format!("{begin} {flags}")))
            .exits(2);
        ran.tells(&["--batch: ", told]);
    }
    let ran = place
        .asking(&stub, &words("run --level 1 --batch"))
        .exits(2);
    ran.tells(&["name it with --run-dir"]);
    let other = words("matrix --level 1 --batch --run-dir dir --provider llamacpp --model any");
    place
        .alone(&other)
        .exits(2)
        .tells(&["the program knows no batches of llamacpp"]);
    assert_eq!((stub.stats().calls, place.path("dir").exists()), (0, false));
}
