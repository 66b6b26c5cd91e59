//! Every way of going wrong gives its outcome, its exit code and its number of calls.

use serde_json::{Value, json};
use test_support::{CompressionStub, StubMode};

use crate::program::{Place, column};

/// The result of `run --level 3`: outcome, exit code, calls that reach the server.
struct Row {
    mode: &'static str,
    /// The outcome as `STATUS [STAGE [KIND]]`.
    outcome: &'static str,
    exit: i32,
    calls: usize,
    /// Further fields of the result.
    fields: Vec<(&'static str, Value)>,
}

fn row(mode: &'static str, outcome: &'static str, exit: i32, calls: usize) -> Row {
    Row {
        mode,
        outcome,
        exit,
        calls,
        fields: Vec::new(),
    }
}

impl Row {
    fn with(mut self, pointer: &'static str, value: impl Into<Value>) -> Self {
        self.fields.push((pointer, value.into()));
        self
    }

    #[track_caller]
    fn check(&self) {
        let stub = CompressionStub::start(self.mode.parse().unwrap());
        let ran = Place::new().asking(&stub, &["run", "--level", "3"]);
        let mode = self.mode;
        let stats = stub.stats();
        let results = ran.exits(self.exit).results();
        assert_eq!(results.len(), 1);
        let result = &results[0];
        let outcome = &result["outcome"];
        let words = ["status", "stage", "kind"].map(|name| outcome[name].as_str());
        let words: Vec<_> = words.into_iter().flatten().collect();
        assert_eq!(words.join(" "), self.outcome, "{mode}: {outcome}");
        assert_eq!(stats.calls, self.calls, "{mode}: {stats:?}");
        for (pointer, value) in &self.fields {
            assert_eq!(result.pointer(pointer), Some(value), "{mode}: {pointer}");
        }
        let failed = outcome["status"] != "ok";
        for name in ["scores", "total"] {
            assert_eq!(result.get(name).is_none(), failed, "{mode}: {name}");
        }
        match result.get("error") {
            Some(error) => {
                let error = error.as_str().unwrap();
                assert!(failed && error.contains(words[1]), "{mode}: {error}");
            }
            None => assert!(!failed, "{mode}"),
        }
        // What comes after the stage that failed was not run.
        let stages = result["stages"].as_array().unwrap();
        if failed && !words[1].starts_with("judge") {
            let at = column(stages, "/stage")
                .iter()
                .position(|stage| stage == words[1]);
            let later = &column(stages, "/status")[at.unwrap() + 1..];
            assert!(
                later.iter().all(|status| status == "not_run"),
                "{mode}: {later:?}"
            );
        }
    }
}

#[test]
fn replies_that_are_good_enough() {
    for (mode, status) in [
        ("ok", "parsed"),
        ("fenced", "parsed"),
        ("e400_prefill", "parsed"),
        ("fenced_upper", "recovered"),
        ("prose", "recovered"),
    ] {
        row(mode, "ok", 0, 6)
            .with("/scores/semanticPreservation", 38)
            .with("/scores/implementability", 4)
            .with("/details/semanticJudge/status", status)
            .with("/details/implementabilityJudge/status", status)
            .with("/metadata/retries", 0)
            .with("/metadata/tokenSource", "api")
            .check();
    }
}

#[test]
fn judges_without_a_score_are_asked_once_more() {
    for mode in ["nojson", "noscore"] {
        row(mode, "unparseable judge_semantic", 1, 8)
            .with("/stages/4/status", "unparseable")
            .with("/stages/5/status", "unparseable")
            .with("/details/semanticJudge/asks", 2)
            .with("/details/semanticJudge/samples/0/score", Value::Null)
            .with("/decodedText", DECODED)
            .with("/encodedTokens", 100)
            .check();
    }
}

const DECODED: &str = "Take the sentence: 'Compression reveals essence'. For each word, count its letters. \
    Multiply each count by the word's position (1-indexed). Sum all three results. Take the sum modulo 26. \
    Convert to a letter where A=0, B=1, through Z=25. Write that letter, then a colon, then the original \
    sentence reversed word-by-word.";

#[test]
fn replies_that_are_none() {
    row("refusal_encode", "refused encode", 1, 2)
        .with("/originalTokens", 112)
        .check();
    row("max_tokens", "truncated encode", 1, 2).check();
    for row in [
        row("refusal_decode", "refused decode", 1, 4),
        row("empty_decode", "empty decode", 1, 4),
    ] {
        row.with("/originalTokens", 112)
            .with("/encodedTokens", 100)
            .check();
    }
}

#[test]
fn without_counts_the_replies_tell_the_tokens() {
    row("count_404", "ok", 0, 7)
        .with("/metadata/tokenSource", "usage")
        .with("/scores/semanticPreservation", 38)
        .check();
}

#[test]
fn a_key_that_is_refused_ends_the_run() {
    row("e401", "api_error count_original auth", 1, 1).check();
}

#[test]
fn what_fails_once_is_tried_again() {
    for mode in ["e429_once", "e500_once", "drop_once"] {
        row(mode, "ok", 0, 10)
            .with("/metadata/retries", 4)
            .with("/metadata/totalApiCalls", 6)
            .with("/stages/1/attempts", 2)
            .with("/stages/0/attempts", 1)
            .check();
    }
}

#[test]
fn what_fails_always_is_given_up() {
    row("e429_always", "api_error encode rate_limit", 1, 4)
        .with("/stages/1/attempts", 3)
        .with("/metadata/retries", 2)
        .check();
    row("e529_always", "api_error encode overloaded", 1, 4)
        .with("/stages/1/attempts", 3)
        .check();
    row("badjson", "api_error encode bad_response", 1, 3)
        .with("/stages/1/attempts", 2)
        .check();
    row("html", "api_error encode bad_response", 1, 3)
        .with("/stages/1/attempts", 2)
        .check();
}

#[test]
fn an_error_in_a_success_is_an_error() {
    let stub = CompressionStub::start(StubMode::Error200);
    let ran = Place::new()
        .asking(&stub, &["run", "--level", "3"])
        .exits(1);
    let outcome = &ran.results()[0]["outcome"];
    let found = [&outcome["status"], &outcome["kind"]];
    assert_eq!(
        found,
        [&json!("api_error"), &json!("overloaded")],
        "{outcome}"
    );
}

#[test]
fn removed_flags_are_answered_with_their_reason() {
    for command in ["run", "matrix", "score", "estimate"] {
        for (flag, reason) in [
            ("--compat-judge-parse", "removed: a score is read"),
            ("--compat-token-fallback", "removed: where the provider"),
        ] {
            let ran = Place::new().alone(&[command, flag]).exits(2);
            assert!(ran.stderr.contains(reason), "{}", ran.stderr);
        }
    }
}

#[test]
fn what_no_other_item_can_survive_stops_the_run() {
    for (mode, kind, stage) in [
        (StubMode::E401, "auth", "count_original"),
        (StubMode::Quota, "quota", "encode"),
        (StubMode::NoModel, "model_unavailable", "encode"),
    ] {
        let stub = CompressionStub::start(mode);
        let arguments = ["run", "--all", "--concurrency", "1"];
        let results = Place::new().asking(&stub, &arguments).exits(1).results();
        let statuses = column(&results, "/outcome/status");
        let failed = statuses.iter().filter(|status| *status == "api_error");
        assert_eq!(failed.count(), 1, "{statuses:?}");
        let rest = statuses.iter().filter(|status| *status == "not_run");
        assert_eq!(rest.count(), 3, "{statuses:?}");
        assert_eq!(column(&results, "/outcome/kind"), [kind; 4]);
        let first = statuses.iter().position(|status| status == "api_error");
        assert_eq!(results[first.unwrap()]["outcome"]["stage"], stage);
        let answers = stub.calls();
        let wrong = answers.iter().filter(|call| call.status != 200).count();
        assert_eq!(wrong, 1, "{mode:?}");
    }
}

#[test]
fn a_blank_text_fails_alone_and_costs_nothing() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let lines = "{\"id\": \"blank\", \"text\": \" \\n\\ufeff\"}\n{\"id\": \"ok\", \"text\": \"Hello world!\"}\n";
    place.file("set.jsonl", lines);
    let ran = place
        .asking(&stub, &["run", "--dataset", "set.jsonl"])
        .exits(3);
    let results = ran.results();
    assert_eq!(column(&results, "/outcome/status"), ["empty", "ok"]);
    assert_eq!(results[0]["outcome"]["stage"], "count_original");
    assert_eq!(results[0]["metadata"]["totalApiCalls"], 0);
    assert_eq!(stub.stats().calls, 6);
}
