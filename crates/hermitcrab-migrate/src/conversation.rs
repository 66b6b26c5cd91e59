use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The number of last messages that are kept.
const KEPT: usize = 20;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "a past conversation has two sides")]
pub enum MessageRole {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// A message of the conversation before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PastMessage {
    /// The author.
    pub role: MessageRole,
    /// The text, without tool calls and their results.
    pub text: String,
}

/// The last messages as texts: the first is from the person, and the authors alternate. `None` if `json` is not a list of
/// messages.
pub(crate) fn messages(json: &str) -> Option<Vec<PastMessage>> {
    let all: Vec<Value> = serde_json::from_str(json).ok()?;
    let mut messages: Vec<PastMessage> = Vec::new();
    for message in &all[all.len().saturating_sub(KEPT)..] {
        let role = match message["role"].as_str() {
            Some("user") => MessageRole::User,
            Some("assistant") => MessageRole::Assistant,
            _ => continue,
        };
        let text = text(&message["content"]);
        match messages.last_mut() {
            _ if text.trim().is_empty() => {}
            None if role == MessageRole::Assistant => {}
            Some(last) if last.role == role => {
                last.text.push_str("\n\n");
                last.text.push_str(&text);
            }
            _ => messages.push(PastMessage { role, text }),
        }
    }
    Some(messages)
}

fn text(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    let texts = blocks.filter(|block| block["type"] == "text");
    let texts: Vec<_> = texts.filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n\n")
}
