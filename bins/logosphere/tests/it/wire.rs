//! The requests on the wire, and the replies that are accepted.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use test_support::{MindForm, MindMode, MindScript, MindStub};

use crate::journal::{self, calls, events, of_type, sha256, texts};
use crate::program::{Place, SEEDS, words};

fn saying(mode: MindMode) -> MindStub {
    MindStub::start(MindScript {
        mode,
        ..MindScript::default()
    })
}

#[test]
fn a_request_holds_the_prompt_and_nothing_of_the_run() {
    let (place, stub) = (Place::new(), saying(MindMode::Mix));
    place.experiment("unlikely-name-of-an-experiment");
    let run = "run unlikely-name-of-an-experiment --minds 5 --rounds 6 --seed 3";
    place.asking(&stub, &words(run)).exits(0);
    let requests = stub.requests();
    let events = events(&place, "unlikely-name-of-an-experiment");
    let calls = calls(&events);
    assert_eq!((requests.len(), calls.len()), (30, 30));
    let system = events[0]["system_prompt"].as_str().unwrap();
    let mut headers = Vec::new();
    for (request, call) in requests.iter().zip(calls) {
        let body = request.json();
        let keys: Vec<_> = body
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(keys, ["max_tokens", "messages", "model"]);
        assert_eq!(
            (&body["model"], &body["max_tokens"]),
            (&json!("m"), &json!(2000))
        );
        assert_eq!(sha256(&request.body), call["request_sha256"]);
        let messages = body["messages"].as_array().unwrap();
        assert_eq!((messages.len(), &messages[0]["role"]), (1, &json!("user")));
        let prompt = messages[0]["content"].as_str().unwrap();
        let parts: Vec<_> = [vec![system], texts(&call["input_messages"])].concat();
        assert_eq!(prompt, parts.join("\n---\n"));
        assert_eq!(sha256(prompt.as_bytes()), call["prompt_sha256"]);
        let constant: Vec<_> = request
            .headers
            .iter()
            .filter(|(name, _)| name != "content-length")
            .cloned()
            .collect();
        headers.push(constant);
        assert!(!request.text().contains("unlikely"));
    }
    headers.dedup();
    assert_eq!(headers.len(), 1, "{headers:?}");
    let shown = format!("{headers:?}");
    let run_id = events[0]["run_id"].as_str().unwrap();
    assert!(
        !shown.contains(run_id) && !shown.contains("unlikely"),
        "{shown}"
    );
}

#[test]
fn requests_that_a_server_has_kept_are_those_of_the_journal() {
    let (place, stub) = (Place::new(), saying(MindMode::Mix));
    place.experiment("E");
    place
        .asking(
            &stub,
            &["run", "E", "--minds", "5", "--rounds", "6", "--seed", "3"],
        )
        .exits(0);
    let path = journal::path("E");
    place
        .alone(&["check-leaks", "nowhere.jsonl"])
        .exits_with_one_of(&[1, 2])
        .tells(&["nowhere.jsonl"]);
    place.alone(&["check-leaks", &path]).exits(0);
    let requests = stub.requests();
    for (number, request) in requests.iter().enumerate() {
        place.file(&format!("bodies/{number}.json"), &request.body);
    }
    place
        .alone(&["check-leaks", &path, "--bodies", "bodies"])
        .exits(0);
    // One more message, the number of the round, another order: none of them is a request of this run.
    let body = requests[20].text();
    for altered in [
        body.replacen("\\n---\\n", "\\n---\\nOne more.\\n---\\n", 1),
        body.replacen("Read them.", "Read them. Round 4.", 1),
        body.replacen(
            "\"max_tokens\":2000",
            "\"max_tokens\":2000,\"user\":\"mind-0\"",
            1,
        ),
    ] {
        assert_ne!(altered, body);
        place.file("bodies/20.json", altered);
        place
            .alone(&["check-leaks", &path, "--bodies", "bodies"])
            .exits(4);
    }
}

#[test]
fn the_system_may_have_a_turn_of_its_own_and_options_are_sent_when_set() {
    let (place, stub) = (Place::new(), saying(MindMode::Ok));
    place.experiment("E");
    place.file("E/config.json", r#"{"system_role": true, "options": {"temperature": 0.5}, "system_prompt": "Read.", "n_minds": 1,
        "max_rounds": 1, "token_limit": 7}"#);
    place.asking(&stub, &["run", "E"]).exits(0);
    let body = stub.requests()[0].json();
    assert_eq!(body["temperature"], 0.5);
    assert_eq!(body["max_tokens"], 7);
    assert_eq!(
        body["messages"][0],
        json!({"role": "system", "content": "Read."})
    );
    let call = calls(&events(&place, "E"))[0].clone();
    let user = texts(&call["input_messages"]).join("\n---\n");
    assert_eq!(
        body["messages"][1],
        json!({"role": "user", "content": user})
    );
    place.alone(&["verify", &journal::path("E")]).exits(0);
}

#[test]
fn answers_of_every_form_are_read_as_specified() {
    for form in MindForm::all() {
        let (place, stub) = (Place::new(), saying(MindMode::Form(form)));
        place.experiment("E");
        place
            .asking(
                &stub,
                &["run", "E", "--minds", "2", "--rounds", "1", "--seed", "1"],
            )
            .exits(0);
        let events = events(&place, "E");
        for call in calls(&events) {
            let (end, reason) = form.verdict();
            let parse = &call["parse"];
            assert_eq!(
                (&parse["end"], &parse["reason"]),
                (&json!(end), &json!(reason)),
                "{form:?}"
            );
            assert_eq!(parse["notes"], json!(form.notes()), "{form:?}");
            assert_eq!(call["completed"], end != "none", "{form:?}");
            assert_eq!(call["transmitted"] == json!([]), reason != "ok", "{form:?}");
        }
        place.alone(&["verify", &journal::path("E")]).exits(0);
    }
}

#[test]
fn the_protocol_meter_counts_what_the_server_said() {
    let (place, stub) = (Place::new(), saying(MindMode::Mix));
    place.experiment("E");
    let ran = place
        .asking(
            &stub,
            &["run", "E", "--minds", "6", "--rounds", "10", "--seed", "8"],
        )
        .exits(0);
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    let [mut compliant, mut tolerated, mut lost] = [0, 0, 0];
    for (form, answers) in stub.stats().by_form {
        let (end, reason) = form.verdict();
        *reasons.entry(reason).or_default() += answers as u64;
        match end {
            "none" => lost += answers,
            "lenient" => tolerated += answers,
            _ => compliant += answers,
        }
    }
    let protocol = events(&place, "E").last().unwrap()["protocol"].clone();
    let expected =
        json!({"compliant": compliant, "tolerated": tolerated, "lost": lost, "by_reason": reasons});
    assert_eq!(protocol, expected);
    // Over a tenth is lost: once, with the commonest reason and an answer as example.
    let warnings: Vec<_> = ran
        .stderr
        .lines()
        .filter(|line| line.contains("lost") && line.contains("example"))
        .collect();
    assert_eq!(warnings.len(), 1, "{}", ran.stderr);
    assert!(
        reasons.keys().any(|reason| warnings[0].contains(reason)),
        "{}",
        ran.stderr
    );
    assert!(warnings[0].contains("I read it all."), "{}", ran.stderr);
    assert!(ran.all().contains("protocol"), "{}", ran.all());
}

#[test]
fn impersonation_is_kept_or_discarded() {
    for (policy, reason, sent) in [("keep", "ok", true), ("discard", "impersonation", false)] {
        let (place, stub) = (Place::new(), saying(MindMode::Form(MindForm::SignedInit)));
        place.experiment("E");
        place
            .asking(
                &stub,
                &["run", "E", "--rounds", "1", "--impersonation", policy],
            )
            .exits(0);
        for call in calls(&events(&place, "E")) {
            assert_eq!(call["parse"]["reason"], reason);
            assert_eq!(call["parse"]["notes"], json!(["impersonates_init"]));
            assert_eq!(
                (&call["completed"], &call["signature"]),
                (&json!(true), &json!("~init"))
            );
            assert_eq!(call["transmitted"].as_array().unwrap().is_empty(), !sent);
        }
        place.alone(&["verify", &journal::path("E")]).exits(0);
    }
    let (place, stub) = (Place::new(), saying(MindMode::Form(MindForm::SignedLoud)));
    place.experiment("E");
    place
        .asking(
            &stub,
            &["run", "E", "--rounds", "1", "--impersonation", "discard"],
        )
        .exits(0);
    let events = events(&place, "E");
    let call = calls(&events)[0];
    assert!(texts(&call["transmitted"])[0].ends_with("\n\n~INIT"));
}

#[test]
fn huge_answers_are_read_and_kept() {
    let long = format!("thought\n---\n{}\n---\n\n---\n", "x".repeat(10 << 20));
    let many = format!("thought\n{}", "---\nm\n".repeat(100_000));
    for (said, sent, end) in [(long, 1, "blank_block"), (many, 0, "none")] {
        let (place, stub) = (Place::new(), saying(MindMode::Say(said.clone())));
        place.experiment("E");
        place
            .asking(&stub, &["run", "E", "--minds", "1", "--rounds", "2"])
            .exits(0);
        let events = events(&place, "E");
        for call in calls(&events) {
            assert!(call["raw_output"] == said.as_str());
            assert_eq!(call["transmitted"].as_array().unwrap().len(), sent);
            assert_eq!(call["parse"]["end"], end);
        }
        place.alone(&["verify", &journal::path("E")]).exits(0);
    }
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let mut wrong = Vec::new();
    for (raw, read) in [
        (
            &b"\"t\\n---\\nlone \\ud800 one\\n---\\n\\n---\\n\""[..],
            "lone \u{fffd} one",
        ),
        (
            b"\"t\\n---\\nbad \xff byte\\n---\\n\\n---\\n\"",
            "bad \u{fffd} byte",
        ),
        (
            b"\"t\\n---\\nnul \\u0000 in it\\n---\\n\\n---\\n\"",
            "nul \0 in it",
        ),
    ] {
        let (place, stub) = (Place::new(), saying(MindMode::Raw(raw.to_vec())));
        place.experiment("E");
        place
            .asking(&stub, &["run", "E", "--minds", "1", "--rounds", "2"])
            .exits_with_one_of(&[0, 3]);
        let events = events(&place, "E");
        for call in calls(&events) {
            if call["transmitted"] != json!([read]) {
                wrong.push(format!(
                    "{read:?} is read as {} ({})",
                    call["transmitted"], call["parse"]["reason"]
                ));
            }
        }
        place.alone(&["verify", &journal::path("E")]).exits(0);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn empty_samples_give_the_bare_prompt() {
    let (place, stub) = (Place::new(), saying(MindMode::Form(MindForm::Silent)));
    place.seeded("zero", &[]);
    place.file("zero/config.json", r#"{"allow_zero_seeds": true}"#);
    place.experiment("k0");
    for run in [
        &["run", "zero", "--rounds", "2"][..],
        &["run", "k0", "--rounds", "2", "--samples", "0"],
    ] {
        stub.forget();
        place.asking(&stub, run).exits(0);
        let start = &events(&place, run[1])[0];
        for request in stub.requests() {
            assert_eq!(
                request.json()["messages"][0]["content"],
                start["system_prompt"]
            );
        }
        assert_eq!(stub.stats().requests, 6);
        place.alone(&["verify", &journal::path(run[1])]).exits(0);
    }
    // A window smaller than a sample.
    place.experiment("small");
    place
        .asking(&stub, &words("run small --active 2 --samples 5 --rounds 1"))
        .exits(0);
    for call in calls(&events(&place, "small")) {
        assert_eq!(call["sampled_ids"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn bare_seeds_have_no_stamp_in_any_request() {
    let (place, stub) = (Place::new(), saying(MindMode::Ok));
    place.experiment("E");
    place
        .asking(&stub, &["run", "E", "--no-stamp", "--rounds", "2"])
        .exits(0);
    assert!(
        stub.requests()
            .iter()
            .all(|request| !request.text().contains("~init"))
    );
    let seeds = events(&place, "E")[0]["seeds"].clone();
    let stored: Vec<_> = seeds
        .as_array()
        .unwrap()
        .iter()
        .map(|seed| seed["text"].as_str().unwrap())
        .collect();
    assert_eq!(stored, SEEDS);
}

#[test]
fn recorded_calls_can_be_played_without_a_server() {
    let (place, stub) = (Place::new(), saying(MindMode::Mix));
    place.experiment("A");
    let run = "run A --minds 4 --rounds 3 --seed 9 --scheduling snapshot --concurrency 4";
    let recording = format!("{run} --record talk.jsonl");
    place.asking(&stub, &words(&recording)).exits(0);
    let made = stub.stats().requests;
    place.experiment("B");
    let playing = run.replace(" A ", " B ") + " --replay talk.jsonl";
    place.asking(&stub, &words(&playing)).exits(0);
    assert_eq!(
        (made, stub.stats().requests),
        (12, 12),
        "nothing went over the wire"
    );
    // What was paid for once is not paid for again: only the costs differ.
    let said = |name| {
        let calls: Vec<_> = calls(&events(&place, name)).into_iter().cloned().collect();
        let facts = [
            "raw_output",
            "sampled_ids",
            "request_sha256",
            "finish_reason",
            "tokens",
        ];
        calls
            .iter()
            .map(|call| facts.map(|fact| call[fact].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(said("A"), said("B"));
}

#[test]
fn keys_are_nowhere_in_the_experiment() {
    let (place, stub) = (Place::new(), saying(MindMode::Ok));
    place.experiment("E");
    let key = "sk-or-v1-very-secret-key-0123456789";
    let mut command = place.command(&["run", "E", "--rounds", "1"]);
    command
        .env("LOGOSPHERE_API_KEY", key)
        .args(crate::program::server(&stub.url()));
    let ran = crate::program::finish(crate::program::start(&mut command)).exits(0);
    assert_eq!(
        stub.requests()[0].header("authorization"),
        Some(format!("Bearer {key}").as_str())
    );
    assert!(!ran.all().contains(key));
    for file in [
        "config.json",
        "config.effective.json",
        "logs/experiment.jsonl",
    ] {
        assert!(!place.read(&format!("E/{file}")).contains(key), "{file}");
    }
    assert_eq!(of_type(&events(&place, "E"), "experiment_end").len(), 1);
}

#[test]
fn models_are_named_as_asked_and_as_answered() {
    let (place, stub) = (Place::new(), saying(MindMode::Ok));
    place.experiment("E");
    place.asking(&stub, &["run", "E", "--rounds", "1"]).exits(0);
    let events = events(&place, "E");
    let start = &events[0];
    assert_eq!(
        (&start["offline"], &start["provider"]),
        (&json!(false), &json!("openrouter"))
    );
    let billed = stub.stats().billed;
    let mut sum = 0;
    for call in calls(&events) {
        assert_eq!(
            (&call["model_asked"], &call["model_answered"]),
            (&json!("m"), &json!("m"))
        );
        assert_eq!(call["tokens_used"], call["tokens"]["completion"]);
        assert_eq!(call["tokens"]["estimated"], false);
        sum += call["tokens_used"].as_u64().unwrap();
        assert_eq!(call["cost_usd"], Value::Null);
    }
    assert_eq!(sum, billed.completion);
}
