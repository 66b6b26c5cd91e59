//! The removal of copies: a received message holds each text twice, as it was read and in the server's form.

use llm_client::{Block, BlockKind, Message, Raw, ToolInput};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A text or a call of Anthropic without any field that is not read.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Plain {
    Text {
        #[serde(rename = "text")]
        _text: IgnoredAny,
        #[serde(default, rename = "citations")]
        _citations: Option<()>,
    },
    ToolUse {
        #[serde(rename = "id")]
        _id: IgnoredAny,
        #[serde(rename = "name")]
        _name: IgnoredAny,
        #[serde(rename = "input")]
        _input: IgnoredAny,
    },
}

/// A message of an OpenAI-compatible server without any field that is not read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainMessage {
    #[serde(default, rename = "role")]
    _role: IgnoredAny,
    #[serde(default, rename = "content")]
    _content: IgnoredAny,
    #[serde(default, rename = "refusal")]
    _refusal: Option<()>,
    #[serde(default, rename = "tool_calls")]
    _tool_calls: Option<Vec<PlainCall>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainCall {
    #[serde(default, rename = "index")]
    _index: IgnoredAny,
    #[serde(rename = "id")]
    _id: IgnoredAny,
    #[serde(default, rename = "type")]
    _type: IgnoredAny,
    #[serde(rename = "function")]
    _function: PlainFunction,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainFunction {
    #[serde(rename = "name")]
    _name: IgnoredAny,
    #[serde(rename = "arguments")]
    _arguments: IgnoredAny,
}

/// Removes the server's form from what holds nothing beyond the read values.
pub(crate) fn without_copies(message: &mut Message) {
    // Invalid arguments are sent back as the server had them.
    let is_read = |block: &Block| match &block.kind {
        BlockKind::Text { .. } => true,
        BlockKind::ToolUse { input, .. } => matches!(input, ToolInput::Json(_)),
        _ => false,
    };
    let reads_all = message.content.iter().all(is_read);
    if reads_all && message.raw.as_ref().is_some_and(is::<PlainMessage>) {
        message.raw = None;
    }
    for block in &mut message.content {
        if is_read(block) && block.raw.as_ref().is_some_and(is::<Plain>) {
            block.raw = None;
        }
    }
}

fn is<'a, T: Deserialize<'a>>(raw: &'a Raw) -> bool {
    serde_json::from_str::<T>(raw.get()).is_ok()
}

#[cfg(test)]
mod tests {
    use llm_client::Role;

    use super::*;

    fn call(input: ToolInput) -> BlockKind {
        let (id, name) = ("1".to_owned(), "block_list".to_owned());
        BlockKind::ToolUse { id, name, input }
    }

    /// Covers row H30.
    #[test]
    fn what_says_no_more_goes() {
        let text = || BlockKind::Text {
            text: "a".to_owned(),
        };
        let object = || ToolInput::Json(Raw::parse("{}").unwrap());
        for (kind, own, stays) in [
            (text(), r#"{"type":"text","text":"a"}"#, false),
            (
                text(),
                r#"{"type":"text","text":"a","citations":null}"#,
                false,
            ),
            (
                text(),
                r#"{"type":"text","text":"a","citations":[{}]}"#,
                true,
            ),
            (text(), r#"{"type":"text","text":"a","new":1}"#, true),
            (
                call(object()),
                r#"{"type":"tool_use","id":"1","name":"block_list","input":{}}"#,
                false,
            ),
            (
                call(object()),
                r#"{"type":"tool_use","id":"1","name":"block_list","input":{},"caller":{}}"#,
                true,
            ),
            (
                call(ToolInput::Invalid("{".to_owned())),
                r#"{"type":"tool_use","id":"1","name":"block_list","input":{}}"#,
                true,
            ),
            (
                BlockKind::RedactedThinking,
                r#"{"type":"redacted_thinking","data":"x"}"#,
                true,
            ),
        ] {
            let mut block = Block::new(kind);
            block.raw = Some(Raw::parse(own).unwrap());
            let mut message = Message::new(Role::Assistant, vec![block]);
            without_copies(&mut message);
            assert_eq!(message.content[0].raw.is_some(), stays, "{own}");
        }
        for (own, stays) in [
            (
                r#"{"role":"assistant","content":"a","refusal":null}"#,
                false,
            ),
            (
                r#"{"content":null,"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
                false,
            ),
            (
                r#"{"role":"assistant","content":"a","reasoning_content":"b"}"#,
                true,
            ),
            (
                r#"{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"},"extra_content":{}}]}"#,
                true,
            ),
        ] {
            let mut message = Message::new(Role::Assistant, vec![Block::new(text())]);
            message.raw = Some(Raw::parse(own).unwrap());
            without_copies(&mut message);
            assert_eq!(message.raw.is_some(), stays, "{own}");
        }
    }
}
