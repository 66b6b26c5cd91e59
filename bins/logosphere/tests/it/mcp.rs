//! `logosphere mcp`: the tools give what the commands print.

use serde_json::{Value, json};
use test_support::mcp::{MalformedCalls, Wire, answers_to_python, refuses_malformed_calls};

use crate::program::{Place, words};

const ANSWER: &str = "I think of rivers.\n---\nA river keeps its name.\n---\n\n---\n~init\n";

fn wire() -> Wire {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let mut command = place.command(&["mcp"]);
    command.current_dir(folder.path());
    let mut wire = Wire::start(command, folder);
    assert_eq!(wire.open(), "logosphere");
    wire
}

/// Messages of a population in which each reader passes on one of three texts, most often the first one.
fn messages(count: usize) -> Vec<Value> {
    let texts = [
        "keep the river clean",
        "the moon is far away",
        "bread needs salt",
    ];
    (0..count)
        .map(|n| {
            let reads: Vec<usize> = (n.saturating_sub(3)..n).collect();
            let chosen = if n < 3 { n } else { [0, 0, 1, 0, 2][n % 5] };
            json!({
                "id": n.to_string(), "author": format!("m{}", n % 7), "time": 1_700_000_000 + 60 * n,
                "text": format!("{} {}", texts[chosen], n % 4), "reads": reads.iter().map(usize::to_string).collect::<Vec<_>>(),
            })
        })
        .collect()
}

/// A file with a message on each line.
fn lines(messages: &[Value]) -> String {
    let lines: Vec<String> = messages.iter().map(Value::to_string).collect();
    lines.join("\n")
}

#[test]
fn a_parsed_answer_is_that_of_the_command() {
    let place = Place::new();
    place.file("answer.txt", ANSWER);
    let mut wire = wire();
    for (id, mode) in [(2, "lenient"), (3, "strict")] {
        let printed = place
            .alone(&["parse", "answer.txt", "--mode", mode, "--json"])
            .exits(0);
        let arguments = json!({"text": ANSWER, "mode": mode});
        assert_eq!(wire.done(id, "parse", &arguments), printed.stdout, "{mode}");
    }
    wire.close();
}

#[test]
fn a_verdict_is_that_of_the_same_messages_imported() {
    let place = Place::new();
    let messages = messages(400);
    place.file("posts.jsonl", lines(&messages));
    place
        .alone(&words(
            "import posts.jsonl --name posts --round messages:50",
        ))
        .exits(0);
    let mut wire = wire();
    for (id, kind, seed) in [(2, "descent", 0), (3, "descent", 7), (4, "shuffle", 0)] {
        let line = format!("null-model posts --kind {kind} --runs 199 --seed {seed} --json");
        let mut expected = place.alone(&words(&line)).exits(0).json();
        let fields = expected.as_object_mut().unwrap();
        fields.remove("run").unwrap();
        let arguments = json!({"messages": messages, "kind": kind, "runs": 199, "seed": seed});
        let text = wire.done(id, "null_test", &arguments);
        let found: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(found, expected, "{kind} {seed}");
        if kind == "descent" {
            assert!(found["verdict"]["sentence"].is_string(), "{found}");
        }
        assert_eq!(wire.done(id + 10, "null_test", &arguments), text);
    }
    wire.close();
}

#[test]
fn parents_and_times_are_enough_for_a_verdict() {
    let place = Place::new();
    let answers: Vec<Value> = (messages(300).into_iter().enumerate())
        .map(|(n, mut message)| {
            let fields = message.as_object_mut().unwrap();
            fields.remove("reads");
            if n > 3 {
                fields.insert("parent".into(), (n / 2).to_string().into());
            }
            message
        })
        .collect();
    place.file("posts.jsonl", lines(&answers));
    place
        .alone(&words(
            "import posts.jsonl --name posts --round messages:50 --reads thread",
        ))
        .exits(0);
    let line = "null-model posts --runs 199 --json";
    let mut expected = place.alone(&words(line)).exits(0).json();
    expected.as_object_mut().unwrap().remove("run").unwrap();
    let mut wire = wire();
    let text = wire.done(2, "null_test", &json!({"messages": answers, "runs": 199}));
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found, expected);
    assert!(!found["assumption"].is_null(), "{found}");
    assert!(found["null"]["runs"].as_u64() >= Some(199), "{found}");
    wire.close();
}

#[test]
fn an_error_of_the_arguments_says_what_to_change() {
    let mut wire = wire();
    let two = json!([{"text": "a"}, {"text": "b", "parent": "9"}]);
    for (id, (tool, arguments, message)) in [
        ("parse", json!({}), "missing field `text`"),
        (
            "parse",
            json!({"text": "a", "mode": "loose"}),
            "mode: is loose, expected one of ",
        ),
        (
            "parse",
            json!({"text": "a", "init_signature": "x"}),
            "init_signature: ",
        ),
        (
            "null_test",
            json!({"messages": []}),
            "messages: expected at least one message",
        ),
        (
            "null_test",
            json!({"messages": two, "runs": 10}),
            "runs: is 10, expected 199 to 9999",
        ),
        (
            "null_test",
            json!({"messages": two, "kind": "none"}),
            "kind: ",
        ),
        (
            "null_test",
            json!({"messages": two, "round": "1y"}),
            "round: ",
        ),
        (
            "null_test",
            json!({"messages": [{"text": ""}]}),
            "1 bad message; messages line 1: text is missing",
        ),
        (
            "null_test",
            json!({"messages": [{"author": "a"}]}),
            "1 bad message; messages line 1: ",
        ),
        (
            "null_test",
            json!({"messages": vec![json!({"text": "a"}); 5_001]}),
            "messages: 5001 messages, ",
        ),
        (
            "null_test",
            json!({"messages": two, "file": "a"}),
            "file: unknown field `file`",
        ),
        (
            "null_test",
            json!({"messages": two}),
            "messages: 1 of the parents and reads name no earlier message",
        ),
        (
            "null_test",
            json!({"messages": [{"text": "a", "parents": "1"}]}),
            "messages[0]: unknown field parents",
        ),
        (
            "null_test",
            json!({"messages": messages(1_000), "reads": "window:900"}),
            "messages: the authors read ",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let said = wire.fails(id as u32 + 2, tool, &arguments);
        assert!(said.starts_with(message), "{tool}: {said}");
        assert!(!said.contains("--"), "{said}");
    }
    wire.close();
}

#[test]
fn a_cancelled_test_frees_the_server() {
    let mut wire = wire();
    let arguments = json!({"messages": messages(5_000), "runs": 9_999});
    wire.call(2, "null_test", &arguments);
    let params = json!({"requestId": 2});
    wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    // The cancelled call has no answer, so this is the next one.
    wire.done(3, "parse", &json!({"text": ANSWER}));
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
    let few = messages(5);
    let calls = MalformedCalls {
        good: ("null_test", json!({"messages": few, "runs": 199})),
        keys: &["messages", "round", "kind", "runs", "seed"],
        quick: ("parse", json!({"text": ANSWER})),
        refused: &[
            ("parse", json!({"text": "a", "mode": ""})),
            ("parse", json!({"text": null})),
            ("null_test", json!({"messages": []})),
            (
                "null_test",
                json!({"messages": [{"text": "a", "time": "yesterday"}]}),
            ),
            ("null_test", json!({"messages": few, "reads": "window:0"})),
            ("null_test", json!({"messages": few, "runs": 1_000_000})),
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
    let server = &config["mcpServers"]["logosphere"];
    assert_eq!(server["command"], env!("CARGO_BIN_EXE_logosphere"));
    assert_eq!(server["args"], json!(["mcp"]));
}

#[test]
#[ignore = "needs MCP_PYTHON"]
fn the_python_client_gets_what_the_command_prints() {
    let place = Place::new();
    place.file("answer.txt", ANSWER);
    let printed = place.alone(&["parse", "answer.txt", "--json"]).exits(0);
    let calls = json!([
        ["parse", {"text": ANSWER}],
        ["null_test", {"messages": messages(60), "runs": 199}],
        ["null_test", {"messages": []}],
    ]);
    for seen in answers_to_python(&place.command(&["mcp"]), &calls) {
        assert_eq!(seen["tools"], json!(["parse", "null_test"]));
        assert_eq!(seen["results"][0]["text"], printed.stdout);
        assert_eq!(seen["results"][1]["failed"], false, "{seen}");
        assert_eq!(seen["results"][2]["failed"], true, "{seen}");
    }
}
