//! The table of bad input, as far as it is the kernel's. In every row the turn continues and ends.

use hermitcrab_kernel::{BrainError, KernelError, ScriptStep};
use llm_client::{Block, BlockKind, Role, StopReason, ToolInput};
use serde_json::{Value, json};

use crate::place::{Setting, call, results};

/// Calls a tool in a turn; answers its fault.
async fn fault(tool: &str, input: Value) -> Value {
    let steps = [call("a", tool, input), ScriptStep::text("I see.")];
    let (place, brain) = Setting::default().script(steps);
    let report = place.say("Try it").await;
    assert_eq!((report.text.as_str(), report.stopped), ("I see.", None));
    let (text, is_error) = results(&brain.asked()[1].messages[2]).remove(0);
    assert!(is_error, "{tool}: {text}");
    let fault: Value = serde_json::from_str(&text).unwrap();
    for part in ["error", "detail", "hint"] {
        let found = fault[part].as_str().unwrap_or_default();
        assert!(!found.is_empty(), "{tool} has no {part}: {text}");
    }
    fault
}

/// A tool, its arguments, the kind of its fault, and what the answer names.
type Row = (&'static str, Value, &'static str, &'static str);

fn bad_names_and_paths() -> Vec<Row> {
    vec![
        (
            "block_reed",
            json!({"name": "memory"}),
            "unknown_tool",
            "block_reed",
        ),
        ("rm -rf", json!({}), "unknown_tool", "rm -rf"),
        ("", json!({}), "unknown_tool", ""),
        (
            "block_write",
            json!({"name": "memory", "content": "x"}),
            "bad_arguments",
            "path",
        ),
        (
            "block_write",
            json!({"name": "memory", "path": 3, "content": "x"}),
            "bad_arguments",
            "path",
        ),
        (
            "block_write",
            json!({"name": "memory", "path": null, "content": "x"}),
            "bad_arguments",
            "path",
        ),
        (
            "block_write",
            json!({"name": "memory", "path": "0..1", "content": "x"}),
            "bad_path",
            "2",
        ),
        (
            "block_read",
            json!({"name": "memory", "path": "0. 1"}),
            "bad_path",
            "2",
        ),
        ("block_read", json!({"name": "../x"}), "bad_name", "../x"),
        (
            "block_create",
            json!({"name": "../x", "pscale0": "x"}),
            "bad_name",
            "../x",
        ),
        (
            "block_create",
            json!({"name": "CON", "pscale0": "x"}),
            "bad_name",
            "CON",
        ),
        ("block_read", json!({"name": "memry"}), "no_block", "memory"),
        (
            "block_read",
            json!({"name": "memory", "path": "0.7.7"}),
            "not_found",
            "0.7",
        ),
        (
            "block_read",
            json!({"name": "memory", "view": "all"}),
            "bad_arguments",
            "view",
        ),
        (
            "block_write",
            json!({"name": "memory", "path": "1".repeat(33), "content": "x"}),
            "too_deep",
            "",
        ),
        ("block_read", json!("memory"), "bad_arguments", ""),
        ("block_read", json!(["memory"]), "bad_arguments", ""),
    ]
}

fn bad_texts_and_others() -> Vec<Row> {
    let long = "x".repeat(70 * 1024);
    vec![
        (
            "block_write",
            json!({"name": "memory", "path": "0.1", "content": long}),
            "too_large",
            "65536",
        ),
        (
            "block_write",
            json!({"name": "memory", "path": "0.1", "content": " "}),
            "empty_content",
            "",
        ),
        (
            "block_write",
            json!({"name": "memory", "path": "2.1", "content": "x"}),
            "new_root",
            "",
        ),
        (
            "block_create",
            json!({"name": "memory", "pscale0": "x"}),
            "exists",
            "memory",
        ),
        (
            "block_create",
            json!({"name": "notes", "pscale0": " "}),
            "empty_content",
            "",
        ),
        ("recompile", json!({"jsx": ""}), "compile", ""),
        ("recompile", json!({"jsx": 7}), "bad_arguments", "jsx"),
        (
            "set_tools",
            json!({"names": ["nothing"]}),
            "unknown_tool",
            "nothing",
        ),
        ("get_source", json!({}), "no_shell", ""),
    ]
}

#[tokio::test]
async fn every_bad_call_has_a_kind_a_detail_and_a_hint() {
    for (tool, input, kind, names) in bad_names_and_paths()
        .into_iter()
        .chain(bad_texts_and_others())
    {
        let shown: String = input.to_string().chars().take(80).collect();
        let fault = fault(tool, input).await;
        assert_eq!(fault["error"], kind, "{tool} {shown}: {fault}");
        let text = fault.to_string();
        assert!(text.contains(names), "{tool} {shown}: {text}");
    }
}

#[tokio::test]
async fn a_path_as_a_number_is_told_to_be_quoted() {
    let fault = fault("block_read", json!({"name": "memory", "path": 0.1})).await;
    assert!(fault["hint"].as_str().unwrap().contains("quotes"));
}

#[tokio::test]
async fn what_can_be_understood_is_no_fault() {
    let (place, _) = Setting::default().script([]);
    // Unknown fields, numbers as texts, null for a field that may be missing, paths in another form.
    let input = json!({"name": "memory", "path": "01", "content": "first", "why": "because"});
    let outcome = place.tool("block_write", input).await;
    assert!(!outcome.is_error, "{outcome:?}");
    assert_eq!(
        (&outcome.content["path"], &outcome.content["note"]),
        (&json!("0.1"), &json!("read as 0.1"))
    );
    let outcome = place
        .tool("block_log", json!({"name": "memory", "limit": "1"}))
        .await;
    assert_eq!(outcome.content.as_array().unwrap().len(), 1);
    let outcome = place
        .tool("block_read", json!({"name": "memory", "path": null}))
        .await;
    assert!(!outcome.is_error);
    assert!(!place.tool("block_list", Value::Null).await.is_error);
}

#[tokio::test]
async fn calls_with_one_id_get_two_and_broken_json_gets_an_error() {
    let broken = Block::new(BlockKind::ToolUse {
        id: "same".to_owned(),
        name: "block_list".to_owned(),
        input: ToolInput::Invalid("{\"na".to_owned()),
    });
    let good = || ScriptStep::tool_use("same", "block_list", &json!({}));
    let step = |content| ScriptStep::reply(content, StopReason::ToolUse);
    let (place, brain) = Setting::default().script([
        step(vec![good(), broken, good()]),
        step(vec![good()]),
        ScriptStep::text("ok"),
    ]);
    place.say("List").await;
    let last = &brain.asked()[2].messages;
    let mut calls = Vec::new();
    let mut answers = Vec::new();
    for block in last.iter().flat_map(|message| &message.content) {
        match &block.kind {
            BlockKind::ToolUse { id, .. } => calls.push(id.clone()),
            BlockKind::ToolResult { tool_use_id, .. } => answers.push(tool_use_id.clone()),
            _ => {}
        }
    }
    assert_eq!(calls, answers);
    calls.sort();
    calls.dedup();
    assert_eq!(calls.len(), 4);
    let errors: Vec<_> = last
        .iter()
        .flat_map(results)
        .map(|(_, is_error)| is_error)
        .collect();
    assert_eq!(errors[..2], [false, true]);
}

#[tokio::test]
async fn a_reply_with_nothing_in_it_is_closed_with_a_notice() {
    let thought = || {
        Block::new(BlockKind::Thinking {
            text: "hm".to_owned(),
            signature: None,
        })
    };
    for content in [vec![], vec![thought()], vec![Block::text(" \n")]] {
        let step = ScriptStep::reply(content, StopReason::EndTurn);
        let (place, brain) = Setting::default().script([step, ScriptStep::text("Yes.")]);
        assert!(place.say("Well?").await.stopped.is_some());
        assert!(!place.notices().is_empty());
        place.say("Hello?").await;
        for message in &brain.asked()[1].messages {
            assert!(!message.content.is_empty());
        }
    }
}

#[tokio::test]
async fn a_very_long_message_is_refused_with_the_limit_and_nothing_is_sent() {
    let (place, brain) = Setting::default().script([ScriptStep::text("ok")]);
    let error = place.try_say(&"a".repeat(100_000)).await.unwrap_err();
    assert!(matches!(
        error,
        KernelError::TooLong {
            size: 100_000,
            limit: 60_000
        }
    ));
    assert!(error.to_string().contains("60000"));
    assert!(matches!(
        place.try_say(&"ü".repeat(60_001)).await,
        Err(KernelError::TooLong { .. })
    ));
    assert!(matches!(
        place.try_say(" \n\t").await,
        Err(KernelError::Empty)
    ));
    assert!(brain.asked().is_empty() && place.kernel.messages().await.is_empty());
}

#[tokio::test]
async fn the_longest_message_is_taken_if_the_budget_takes_it() {
    let (place, _) = Setting::default().script([ScriptStep::text("ok")]);
    assert_eq!(place.say(&"word ".repeat(12_000)).await.text, "ok");
}

#[tokio::test]
async fn an_error_of_the_provider_is_one_plain_line_and_nothing_is_half_stored() {
    let errors = ["the key was refused", "overloaded", "the stream broke off"];
    for text in errors {
        let failure = ScriptStep::Error(BrainError::Other(text.to_owned()));
        let (place, brain) = Setting::default().script([
            call("a", "block_list", json!({})),
            failure,
            ScriptStep::text("Back."),
        ]);
        let error = place.try_say("Look").await.unwrap_err();
        let line = error.to_string();
        assert!(line.contains(text) && !line.contains('\n'));
        let said = place.kernel.messages().await;
        assert_eq!(said.len(), 3, "the round before is whole");
        assert_eq!(place.say("And now?").await.text, "Back.");
        let roles: Vec<_> = brain.asked()[2]
            .messages
            .iter()
            .map(|said| said.role)
            .collect();
        assert_eq!(roles, [Role::User, Role::Assistant, Role::User]);
    }
}

#[tokio::test]
async fn results_that_are_too_long_say_how_to_read_on() {
    let text = "many words ".repeat(3_000);
    let (place, brain) = Setting::default().script([
        call(
            "a",
            "block_write",
            json!({"name": "memory", "path": "0.1", "content": text}),
        ),
        call("b", "block_read", json!({"name": "memory", "path": "0.1"})),
        ScriptStep::text("Long."),
    ]);
    place.say("Read").await;
    let asked = brain.asked();
    let (text, is_error) = results(asked[2].messages.last().unwrap()).remove(0);
    assert!(!is_error);
    assert!(text.chars().count() < 12_300);
    assert!(
        text.contains("cut after 12000"),
        "{}",
        &text[text.len() - 200..]
    );
}
