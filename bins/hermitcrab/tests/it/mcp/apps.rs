//! M5: the face for clients with MCP Apps, and nothing of it for all others.

use std::fs;

use pscale_blocks::DirStore;
use serde_json::{Value, json};

use super::wire::{answer, call, lines, request};
use super::yard;
use crate::program::{DATA, Place, Ran};

const UI: &str = "io.modelcontextprotocol/ui";
const MIME: &str = "text/html;profile=mcp-app";
const URI: &str = "ui://hermitcrab/face";

/// Keeps faces as a page left them: the second is the newest good one, the third failed.
fn keep_faces(place: &Place) {
    let data = place.root().join(DATA);
    fs::create_dir(data.join("shells")).unwrap();
    let shell = |rev: u64, mounted: bool| {
        let jsx = format!("function App() {{ return <p>face number {rev}</p>; }}");
        fs::write(data.join(format!("shells/{rev}.jsx")), jsx).unwrap();
        json!({
            "rev": rev, "at": "2026-01-26T00:00:00Z", "by": "a-model", "component": "App", "mounted": mounted,
            "deaths": u8::from(!mounted),
        })
    };
    let shells = [shell(1, true), shell(2, true), shell(3, false)];
    let list = json!({"schema_version": 1, "last": 3, "shells": shells});
    fs::write(data.join("shells.json"), list.to_string()).unwrap();
}

/// Runs a session of a client with these capabilities, which asks for everything that `--ui` changes.
fn session(place: &Place, capabilities: &Value, flags: &[&str]) -> Ran {
    let client = json!({"name": "apps", "version": "1"});
    let params = json!({
        "protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": client,
    });
    let asked = [
        request(1, "initialize", params),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        request(2, "tools/list", json!({})),
        request(3, "resources/list", json!({})),
        request(4, "resources/templates/list", json!({})),
        request(5, "prompts/list", json!({})),
        call(6, "face_show", json!({})),
        request(7, "resources/read", json!({"uri": URI})),
        call(8, "block_list", json!({})),
    ];
    place.fed(lines(&asked).as_bytes(), &[&["mcp"], flags].concat())
}

fn with_apps() -> Value {
    json!({"extensions": {UI: {"mimeTypes": [MIME]}}})
}

#[test]
fn a_client_without_the_capability_sees_no_difference() {
    let place = yard();
    keep_faces(&place);
    for capabilities in [
        json!({}),
        json!({"extensions": {}}),
        json!({"extensions": {UI: {}}}),
        json!({"extensions": {UI: {"mimeTypes": []}}}),
        json!({"extensions": {UI: {"mimeTypes": MIME}}}),
        json!({"extensions": {UI: {"mimeTypes": [1, null, {}, "text/html"]}}}),
        json!({"experimental": {UI: {"mimeTypes": [MIME]}}}),
        json!({"sampling": {}, "later": {"mimeTypes": [MIME]}}),
        // These are no extensions: the session does not begin.
        json!({"extensions": {UI: [MIME]}}),
        json!({"extensions": MIME}),
    ] {
        for flags in [&[][..], &["--write"]] {
            let plain = session(&place, &capabilities, flags);
            let with_ui = session(&place, &capabilities, &[flags, &["--ui"]].concat());
            assert_eq!(plain.stdout, with_ui.stdout, "{capabilities}");
            assert_eq!(plain.stderr, with_ui.stderr, "{capabilities}");
            assert!(!with_ui.stdout.contains(MIME), "{capabilities}");
        }
    }
    // The capability alone changes nothing either.
    let plain = session(&place, &json!({}), &[]).exits(0);
    assert_eq!(plain.stdout, session(&place, &with_apps(), &[]).stdout);
    assert_eq!(answer(&plain, 7)["error"]["code"], -32602);
}

#[test]
fn a_client_with_the_capability_gets_the_face() {
    let place = yard();
    keep_faces(&place);
    // Another process writes meanwhile.
    let _writer = DirStore::open(place.root().join(DATA)).unwrap();
    let newer =
        json!({"extensions": {UI: {"mimeTypes": ["text/x", MIME], "later": [1]}, "x/y": {}}});
    for capabilities in [with_apps(), newer] {
        let plain = session(&place, &capabilities, &[]).exits(0);
        let ran = session(&place, &capabilities, &["--ui"]).exits(0);
        assert_eq!(ran.stderr, "");
        let tools = answer(&ran, 2)["result"]["tools"].clone();
        let tools = tools.as_array().unwrap();
        assert_eq!(tools.len(), 4);
        assert_eq!(
            tools[..3],
            answer(&plain, 2)["result"]["tools"].as_array().unwrap()[..]
        );
        assert_eq!(tools[3]["name"], "face_show");
        let ui = json!({"resourceUri": URI, "visibility": ["model", "app"]});
        assert_eq!(tools[3]["_meta"], json!({"ui": ui}));
        let resources = answer(&ran, 3)["result"]["resources"].clone();
        let face = resources.as_array().unwrap().last().unwrap().clone();
        assert_eq!(
            (&face["uri"], &face["mimeType"]),
            (&json!(URI), &json!(MIME))
        );
        for same in [4, 5, 8] {
            assert_eq!(answer(&ran, same), answer(&plain, same));
        }

        let shown = answer(&ran, 6)["result"].clone();
        assert_eq!(shown["content"][0]["text"], "face 2: App, by a-model");
        let contents = answer(&ran, 7)["result"]["contents"][0].clone();
        assert_eq!(contents["uri"], URI);
        assert_eq!(contents["mimeType"], MIME);
        assert_eq!(contents["_meta"], json!({"ui": {"prefersBorder": false}}));
        let html = contents["text"].as_str().unwrap();
        assert!(
            html.starts_with("<!doctype html>") && html.contains("face number "),
            "{html}"
        );
        assert!(
            !html.contains("blockWrite\",\"blockCreate"),
            "it only reads"
        );
    }
}

#[test]
fn the_face_writes_only_with_write() {
    let place = yard();
    keep_faces(&place);
    let ran = session(&place, &with_apps(), &["--ui", "--write"]).exits(0);
    let html = answer(&ran, 7)["result"]["contents"][0]["text"].clone();
    let html = html.as_str().unwrap();
    assert!(html.contains("\"blockWrite\",\"blockCreate\",\"blockAppend\"]"));
}

#[test]
fn the_current_face_is_shown_and_one_that_is_broken_is_named() {
    let place = yard();
    keep_faces(&place);
    let data = place.root().join(DATA);
    let state = json!({"schema_version": 1, "shell": 1, "must_wake": false});
    fs::write(data.join("state.json"), state.to_string()).unwrap();
    let ran = session(&place, &with_apps(), &["--ui"]).exits(0);
    let shown = answer(&ran, 6)["result"]["content"][0]["text"].clone();
    assert_eq!(shown, "face 1: App, by a-model");

    fs::write(data.join("shells/1.jsx"), "function App() { return <p>; }").unwrap();
    let ran = session(&place, &with_apps(), &["--ui"]).exits(0);
    let shown = answer(&ran, 6)["result"].clone();
    assert_eq!(shown["isError"], true);
    let text = shown["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("face 1 does not compile: "), "{text}");
    assert!(
        answer(&ran, 7)["error"]["message"]
            .as_str()
            .unwrap()
            .contains("does not compile")
    );
}

#[test]
fn an_instance_without_a_face_says_so() {
    let ran = session(&yard(), &with_apps(), &["--ui"]).exits(0);
    let shown = answer(&ran, 6)["result"].clone();
    let text = shown["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("there is no face yet") && text.contains("hermitcrab serve"),
        "{text}"
    );
    assert_eq!(answer(&ran, 7)["error"]["code"], -32002);
}
