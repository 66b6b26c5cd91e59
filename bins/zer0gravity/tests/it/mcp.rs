//! `zer0gravity mcp`: the tools give what the commands print.

use serde_json::{Value, json};
use test_support::mcp::{MalformedCalls, Wire, answers_to_python, refuses_malformed_calls};

use crate::program::Place;

const ORIGINAL: &str =
    "Send 40 crates to Osaka before 12 May. Do not open them; Ann must sign for each one.";
const ENCODED: &str = "snd 40 crts Osaka <12 May. !open; Ann sgns\n\n";
const DECODED: &str = "Send 45 crates to Osaka by 12 May. Do not open them. Ann signs.";
const RULES: &str = "DROP VOWELS\nUSE SHORT WORDS\n";

fn wire() -> Wire {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let mut command = place.command(&["mcp"]);
    command.current_dir(folder.path());
    let mut wire = Wire::start(command, folder);
    assert_eq!(wire.open(), "zer0gravity");
    wire
}

fn trip() -> Value {
    json!({"original": ORIGINAL, "encoded": ENCODED, "decoded": DECODED, "rules": RULES})
}

#[test]
fn findings_and_commitments_are_those_of_the_commands() {
    let place = Place::new();
    place.file("rules.txt", RULES);
    place.file("a.txt", ORIGINAL);
    place.file("b.txt", DECODED);
    let mut wire = wire();
    let linted = place.alone(&["lint", "rules.txt", "--json"]);
    assert!(linted.stdout.contains("ZG007"), "{}", linted.stdout);
    assert_eq!(
        wire.done(2, "lint", &json!({"rules": RULES})),
        linted.stdout
    );
    let compared = place.alone(&["atoms", "a.txt", "b.txt", "--json"]).exits(0);
    assert!(compared.stdout.contains("\"45\""), "{}", compared.stdout);
    let pair = json!({"original": ORIGINAL, "decoded": DECODED});
    for id in [3, 4] {
        assert_eq!(wire.done(id, "compare_texts", &pair), compared.stdout);
    }
    wire.close();
}

#[test]
fn measures_are_those_of_a_scored_round_trip() {
    let place = Place::new();
    let case = json!([{
        "id": "one", "text": ORIGINAL, "encodedText": ENCODED, "decodedText": DECODED, "encodingSystem": RULES,
    }]);
    place.file("cases.json", case.to_string());
    let scored = place
        .alone(&["score", "cases.json", "--json"])
        .exits(0)
        .json();
    let expected = &scored[0];
    let mut wire = wire();
    let text = wire.done(2, "score", &trip());
    let found: Value = serde_json::from_str(&text).unwrap();
    for field in [
        "originalTokens",
        "encodedTokens",
        "compressionRatio",
        "metrics",
    ] {
        assert_eq!(found[field], expected[field], "{field}");
    }
    assert_eq!(
        found["tokenEfficiency"],
        expected["scores"]["tokenEfficiency"]
    );
    assert!(found["tokenEfficiency"].as_u64().unwrap() > 0, "{found}");
    // There is no point that a judge would give, and no total.
    for absent in ["total", "scores", "semanticPreservation"] {
        assert!(found[absent].is_null(), "{absent}");
    }
    let linted: Value =
        serde_json::from_str(&wire.done(3, "lint", &json!({"rules": RULES}))).unwrap();
    assert_eq!(found["lint"]["findings"], linted["findings"]);
    let mut other = trip();
    other["model"] = "gpt-4o".into();
    other.as_object_mut().unwrap().remove("rules");
    let found: Value = serde_json::from_str(&wire.done(4, "score", &other)).unwrap();
    assert_eq!(found["tokenCounter"]["tokenizer"], "o200k");
    assert!(found["lint"].is_null());
    wire.close();
}

#[test]
fn an_error_of_the_arguments_says_what_to_change() {
    let mut wire = wire();
    let long = "a".repeat(200_001);
    for (id, (tool, arguments, message)) in [
        ("lint", json!({}), "missing field `rules`"),
        ("lint", json!({"rules": " \n"}), "rules: "),
        (
            "lint",
            json!({"rules": long}),
            "rules: 200001 bytes, expected at most 200000",
        ),
        (
            "lint",
            json!({"rules": "A", "file": "rules.txt"}),
            "file: unknown field `file`",
        ),
        (
            "score",
            json!({"original": "a", "encoded": "b"}),
            "missing field `decoded`",
        ),
        (
            "compare_texts",
            json!({"original": "a", "decoded": 3}),
            "decoded: invalid type",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let said = wire.fails(id as u32 + 2, tool, &arguments);
        assert!(said.starts_with(message), "{tool}: {said}");
    }
    wire.close();
}

#[test]
fn the_list_of_tools_takes_few_tokens() {
    let mut wire = wire();
    let list = wire.tools(2).to_string();
    let tokens = tiktoken_rs::o200k_base_singleton();
    let tokens = tokens.encode_ordinary(&list).len();
    assert!(tokens <= 900, "{tokens} tokens: {list}");
    wire.close();
}

#[test]
fn five_thousand_malformed_calls_open_nothing_and_are_all_refused() {
    let long = "a".repeat(200_001);
    let calls = MalformedCalls {
        good: ("score", trip()),
        keys: &["original", "encoded", "decoded"],
        quick: ("compare_texts", json!({"original": "a", "decoded": "b"})),
        refused: &[
            ("lint", json!({"rules": ""})),
            ("lint", json!({"rules": long})),
            (
                "score",
                json!({"original": "a", "encoded": "b", "decoded": "c", "model": 3}),
            ),
            ("compare_texts", json!({"original": "a", "decoded": null})),
        ],
    };
    refuses_malformed_calls(wire(), 5_000, &calls);
}

#[test]
fn the_configuration_names_the_program_by_its_full_path() {
    let config = Place::new()
        .alone(&["mcp", "--print-config"])
        .exits(0)
        .json();
    let server = &config["mcpServers"]["zer0gravity"];
    assert_eq!(server["command"], env!("CARGO_BIN_EXE_zer0gravity"));
    assert_eq!(server["args"], json!(["mcp"]));
}

#[test]
#[ignore = "needs MCP_PYTHON"]
fn the_python_client_gets_what_the_command_prints() {
    let place = Place::new();
    place.file("rules.txt", RULES);
    let linted = place.alone(&["lint", "rules.txt", "--json"]);
    let calls = json!([["lint", {"rules": RULES}], ["score", trip()], ["lint", {"rules": 3}]]);
    for seen in answers_to_python(&place.command(&["mcp"]), &calls) {
        assert_eq!(seen["tools"], json!(["lint", "score", "compare_texts"]));
        assert_eq!(seen["results"][0]["text"], linted.stdout);
        assert_eq!(seen["results"][1]["failed"], false, "{seen}");
        assert_eq!(seen["results"][2]["failed"], true, "{seen}");
    }
}
