//! Rows 35, 36 and 40: tools that must not run, loops without an end, fields that must not be sent.

use std::sync::Mutex;

use llm_client::{
    Block, BlockKind, LoopBounds, LoopStop, Policy, Raw, StopReason, ToolInput, ToolResult,
    ToolSpec, Toolbox,
};
use serde_json::json;

use super::*;

/// One tool that counts.
#[derive(Default)]
struct Counting {
    runs: Mutex<Vec<String>>,
}

impl Toolbox for Counting {
    fn specs(&self) -> Vec<ToolSpec> {
        vec![ToolSpec::Function {
            name: "look".into(),
            description: "Looks.".into(),
            schema: json!({"type": "object"}),
            strict: None,
        }]
    }

    fn call<'a>(&'a self, name: &'a str, input: &'a Raw) -> BoxFuture<'a, ToolResult> {
        self.runs
            .lock()
            .unwrap()
            .push(format!("{name} {}", input.get()));
        async { ToolResult::text("seen") }.boxed()
    }
}

impl Counting {
    fn count(&self) -> usize {
        self.runs.lock().unwrap().len()
    }
}

#[tokio::test]
async fn f35_a_tool_call_of_a_reply_that_was_cut_never_runs() {
    for wire in BOTH {
        let cut = Canned::text("")
            .call("c1", "look", r#"{"a":1}"#)
            .stopped("max_tokens", "length");
        let server = FaultServer::replies([wire.whole(&cut)]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let tools = Counting::default();
        let outcome = client
            .run_tools(request(), &tools, LoopBounds::default())
            .await;
        assert_eq!(tools.count(), 0, "{wire:?}");
        assert_eq!(
            outcome.unwrap().reply.stop,
            StopReason::MaxTokens,
            "{wire:?}"
        );
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn f35_invalid_arguments_are_answered_with_an_error_and_never_run() {
    let wire = Wire::Openai;
    for arguments in ["{\"a\":", "", "not json"] {
        let bad = Canned::text("").call("c1", "look", arguments);
        for first in [wire.whole(&bad), Answer::sse(wire.events(&bad))] {
            let server = FaultServer::replies([first, wire.whole(&hello())]);
            let client = wire.client(&server, &skipping()).build().unwrap();
            let tools = Counting::default();
            let outcome = client
                .run_tools(request(), &tools, LoopBounds::default())
                .await
                .unwrap();
            assert_eq!(outcome.reply.text(), "hello yourself");
            if arguments.is_empty() {
                // Some servers send this for a call without arguments.
                assert!(
                    tools
                        .runs
                        .lock()
                        .unwrap()
                        .iter()
                        .all(|run| run == "look {}")
                );
                continue;
            }
            assert_eq!(tools.count(), 0, "{arguments:?}");
            let sent = server.requests()[1].json();
            let result = &sent["messages"][2];
            assert_eq!(
                (&result["role"], &result["tool_call_id"]),
                (&json!("tool"), &json!("c1"))
            );
            let content = result["content"].as_str().unwrap();
            assert!(content.starts_with("ERROR: "), "{content}");
        }
    }
}

#[tokio::test]
async fn f35_missing_and_double_ids_are_made_unique() {
    let double = Canned::text("")
        .call("c1", "look", "{}")
        .call("c1", "look", "{}");
    let missing = Canned::text("")
        .call("", "look", "{}")
        .call("", "look", "{}");
    for canned in [double, missing] {
        let wire = Wire::Openai;
        let server = FaultServer::replies([wire.whole(&canned), wire.whole(&hello())]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let tools = Counting::default();
        client
            .run_tools(request(), &tools, LoopBounds::default())
            .await
            .unwrap();
        assert_eq!(tools.count(), 2);
        let sent = server.requests()[1].json();
        let calls = sent["messages"][1]["tool_calls"].as_array().unwrap();
        let ids: Vec<_> = calls
            .iter()
            .map(|call| call["id"].as_str().unwrap())
            .collect();
        assert!(
            ids.len() == 2 && ids[0] != ids[1] && !ids.contains(&""),
            "{ids:?}"
        );
        for (at, id) in ids.iter().enumerate() {
            assert_eq!(sent["messages"][2 + at]["tool_call_id"], *id);
        }

        let wire = Wire::Anthropic;
        for answer in [wire.whole(&canned), Answer::sse(wire.events(&canned))] {
            let server = FaultServer::replies([answer, wire.whole(&hello())]);
            let client = wire.client(&server, &skipping()).build().unwrap();
            let tools = Counting::default();
            client
                .run_tools(request(), &tools, LoopBounds::default())
                .await
                .unwrap();
            assert_eq!(tools.count(), 2);
            let sent = server.requests()[1].json();
            let ids = |message: usize, field: &str| -> Vec<_> {
                let blocks = sent["messages"][message]["content"].as_array().unwrap();
                let ids = blocks.iter().filter_map(|block| block[field].as_str());
                ids.map(str::to_owned).collect()
            };
            let called = ids(1, "id");
            assert!(
                called.len() == 2 && called[0] != called[1] && !called.contains(&String::new()),
                "{called:?}"
            );
            assert_eq!(ids(2, "tool_use_id"), called);
        }
    }
}

#[tokio::test]
async fn f35_a_name_of_65_letters_is_no_tool() {
    let long = "n".repeat(65);
    for wire in BOTH {
        let bad = Canned::text("").call("c1", &long, "{}");
        let server = FaultServer::replies([wire.whole(&bad), wire.whole(&hello())]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let tools = Counting::default();
        let outcome = client
            .run_tools(request(), &tools, LoopBounds::default())
            .await;
        assert_eq!(tools.count(), 0, "{wire:?}");
        if outcome.is_ok() {
            let sent = server.requests()[1].text();
            assert!(
                sent.contains("ERROR: ") || sent.contains("\"is_error\":true"),
                "{sent}"
            );
        }

        let mut request = request();
        request.tools = vec![ToolSpec::Function {
            name: long.clone(),
            description: String::new(),
            schema: json!({"type": "object"}),
            strict: None,
        }];
        let before = server.requests().len();
        let error = client.complete(&request).await.unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{wire:?} {error:?}");
        assert_eq!(server.requests().len(), before);
    }
}

#[tokio::test]
async fn f35_a_stream_tells_of_arguments_that_are_no_json() {
    let wire = Wire::Openai;
    let bad = Canned::text("").call("c1", "look", "{\"a\":");
    let server = FaultServer::replies([Answer::sse(wire.events(&bad))]);
    let client = wire.client(&server, &skipping()).build().unwrap();
    let (_, outcome) = read_stream(&client, &request()).await;
    let reply = outcome.unwrap();
    let call = reply.tool_uses().next().unwrap();
    let invalid = |block: &Block| matches!(&block.kind, BlockKind::ToolUse { input: ToolInput::Invalid(text), .. } if text == "{\"a\":");
    assert!(invalid(call), "{call:?}");
}

#[tokio::test]
async fn f36_a_model_that_pauses_for_ever_is_stopped() {
    let wire = Wire::Anthropic;
    let pause = Canned::text("wait").stopped("pause_turn", "stop");
    let server = FaultServer::replies([wire.whole(&pause)]);
    let client = wire.client(&server, &skipping()).build().unwrap();
    let error = client
        .run_tools(request(), &Counting::default(), LoopBounds::default())
        .await
        .unwrap_err();
    assert!(matches!(error.stop, LoopStop::Pauses(5)), "{error:?}");
    assert_eq!(server.requests().len(), 6);
    assert_eq!(error.so_far.turns, 6);
    assert_eq!(error.so_far.usage.output, 6 * 5);
    let said = error
        .so_far
        .history
        .iter()
        .filter(|turn| turn.text() == "wait");
    assert!(said.count() >= 5, "{:?}", error.so_far.history);
}

#[tokio::test]
async fn f36_a_model_that_calls_tools_for_ever_is_stopped() {
    for wire in BOTH {
        let call = Canned::text("").call("c1", "look", "{}");
        let server = FaultServer::replies([wire.whole(&call)]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let tools = Counting::default();
        let error = client
            .run_tools(request(), &tools, LoopBounds::default())
            .await
            .unwrap_err();
        assert!(
            matches!(error.stop, LoopStop::Turns(20)),
            "{wire:?} {error:?}"
        );
        assert_eq!((server.requests().len(), error.so_far.turns), (20, 20));
        assert_eq!(tools.count(), 20);
        assert_eq!(error.so_far.history.len(), 1 + 2 * 20);
    }
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
        let before = server.requests().len();
        let strict = wire
            .client(&server, &skipping())
            .policy(Policy::Strict)
            .build()
            .unwrap();
        let error = strict.complete(&request).await.unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{error:?}");
        assert_eq!(server.requests().len(), before);
    }
    for sent in server.requests() {
        let body = sent.json();
        for field in ["temperature", "top_p", "top_k"] {
            assert!(body.get(field).is_none(), "{body}");
        }
        assert_eq!(sent.header("anthropic-version"), Some("2026-10-21"));
    }
}
