//! The server's replies, in both protocols.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

/// The form of a stream.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    Anthropic,
    Openai,
}

/// The text of one event: six or seven tokens.
const DELTA: &str = "the orbit closes after 42 turns ";

/// A reply of about a thousand bytes.
pub fn whole() -> Bytes {
    let reply = json!({
        "id": "msg_0123456789", "type": "message", "role": "assistant", "model": crate::sides::MODEL,
        "content": [{"type": "text", "text": DELTA.repeat(25)}],
        "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 500, "output_tokens": 180, "cache_read_input_tokens": 0},
    });
    reply.to_string().into()
}

/// The events of a stream of at least `size` bytes.
pub fn events(form: Form, size: usize) -> Arc<[Bytes]> {
    let (start, delta, end) = match form {
        Form::Anthropic => anthropic(),
        Form::Openai => openai(),
    };
    let count = size.div_ceil(delta.len());
    [start]
        .into_iter()
        .chain(std::iter::repeat_n(delta, count))
        .chain([end])
        .collect()
}

/// The same bytes in as few pieces as a proxy that collects them would send.
pub fn joined(events: &[Bytes]) -> Arc<[Bytes]> {
    let whole = Bytes::from(events.concat());
    let starts = (0..whole.len()).step_by(PIECE);
    starts
        .map(|start| whole.slice(start..whole.len().min(start + PIECE)))
        .collect()
}

const PIECE: usize = 16 << 10;

fn named(event: &Value) -> String {
    format!(
        "event: {}\ndata: {event}\n\n",
        event["type"].as_str().unwrap()
    )
}

fn anthropic() -> (Bytes, Bytes, Bytes) {
    let start = [
        json!({"type": "message_start", "message": {
            "id": "msg_0123456789", "type": "message", "role": "assistant", "model": crate::sides::MODEL,
            "content": [], "stop_reason": null, "usage": {"input_tokens": 500, "output_tokens": 1},
        }}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ];
    let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": DELTA}});
    let end = [
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 900}}),
        json!({"type": "message_stop"}),
    ];
    let join = |events: &[Value]| Bytes::from(events.iter().map(named).collect::<String>());
    (join(&start), join(&[delta]), join(&end))
}

fn openai() -> (Bytes, Bytes, Bytes) {
    let chunk = |delta: Value, finish: Value, usage: Value| {
        let chunk = json!({
            "id": "chatcmpl-0123456789", "object": "chat.completion.chunk", "created": 1_790_000_000,
            "model": crate::sides::MODEL, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            "usage": usage,
        });
        format!("data: {chunk}\n\n")
    };
    let start = chunk(
        json!({"role": "assistant", "content": ""}),
        Value::Null,
        Value::Null,
    );
    let delta = chunk(json!({"content": DELTA}), Value::Null, Value::Null);
    let usage = json!({"prompt_tokens": 500, "completion_tokens": 900, "total_tokens": 1400});
    let end = chunk(json!({}), json!("stop"), usage) + "data: [DONE]\n\n";
    (start.into(), delta.into(), end.into())
}
