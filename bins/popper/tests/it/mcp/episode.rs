//! `popper mcp --lab`: an episode of the lab through tools.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::client::Client;
use super::of_folder;
use crate::process::{Ran, fresh, law, words};

const SERVER: [&str; 5] = ["mcp", "--lab", "mine.sealed.json", "--log", "mine.jsonl"];

fn run(folder: &Path, line: &str) -> Ran {
    fresh(folder, &words(line)).output().unwrap().into()
}

/// A folder with a sealed universe.
fn sealed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let made = run(folder.path(), "lab new --tier A --seed 7 -o mine");
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    folder
}

/// The calls of an episode, each with whether it is refused.
fn calls() -> [(&'static str, Value, bool); 8] {
    let mirror = json!({
        "law_id": "mirror", "template": "symmetry_commutation", "quantifiers": {"T": 9},
        "transform": "mirror", "forbidden": "an image that goes elsewhere",
    });
    [
        (
            "experiment",
            json!({"start": "..ab..c.", "steps": 2}),
            false,
        ),
        (
            "experiment",
            json!({"start": "..ab..c.", "steps": 600}),
            true,
        ),
        (
            "experiment",
            json!({"start": "..ab..c.z", "steps": 1}),
            true,
        ),
        ("laws", json!({"laws": [mirror.clone()]}), false),
        ("laws", json!({"laws": [mirror]}), true),
        (
            "predict",
            json!({"predictions": [{"id": "q01.4", "state": null}]}),
            false,
        ),
        ("end", json!({}), false),
        ("experiment", json!({"start": "..ab", "steps": 1}), true),
    ]
}

/// The line of the protocol for a call.
fn line((tool, arguments, _): &(&str, Value, bool)) -> String {
    let value = match *tool {
        "experiment" => arguments.clone(),
        "predict" => arguments["predictions"].clone(),
        "end" => json!(true),
        tool => arguments[tool].clone(),
    };
    json!({*tool: value}).to_string() + "\n"
}

async fn client(folder: &Path) -> Client {
    Client::of(fresh(folder, &SERVER)).await
}

#[tokio::test]
async fn each_call_has_the_answer_of_its_line() {
    let folder = sealed();
    let lines: String = calls().iter().map(line).collect();
    fs::write(folder.path().join("lines.jsonl"), lines).unwrap();
    let stdin = fs::File::open(folder.path().join("lines.jsonl")).unwrap();
    let played = fresh(
        folder.path(),
        &words("lab play mine.sealed.json --log lines.log"),
    )
    .stdin(stdin)
    .output();
    let played = Ran::from(played.unwrap());
    let mut expected = played.stdout.lines();

    let secret = fs::read_to_string(folder.path().join("mine.sealed.json")).unwrap();
    let secret: Value = serde_json::from_str(&secret).unwrap();
    let salt = secret["salt"].as_str().unwrap();
    let mut player = client(folder.path()).await;
    let public = player.done("public", json!({})).await;
    assert_eq!(Some(public.as_str()), expected.next());
    for (index, (tool, arguments, is_error)) in calls().into_iter().enumerate() {
        if index == 4 {
            // Another process continues the episode.
            player.leave().await;
            player = client(folder.path()).await;
        }
        let text = if is_error {
            player.fails(tool, arguments).await
        } else {
            player.done(tool, arguments).await
        };
        assert_eq!(Some(text.as_str()), expected.next(), "{tool}");
        assert!(!text.contains(salt));
    }
    assert_eq!(expected.next(), None);
    player.leave().await;
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("mine.jsonl"), read("lines.log"));
    let score = run(
        folder.path(),
        "lab score mine.jsonl --sealed mine.sealed.json --json",
    );
    assert_eq!((score.code, score.stdout.lines().count()), (Some(0), 1));
    assert!(read("mine.jsonl").contains(score.stdout.trim_end()));
}

#[tokio::test]
async fn no_tool_tells_more_than_the_episode() {
    let folder = sealed();
    let player = client(folder.path()).await;
    let arguments = json!({"laws": [law("movers")], "universe": "kinetic_grid"});
    let refused = player.fails("check", arguments).await;
    assert_eq!(refused, "universe: unknown field `universe`");
    let decided = player.done("check", json!({"laws": [law("movers")]})).await;
    assert!(decided.contains("PASS"), "{decided}");
    player.leave().await;

    let mut wire = of_folder(folder, &SERVER);
    wire.open();
    let list = wire.tools(2);
    let tools = list["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let expected = [
        "check",
        "explain",
        "public",
        "experiment",
        "predict",
        "laws",
        "end",
    ];
    assert_eq!(names, expected);
    assert!(tools[0]["inputSchema"]["properties"]["universe"].is_null());
    assert_eq!(tools[3]["annotations"]["readOnlyHint"], false);
    let tokens = tiktoken_rs::o200k_base_singleton();
    let tokens = tokens.encode_ordinary(&list.to_string()).len();
    assert!(tokens <= 900, "{tokens} tokens: {list}");
    wire.call(3, "simulate", &json!({"start": ">.<"}));
    assert_eq!(wire.answer(3)["error"]["code"], -32602);
    wire.leave();
}

#[test]
fn a_second_server_of_an_episode_and_another_universe_are_refused() {
    let folder = sealed();
    let mut wire = of_folder(folder, &SERVER);
    wire.open();
    let second = run(wire.folder.path(), &SERVER.join(" "));
    assert_eq!(second.code, Some(1));
    assert!(
        second.stderr.contains("another process plays this episode"),
        "{}",
        second.stderr
    );
    let folder = wire.leave();
    run(folder.path(), "lab new --tier A --seed 8 -o other");
    let other = run(
        folder.path(),
        "mcp --lab other.sealed.json --log mine.jsonl",
    );
    assert_eq!(other.code, Some(4), "{}", other.stderr);
    let alone = run(folder.path(), "mcp --lab other.sealed.json");
    assert_eq!(alone.code, Some(2), "{}", alone.stderr);
}

#[test]
fn the_configuration_has_full_paths() {
    let folder = sealed();
    let words = [&SERVER[..], &["--print-config"]].concat().join(" ");
    let ran = run(folder.path(), &words);
    let words = &ran.json()["mcpServers"]["popper"]["args"];
    let path = |name: &str| folder.path().canonicalize().unwrap().join(name);
    let expected = json!([
        "mcp",
        "--lab",
        path("mine.sealed.json"),
        "--log",
        path("mine.jsonl")
    ]);
    assert_eq!(*words, expected);
    // It begins no episode.
    assert!(!folder.path().join("mine.jsonl").exists());
}
