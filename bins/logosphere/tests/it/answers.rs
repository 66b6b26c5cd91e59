//! Answers of servers that are odd: what is recorded of them, and how they are counted.

use serde_json::{Value, json};
use test_support::{Answer, FaultServer, MindMode, MindScript, MindStub};

use crate::journal::{calls, events, of_type};
use crate::program::{Place, Ran, finish, server, start};

/// A server that always gives this message content, finish reason and usage.
fn always(content: &str, finish: &str, usage: &Value) -> FaultServer {
    let body = json!({"id": "r", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "finish_reason": finish,
        "message": {"role": "assistant", "content": content}}], "usage": usage});
    FaultServer::replies([Answer::json(200, body.to_string())])
}

fn run(place: &Place, url: &str, flags: &[&str]) -> Ran {
    place.experiment("E");
    let arguments = [&["run", "E", "--seed", "1"], flags].concat();
    finish(start(place.command(&arguments).args(server(url))))
}

const GOOD: &str = "t\n---\nA message.\n---\n\n---\n";
const USAGE: &str = r#"{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}"#;

fn usage() -> Value {
    serde_json::from_str(USAGE).unwrap()
}

#[test]
fn l03_a_silence_with_text_after_its_end_counts_as_lost() {
    let said = "let me think\n---\n\n---\nreal message\n---\nsecond\n---\n---\n";
    for mode in ["lenient", "strict"] {
        let stub = MindStub::start(MindScript {
            mode: MindMode::Say(said.to_owned()),
            ..MindScript::default()
        });
        let place = Place::new();
        place.experiment("E");
        let flags = ["run", "E", "--seed", "1", "--parse-mode", mode];
        let ran = place.asking(&stub, &flags).exits(0);
        let warnings = ran.stderr.lines().filter(|line| line.contains("example"));
        let warnings: Vec<_> = warnings.collect();
        assert_eq!(warnings.len(), 1, "{}", ran.stderr);
        assert!(warnings[0].contains("silence_with_text"), "{}", ran.stderr);
        let shown = "protocol  0 % ok, 100 % lost (silence_with_text 30)";
        assert!(ran.stdout.contains(shown), "{}", ran.stdout);
        let events = events(&place, "E");
        for call in calls(&events) {
            let parse = &call["parse"];
            assert_eq!(
                (&parse["reason"], &call["completed"]),
                (&json!("silence"), &json!(true))
            );
            assert_eq!(
                (&parse["lost_blocks"], &parse["lost_chars"]),
                (&json!(2), &json!(18))
            );
        }
        let meter = json!({"compliant": 0, "tolerated": 0, "lost": 3, "by_reason": {"silence_with_text": 3}});
        for end in of_type(&events, "round_end") {
            assert_eq!(end["protocol"], meter);
        }
        place.alone(&["verify", "E"]).exits(0);
        place.alone(&["report", "E"]).exits(0);
        assert!(place.read("E/report.html").contains("silence_with_text"));
        let ran = place.alone(&["analyze", "E", "-v"]).exits(0);
        assert!(
            ran.stdout.contains("silence_with_text 30"),
            "{}",
            ran.stdout
        );
    }
}

#[test]
fn l03_a_silence_without_text_stays_ok() {
    for said in [
        "t\n---\n\n---\n",
        "t\n---\n\n---\n~me\n",
        "t\n---\n\n---\n\n \n---\n\n",
    ] {
        let server = always(said, "stop", &usage());
        let place = Place::new();
        let ran = run(&place, &server.url("/v1"), &["--rounds", "1"]).exits(0);
        assert!(
            ran.stdout.contains("protocol  100 % ok\n"),
            "{said:?} {}",
            ran.stdout
        );
        let events = events(&place, "E");
        let by_reason = &of_type(&events, "round_end")[0]["protocol"]["by_reason"];
        assert_eq!(*by_reason, json!({"silence": 3}), "{said:?}");
    }
}

#[test]
fn l08_counts_of_tokens_that_cannot_be_true_are_estimated() {
    for (prompt, completion, noted) in [
        (10_u64, 9_223_372_036_854_775_807_u64, true),
        (10, 10_000_001, true),
        (1_000_000_001, 5, true),
        (10, 10_000_000, false),
        (1_000_000_000, 5, false),
    ] {
        let told =
            json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": 15});
        let server = always(GOOD, "stop", &told);
        let place = Place::new();
        run(&place, &server.url("/v1"), &["--rounds", "2"]).exits(0);
        let events = events(&place, "E");
        let mut sums = [0, 0];
        for call in calls(&events) {
            let attempt = &call["attempts"].as_array().unwrap().last().unwrap().clone();
            let notes = if noted {
                json!(["absurd_usage"])
            } else {
                Value::Null
            };
            assert_eq!(attempt.get("notes").cloned().unwrap_or_default(), notes);
            let tokens = &call["tokens"];
            assert_eq!(tokens["estimated"], noted);
            assert_eq!(call["tokens_used"], tokens["completion"]);
            let [read, said] = ["prompt", "completion"].map(|part| tokens[part].as_u64().unwrap());
            assert!(read <= 1_000_000_000 && said <= 10_000_000, "{tokens}");
            sums = [sums[0] + read, sums[1] + said];
        }
        let end = of_type(&events, "experiment_end")[0];
        assert_eq!(
            end["tokens"],
            json!({"prompt": sums[0], "completion": sums[1]})
        );
        place.alone(&["verify", "E"]).exits(0);
        place.alone(&["report", "E"]).exits(0);
    }
}

#[test]
fn l23_the_servers_own_word_for_the_end_is_kept() {
    for (finish, kind) in [
        ("stop", "end_turn"),
        ("content_filter", "content_filter"),
        ("eos", "eos"),
    ] {
        let server = always(GOOD, finish, &usage());
        let place = Place::new();
        run(&place, &server.url("/v1"), &["--rounds", "1"]).exits_with_one_of(&[0, 3]);
        for call in calls(&events(&place, "E")) {
            assert_eq!(
                (&call["finish_reason"], &call["finish_raw"]),
                (&json!(kind), &json!(finish))
            );
        }
        place.alone(&["verify", "E"]).exits(0);
    }
    let place = Place::new();
    place.experiment("O");
    place
        .alone(&["run", "O", "--rounds", "1", "--seed", "1"])
        .exits(0);
    for call in calls(&events(&place, "O")) {
        assert_eq!(call.get("finish_raw"), Some(&Value::Null));
    }
}

#[test]
fn l23_a_refusal_has_a_key_of_the_meter() {
    let server = always("I cannot help with that.", "content_filter", &usage());
    let place = Place::new();
    run(&place, &server.url("/v1"), &["--rounds", "1"]).exits(0);
    let events = events(&place, "E");
    for call in calls(&events) {
        assert_eq!(call["parse"]["reason"], "no_delimiter");
    }
    let meter = &of_type(&events, "round_end")[0]["protocol"];
    let expected = json!({"compliant": 0, "tolerated": 0, "lost": 3, "by_reason": {"refusal": 3}});
    assert_eq!(*meter, expected);
    place.alone(&["verify", "E"]).exits(0);
}

#[test]
fn l12_bytes_that_are_no_text_are_noted() {
    let answer = |text: &[u8]| {
        let body = json!({"id": "r", "model": "m", "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": "t\n---\nBYTES\n---\n\n---\n"}}], "usage": usage()});
        let body = body.to_string();
        let (before, after) = body.split_once("BYTES").unwrap();
        [before.as_bytes(), text, after.as_bytes()].concat()
    };
    for (bytes, notes) in [
        (&b"\xff\xfe\xc3\x28"[..], json!(["utf8_repaired"])),
        ("\u{fffd} as it came".as_bytes(), Value::Null),
    ] {
        let server = FaultServer::replies([Answer::json(200, answer(bytes))]);
        let place = Place::new();
        run(&place, &server.url("/v1"), &["--rounds", "1"]).exits(0);
        for call in calls(&events(&place, "E")) {
            assert!(call["raw_output"].as_str().unwrap().contains('\u{fffd}'));
            assert_eq!(
                call["attempts"][0]
                    .get("notes")
                    .cloned()
                    .unwrap_or_default(),
                notes
            );
        }
        place.alone(&["verify", "E"]).exits(0);
    }
}

#[test]
fn the_meter_counts_calls_that_failed() {
    let place = Place::new();
    for (mind, rounds, code, meter) in [
        (
            "flaky:rate=0.5",
            "6",
            3,
            "protocol  100 % ok, 8 calls failed\n",
        ),
        ("flaky:rate=1", "1", 3, "protocol  3 calls failed\n"),
        ("copier", "0", 0, "protocol  no answers\n"),
    ] {
        let name = format!("R{rounds}");
        place.experiment(&name);
        let run = [
            "run", &name, "--mind", mind, "--rounds", rounds, "--seed", "1",
        ];
        let ran = place.alone(&run).exits(code);
        assert!(ran.stdout.contains(meter), "{}", ran.stdout);
    }
}
