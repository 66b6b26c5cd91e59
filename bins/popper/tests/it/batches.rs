//! Runs whose model is asked in batches.

use std::fs;
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::thread;

use llm_client::{Clock as _, SystemClock};
use serde_json::{Value, json};
use test_support::{Answer, FaultServer, Received};

use crate::models::laws;
use crate::process::{fresh, words};
use crate::runs::Place;

/// The batches of messages at a server, by their requests.
#[derive(Default)]
struct BatchServer {
    batches: Mutex<Vec<Vec<Value>>>,
    /// Whether no batch is over.
    holds: AtomicBool,
}

impl BatchServer {
    fn sizes(&self) -> Vec<usize> {
        self.batches.lock().unwrap().iter().map(Vec::len).collect()
    }

    fn answer(&self, received: &Received) -> Answer {
        let mut batches = self.batches.lock().unwrap();
        let path: Vec<&str> = received.path.split(['/', '?']).collect();
        let at = path.iter().find_map(|part| part.strip_prefix("batch_"));
        let state = if self.holds.load(Relaxed) {
            "in_progress"
        } else {
            "ended"
        };
        let row = |at: usize, requests: &[Value]| {
            json!({
                "id": format!("batch_{at}"), "type": "message_batch", "processing_status": state,
                "created_at": jiff::Timestamp::try_from(SystemClock::new().now()).unwrap().to_string(), "results_url": null,
                "request_counts": {"processing": 0, "succeeded": requests.len(), "errored": 0, "canceled": 0, "expired": 0},
            })
        };
        let json = |value: &Value| Answer::json(200, value.to_string());
        match at.and_then(|at| at.parse::<usize>().ok()) {
            Some(at) if path.contains(&"results") => {
                let lines = batches[at].iter().map(|request| {
                    let message = json!({
                        "id": "1", "type": "message", "role": "assistant", "model": "claude-opus-5-5", "stop_reason": "end_turn",
                        "content": [{"type": "text", "text": laws()}], "usage": {"input_tokens": 1000, "output_tokens": 100},
                    });
                    let result = json!({"type": "succeeded", "message": message});
                    format!("{}\n", json!({"custom_id": request["custom_id"], "result": result}))
                });
                Answer::whole(200, "application/x-jsonl", lines.collect::<String>())
            }
            Some(at) => json(&row(at, &batches[at])),
            None if received.method == "POST" => {
                let requests = received.json()["requests"].as_array().unwrap().clone();
                batches.push(requests);
                json(&row(batches.len() - 1, batches.last().unwrap()))
            }
            None => {
                let rows: Vec<_> = batches
                    .iter()
                    .enumerate()
                    .map(|(at, batch)| row(at, batch))
                    .collect();
                json(&json!({"data": rows, "has_more": false}))
            }
        }
    }
}

#[test]
fn each_call_of_a_run_at_half_the_price_is_a_batch_also_when_it_is_resumed() {
    let batches = Arc::new(BatchServer::default());
    let server = FaultServer::play({
        let batches = batches.clone();
        move |received| batches.answer(received)
    });
    let place = Place::new();
    let base = server.url("/");
    let model = "--config config.json --provider anthropic --model claude-opus-5-5";
    let run = format!("run {model} --iterations 1 --half-price --base-url {base}");
    let ran = place.popper(&words(&run));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("1 of 1 results are in"),
        "{}",
        ran.stderr
    );
    assert_eq!(batches.sizes(), [1]);
    let cost = |status: &Value| status["cost"]["nano_usd"].as_u64().unwrap();
    let once = cost(&place.status("1"));
    // 1,000 tokens at $2 and 100 at $10 for a million.
    assert_eq!(once, 3_000_000);
    // Without the flag.
    let resumed = place.popper(&words(&format!(
        "resume 1 --iterations 2 --base-url {base}"
    )));
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert_eq!(batches.sizes(), [1, 1]);
    assert_eq!(cost(&place.status("1")), 2 * once);
}

#[cfg(unix)]
#[test]
fn a_run_that_is_killed_pays_its_batch_once() {
    let batches = Arc::new(BatchServer::default());
    let server = FaultServer::play({
        let batches = batches.clone();
        move |received| batches.answer(received)
    });
    batches.holds.store(true, Relaxed);
    let place = Place::new();
    let base = server.url("/");
    let run = format!(
        "run --config config.json --db popper.db --model claude-opus-5-5 --iterations 1 --half-price --base-url {base}"
    );
    let mut child = fresh(place.path(), &words(&run))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let spool = place.path().join("popper.db.1.batch.jsonl");
    while !fs::read_to_string(&spool).is_ok_and(|text| text.contains("\"submitted\":")) {
        assert!(child.try_wait().unwrap().is_none(), "the program ended");
        thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    batches.holds.store(false, Relaxed);
    let resumed = place.popper(&words(&format!(
        "resume 1 --iterations 1 --base-url {base}"
    )));
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert_eq!(batches.sizes(), [1]);
    assert_eq!(place.status("1")["cost"]["nano_usd"], 3_000_000);
}

#[test]
fn half_the_price_is_refused_where_no_batches_are() {
    let place = Place::new();
    for (flags, told) in [
        (
            "--proposer enumerative",
            "--half-price: --proposer enumerative asks no model",
        ),
        ("", "--half-price: --proposer enumerative asks no model"),
        (
            "--provider vllm --model m --base-url http://127.0.0.1:9/v1",
            "the program knows no batches of vllm",
        ),
    ] {
        let ran = place.popper(&words(&format!(
            "run --config config.json --half-price {flags}"
        )));
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    let estimate = |flags: &str| {
        let ran = place.popper(&words(&format!(
            "estimate --json --model claude-opus-5-5 {flags}"
        )));
        let usd = ran.json()["usd_expected"].as_str().unwrap().to_owned();
        usd.trim_start_matches('$').parse::<f64>().unwrap()
    };
    let (whole, half) = (estimate(""), estimate("--half-price"));
    assert!((whole - 2.0 * half).abs() < 1e-6, "{whole} {half}");
}
