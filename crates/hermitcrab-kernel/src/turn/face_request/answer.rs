//! A reply as a face reads it: JSON as the Messages API has it, for every provider.

use llm_client::{Block, BlockKind, StopReason, ToolInput, Usage};
use serde_json::{Value, json};

use crate::BrainReply;

/// The form of the content.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AnswerFormat {
    /// The content as one text.
    Text,
    /// The content as a list of blocks.
    Blocks,
}

pub(super) fn of(answer: &BrainReply, form: AnswerFormat, taken: &Usage) -> Value {
    let reply = &answer.reply;
    let content: Value = match form {
        AnswerFormat::Text => reply.text().into(),
        AnswerFormat::Blocks => reply.content.iter().filter_map(block).collect(),
    };
    json!({
        "role": "assistant",
        "content": content,
        "model": answer.model,
        "stop_reason": stop(&reply.stop),
        "usage": {
            "input_tokens": taken.input,
            "output_tokens": taken.output,
            "cache_read_input_tokens": taken.cache_read,
            "cache_creation_input_tokens": taken.cache_write_5m.saturating_add(taken.cache_write_1h),
        },
    })
}

fn block(block: &Block) -> Option<Value> {
    Some(match &block.kind {
        BlockKind::Text { text } => json!({"type": "text", "text": text}),
        BlockKind::Thinking { text, signature } => {
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        BlockKind::ToolUse { id, name, input } => {
            let input = match input {
                ToolInput::Json(raw) => raw.to().unwrap_or_else(|_| raw.get().into()),
                ToolInput::Invalid(text) => Value::from(text.as_str()),
            };
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
        // What only the provider can read goes to the face as it came.
        _ => block.raw.as_ref()?.to().ok()?,
    })
}

fn stop(stop: &StopReason) -> &str {
    match stop {
        StopReason::StopSequence(_) => "stop_sequence",
        StopReason::MaxTokens => "max_tokens",
        StopReason::ToolUse => "tool_use",
        StopReason::PauseTurn => "pause_turn",
        StopReason::Refusal | StopReason::ContentFilter => "refusal",
        StopReason::ContextWindow => "model_context_window_exceeded",
        StopReason::Other(other) => other,
        _ => "end_turn",
    }
}
