//! Runs with several kinds of minds on the command line.

use serde_json::{Value, json};
use test_support::{MindScript, MindStub};

use crate::journal::{calls, events};
use crate::program::{Place, finish, start, words};

#[test]
fn minds_at_positions_are_others() {
    let place = Place::new();
    place.experiment("E");
    let run =
        "run E --minds 4 --rounds 2 --mind copier --minds-at 0,3=mutator:p=0.5 --minds-at 1=silent";
    place.alone(&words(run)).exits(0);
    let journal = events(&place, "E");
    let minds = json!(["mutator:p=0.5", "silent", "copier", "mutator:p=0.5"]);
    assert_eq!(journal[0]["effective"]["minds"], minds);
    let played: Vec<_> = calls(&journal)
        .iter()
        .map(|call| call["model_asked"].clone())
        .collect();
    assert_eq!(Value::from(played[..4].to_vec()), minds);
    for command in [
        "verify E",
        "replay E",
        "leak E",
        "resume E --rounds 3",
        "verify E",
        "analyze E",
    ] {
        place.alone(&words(command)).exits(0);
    }
    place.alone(&words("report E -o page.html")).exits(0);
    let page = place.read("page.html");
    for row in [
        "1: mutator:p=0.5",
        "2: silent",
        "3: copier",
        "4: mutator:p=0.5",
    ] {
        assert!(page.contains(row), "{row}");
    }
}

#[test]
fn wrong_positions_and_lists_are_refused_before_anything_is_written() {
    let place = Place::new();
    place.experiment("E");
    for (flags, error) in [
        (
            "--minds-at 3=copier",
            "--minds-at 3: the run has 3 minds, from 0 to 2",
        ),
        (
            "--minds-at copier",
            "expected positions from 0 and a mind, such as 0,3=copier",
        ),
        ("--minds-at 0,x=copier", "expected positions from 0"),
        ("--minds-at 0=coper", "coper"),
        (
            "--provider ollama --minds-at 0=small",
            "--minds-at: the other positions have no model; give --model",
        ),
    ] {
        place
            .alone(&words(&format!("run E {flags}")))
            .exits(2)
            .tells(&[error]);
    }
    assert!(!place.path("E/logs").exists());
}

#[test]
fn models_of_two_servers_play_one_run_under_one_cap() {
    let (one, other) = (
        MindStub::start(MindScript::default()),
        MindStub::start(MindScript::default()),
    );
    let place = Place::new();
    place.experiment("E");
    let minds = json!({"minds": [
        {"model": "first", "provider": "generic", "api_base_url": one.url()},
        {"model": "second", "provider": "llamacpp", "api_base_url": other.url(), "options": {"temperature": 0.5}},
        {"model": "third", "provider": "generic", "api_base_url": one.url()},
    ]});
    place.file("E/config.json", minds.to_string());
    let run = |arguments: &str| finish(start(&mut place.command(&words(arguments))));
    run("run E --rounds 2 --max-tokens 100000").exits(0);
    assert_eq!((one.stats().requests, other.stats().requests), (4, 2));
    let journal = events(&place, "E");
    let asked: Vec<_> = calls(&journal)
        .iter()
        .map(|call| call["model_asked"].clone())
        .collect();
    assert_eq!(
        asked,
        ["first", "second", "third", "first", "second", "third"]
    );
    let bodies: Vec<Value> = (other.requests().iter())
        .map(|request| serde_json::from_slice(&request.body).unwrap())
        .collect();
    assert!(
        bodies
            .iter()
            .all(|body| body["model"] == "second" && body["temperature"] == 0.5)
    );
    let ledger = place.read("E/spend.jsonl");
    assert_eq!(ledger.lines().count(), 12);
    run("verify E").exits(0);
    run("leak E").exits(0);
    run("resume E --rounds 3").exits(0);
    assert_eq!((one.stats().requests, other.stats().requests), (6, 3));
    run("run E --model other").exits(2);
    place.experiment("F");
    place.file("F/config.json", minds.to_string());
    run("run F --model other")
        .exits(2)
        .tells(&["minds names the models of this run; leave --model out"]);
    run("run F --record tape.jsonl")
        .exits(2)
        .tells(&["--record takes the calls of one server"]);
}
