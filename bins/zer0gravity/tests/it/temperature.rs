//! `--temperature` and `--judge-temperature`: sent if they are given, refused where no model takes them.

use serde_json::{Value, json};
use test_support::{Answer, CompressionStub, FaultServer, StubMode, StubRole};

use crate::program::{Place, words};

/// The temperatures of the calls of a role.
fn sent(stub: &CompressionStub, role: StubRole) -> Vec<Value> {
    let calls = stub.calls().into_iter().filter(|call| call.role == role);
    calls.map(|call| call.body["temperature"].clone()).collect()
}

#[test]
fn a_temperature_is_sent_by_its_roles_and_kept_in_the_plan() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let run = words("run --level 3 --run-dir dir --temperature 0.5 --judge-temperature 1");
    place.asking(&stub, &run).exits(0);
    assert_eq!(sent(&stub, StubRole::Encoder), [json!(0.5)]);
    assert_eq!(sent(&stub, StubRole::Decoder), [json!(0.5)]);
    let plan = place.read_json("dir/run.json");
    assert_eq!(plan["plan"]["config"]["temperature"], 0.5);
    assert_eq!(plan["plan"]["config"]["judgeTemperature"], 1);

    let calls = stub.stats().calls;
    let rescore = words("rescore dir --judge-temperature 0");
    place.alone(&rescore).exits(0);
    let judged: Vec<_> = stub.calls().split_off(calls);
    assert_eq!(judged.len(), 2);
    assert!(judged.iter().all(|call| call.body["temperature"] == 0.0));
    let plan = place.read_json("dir/run.json");
    assert_eq!(plan["plan"]["config"]["judgeTemperature"], 0);

    // Another temperature is another run.
    let other = words("run --level 3 --run-dir dir --temperature 0.6 --judge-temperature 1");
    let other = place.asking(&stub, &other).exits(2);
    assert!(
        other.stderr.contains("config.temperature"),
        "{}",
        other.stderr
    );
}

#[test]
fn without_a_temperature_none_is_sent_or_written() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &words("run --level 3 --run-dir dir"))
        .exits(0);
    assert!(
        stub.calls()
            .iter()
            .all(|call| call.body.get("temperature").is_none())
    );
    for file in ["dir/run.json", "dir/report.json"] {
        assert!(
            !place.read(file).to_lowercase().contains("temperature"),
            "{file}"
        );
    }
}

#[test]
fn a_provider_that_refuses_it_is_a_usage_error_after_one_call() {
    let place = Place::new();
    let server = FaultServer::play(|received| {
        if received.path.ends_with("count_tokens") {
            return Answer::json(200, json!({"input_tokens": 9}).to_string());
        }
        let error = json!({"type": "invalid_request_error", "message": "temperature: at most 1"});
        Answer::json(400, json!({"type": "error", "error": error}).to_string())
    });
    let url = server.url("");
    let mut run = words("matrix --all --run-dir dir --temperature 1.5 --provider anthropic");
    run.extend(["--base-url", &url]);
    let ran = place.alone(&run).exits(2);
    for told in ["temperature 1.5: ", "at most 1", "leave --temperature"] {
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    let requests = server.requests();
    let messages = requests
        .iter()
        .filter(|one| one.path.ends_with("/messages"));
    assert_eq!(messages.count(), 1);
}

#[test]
fn bad_temperatures_are_refused_before_anything_is_sent() {
    let place = Place::new();
    for flag in ["--temperature", "--judge-temperature"] {
        for value in ["-1", "2.1", "NaN", "warm", ""] {
            let ran = place.alone(&["run", "--level", "1", flag, value]).exits(2);
            assert!(
                ran.stderr.contains("a temperature is 0 to 2"),
                "{}",
                ran.stderr
            );
        }
        let run = ["run", "--level", "1", "--provider", "offline", flag, "0.5"];
        let ran = place.alone(&run).exits(2);
        assert!(ran.stderr.contains(flag), "{}", ran.stderr);
        assert!(ran.stderr.contains("offline"), "{}", ran.stderr);
    }
}

#[test]
fn an_estimate_and_a_score_refuse_what_no_role_would_have() {
    let place = Place::new();
    let estimate = words("estimate --level 1 --provider offline --temperature 0.5");
    let ran = place.alone(&estimate).exits(2);
    assert!(ran.stderr.contains("offline"), "{}", ran.stderr);
    let ran = place.alone(&words("score cases.json --temperature 0.5"));
    let ran = ran.exits(2);
    assert!(ran.stderr.contains("--judge-temperature"), "{}", ran.stderr);
}

#[test]
fn a_model_that_takes_none_is_refused_before_anything_is_sent() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let row = json!({
        "provider": "anthropic", "id": "cold", "status": "active", "sampling": false,
        "price": {"in": "1", "out": "1"}, "source": "test", "verified": true,
    });
    let table = json!({"schema_version": 1, "read_on": "2026-01-01", "models": [row]});
    place.file("table.json", table.to_string());
    let run = "run --level 3 --run-dir dir --temperature 0.5 --prices table.json --model cold";
    let ran = place.asking(&stub, &words(run)).exits(2);
    let told = "cold takes no temperature";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(stub.stats().calls, 0);
    assert!(!place.path("dir").exists());
}

#[test]
fn other_judges_of_a_rescore_have_no_temperature_unless_it_is_named() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let run = words("run --level 3 --run-dir dir --judge-temperature 0.5");
    place.asking(&stub, &run).exits(0);
    let temperatures = |from: usize| -> Vec<Value> {
        let calls = stub.calls().split_off(from);
        calls
            .iter()
            .map(|call| call.body["temperature"].clone())
            .collect()
    };
    let from = stub.calls().len();
    place
        .alone(&words("rescore dir --prompt-profile bands"))
        .exits(0);
    assert_eq!(temperatures(from), [json!(0.5), json!(0.5)]);
    let from = stub.calls().len();
    place
        .alone(&words("rescore dir --judge-model other"))
        .exits(0);
    assert_eq!(temperatures(from), [Value::Null, Value::Null]);
    let plan = place.read_json("dir/run.json");
    assert_eq!(plan["plan"]["config"]["judgeTemperature"], Value::Null);
}

#[test]
fn what_was_paid_for_is_written_before_a_late_refusal_is_told() {
    let place = Place::new();
    let server = FaultServer::play({
        let mut refuses = false;
        move |received| {
            if received.path.ends_with("count_tokens") {
                return Answer::json(200, json!({"input_tokens": 9}).to_string());
            }
            let body: Value = serde_json::from_slice(&received.body).unwrap();
            refuses |= body["temperature"] == 1.5;
            if refuses {
                let error =
                    json!({"type": "invalid_request_error", "message": "temperature: at most 1"});
                return Answer::json(400, json!({"type": "error", "error": error}).to_string());
            }
            let reply = json!({
                "id": "m", "type": "message", "role": "assistant", "model": "m",
                "content": [{"type": "text", "text": "short"}],
                "stop_reason": "end_turn", "usage": {"input_tokens": 9, "output_tokens": 3},
            });
            Answer::json(200, reply.to_string())
        }
    });
    let url = server.url("");
    let mut run = words("run --all --run-dir dir --judge-temperature 1.5 --provider anthropic");
    run.extend(["--base-url", &url]);
    let ran = place.alone(&run).exits(2);
    assert!(ran.stderr.contains("at most 1"), "{}", ran.stderr);
    let report = place.read_json("dir/report.json");
    assert_eq!(report["results"][0]["decodedText"], "short");
    let messages = server.requests();
    let messages = messages
        .iter()
        .filter(|one| one.path.ends_with("/messages"));
    // Encoder, decoder and the first judge of the first text.
    assert_eq!(messages.count(), 3);
}
