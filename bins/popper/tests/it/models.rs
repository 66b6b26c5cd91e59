//! Runs whose laws come from a model, or would, if it answered.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{Answer, FaultServer, closed_port};

use crate::kill::signal;
use crate::process::{Ran, fresh, words};
use crate::runs::Place;
use crate::sql;

/// A chat completion with this text.
pub fn completion(text: &str) -> Answer {
    let reply = json!({
        "id": "1", "object": "chat.completion", "created": 0, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 1200, "completion_tokens": 34, "total_tokens": 1234},
    });
    Answer::json(200, reply.to_string())
}

/// An answer with one law and an invalid one.
pub fn laws() -> String {
    let law = json!({
        "law_id": "cells_stay", "template": "invariant", "quantifiers": {"T": 6},
        "preconditions": [], "observables": [{"name": "n", "expr": "grid_length"}],
        "claim": "n(t) == n(0)", "forbidden": "a ring that grows",
    });
    json!({"research_log": "first look", "candidate_laws": [law, {"law_id": "broken"}]}).to_string()
}

fn start(place: &Place, base: &str, flags: &[&str]) -> Child {
    let arguments = format!("run --config config.json --db popper.db --model m --base-url {base}");
    let mut arguments = words(&arguments);
    arguments.extend(flags);
    fresh(place.path(), &arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn run(place: &Place, base: &str, flags: &[&str]) -> Ran {
    start(place, base, flags).wait_with_output().unwrap().into()
}

fn iterations(place: &Place) -> Vec<String> {
    sql::column(&place.db(), "SELECT status FROM iterations ORDER BY id")
}

#[test]
fn what_a_model_answers_is_stored_counted_and_tested() {
    let server = FaultServer::play(|_| completion(&laws()));
    let place = Place::new();
    let base = server.url("/v1");
    let ran = run(&place, &base, &["--provider", "vllm", "--iterations", "1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("2 proposed (1 invalid), 1 tested"),
        "{}",
        ran.stderr
    );
    assert!(ran.stdout.contains("cells_stay"), "{}", ran.stdout);
    let status = place.status("1");
    assert_eq!(status["proposer"], "m");
    assert_eq!(status["cost"]["calls"], 1);
    assert_eq!(status["cost"]["input_tokens"], 1200);
    let shown = place.popper(&["status"]).stdout;
    assert!(
        shown.contains("cost       1 call, 1200 tokens in, 34 out, "),
        "{shown}"
    );
    let document = place.popper(&["export"]).json();
    assert_eq!(document["calls"][0]["reply_text"], laws());
    // The run says itself which model it goes on with.
    let resumed = place.popper(&words(&format!(
        "resume --run-id 1 --iterations 2 --provider vllm --base-url {base}"
    )));
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert_eq!(server.requests().len(), 2);
    // Another model is another proposer.
    let other = place.popper(&words(&format!(
        "resume --run-id 1 --provider vllm --base-url {base} --model n"
    )));
    assert_eq!(other.code, Some(2));
    assert!(
        other
            .stderr
            .contains("another proposer: it has m, asked for is n"),
        "{}",
        other.stderr
    );
}

#[test]
fn a_server_that_is_down_leaves_the_iteration_running_and_says_how_to_go_on() {
    let place = Place::new();
    let (address, _held) = closed_port();
    let base = format!("http://{address}/v1");
    let ran = run(&place, &base, &["--provider", "vllm"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(1), ""),
        "{}",
        ran.stderr
    );
    let last = ran.stderr.lines().last().unwrap();
    let hint = format!(
        "popper: to continue: popper resume 1 --db popper.db --provider vllm --base-url {base}"
    );
    assert_eq!(last, hint, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("the model gave no answer: "),
        "{}",
        ran.stderr
    );
    assert_eq!(iterations(&place), ["running"]);

    let server = FaultServer::play(|_| completion(&laws()));
    let base = server.url("/v1");
    let resumed = place.popper(&words(&format!(
        "resume --run-id 1 --iterations 1 --provider vllm --base-url {base}"
    )));
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert_eq!(iterations(&place), ["completed"]);
}

#[test]
fn a_budget_that_is_used_up_is_an_interruption() {
    let place = Place::new();
    let server = FaultServer::play(|_| completion(&laws()));
    let base = server.url("/");
    let flags = ["--model", "claude-opus-5-5", "--max-usd", "0.000001"];
    let mut arguments = vec!["run", "--config", "config.json", "--base-url", &base];
    arguments.extend(flags);
    let ran = place.popper(&arguments);
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    let said =
        "popper: cost cap of $0.000001 reached ($0.00 spent); continue with: popper resume 1 ";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert!(
        ran.stderr.ends_with(" --max-usd 0.000002\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(server.requests().len(), 0);
    assert_eq!(iterations(&place), ["running"]);
}

#[cfg(unix)]
#[test]
fn a_signal_gives_up_the_wait_for_a_model_and_the_run_goes_on_later() {
    for name in ["-INT", "-TERM", "-HUP"] {
        stopped_while_it_waits(name);
    }
}

#[cfg(unix)]
fn stopped_while_it_waits(name: &str) {
    let place = Place::new();
    let server = FaultServer::play(|_| Answer::raw().stall());
    let mut child = start(&place, &server.url("/v1"), &["--provider", "vllm"]);
    let deadline = Instant::now() + Duration::from_mins(1);
    while server.requests().is_empty() {
        assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    signal(&child, name);
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(130), ""),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("popper resume 1"), "{}", ran.stderr);
    assert_eq!(iterations(&place), ["aborted"]);
    let status: Value = place.status("1");
    assert_eq!(status["last_iteration"]["selected"], Value::Null);
    let server = FaultServer::play(|_| completion(&laws()));
    let base = server.url("/v1");
    let arguments = format!("resume --run-id 1 --iterations 1 --provider vllm --base-url {base}");
    let arguments = words(&arguments);
    let resumed = place.popper(&arguments);
    assert_eq!(resumed.code, Some(0), "{name} {}", resumed.stderr);
    assert!(
        resumed.stdout.contains("cells_stay"),
        "{name} {}",
        resumed.stdout
    );
}
