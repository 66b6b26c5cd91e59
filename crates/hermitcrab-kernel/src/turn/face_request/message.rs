//! Messages that a face wrote, in the form of the Messages API.

use llm_client::{Block, BlockKind, MediaSource, Message, Raw, Role, ToolInput};
use serde_json::{Value, json};

use crate::turn::MAX_INPUT;
use crate::{ErrorKind, ToolError};

/// The media types of pictures and documents.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const DOCUMENTS: [&str; 2] = ["application/pdf", "text/plain"];

/// The messages of a face: one text, or a list.
pub(super) fn messages(given: &Value) -> Result<Vec<Message>, ToolError> {
    match given {
        Value::String(words) => Ok(vec![Message::new(
            Role::User,
            vec![text(words, "messages")?],
        )]),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(at, item)| message(item, &format!("messages[{at}]")))
                .collect()
        }
        _ => Err(wrong("messages", "a list of {role, content}")),
    }
}

/// Instructions: one text, or a list of text blocks.
pub(super) fn system(given: &Value) -> Result<Vec<Block>, ToolError> {
    match given {
        Value::Null => Ok(Vec::new()),
        given => blocks(given, "system", Role::System),
    }
}

pub(super) fn wrong(at: &str, expected: &str) -> ToolError {
    ToolError::new(ErrorKind::BadArguments, format!("{at} is {expected}"))
}

fn message(given: &Value, at: &str) -> Result<Message, ToolError> {
    let role = match given["role"].as_str() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => return Err(wrong(&format!("{at}.role"), "user, assistant or system")),
    };
    let content = blocks(&given["content"], &format!("{at}.content"), role)?;
    Ok(Message::new(role, content))
}

fn blocks(given: &Value, at: &str, role: Role) -> Result<Vec<Block>, ToolError> {
    match given {
        Value::String(words) => Ok(vec![text(words, at)?]),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(n, item)| block(item, &format!("{at}[{n}]"), role))
                .collect()
        }
        _ => Err(wrong(at, "a text or a list of blocks")),
    }
}

fn block(given: &Value, at: &str, role: Role) -> Result<Block, ToolError> {
    let string = |name: &str| {
        let found = given[name].as_str();
        found.ok_or_else(|| wrong(&format!("{at}.{name}"), "a text"))
    };
    let kind = match (string("type")?, role) {
        ("text", _) => return text(string("text")?, at),
        ("image", Role::User) => BlockKind::Image(media(&given["source"], at, &IMAGES)?),
        ("document", Role::User) => BlockKind::Document(media(&given["source"], at, &DOCUMENTS)?),
        ("tool_result", Role::User) => BlockKind::ToolResult {
            tool_use_id: string("tool_use_id")?.to_owned(),
            content: match &given["content"] {
                Value::Null => Vec::new(),
                // Results hold no results.
                content => result(content, &format!("{at}.content"))?,
            },
            is_error: given["is_error"] == true,
        },
        ("tool_use", Role::Assistant) => BlockKind::ToolUse {
            id: string("id")?.to_owned(),
            name: string("name")?.to_owned(),
            input: match &given["input"] {
                input @ Value::Object(_) => ToolInput::Json(raw(input, at)?),
                _ => return Err(wrong(&format!("{at}.input"), "an object")),
            },
        },
        ("thinking", Role::Assistant) => BlockKind::Thinking {
            text: string("thinking")?.to_owned(),
            signature: Some(string("signature")?.to_owned()),
        },
        ("redacted_thinking", Role::Assistant) => {
            let data = string("data")?;
            let mut block = Block::new(BlockKind::RedactedThinking);
            let own = json!({"type": "redacted_thinking", "data": data});
            block.raw = Some(raw(&own, at)?);
            return Ok(block);
        }
        (other, _) => {
            let other: String = other.chars().take(40).collect();
            let detail = format!("{at}: a block of type {other:?} is not allowed here");
            return Err(ToolError::new(ErrorKind::BadArguments, detail));
        }
    };
    Ok(Block::new(kind))
}

/// The result of a tool of the face.
fn result(given: &Value, at: &str) -> Result<Vec<Block>, ToolError> {
    let blocks = blocks(given, at, Role::User)?;
    let plain = |block: &Block| matches!(block.kind, BlockKind::Text { .. } | BlockKind::Image(_));
    if blocks.iter().all(plain) {
        return Ok(blocks);
    }
    Err(wrong(at, "a text or a list of texts and images"))
}

fn text(words: &str, at: &str) -> Result<Block, ToolError> {
    let size = words.chars().count();
    if size > MAX_INPUT {
        let detail = format!("{at} has {size} characters, more than {MAX_INPUT}");
        return Err(ToolError::new(ErrorKind::TooLarge, detail).hint("send less at once"));
    }
    Ok(Block::text(words))
}

/// Bytes of the face's own. What the provider would have to fetch is refused: it is a way out of the frame.
fn media(source: &Value, at: &str, types: &[&str]) -> Result<MediaSource, ToolError> {
    let part = |name: &str| source[name].as_str();
    let (Some("base64"), Some(media_type), Some(data)) =
        (part("type"), part("media_type"), part("data"))
    else {
        let form = "{type: \"base64\", media_type, data}";
        return Err(wrong(&format!("{at}.source"), form));
    };
    if !types.contains(&media_type) {
        let all = format!("one of {}", types.join(", "));
        return Err(wrong(&format!("{at}.source.media_type"), &all));
    }
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    if data.is_empty() || !data.bytes().all(is_base64) {
        return Err(wrong(&format!("{at}.source.data"), "base64"));
    }
    Ok(MediaSource::Base64 {
        media_type: media_type.to_owned(),
        data: data.to_owned(),
    })
}

fn raw(value: &Value, at: &str) -> Result<Raw, ToolError> {
    Raw::of(value)
        .map_err(|error| ToolError::new(ErrorKind::BadArguments, format!("{at}: {error}")))
}
