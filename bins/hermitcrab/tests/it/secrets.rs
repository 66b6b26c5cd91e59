//! Keys do not leak. The tests search everything that the program writes for the key.

use std::fs;

use serde_json::json;
use test_support::{Answer, FaultServer, Received};

use crate::model::{GREETING, KEY, VARIABLE, calls, says, wakes};
use crate::program::{Place, Ran, feed, files, finish, start};

/// The key, and parts that would reveal it.
const PARTS: [&str; 3] = [KEY, "not-a-real-key", "0123456789"];

#[track_caller]
fn no_key_in(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for part in PARTS {
        if let Some(at) = text.find(part) {
            let from = text[..at]
                .char_indices()
                .rev()
                .nth(80)
                .map_or(0, |(at, _)| at);
            panic!("the key is in {what}: {}", &text[from..at]);
        }
    }
}

#[track_caller]
fn no_key_said(ran: &Ran) {
    no_key_in("stdout", ran.stdout.as_bytes());
    no_key_in("stderr", ran.stderr.as_bytes());
}

/// Returns the whole request as text, with its headers.
fn echo(received: &Received) -> String {
    let headers: Vec<_> = (received.headers.iter())
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    headers.join("; ")
}

/// Returns a server whose errors repeat the request, as some servers do by mistake.
fn indiscreet() -> FaultServer {
    let mut number = 0;
    FaultServer::play(move |received| {
        let error = |status: u16, kind: &str| {
            let error =
                json!({"type": "error", "error": {"type": kind, "message": echo(received)}});
            Answer::json(status, error.to_string()).header("x-your-request", &echo(received))
        };
        assert!(echo(received).contains(KEY));
        if received.path.starts_with("/v1/models") {
            return error(500, "api_error");
        }
        if wakes(received) {
            return says(GREETING);
        }
        number += 1;
        match number {
            1 => calls(
                "c1",
                "block_append",
                &json!({"name": "memory", "content": "what I was told"}),
            ),
            2 => says("I keep it."),
            3 => error(401, "authentication_error"),
            4 => error(400, "invalid_request_error"),
            5..=7 => error(500, "api_error"),
            8 => Answer::whole(200, "text/plain", echo(received)),
            _ => says("here"),
        }
    })
}

/// Runs the commands that could leak a key, which is in the environment or in the file of keys.
fn everything(place: &Place, server: &FaultServer, in_environment: bool) {
    let url = server.url("");
    let model = ["--provider", "anthropic", "--base-url", &url];
    let command = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        if in_environment {
            command.env(VARIABLE, KEY);
        }
        command.env("RUST_LOG", "trace");
        command
    };
    let chat = [&["chat", "--record", "tape.jsonl"], &model[..]].concat();
    let lines = "one\ntwo\nthree\nfour\nfive\n/prompt\n/cost\n/read memory\n/save said.txt\n";
    no_key_said(&feed(&mut command(&chat), lines.as_bytes()).exits(3));
    let json_log = [&["--log-format", "json", "chat"], &model[..]].concat();
    no_key_said(&feed(&mut command(&json_log), b"six\n").exits(0));

    let doctor = [&["doctor"], &model[..]].concat();
    no_key_said(&finish(start(&mut command(&doctor))).exits(4));
    for arguments in [
        &["export", "-o", "all.json", "--with-log"][..],
        &["export"],
        &["block", "read", "memory", "--view", "subtree"],
        &["block", "log", "memory"],
        &["prompt", "--phase", "boot"],
        &["prompt", "--phase", "call", "--json"],
        &["cost", "--json"],
        &["shells", "--json"],
        &["key", "status"],
    ] {
        no_key_said(&finish(start(&mut command(arguments))).exits(0));
    }
    let requests = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
            "name": "block_read", "arguments": {"name": "memory", "view": "subtree"}}}),
        json!({"jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": {"uri": "pscale://memory"}}),
        json!({"jsonrpc": "2.0", "id": 5, "method": "prompts/get", "params": {"name": "orient"}}),
    ];
    let lines: Vec<_> = requests.iter().map(ToString::to_string).collect();
    let served = feed(
        &mut command(&["mcp"]),
        format!("{}\n", lines.join("\n")).as_bytes(),
    );
    assert!(served.stdout.contains("\"id\":5"), "{served:?}");
    no_key_said(&served);
}

#[track_caller]
fn no_key_kept(place: &Place, but: Option<&str>) {
    let files = files(place.root());
    assert!(files.len() > 15, "{files:?}");
    for file in files {
        if but.is_none_or(|but| !file.ends_with(but)) {
            no_key_in(&file.display().to_string(), &fs::read(&file).unwrap());
        }
    }
}

#[test]
fn a_key_of_the_environment_is_nowhere() {
    let (place, server) = (Place::new(), indiscreet());
    everything(&place, &server, true);
    no_key_kept(&place, None);
    // It was no empty talk.
    let memory = place.read("data/blocks/memory.json");
    assert!(memory.contains("what I was told"), "{memory}");
    // Nor did a prompt hold it.
    for received in server.requests() {
        no_key_in("a prompt", &received.body);
    }
}

#[test]
fn a_key_of_a_file_is_in_that_file_only() {
    let (place, server) = (Place::new(), indiscreet());
    let ran = place
        .fed(KEY.as_bytes(), &["key", "set", "--file"])
        .exits(0);
    no_key_said(&ran);
    // Under the name by which it is sent to a server on this machine, too.
    let file = place.read("data/keys.env");
    let both = format!("{file}{}", file.replace("ANTHROPIC_API_KEY", VARIABLE));
    place.file("data/keys.env", both);
    everything(&place, &server, false);
    no_key_kept(&place, Some("keys.env"));
    assert!(place.read("data/keys.env").contains(KEY));
}

#[test]
fn a_key_of_an_env_file_is_in_that_file_only() {
    let (place, server) = (Place::new(), indiscreet());
    place.file(".env", format!("{VARIABLE}={KEY}\n"));
    #[cfg(unix)]
    place.private(".env");
    everything(&place, &server, false);
    no_key_kept(&place, Some(".env"));
}
