//! No output takes the place of an input, of a run's own files, or of a recording.

use test_support::{CompressionStub, StubMode};

use crate::program::{Place, server, words};

const TRIPLE: &str =
    r#"{"id":"a","text":"Hello world!","encodedText":"Hll wrld!","decodedText":"Hello world!"}"#;

/// Runs a command that must refuse, and checks that the file is as it was.
#[track_caller]
fn refuses(place: &Place, arguments: &[&str], file: &str) {
    let before = place.read(file);
    let ran = place.alone(arguments).exits(2);
    assert!(ran.stderr.contains("choose another file"), "{}", ran.stderr);
    assert_eq!(place.read(file), before, "{arguments:?}");
}

#[test]
fn results_do_not_replace_what_they_are_made_from() {
    let place = Place::new();
    place.file("rules.txt", "DROP VOWELS");
    place.file("texts.jsonl", r#"{"id":"a","text":"Hello world!"}"#);
    place.file("triples.jsonl", TRIPLE);
    let run = words("run --dataset texts.jsonl --encoding rules.txt --output");
    refuses(&place, &[&run[..], &["./rules.txt"]].concat(), "rules.txt");
    refuses(
        &place,
        &[&run[..], &["texts.jsonl"]].concat(),
        "texts.jsonl",
    );
    refuses(
        &place,
        &["score", "triples.jsonl", "--output", "triples.jsonl"],
        "triples.jsonl",
    );
}

#[test]
fn nothing_takes_the_place_of_a_runs_own_files() {
    let place = Place::new();
    place
        .alone(&["matrix", "--level", "1", "--run-dir", "run"])
        .exits(0);
    for file in ["run/run.json", "run/calls.jsonl", "run/report.json"] {
        let run = ["run", "--level", "1", "--run-dir", "run", "--output", file];
        refuses(&place, &run, file);
        refuses(&place, &["report", "run", "--html", file], file);
        refuses(&place, &["export", "run", "--csv", file], file);
        refuses(&place, &["export", "run", "--inspect", file], file);
    }
    // Before the run is there, too.
    let run = words("run --level 1 --run-dir new --output ./new/run.json");
    place.alone(&run).exits(2);
    place
        .alone(&["report", "run/report.json", "--html", "run/report.json"])
        .exits(2);
}

#[test]
fn calls_are_not_recorded_into_other_files() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place.file("triples.jsonl", TRIPLE);
    let at = server(&stub.url());
    let at: Vec<_> = at.iter().map(String::as_str).collect();
    let matrix = ["matrix", "--level", "1", "--run-dir", "run"];
    place.alone(&[&matrix[..], &at].concat()).exits(0);
    let into_calls = ["--record", "run/calls.jsonl"];
    refuses(
        &place,
        &[&matrix[..], &at, &into_calls].concat(),
        "run/calls.jsonl",
    );
    refuses(
        &place,
        &["resume", "run", into_calls[0], into_calls[1]],
        "run/calls.jsonl",
    );
    place.file("talk.jsonl", "");
    for flag in ["--record", "--replay"] {
        let score = format!("score triples.jsonl {flag} talk.jsonl --output talk.jsonl");
        let score = words(&score);
        refuses(&place, &[&score[..], &at].concat(), "talk.jsonl");
    }
}

#[test]
fn a_plan_that_was_edited_is_refused() {
    let place = Place::new();
    place
        .alone(&["matrix", "--level", "1", "--run-dir", "run"])
        .exits(0);
    let (plan, report) = (place.read("run/run.json"), place.read("run/report.json"));
    for (old, new) in [
        ("VOWEL_DROP", "VOWEL_KEEP"),
        ("\"trials\": 1", "\"trials\": 0"),
    ] {
        assert!(plan.contains(old), "{old}");
        place.file("run/run.json", plan.replace(old, new));
        let ran = place.alone(&["resume", "run"]).exits(2);
        assert!(ran.stderr.contains("edited"), "{}", ran.stderr);
        assert_eq!(place.read("run/report.json"), report);
    }
}
