//! A start and a turn that are recorded, and replayed in another folder without a network.

use std::net::TcpListener;

use serde_json::{Value, json};
use test_support::program::with_fixed_times;

use crate::model::{GREETING, Talk, calls, says};
use crate::program::{Place, Ran, feed};

const TAPE: &str = "tape.jsonl";
const LINES: &str = "first\nsecond\n";

fn recorded() -> Talk {
    let append = json!({"name": "memory", "content": "kept"});
    let talk = Talk::of([
        calls("c1", "block_append", &append),
        says("I keep it."),
        says("And that was it."),
    ]);
    let ran = talk.say_with(LINES, &["--record", TAPE]).exits(0);
    assert_eq!(ran.stdout, said());
    talk
}

fn said() -> String {
    format!("{GREETING}\nI keep it.\nAnd that was it.\n")
}

/// Runs a chat with these lines, whose answers come from the tape.
fn replay(place: &Place, url: &str, lines: &str) -> Ran {
    let provider = ["chat", "--provider", "anthropic", "--base-url", url];
    let arguments = [&provider[..], &["--replay", TAPE]].concat();
    place.fed(lines.as_bytes(), &arguments)
}

/// Returns the bodies of the requests in a cassette.
fn bodies(tape: &str) -> Vec<Value> {
    let lines = tape
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let bodies = lines.filter_map(|line| {
        let body = line.pointer("/request/body")?;
        Some(match body.as_str() {
            Some(text) => serde_json::from_str(text).unwrap(),
            None => body.clone(),
        })
    });
    bodies.collect()
}

#[test]
fn what_was_recorded_is_played_again_byte_for_byte_and_without_a_network() {
    let talk = recorded();
    let tape = talk.place.read(TAPE);
    let address = talk.server.address();
    let url = talk.server.url("");
    let sent: Vec<_> = (talk.server.requests().iter())
        .map(test_support::Received::json)
        .collect();
    assert_eq!(bodies(&tape), sent);
    drop(talk.server);
    // The port is closed now. This test takes it, to notice a request to it.
    let guard = TcpListener::bind(address).unwrap();
    guard.set_nonblocking(true).unwrap();

    // In a fresh folder, without a key: each prompt must be the recorded one, else the tape does not answer.
    let place = Place::new();
    place.file(TAPE, &tape);
    let ran = replay(&place, &url, LINES).exits(0);
    assert_eq!(ran.stdout, said());
    assert!(guard.accept().is_err(), "the network was touched");
    assert!(place.read("data/blocks/memory.json").contains("kept"));
    assert_eq!(place.read(TAPE), tape);
    let cost = |place: &Place| place.json(&["cost"])["total"]["input"].clone();
    assert_eq!(cost(&place), cost(&talk.place));
}

#[test]
fn another_prompt_is_not_on_the_tape() {
    let talk = recorded();
    let place = Place::new();
    place.file(TAPE, talk.place.read(TAPE));
    let url = talk.server.url("");
    let before = talk.server.requests().len();
    let ran = replay(&place, &url, "something else\nfirst\n").exits(3);
    ran.tells(&["the recording does not hold this request"]);
    // A block that differs is another prompt, too.
    let place = Place::with_block("memory", "Another memory.", &[]);
    place.file(TAPE, talk.place.read(TAPE));
    let ran = replay(&place, &url, "").exits(3);
    ran.tells(&["the recording does not hold this request"]);
    assert_eq!(talk.server.requests().len(), before);
}

#[test]
fn a_tape_that_is_none_is_a_usage_error_that_names_it() {
    let place = Place::new();
    place.file("broken.jsonl", "no tape\n");
    for (tape, words) in [
        ("nothere.jsonl", "nothere.jsonl"),
        ("broken.jsonl", "cassette, line 1"),
    ] {
        let arguments = ["chat", "--provider", "anthropic", "--replay", tape];
        place.run(&arguments).exits(2).tells(&[words]);
    }
}

#[test]
fn a_replay_takes_the_time_of_its_recording_whatever_its_threads() {
    let talk = recorded();
    let tape = with_fixed_times(&talk.place.read(TAPE));
    let url = talk.server.url("");
    drop(talk.server);
    let files = |threads: &str, zone: &str, concurrency: &str| {
        let place = Place::new();
        place.file(TAPE, &tape);
        let chat = ["chat", "--provider", "anthropic", "--base-url", &url];
        let flags = ["--replay", TAPE, "--concurrency", concurrency];
        let mut command = place.command(&[&chat[..], &flags].concat());
        command.env("TOKIO_WORKER_THREADS", threads).env("TZ", zone);
        feed(&mut command, LINES.as_bytes()).exits(0);
        let export = [
            "export",
            "--with-log",
            "-o",
            "blocks.json",
            "--replay",
            TAPE,
        ];
        place.run(&export).exits(0);
        let mut files = place.files("data");
        files.insert("blocks.json".into(), place.read("blocks.json"));
        files
    };
    let first = files("1", "UTC", "1");
    assert_eq!(files("2", "Asia/Kolkata", "4"), first);
    let text = |name: &str| &first[std::path::Path::new(name)];
    // The blocks are older than the first call, and the usage is as old as the calls.
    assert!(text("blocks.json").contains("2031-05-06T07:00:00Z"));
    assert!(text("usage.jsonl").contains("2031-05-06T07:00:03"));
}
