//! `popper mcp`: the tools of the server, with a client of the protocol and with lines.

mod cancel;
mod client;
mod episode;
mod malformed;
mod sdk;

use std::fmt::Write as _;

use popper_harness::counterexample::Counterexample;
use serde_json::{Value, json};
use test_support::fixture;
use test_support::mcp::Wire;

use crate::process::{command, false_law, fresh, law, popper};
use client::Client;

/// The files with the fixture laws.
const LAWS: [&str; 3] = ["true", "false", "unknown"];

/// A server in an empty folder.
fn wire() -> Wire {
    of_folder(tempfile::tempdir().unwrap(), &["mcp"])
}

/// The server of these words in a folder.
fn of_folder(folder: tempfile::TempDir, words: &[&str]) -> Wire {
    Wire::start(fresh(folder.path(), words), folder)
}

fn laws(name: &str) -> Value {
    let text = std::fs::read_to_string(fixture(format!("popper/laws/{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The output of `popper check --json` for a file of fixtures, without `runtime_ms`.
fn checked(name: &str) -> String {
    let ran = popper(&[
        "check",
        "--json",
        &format!("fixtures/popper/laws/{name}.json"),
    ]);
    let lines = ran
        .stdout
        .lines()
        .map(|line| match line.rfind(",\"runtime_ms\":") {
            Some(at) => {
                let end = if line.ends_with(',') { "}," } else { "}" };
                format!("{}{end}\n", &line[..at])
            }
            None => format!("{line}\n"),
        });
    lines.collect()
}

#[tokio::test]
async fn verdicts_in_full_are_those_of_the_command() {
    let client = Client::start().await;
    for name in LAWS {
        let arguments = json!({"laws": laws(name), "detail": "full"});
        let text = client.done("check", arguments.clone()).await;
        assert_eq!(text, checked(name), "{name}");
        assert_eq!(client.done("check", arguments).await, text, "{name}");
    }
    client.leave().await;
}

#[tokio::test]
async fn verdicts_in_short_have_what_a_model_needs() {
    let client = Client::start().await;
    let mut all = String::new();
    for name in LAWS {
        all += &client.done("check", json!({"laws": laws(name)})).await;
    }
    client.leave().await;
    insta::assert_snapshot!(all);
}

#[tokio::test]
async fn states_laws_and_quantities_are_those_of_the_commands() {
    let client = Client::start().await;
    let states = client
        .done("simulate", json!({"start": ">.<.", "steps": 4}))
        .await;
    assert_eq!(states, popper(&["simulate", ">.<.", "-n", "4"]).stdout);
    let long = client
        .done(
            "simulate",
            json!({"start": "..><".repeat(1024), "steps": 1000}),
        )
        .await;
    let lines: Vec<&str> = long.lines().collect();
    assert!(
        long.len() < 66_000 && lines.len() == 15,
        "{} {}",
        long.len(),
        lines.len()
    );
    assert_eq!(lines[7], "... 987 states are left out: t = 7 to 993");
    assert_eq!((lines[0].len(), lines[14].len()), (4096, 4096));
    assert_eq!(
        client.done("span", json!({})).await,
        popper(&["conserved"]).stdout
    );

    // A custom universe gives other answers.
    let text = std::fs::read_to_string(fixture("popper/universes/elementary_184.json")).unwrap();
    let universe: Value = serde_json::from_str(&text).unwrap();
    let arguments = json!({"universe": universe, "width": 1});
    let own = client.done("span", arguments).await;
    assert!(own.starts_with("elementary_184: dimension 2"), "{own}");
    client.leave().await;
}

#[tokio::test]
async fn a_counterexample_or_a_start_is_explained_as_the_command_does() {
    let client = Client::start().await;
    let arguments = json!({"laws": [false_law("collisions")], "detail": "full"});
    let verdicts: Value = serde_json::from_str(&client.done("check", arguments).await).unwrap();
    let found = &verdicts[0]["counterexample"];
    let text = client
        .done("explain", json!({"counterexample": found}))
        .await;
    let file = crate::process::file("mcp.explain.json", found.to_string());
    assert_eq!(text, popper(&["explain", &file, "--width", "100"]).stdout);
    let start = serde_json::from_value::<Counterexample>(found.clone())
        .unwrap()
        .initial_state;
    let from = json!({"law": false_law("collisions"), "start": start});
    let again = client.done("explain", from).await;
    assert_eq!(again, text.replace("; no smaller start refutes it", ""));
    let holds = json!({"law": law("movers"), "start": ">.<."});
    let holds = client.done("explain", holds).await;
    assert!(
        holds.starts_with("movers: not refuted from this start\n"),
        "{holds}"
    );
    client.leave().await;
}

#[tokio::test]
async fn a_long_run_is_cut_in_the_middle_and_a_wide_one_round_what_changes() {
    let client = Client::start().await;
    // They meet after 30 steps, far from the first cell of a ring that is wider than the text.
    let start = format!("{}>{}<{}", ".".repeat(150), ".".repeat(59), ".".repeat(90));
    let mut late = law("late");
    late["template"] = "bound".into();
    late["quantifiers"] = json!({"T": 60});
    late["observables"] = json!([{"name": "x", "expr": "count('X')"}]);
    late["claim"] = "x(t) <= 0".into();
    let text = client
        .done("explain", json!({"law": late, "start": start}))
        .await;
    client.leave().await;
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    let steps: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with(|first: char| first.is_ascii_digit()))
        .collect();
    let at: Vec<&str> = steps
        .iter()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    let expected: Vec<_> = (0..12).chain(19..32).map(|t: u32| t.to_string()).collect();
    assert_eq!(at, expected, "{text}");
    assert!(
        steps[23].ends_with("1  <-") && steps[23].contains("...X..."),
        "{text}"
    );
    assert_eq!(text.matches("<-").count(), 1, "{text}");
    assert_eq!(
        text.lines().filter(|line| *line == "...").count(),
        1,
        "{text}"
    );
    assert!(
        text.lines()
            .any(|line| line.starts_with("cells ") && line.ends_with(" of 301")),
        "{text}"
    );
}

#[tokio::test]
async fn an_error_of_the_arguments_is_a_result_that_says_what_to_change() {
    let client = Client::start().await;
    let mut wrong = law("wrong");
    wrong["template"] = "invariance".into();
    let mut all = String::new();
    for (tool, arguments) in [
        ("check", json!({})),
        ("check", json!({"laws": []})),
        ("check", json!({"laws": vec![json!({}); 51]})),
        ("check", json!({"laws": [law("right"), wrong]})),
        ("check", json!({"laws": ["r(t) == r(0)"]})),
        ("check", json!({"laws": [law("a")], "exhaustive_n": 15})),
        (
            "check",
            json!({"laws": [law("a")], "budget": 20_000_000_001_u64}),
        ),
        ("check", json!({"laws": [law("a")], "seed": -1})),
        ("check", json!({"laws": [law("a")], "detail": "long"})),
        (
            "check",
            json!({"laws": [law("a")], "universe": "/etc/passwd"}),
        ),
        ("check", json!({"laws": [law("a")], "file": "laws.json"})),
        ("simulate", json!({"start": "..>", "steps": 1001})),
        ("simulate", json!({"start": ".".repeat(4097)})),
        ("simulate", json!({"start": "..?\u{1b}[2J"})),
        ("simulate", json!({"start": ""})),
        ("span", json!({"width": 5})),
        ("span", json!({"width": 0})),
        ("span", json!({"universe": {"id": "x"}})),
        ("explain", json!({})),
        ("explain", json!({"law": law("a")})),
        ("explain", json!({"law": law("a"), "start": "X"})),
        ("explain", json!({"counterexample": {"t_fail": 1}})),
    ] {
        let message = client.fails(tool, arguments).await;
        assert!(!message.contains('\u{1b}'), "{message:?}");
        writeln!(all, "{tool}: {message}").unwrap();
    }
    client.leave().await;
    insta::assert_snapshot!(all);
}

#[test]
fn the_list_of_tools_takes_few_tokens() {
    let mut wire = wire();
    wire.open();
    let list = wire.tools(2).to_string();
    let tokens = tiktoken_rs::o200k_base_singleton()
        .encode_ordinary(&list)
        .len();
    assert!(tokens <= 900, "{tokens} tokens: {list}");
    wire.close();
}

#[test]
fn the_configuration_names_the_program_by_its_full_path() {
    let ran = popper(&["mcp", "--print-config"]);
    let server = &ran.json()["mcpServers"]["popper"];
    assert_eq!(
        server["command"],
        command(&[]).get_program().to_str().unwrap()
    );
    assert_eq!(server["args"], json!(["mcp"]));
}
