//! Streams that break the rules of the Messages API: events out of order, cut streams, unknown events.

use futures_util::StreamExt as _;
use llm_client::{
    Block, BlockKind, Error, ErrorKind, Event, Raw, Reply, Request, StopReason, ToolInput,
};
use serde_json::{Value, json};

use super::anthropic::provider;
use super::{Answer, CannedReply, send, stream_of};

/// An event by its data; the name is its type.
fn sse(events: &[Value]) -> String {
    let event = |data: &Value| {
        format!(
            "event: {}\ndata: {data}\n\n",
            data["type"].as_str().unwrap()
        )
    };
    events.iter().map(event).collect()
}

fn start() -> Value {
    json!({ "type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m",
        "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 11, "cache_read_input_tokens": 5, "output_tokens": 1 },
    } })
}

fn block(index: usize, block: &Value) -> Value {
    json!({ "type": "content_block_start", "index": index, "content_block": block })
}

fn text_block(index: usize) -> Value {
    block(index, &json!({ "type": "text", "text": "" }))
}

fn tool_block(index: usize, id: &str) -> Value {
    block(
        index,
        &json!({ "type": "tool_use", "id": id, "name": "f", "input": {} }),
    )
}

fn delta(index: usize, delta: &Value) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": delta })
}

fn text(index: usize, text: &str) -> Value {
    delta(index, &json!({ "type": "text_delta", "text": text }))
}

fn input(index: usize, json: &str) -> Value {
    delta(
        index,
        &json!({ "type": "input_json_delta", "partial_json": json }),
    )
}

fn stop(index: usize) -> Value {
    json!({ "type": "content_block_stop", "index": index })
}

fn ending(reason: &str) -> Value {
    json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null },
        "usage": { "output_tokens": 9 } })
}

fn end() -> Value {
    json!({ "type": "message_stop" })
}

fn ping() -> Value {
    json!({ "type": "ping" })
}

/// A whole message: text, then a call.
fn whole() -> Vec<Value> {
    vec![
        start(),
        text_block(0),
        text(0, "Hel"),
        text(0, "lo"),
        stop(0),
        tool_block(1, "t1"),
        input(1, "{\"a\":"),
        input(1, " 1}"),
        stop(1),
        ending("tool_use"),
        end(),
    ]
}

async fn read(body: impl Into<bytes::Bytes>) -> (Vec<Event>, Option<Error>) {
    let answer = Answer::sse(body).header("request-id", "req_7");
    let server = CannedReply::new([answer]);
    let mut stream = stream_of(&provider(), &Request::new("m", "x"), &server)
        .await
        .unwrap();
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(
                    stream.next().await.is_none(),
                    "nothing comes after an error"
                );
                return (events, Some(error));
            }
        }
    }
    (events, None)
}

async fn reply(events: &[Value]) -> Reply {
    match read(sse(events)).await {
        (mut events, None) => match events.pop() {
            Some(Event::Done(reply)) => *reply,
            other => panic!("{other:?}"),
        },
        (_, Some(error)) => panic!("{error}"),
    }
}

fn told_text(events: &[Event]) -> String {
    let text = |event: &Event| match event {
        Event::TextDelta { text, .. } => text.clone(),
        _ => String::new(),
    };
    events.iter().map(text).collect()
}

fn with(at: usize, event: Value) -> Vec<Value> {
    let mut events = whole();
    events.insert(at, event);
    events
}

fn without(at: usize) -> Vec<Value> {
    let mut events = whole();
    events.remove(at);
    events
}

#[tokio::test]
async fn events_out_of_order_break_the_protocol_and_never_double_text() {
    let mut cases = vec![
        ("a second message_start", with(1, start())),
        ("a late message_start", with(10, start())),
        ("a block twice", with(2, text_block(0))),
        ("a block after its end", with(5, text_block(0))),
        ("a gap in the blocks", with(5, text_block(2))),
        ("a block inside a block", with(3, text_block(1))),
        ("a delta for a block to come", with(4, text(1, "x"))),
        ("a delta for a closed block", with(5, text(0, "x"))),
        ("a delta after the next block began", with(7, text(0, "x"))),
        ("a stop for a block to come", with(4, stop(1))),
        ("a stop twice", with(5, stop(0))),
        ("text in a call", with(7, text(1, "x"))),
        ("arguments in a text", with(3, input(0, "{}"))),
        (
            "a thought in a text",
            with(
                3,
                delta(0, &json!({ "type": "thinking_delta", "thinking": "x" })),
            ),
        ),
        ("a block after message_delta", with(10, text_block(2))),
        ("a delta after message_delta", with(10, text(1, "x"))),
        ("message_delta inside a block", with(3, ending("end_turn"))),
        ("message_stop inside a block", with(3, end())),
        ("message_stop without message_delta", without(9)),
        ("message_stop twice", with(11, end())),
        ("a block after message_stop", with(11, text_block(2))),
        ("a delta after message_stop", with(11, text(1, "x"))),
        (
            "message_delta after message_stop",
            with(11, ending("end_turn")),
        ),
        ("no message_start", without(0)),
        ("no block start", without(1)),
        ("no block stop", without(4)),
        (
            "an index that is no number",
            with(
                3,
                json!({ "type": "content_block_delta", "index": "0", "delta": {} }),
            ),
        ),
        (
            "a text that is no text",
            with(3, delta(0, &json!({ "type": "text_delta", "text": 1 }))),
        ),
    ];
    cases.extend(
        (0..whole().len())
            .filter(|at| ![2, 3, 6, 7, 9].contains(at))
            .map(|at| ("an event twice", with(at, whole()[at].clone()))),
    );
    for (name, events) in cases {
        let (events, error) = read(sse(&events)).await;
        let error = error.unwrap_or_else(|| panic!("{name}: no error"));
        assert!(
            matches!(error.kind(), ErrorKind::Protocol { .. }),
            "{name}: {error}"
        );
        assert_eq!(error.request_id(), Some("req_7"), "{name}");
        assert!("Hello".starts_with(&told_text(&events)), "{name}");
        assert!(
            !events.iter().any(|event| matches!(event, Event::Done(_))),
            "{name}"
        );
    }
}

#[tokio::test]
async fn data_that_is_no_json_breaks_the_protocol() {
    let mut body = sse(&whole()[..2]);
    body.push_str("event: content_block_delta\ndata: {\"type\":\n\n");
    let error = read(body).await.1.unwrap();
    assert!(matches!(error.kind(), ErrorKind::Protocol { .. }));
}

#[tokio::test]
async fn a_stream_cut_at_any_byte_gives_what_came_and_is_never_a_reply() {
    let body = sse(&whole());
    // The last event is complete without the blank line after it.
    let complete = body.len() - 2;
    for at in 0..complete {
        let (events, error) = read(body[..at].to_owned()).await;
        let error = error.unwrap();
        let ErrorKind::StreamTruncated { partial } = error.kind() else {
            panic!("cut at {at}: {error:?}");
        };
        assert_eq!(partial.text(), told_text(&events), "cut at {at}");
        assert_eq!(error.request_id(), Some("req_7"));
        for call in partial.tool_uses() {
            let whole = events
                .iter()
                .any(|event| matches!(event, Event::BlockStop { index: 1, .. }));
            let BlockKind::ToolUse { input, .. } = &call.kind else {
                unreachable!()
            };
            match input {
                ToolInput::Json(_) => assert!(whole, "cut at {at}"),
                ToolInput::Invalid(text) => assert!("{\"a\": 1}".starts_with(text) && !whole),
            }
        }
    }
    for at in complete..=body.len() {
        assert!(read(body[..at].to_owned()).await.1.is_none(), "cut at {at}");
    }
}

#[tokio::test]
async fn usage_is_overwritten_by_the_fields_that_come_later() {
    let reply = reply(&whole()).await;
    assert_eq!(
        (
            reply.usage.input,
            reply.usage.cache_read,
            reply.usage.output
        ),
        (11, 5, 9)
    );
    assert_eq!(
        reply.usage.raw,
        Some(
            Raw::of(
                &json!({ "input_tokens": 11, "cache_read_input_tokens": 5, "output_tokens": 9 })
            )
            .unwrap()
        )
    );
}

#[tokio::test]
async fn a_streamed_call_keeps_the_text_of_its_arguments() {
    let reply = reply(&whole()).await;
    assert_eq!(reply.stop, StopReason::ToolUse);
    let call = reply.tool_uses().next().unwrap();
    assert_eq!(
        call.raw.as_ref().unwrap().get(),
        r#"{"id":"t1","input":{"a": 1},"name":"f","type":"tool_use"}"#
    );
}

#[tokio::test]
async fn arguments_may_be_absent_or_wrong() {
    for (pieces, expected) in [
        (vec![], ToolInput::Json(Raw::parse("{}").unwrap())),
        (vec![""], ToolInput::Json(Raw::parse("{}").unwrap())),
        (vec!["{\"a\""], ToolInput::Invalid("{\"a\"".to_owned())),
    ] {
        let mut events = vec![start(), tool_block(0, "t")];
        events.extend(pieces.into_iter().map(|piece| input(0, piece)));
        events.extend([stop(0), ending("tool_use"), end()]);
        let reply = reply(&events).await;
        let BlockKind::ToolUse { input, .. } = &reply.content[0].kind else {
            panic!("{reply:?}")
        };
        assert_eq!(*input, expected);
        assert!(
            reply.content[0]
                .raw
                .as_ref()
                .unwrap()
                .get()
                .contains("\"input\":{}")
        );
    }
}

#[tokio::test]
async fn pings_and_unknown_events_may_come_anywhere() {
    let news = json!({ "type": "news", "x": 1 });
    for at in 0..=whole().len() {
        let mut events = with(at, ping());
        events.insert(at, news.clone());
        let (told, error) = read(sse(&events)).await;
        assert!(error.is_none(), "at {at}");
        assert!(told.contains(&Event::Ping));
        assert!(told.contains(&Event::Unknown {
            name: "news".to_owned(),
            data: news.to_string(),
        }));
        assert_eq!(reply(&events).await, reply(&whole()).await);
    }
}

#[tokio::test]
async fn unknown_deltas_and_blocks_and_fields_are_kept() {
    let reply = reply(&[
        start(),
        block(0, &json!({ "type": "text", "text": "A" })),
        text(0, "B"),
        delta(0, &json!({ "type": "sparkle_delta", "text": { "deep": 1 } })),
        delta(0, &json!({ "type": "citations_delta", "citation": { "cited_text": "c1" } })),
        delta(0, &json!({ "type": "citations_delta", "citation": { "cited_text": "c2" } })),
        stop(0),
        block(1, &json!({ "type": "hologram", "text": "", "new": null })),
        text(1, "shape"),
        stop(1),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tired", "container": { "id": "c" } },
            "usage": { "output_tokens": 9, "input_tokens": null }, "context_management": { "edits": [] } }),
        end(),
    ])
    .await;
    assert_eq!(reply.text(), "AB");
    assert_eq!(reply.stop, StopReason::Other("tired".to_owned()));
    assert!(matches!(&reply.content[1].kind, BlockKind::Other { kind } if kind == "hologram"));
    assert_eq!(
        reply.raw.to::<Value>().unwrap(),
        json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": [
                { "type": "text", "text": "AB", "citations": [{ "cited_text": "c1" }, { "cited_text": "c2" }] },
                { "type": "hologram", "text": "shape", "new": null },
            ],
            "stop_reason": "tired", "stop_sequence": null, "container": { "id": "c" },
            "context_management": { "edits": [] },
            "usage": { "input_tokens": 11, "cache_read_input_tokens": 5, "output_tokens": 9 },
            "unknown_deltas": [{ "type": "sparkle_delta", "text": { "deep": 1 } }],
        })
    );
}

#[tokio::test]
async fn the_type_stands_in_for_a_missing_name() {
    let nameless = sse(&whole()).replace("event: ", "was: ");
    let (mut events, error) = read(nameless + "data: [DONE]\n\n").await;
    assert!(error.is_none());
    assert_eq!(
        events.pop(),
        Some(Event::Done(Box::new(reply(&whole()).await)))
    );
}

#[tokio::test]
async fn every_kind_of_block_is_the_same_from_a_stream_and_from_a_reply() {
    let blocks = [
        json!({ "type": "thinking", "thinking": "hm", "signature": "sig" }),
        json!({ "type": "thinking", "thinking": "", "signature": "sig" }),
        json!({ "type": "redacted_thinking", "data": "xyz" }),
        json!({ "type": "server_tool_use", "id": "s1", "name": "web_search", "input": { "query": "q" } }),
        json!({ "type": "web_search_tool_result", "tool_use_id": "s1",
            "content": { "type": "web_search_tool_result_error", "error_code": "max_uses_exceeded" } }),
        json!({ "type": "web_search_tool_result", "tool_use_id": "s1", "content": [{ "type": "web_search_result" }] }),
        json!({ "type": "text", "text": "Grüße \u{1f642}\n", "citations": [{ "url": "u" }] }),
        json!({ "type": "tool_use", "id": "t1", "name": "f", "input": { "a": [1, 2.50] }, "caller": { "type": "direct" } }),
        json!({ "type": "novelty", "payload": [null] }),
    ];
    let mut events = vec![start()];
    for (index, whole) in blocks.iter().enumerate() {
        let mut empty = whole.clone();
        let mut deltas = Vec::new();
        for (field, kind, name) in [
            ("thinking", "thinking_delta", "thinking"),
            ("text", "text_delta", "text"),
            ("signature", "signature_delta", "signature"),
        ] {
            if let Some(Value::String(text)) = whole.get(field) {
                let (head, tail) = text.split_at(text.len().min(2));
                let pieces = if field == "signature" {
                    vec![text.as_str()]
                } else {
                    vec![head, tail]
                };
                deltas.extend(
                    pieces
                        .into_iter()
                        .map(|piece| delta(index, &json!({ "type": kind, name: piece }))),
                );
                empty[field] = "".into();
            }
        }
        if let Some(arguments) = whole.get("input") {
            deltas.push(input(index, &arguments.to_string()));
            empty["input"] = json!({});
        }
        if let Some(citations) = whole.get("citations") {
            deltas.push(delta(
                index,
                &json!({ "type": "citations_delta", "citation": citations[0] }),
            ));
            empty["citations"] = json!([]);
        }
        events.push(block(index, &empty));
        events.extend(deltas);
        events.push(stop(index));
    }
    events.extend([ending("end_turn"), end()]);

    let mut body = start()["message"].clone();
    body["content"] = json!(blocks);
    body["stop_reason"] = "end_turn".into();
    body["usage"]["output_tokens"] = 9.into();
    let server = CannedReply::new([Answer::json(body.to_string()).header("request-id", "req_7")]);
    let plain = send(&provider(), &Request::new("m", "x"), &server)
        .await
        .unwrap();
    let streamed = reply(&events).await;
    assert_eq!(plain, streamed);
    let failed = |block: &Block| {
        matches!(&block.kind,
        BlockKind::ServerToolResult { error_code: Some(code), .. } if code == "max_uses_exceeded")
    };
    assert_eq!(
        plain.content.iter().filter(|block| failed(block)).count(),
        1
    );
}
