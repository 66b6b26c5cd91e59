//! Streams of all kinds.

use std::fmt::Write as _;

use bytes::Bytes;
use proptest::prelude::*;

use super::*;

/// A stream of these chunks.
fn sse(chunks: &[Value], end: &str) -> Answer {
    let mut text = String::new();
    for chunk in chunks {
        write!(text, "data: {chunk}\n\n").unwrap();
    }
    Answer::sse(text + end)
}

const DONE: &str = "data: [DONE]\n\n";

fn delta(delta: &Value) -> Value {
    json!({ "id": "c", "model": "m", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn finish(reason: &str) -> Value {
    json!({ "id": "c", "model": "m", "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

fn run(dialect: Dialect, answer: Answer) -> (Vec<Event>, Option<Error>) {
    let server = provider(dialect, "/v1");
    drain(stream(&server, &Request::new("m", "x"), answer).unwrap())
}

fn reply(dialect: Dialect, answer: Answer) -> Result<Reply, Error> {
    let server = provider(dialect, "/v1");
    let events = stream(&server, &Request::new("m", "x"), answer)?;
    events.collect().now_or_never().unwrap()
}

#[test]
fn blocks_begin_grow_and_end_in_order() {
    let chunks = [
        delta(&json!({ "role": "assistant", "content": "" })),
        delta(&json!({ "reasoning": "hm", "reasoning_content": "hm" })),
        delta(&json!({ "content": "a" })),
        delta(&json!({ "content": "b" })),
        delta(
            &json!({ "tool_calls": [{ "index": 0, "id": "t", "function": { "name": "f", "arguments": "" } }] }),
        ),
        delta(&json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "{}" } }] })),
        finish("tool_calls"),
        json!({ "choices": [], "usage": { "prompt_tokens": 1, "completion_tokens": 2 } }),
    ];
    let (events, error) = run(Dialect::openai(), sse(&chunks, DONE));
    assert!(error.is_none(), "{error:?}");
    let seen: Vec<_> = events
        .iter()
        .map(|event| match event {
            Event::Start { id, model } => format!("start {id} {model}"),
            Event::BlockStart { index, .. } => format!("+{index}"),
            Event::ThinkingDelta { index, text } => format!("{index} thinks {text}"),
            Event::TextDelta { index, text } => format!("{index} says {text}"),
            Event::ToolInputDelta { index, json } => format!("{index} calls {json}"),
            Event::BlockStop { index, .. } => format!("-{index}"),
            Event::Usage(usage) => format!("usage {}", usage.total()),
            Event::Done(reply) => format!("done {:?}", reply.stop),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        seen,
        [
            "start c m",
            "+0",
            "0 thinks hm",
            "+1",
            "1 says a",
            "1 says b",
            "+2",
            "2 calls {}",
            "usage 3",
            "-0",
            "-1",
            "-2",
            "done ToolUse"
        ]
    );
}

#[test]
fn a_stream_is_whole_only_with_its_reason_to_stop() {
    let text = delta(&json!({ "content": "a" }));
    let stop = finish("stop");
    for (chunks, end, whole) in [
        (vec![text.clone(), stop.clone()], DONE, true),
        (vec![text.clone(), stop.clone()], "", true),
        (vec![text.clone()], DONE, false),
        (vec![text.clone()], "", false),
        (vec![], DONE, false),
        (vec![], "", false),
        (vec![text.clone(), finish("")], DONE, false),
        (vec![text.clone(), stop.clone()], "data: {\"choi", false),
    ] {
        match reply(
            Dialect::generic(),
            sse(&chunks, end).header("x-request-id", "r"),
        ) {
            Ok(reply) => assert!(whole && reply.text() == "a"),
            Err(error) => {
                let ErrorKind::StreamTruncated { partial } = error.kind() else {
                    panic!("{error:?}");
                };
                assert!(!whole);
                assert_eq!(partial.text(), if chunks.is_empty() { "" } else { "a" });
                assert_eq!(error.request_id(), Some("r"));
            }
        }
    }
}

#[test]
fn a_call_that_is_cut_never_has_arguments() {
    let call = json!({ "tool_calls": [{ "index": 0, "id": "t", "function": { "name": "f", "arguments": "{}" } }] });
    let error = reply(Dialect::openai(), sse(&[delta(&call)], "")).unwrap_err();
    let ErrorKind::StreamTruncated { partial } = error.kind() else {
        panic!("not truncated");
    };
    assert!(matches!(
        &partial.content[0].kind,
        BlockKind::ToolUse { input: ToolInput::Invalid(text), .. } if text == "{}"
    ));
}

#[test]
fn an_event_after_the_end_breaks_the_protocol() {
    let late = format!("{DONE}data: {}\n\n", delta(&json!({ "content": "a" })));
    let chunks = [delta(&json!({ "content": "a" })), finish("stop")];
    let error = reply(Dialect::generic(), sse(&chunks, &late)).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Protocol { .. }),
        "{error:?}"
    );
    assert!(reply(Dialect::generic(), sse(&chunks, &DONE.repeat(2))).is_ok());
}

#[test]
fn an_error_in_the_middle_is_its_own_kind_after_what_came_before() {
    let error =
        json!({ "error": { "code": 502, "message": "down" }, "choices": [{ "delta": {} }] });
    let (events, error) = run(
        Dialect::openrouter(),
        sse(&[delta(&json!({ "content": "a" })), error], ""),
    );
    assert_eq!(error.unwrap().status(), Some(502));
    assert!(matches!(&events[2], Event::TextDelta { text, .. } if text == "a"));
}

#[test]
fn an_error_of_the_older_form_is_one_in_both_forms_of_a_reply() {
    let error = json!({ "object": "error", "message": "too long", "code": 400 });
    let text = delta(&json!({ "content": "a" }));
    let (_, streamed) = run(Dialect::vllm(), sse(&[text, error.clone()], DONE));
    let whole = ask_generic(Answer::json(error.to_string())).unwrap_err();
    for error in [streamed.unwrap(), whole] {
        assert_eq!(error.status(), Some(400));
        assert!(error.to_string().contains("too long"), "{error}");
    }
}

fn piece(piece: &Value) -> Value {
    delta(&json!({ "tool_calls": [piece] }))
}

#[test]
fn pieces_without_a_number_go_by_their_ids_where_the_server_is_not_trusted() {
    let chunks = [
        piece(&json!({ "id": "a", "function": { "name": "f", "arguments": "{\"x\"" } })),
        piece(&json!({ "function": { "arguments": ":1}" } })),
        piece(&json!({ "id": "b", "function": { "name": "g", "arguments": { "y": 2 } } })),
        piece(&json!({ "id": "b", "function": { "name": "g" } })),
        finish("stop"),
    ];
    let whole = reply(Dialect::ollama(), sse(&chunks, DONE)).unwrap();
    assert_eq!(
        calls(&whole),
        [("a", "f", r#"{"x":1}"#), ("b", "g", r#"{"y":2}"#)]
    );
    let error = reply(Dialect::openai(), sse(&chunks, DONE)).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Protocol { .. }),
        "{error:?}"
    );
}

#[test]
fn a_gap_between_the_numbers_of_calls_breaks_a_strict_protocol() {
    let chunks = [
        piece(&json!({ "index": 3, "id": "a", "function": { "name": "f" } })),
        finish("stop"),
    ];
    assert!(matches!(
        reply(Dialect::openai(), sse(&chunks, DONE))
            .unwrap_err()
            .kind(),
        ErrorKind::Protocol { .. }
    ));
    assert_eq!(
        calls(&reply(Dialect::generic(), sse(&chunks, DONE)).unwrap()),
        [("a", "f", "{}")]
    );
}

#[test]
fn missing_and_double_ids_become_what_they_become_in_a_whole_reply() {
    let ids = [
        json!("x"),
        json!("x"),
        Value::Null,
        json!(""),
        json!("call_2"),
    ];
    let mut chunks: Vec<_> = ids
        .iter()
        .enumerate()
        .map(|(index, id)| piece(&json!({ "index": index, "id": id, "function": { "name": "f" } })))
        .collect();
    chunks.push(finish("tool_calls"));
    let whole = reply(Dialect::generic(), sse(&chunks, DONE)).unwrap();
    let ids: Vec<_> = calls(&whole).into_iter().map(|(id, ..)| id).collect();
    assert_eq!(ids, ["x", "call_1", "call_2", "call_3", "call_4"]);
}

#[test]
fn details_of_thoughts_are_joined_for_the_echo() {
    let chunks = [
        delta(
            &json!({ "reasoning": "a", "reasoning_details": [{ "type": "t", "index": 0, "text": "a", "signature": null }] }),
        ),
        delta(
            &json!({ "reasoning": "b", "reasoning_details": [{ "type": "t", "index": 0, "text": "b" }] }),
        ),
        delta(&json!({ "reasoning_details": [{ "type": "t", "index": 0, "signature": "s" }] })),
        delta(&json!({ "reasoning_details": 7 })),
        finish("stop"),
    ];
    let whole = reply(Dialect::openrouter(), sse(&chunks, DONE)).unwrap();
    let raw: Value = echoed(&whole).to().unwrap();
    assert_eq!(raw["reasoning"], "ab");
    assert_eq!(
        raw["reasoning_details"],
        json!([{ "type": "t", "index": 0, "text": "ab", "signature": "s" }])
    );
}

#[test]
fn chunks_of_an_unknown_form_are_handed_on_and_broken_ones_are_not() {
    let (events, error) = run(
        Dialect::generic(),
        Answer::sse(format!(
            "event: ping\ndata: x\n\ndata: {{\"type\":\"new\"}}\n\ndata: {}\n\n{DONE}",
            finish("stop")
        )),
    );
    assert!(error.is_none(), "{error:?}");
    assert_eq!(events[0], Event::Ping);
    assert!(matches!(&events[1], Event::Unknown { .. }));
    for broken in ["{", "7", "[]", "{\"choices\":7}", "<html>"] {
        let error = reply(
            Dialect::generic(),
            Answer::sse(format!("data: {broken}\n\n{DONE}")),
        )
        .unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Protocol { .. }),
            "{broken}: {error:?}"
        );
    }
}

/// The chunks that a server would make of a whole reply, its texts in pieces.
fn chunked(body: &Value) -> Vec<Value> {
    let choice = &body["choices"][0];
    let mut deltas = Vec::new();
    for field in ["reasoning", "content"] {
        let text: Vec<char> = choice["message"][field]
            .as_str()
            .unwrap_or_default()
            .chars()
            .collect();
        if choice["message"][field].is_string() && text.is_empty() {
            deltas.push(json!({ field: "" }));
        }
        for part in text.chunks(3) {
            let part: String = part.iter().collect();
            // Those who send a thought twice send every piece of it twice.
            match choice["message"].get("reasoning_content") {
                Some(_) if field == "reasoning" => {
                    deltas.push(json!({ field: part, "reasoning_content": part }));
                }
                _ => deltas.push(json!({ field: part })),
            }
        }
    }
    for (index, call) in choice["message"]["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let name = &call["function"]["name"];
        deltas.push(json!({ "tool_calls": [{ "index": index, "id": call["id"], "function": { "name": name } }] }));
        for part in call["function"]["arguments"]
            .as_str()
            .unwrap()
            .as_bytes()
            .chunks(4)
        {
            let part = std::str::from_utf8(part).unwrap();
            deltas.push(
                json!({ "tool_calls": [{ "index": index, "function": { "arguments": part } }] }),
            );
        }
    }
    let mut chunks: Vec<_> = deltas.iter().map(delta).collect();
    let native = &choice["native_finish_reason"];
    chunks.push(json!({ "choices": [{ "finish_reason": choice["finish_reason"], "native_finish_reason": native }] }));
    chunks.push(json!({ "choices": [], "usage": body["usage"] }));
    for chunk in &mut chunks {
        chunk["model"] = body["model"].clone();
    }
    chunks
}

#[test]
fn every_captured_reply_is_the_same_as_a_stream() {
    for name in [
        "oa_01_plain",
        "oa_02_tools",
        "oa_03b_toolloop_turn2",
        "oa_06_json_schema",
        "oa_08_length",
        "or_01_plain_cost",
        "or_02_fallback_models",
        "or_04_reasoning",
        "ll_07_chat_tools",
    ] {
        let vector = Vector::load(name);
        let body = super::super::json(&vector.answer().chunks[0]);
        let router = provider(Dialect::openrouter(), "/api/v1");
        let whole = ask(&router, &Request::new("m", "x"), vector.answer()).unwrap();
        let streamed = reply(Dialect::openrouter(), sse(&chunked(&body), DONE)).unwrap();
        replies::assert_same(&whole, &streamed);
    }
}

/// A piece of anything a server could say, sensible or not.
fn any_delta() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just(json!("a")),
        Just(json!("")),
        Just(Value::Null),
        Just(json!(7)),
        Just(json!([{}]))
    ];
    let index = prop_oneof![
        Just(json!(0)),
        Just(json!(1)),
        Just(json!(u64::MAX)),
        Just(json!("x")),
        Just(Value::Null)
    ];
    let id = prop_oneof![
        Just(json!("a")),
        Just(json!("b")),
        Just(json!("call_1")),
        Just(Value::Null)
    ];
    let arguments = prop_oneof![
        Just(json!("{")),
        Just(json!("}")),
        Just(json!({})),
        Just(Value::Null)
    ];
    let name = prop_oneof![Just(json!("f")), Just(Value::Null)];
    prop_oneof![
        text.clone().prop_map(|text| json!({ "content": text })),
        text.clone().prop_map(|text| json!({ "refusal": text })),
        (text.clone(), text).prop_map(|(a, b)| json!({ "reasoning": a, "reasoning_content": b })),
        (index.clone(), id).prop_map(|(index, id)| json!({ "reasoning_details": [{ "index": index, "data": id }] })),
        (index, prop_oneof![Just(json!("a")), Just(Value::Null)], name, arguments).prop_map(
            |(index, id, name, arguments)| {
                json!({ "tool_calls": [{ "index": index, "id": id, "function": { "name": name, "arguments": arguments } }] })
            }
        ),
    ]
}

fn any_chunk() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => any_delta().prop_map(|chunk| delta(&chunk)),
        1 => prop_oneof![Just("stop"), Just("length"), Just("error")].prop_map(finish),
        1 => Just(json!({ "choices": [], "usage": { "prompt_tokens": 1 } })),
        1 => Just(json!({ "choices": null, "usage": null })),
    ]
}

/// The events keep the order that a display relies on.
fn assert_consistent(events: &[Event]) {
    let mut open: Vec<String> = Vec::new();
    let mut stopped = 0;
    for event in events {
        match event {
            Event::BlockStart { index, .. } => {
                assert_eq!((*index, stopped), (open.len(), 0));
                open.push(String::new());
            }
            Event::TextDelta { index, text } | Event::ThinkingDelta { index, text } => {
                open[*index] += text;
            }
            Event::ToolInputDelta { index, json } => open[*index] += json,
            Event::BlockStop { index, block } => {
                assert_eq!(*index, stopped);
                stopped += 1;
                match &block.kind {
                    BlockKind::Text { text } | BlockKind::Thinking { text, .. } => {
                        assert_eq!(text, &open[*index]);
                    }
                    BlockKind::ToolUse {
                        input: ToolInput::Invalid(text),
                        ..
                    } => assert_eq!(text, &open[*index]),
                    BlockKind::ToolUse {
                        input: ToolInput::Json(raw),
                        ..
                    } => {
                        assert_eq!(
                            raw.get(),
                            Some(open[*index].trim())
                                .filter(|text| !text.is_empty())
                                .unwrap_or("{}")
                        );
                    }
                    other => panic!("{other:?}"),
                }
            }
            Event::Done(reply) => {
                assert_eq!((reply.content.len(), stopped), (open.len(), open.len()));
            }
            _ => {}
        }
    }
}

proptest! {
    #[test]
    fn chunks_in_any_order_are_a_reply_or_an_error(chunks in prop::collection::vec(any_chunk(), 0..12), strict: bool, done: bool) {
        let dialect = if strict { Dialect::openai() } else { Dialect::openrouter() };
        let (events, error) = run(dialect, sse(&chunks, if done { DONE } else { "" }));
        assert_consistent(&events);
        let is_done = matches!(events.last(), Some(Event::Done(_)));
        prop_assert_eq!(is_done, error.is_none());
        if let Some(Event::Done(reply)) = events.last() {
            let mut ids: Vec<_> = calls(reply).into_iter().map(|(id, ..)| id).collect();
            let all = ids.len();
            ids.sort_unstable();
            ids.dedup();
            prop_assert_eq!(ids.len(), all);
            prop_assert!(!ids.contains(&""));
        }
    }

    #[test]
    fn bytes_of_any_kind_are_no_crash(body: Vec<u8>, event_stream: bool, status in 200_u16..600) {
        let kind = if event_stream { "text/event-stream" } else { "application/json" };
        let answer = Answer::new(status, kind, Bytes::from(body));
        prop_assert!(ask_generic(answer).is_err());
    }
}
