//! Rows 35 and 40: tool calls that must not run, fields that must not be sent.

use llm_client::{Block, BlockKind, Message, Role, StopReason, ToolInput, ToolSpec};
use serde_json::{Value, json};

use super::*;

/// A request with one tool.
fn with_tool(name: &str) -> Request {
    request().tools(vec![ToolSpec::Function {
        name: name.into(),
        description: "Looks.".into(),
        schema: json!({"type": "object"}),
        strict: None,
    }])
}

/// The calls of a reply: id and arguments.
fn calls(reply: &Reply) -> Vec<(&str, &ToolInput)> {
    let calls = reply.tool_uses().filter_map(|block| match &block.kind {
        BlockKind::ToolUse { id, input, .. } => Some((id.as_str(), input)),
        _ => None,
    });
    calls.collect()
}

/// The request that continues after `reply`, with an error as the result of each of its calls.
fn answered(reply: &Reply) -> Request {
    let mut next = with_tool("look");
    let results = calls(reply)
        .into_iter()
        .map(|(id, _)| Block::tool_result(id, "not run", true));
    let results = Message::new(Role::User, results.collect());
    next.messages.extend([reply.to_message(), results]);
    next
}

#[tokio::test]
async fn f35_a_tool_call_of_a_reply_that_was_cut_is_told_by_its_stop() {
    for wire in BOTH {
        let cut = CannedReply::text("")
            .call("c1", "look", r#"{"a":1}"#)
            .stopped("max_tokens", "length");
        let server = FaultServer::replies([wire.whole(&cut)]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let reply = client.complete(&with_tool("look")).await.unwrap();
        assert_eq!(reply.stop, StopReason::MaxTokens, "{wire:?}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn f35_invalid_arguments_are_marked_and_can_be_answered_with_an_error() {
    let wire = Wire::Openai;
    for arguments in ["{\"a\":", "", "not json"] {
        let bad = CannedReply::text("").call("c1", "look", arguments);
        for first in [wire.whole(&bad), Answer::sse(wire.events(&bad))] {
            let server = FaultServer::replies([first, wire.whole(&hello())]);
            let client = wire.client(&server, &skipping()).build().unwrap();
            let reply = client.complete(&with_tool("look")).await.unwrap();
            let [("c1", input)] = calls(&reply)[..] else {
                panic!("{reply:?}")
            };
            match input {
                // Some servers send this for a call without arguments.
                ToolInput::Json(json) => assert_eq!((arguments, json.get()), ("", "{}")),
                ToolInput::Invalid(text) => assert_eq!(text, arguments),
            }
            let last = client.complete(&answered(&reply)).await.unwrap();
            assert_eq!(last.text(), "hello yourself");
            let sent = server.requests()[1].json();
            assert_eq!(
                sent["messages"][2],
                json!({"role": "tool", "tool_call_id": "c1", "content": "ERROR: not run"})
            );
        }
    }
}

#[tokio::test]
async fn f35_missing_and_double_ids_are_made_unique() {
    let double = CannedReply::text("")
        .call("c1", "look", "{}")
        .call("c1", "look", "{}");
    let missing = CannedReply::text("")
        .call("", "look", "{}")
        .call("", "look", "{}");
    for canned in [double, missing] {
        for wire in BOTH {
            for answer in [wire.whole(&canned), Answer::sse(wire.events(&canned))] {
                let server = FaultServer::replies([answer, wire.whole(&hello())]);
                let client = wire.client(&server, &skipping()).build().unwrap();
                let reply = client.complete(&with_tool("look")).await.unwrap();
                let ids: Vec<_> = calls(&reply).into_iter().map(|(id, _)| id).collect();
                assert!(
                    ids.len() == 2 && ids[0] != ids[1] && !ids.contains(&""),
                    "{wire:?} {ids:?}"
                );
                client.complete(&answered(&reply)).await.unwrap();
                let sent = server.requests()[1].json();
                assert_eq!(sent_ids(wire, &sent), [ids.clone(), ids].concat(), "{sent}");
            }
        }
    }
}

/// The ids of the calls that are sent back, then those of the results.
fn sent_ids(wire: Wire, sent: &Value) -> Vec<&str> {
    let messages = sent["messages"].as_array().unwrap();
    match wire {
        Wire::Anthropic => messages[1..]
            .iter()
            .flat_map(|message| message["content"].as_array().unwrap())
            .filter_map(|block| block["id"].as_str().or(block["tool_use_id"].as_str()))
            .collect(),
        Wire::Openai => {
            let called = messages[1]["tool_calls"].as_array().unwrap();
            let called = called.iter().filter_map(|call| call["id"].as_str());
            let results = messages[2..].iter();
            let results = results.filter_map(|message| message["tool_call_id"].as_str());
            called.chain(results).collect()
        }
    }
}

#[tokio::test]
async fn f35_a_name_of_65_letters_is_no_tool() {
    let long = "n".repeat(65);
    for wire in BOTH {
        let server = FaultServer::replies([wire.whole(&hello())]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let error = client.complete(&with_tool(&long)).await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Refused { .. }),
            "{wire:?} {error:?}"
        );
        assert_eq!(server.requests().len(), 0);
    }
}

#[tokio::test]
async fn f35_a_stream_tells_of_arguments_that_are_no_json() {
    let wire = Wire::Openai;
    let bad = CannedReply::text("").call("c1", "look", "{\"a\":");
    let server = FaultServer::replies([Answer::sse(wire.events(&bad))]);
    let client = wire.client(&server, &skipping()).build().unwrap();
    let (_, outcome) = read_stream(&client, &request()).await;
    let reply = outcome.unwrap();
    let call = reply.tool_uses().next().unwrap();
    let invalid = |block: &Block| matches!(&block.kind, BlockKind::ToolUse { input: ToolInput::Invalid(text), .. } if text == "{\"a\":");
    assert!(invalid(call), "{call:?}");
}

#[tokio::test]
async fn f40_sampling_is_never_sent_under_the_new_version() {
    let wire = Wire::Anthropic;
    let server = FaultServer::replies([wire.whole(&hello())]);
    for model in ["model-1", "claude-sonnet-4-5", "claude-opus-5-5"] {
        let mut request = Request::new(model, "hello");
        request.sampling.temperature = Some(1.0);
        request.sampling.top_p = Some(0.9);
        request.sampling.top_k = Some(40);
        let adapting = wire.client(&server, &skipping()).build().unwrap();
        let reply = adapting.complete(&request).await.unwrap();
        assert!(
            reply
                .warnings
                .iter()
                .any(|warning| warning.field.contains("temperature")),
            "{:?}",
            reply.warnings
        );
    }
    for sent in server.requests() {
        let body = sent.json();
        for field in ["temperature", "top_p", "top_k"] {
            assert!(body.get(field).is_none(), "{body}");
        }
        assert_eq!(sent.header("anthropic-version"), Some("2026-10-21"));
    }
}
