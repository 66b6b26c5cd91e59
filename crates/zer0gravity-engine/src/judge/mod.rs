//! The parser of judges' replies, which never invents a number, and the points that follow from them.

mod answer;
mod braces;
pub mod flags;
mod json;
pub(crate) mod number;
mod prose;
mod reply;
pub mod score;
mod stated;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use answer::matches_expected;
pub use reply::{JudgeReply, parse_judge_reply};
pub(crate) use stated::objects_with_score;

use crate::text::{is_js_space, js_trim};

/// The way in which a judge's reply was parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum JudgeStatus {
    /// The reply is the JSON object that the prompt asks for.
    Parsed,
    /// The reply has a score in another form.
    Recovered,
    /// The reply has no score.
    Unparseable,
}

/// Returns the text of a reply: its blocks of type `text`, joined without a separator. Other blocks, and text blocks without a text,
/// are dropped.
///
/// ```
/// use serde_json::json;
/// use zer0gravity_engine::judge::reply_text;
/// let blocks = [
///     json!({"type": "thinking", "thinking": "9"}),
///     json!({"type": "text", "text": "a"}),
///     json!({"type": "text", "text": "b"}),
/// ];
/// assert_eq!(reply_text(&blocks), "ab");
/// ```
pub fn reply_text(blocks: &[Value]) -> String {
    blocks
        .iter()
        .filter(|block| block.get("type").and_then(Value::as_str) == Some("text"))
        .filter_map(|block| block.get("text").and_then(Value::as_str))
        .collect()
}

/// Returns a reply without white space at its ends, and without the code fence around it if it begins with one.
fn unfenced(raw: &str) -> &str {
    const FENCE: &str = "```";
    let text = js_trim(raw);
    let Some(inside) = text.strip_prefix(FENCE) else {
        return text;
    };
    let inside = inside
        .strip_prefix("json")
        .unwrap_or(inside)
        .trim_start_matches(is_js_space);
    js_trim(inside.strip_suffix(FENCE).unwrap_or(inside))
}
