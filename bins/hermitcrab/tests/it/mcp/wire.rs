//! The session as lines of JSON, with clients that follow the protocol and clients that do not.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use super::yard;
use crate::program::{Place, Ran, finish, start};

/// Returns the messages before the first request, from a client of this name.
fn opening(name: &str) -> Vec<Value> {
    let client = json!({"name": name, "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    vec![
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ]
}

pub fn request(id: u32, method: &str, params: Value) -> Value {
    let mut request = json!({"jsonrpc": "2.0", "id": id, "method": method});
    request["params"] = params;
    request
}

pub fn call(id: u32, tool: &str, arguments: Value) -> Value {
    let mut params = json!({"name": tool});
    params["arguments"] = arguments;
    request(id, "tools/call", params)
}

/// Returns the messages, one a line.
pub fn lines(messages: &[Value]) -> String {
    messages.iter().fold(String::new(), |mut text, message| {
        writeln!(text, "{message}").unwrap();
        text
    })
}

/// Runs a server that receives this whole input at once and then the end of stdin.
fn session(place: &Place, stdin: &str, arguments: &[&str]) -> Ran {
    let arguments = [&["mcp"], arguments].concat();
    place.fed(stdin.as_bytes(), &arguments).exits(0)
}

/// Returns the messages of the server: every line of stdout must be one.
fn messages(ran: &Ran) -> Vec<Value> {
    let lines = ran.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns the answer to the request with this id.
#[track_caller]
pub fn answer(ran: &Ran, id: u32) -> Value {
    let found = messages(ran)
        .into_iter()
        .find(|message| message["id"] == id);
    found.unwrap_or_else(|| panic!("no answer to {id}\n{}\n{}", ran.stdout, ran.stderr))
}

/// Returns the text of the tool in the answer to the request with this id.
#[track_caller]
fn result(ran: &Ran, id: u32) -> Value {
    let answer = answer(ran, id);
    let text = answer["result"]["content"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("{answer}"))).unwrap()
}

#[test]
fn a_session_as_a_transcript() {
    let place = yard();
    let full = (4..=9).map(|number| {
        call(
            number,
            "block_append",
            json!({"name": "yard", "content": format!("entry {number}")}),
        )
    });
    let mut asked = opening("transcript");
    asked.push(request(2, "tools/list", json!({})));
    asked.push(call(3, "block_read", json!({"name": "yard", "path": "0"})));
    asked.extend(full);
    asked.extend([
        call(
            10,
            "block_append",
            json!({"name": "yard", "content": "The tenth"}),
        ),
        call(
            11,
            "block_append",
            json!({"name": "yard", "content": "The tenth", "summary": "Wood, a saw, numbers."}),
        ),
        call(12, "block_undo", json!({"name": "yard"})),
        call(13, "block_read", json!({"name": "yard", "path": "0.12"})),
        request(14, "resources/list", json!({})),
        request(15, "resources/templates/list", json!({})),
        request(16, "resources/read", json!({"uri": "pscale://yard/0.1"})),
        request(17, "resources/read", json!({"uri": "pscale://shed"})),
        request(18, "prompts/list", json!({})),
        request(19, "prompts/get", json!({"name": "orient"})),
        request(20, "ping", json!({})),
    ]);
    let ran = session(&place, &lines(&asked), &["--write"]);
    assert_eq!(ran.stderr, "");
    let answers = messages(&ran);
    let mut transcript = String::new();
    for question in &asked {
        writeln!(transcript, "-> {question}").unwrap();
        if question.get("id").is_some() {
            let answer = answers.iter().find(|answer| answer["id"] == question["id"]);
            writeln!(transcript, "<- {}", without_texts(answer.unwrap().clone())).unwrap();
        }
    }
    insta::assert_snapshot!(transcript);
    // In the order in which they were asked for.
    let ids: Vec<_> = answers
        .iter()
        .map(|answer| answer["id"].as_u64().unwrap())
        .collect();
    assert!(ids.is_sorted() && ids.len() == 20, "{ids:?}");
}

/// Returns the answer without the version of the program, and without the texts that the tests of the kernel check: the
/// keystone, and the descriptions and schemas of the tools.
fn without_texts(mut answer: Value) -> Value {
    if let Some(Value::Array(tools)) = answer.pointer_mut("/result/tools") {
        for tool in tools {
            tool["description"] = "[description]".into();
            tool["inputSchema"] = "[schema]".into();
        }
    }
    if let Some(version) = answer.pointer_mut("/result/serverInfo/version") {
        *version = "[version]".into();
    }
    if let Some(Value::String(text)) = answer.pointer_mut("/result/messages/0/content/text") {
        let kept = text.lines().map(|line| {
            if line.starts_with('{') {
                "[keystone]"
            } else {
                line
            }
        });
        *text = kept.collect::<Vec<_>>().join("\n");
    }
    answer
}

#[test]
fn what_is_no_message_is_passed_over_and_the_session_goes_on() {
    let place = yard();
    let mut stdin = lines(&opening("clumsy"));
    stdin.push_str(
        "no json\n{\"jsonrpc\":\"2.0\",\"id\":\n\n\u{0}\u{1b}[2J\n[1,2,3]\n{}\n\"text\"\n",
    );
    stdin.push_str(&lines(&[
        request(2, "blocks/forget", json!({})),
        request(
            3,
            "tools/call",
            json!({"name": "block_read", "arguments": "yard"}),
        ),
        request(4, "tools/call", json!(["block_read"])),
        request(5, "resources/read", json!({"url": "pscale://yard"})),
        json!({"jsonrpc": "2.0", "method": "notifications/unheard_of"}),
        json!({"jsonrpc": "2.0", "id": 77, "result": {}}),
        call(6, "block_read", json!({"name": "yard", "path": "0.1"})),
    ]));
    let ran = session(&place, &stdin, &["--write"]);
    for (id, code, words) in [
        (2, -32601, "no method blocks/forget"),
        (3, -32602, "invalid params of tools/call"),
        (5, -32602, "invalid params of resources/read"),
    ] {
        let error = &answer(&ran, id)["error"];
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!(code), &json!(words))
        );
    }
    // JSON that is no request has no id to be answered by; a list of params makes one.
    let nameless = messages(&ran)
        .into_iter()
        .filter(|message| message.get("id").is_none());
    let codes: Vec<_> = nameless
        .map(|message| message["error"]["code"].clone())
        .collect();
    assert_eq!(codes, [-32600, -32600, -32600, -32600]);
    assert_eq!(result(&ran, 6)["content"], "Larch");
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_session_that_begins_otherwise_is_refused() {
    let place = yard();
    for stdin in [
        "",
        "\n",
        "no json\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ini",
    ] {
        let ran = session(&place, stdin, &[]);
        assert_eq!(
            (ran.stdout.as_str(), ran.stderr.as_str()),
            ("", ""),
            "{stdin:?}"
        );
    }
    let notified = lines(&opening("late")[1..]);
    let ran = place.fed(notified.as_bytes(), &["mcp"]).exits(1);
    ran.tells(&["the MCP client opened no session"]);
    // A request that comes too early is answered, and the session can still begin.
    let early = lines(&[call(9, "block_list", json!({}))]) + &lines(&opening("early"));
    let ran = session(&place, &early, &[]);
    assert_eq!(answer(&ran, 9)["error"]["code"], -32602);
    assert_eq!(
        answer(&ran, 1)["result"]["serverInfo"]["name"],
        "hermitcrab"
    );
}

#[test]
fn long_arguments_are_refused_and_longer_lines_passed_over() {
    let place = yard();
    let written = |id, bytes| {
        call(
            id,
            "block_write",
            json!({"name": "yard", "path": "0.4", "content": "x".repeat(bytes)}),
        )
    };
    let mut asked = opening("long");
    asked.extend([
        written(2, 10 << 20),
        written(3, 17 << 20),
        call(4, "block_read", json!({"name": "y".repeat(10 << 20)})),
        call(5, "block_read", json!({"name": "yard"})),
    ]);
    let ran = session(&place, &lines(&asked), &["--write"]);
    assert_eq!(result(&ran, 2)["error"], "too_large");
    assert_eq!(result(&ran, 4)["error"], "bad_name");
    assert!(ran.stdout.len() < 10_000, "{}", ran.stdout.len());
    let ran = ran.tells(&["exceeded the maximum line length"]);
    assert!(messages(&ran).iter().all(|message| message["id"] != 3));
    assert_eq!(result(&ran, 5)["tree"]["0"]["3"], "A saw");
    assert_eq!(result(&ran, 5)["tree"]["0"]["4"], Value::Null);
}

#[test]
fn what_was_asked_before_the_client_left_is_done_and_half_a_message_is_not() {
    let place = yard();
    let mut asked = opening("hasty");
    asked.push(call(
        2,
        "block_append",
        json!({"name": "yard", "content": "Whole"}),
    ));
    let half = call(
        3,
        "block_append",
        json!({"name": "yard", "content": "Half"}),
    )
    .to_string();
    let stdin = lines(&asked) + &half[..half.len() - 4];
    let ran = session(&place, &stdin, &["--write"]);
    assert_eq!(result(&ran, 2)["path"], "0.4");
    assert_eq!(messages(&ran).len(), 2);
    let whole = place.run(&["block", "read", "yard"]).exits(0);
    assert!(
        whole.stdout.contains("Whole") && !whole.stdout.contains("Half"),
        "{}",
        whole.stdout
    );
}

#[test]
fn a_client_that_hears_no_more_ends_the_session() {
    let place = yard();
    let mut command = place.command(&["mcp"]);
    let mut child = start(command.stdin(Stdio::piped()));
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdin.write_all(lines(&opening("deaf")).as_bytes()).unwrap();
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    drop(stdout);
    let asked = call(2, "block_list", json!({}));
    // The server may be gone by now.
    let _ = stdin.write_all(lines(&[asked]).as_bytes());
    drop(stdin);
    finish(child).exits(0);
}

#[test]
fn no_key_passes_and_no_name_of_a_client_spoils_the_log() {
    let place = yard();
    let key = "sk-ant-api03-abcdefghijklmnop";
    let mut asked = opening(&format!("evil\u{1b}[2J\n{}", "x".repeat(500)));
    asked.extend([
        call(
            2,
            "block_append",
            json!({"name": "yard", "content": format!("the key is {key}")}),
        ),
        call(3, "block_read", json!({"name": "yard", "view": key})),
        call(4, "block_list", json!({})),
        request(5, "prompts/get", json!({"name": "orient"})),
        request(6, "resources/read", json!({"uri": "pscale://yard"})),
        call(7, key, json!({})),
        request(8, "resources/read", json!({"uri": key})),
        request(9, "prompts/get", json!({"name": key})),
        request(10, key, json!({})),
    ]);
    let ran = session(&place, &lines(&asked), &["--write"]);
    assert_eq!(result(&ran, 2)["keys_removed"], 1);
    for text in [
        &ran.stdout,
        &ran.stderr,
        &place.read("data/log/yard.jsonl"),
        &place.read("data/blocks/yard.json"),
    ] {
        assert!(!text.contains(key), "{text}");
    }
    let log = place.json(&["block", "log", "yard"]);
    let author = log["entries"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|entry| entry["by"]["model"]["id"].as_str());
    let author = author.unwrap_or_else(|| panic!("{log}"));
    assert!(
        author.starts_with("evil\\u{1b}[2J") && author.chars().count() <= 64,
        "{author}"
    );
}
