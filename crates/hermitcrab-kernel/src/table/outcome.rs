use pscale_blocks::store::Origins;
use serde::Serialize;
use serde_json::Value;

use crate::error::usual_hint;
use crate::{ErrorKind, ToolError};

/// The answer of a tool. A failure is data, too.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolResult {
    /// The answer, or a [`ToolError`] as JSON.
    pub content: Value,
    /// Whether the tool failed.
    pub is_error: bool,
    /// A shell is compiled and waits for a page.
    pub pending_face: bool,
    /// The tool kept its answer short itself.
    #[serde(skip)]
    pub(crate) is_piece: bool,
    /// The places outside that texts in it come from.
    #[serde(skip)]
    pub(crate) from: Origins,
}

/// The longest result in characters.
const MAX_RESULT: usize = 12_000;

impl ToolResult {
    /// The answer of a tool that succeeded.
    pub fn of(content: impl Serialize) -> Self {
        match serde_json::to_value(content) {
            Ok(content) => Self {
                content,
                is_error: false,
                pending_face: false,
                is_piece: false,
                from: Origins::default(),
            },
            Err(error) => ToolError::new(ErrorKind::Format, error.to_string()).into(),
        }
    }

    /// The same answer, with places outside that texts in it come from.
    pub(crate) fn with_from(mut self, from: &Origins) -> Self {
        self.from = Origins::union([&self.from, from]);
        self
    }

    /// A part of something long, which is not cut once more.
    #[cfg(feature = "web")]
    pub(crate) fn piece(content: impl Serialize) -> Self {
        Self {
            is_piece: true,
            ..Self::of(content)
        }
    }

    /// The error, if the tool failed.
    pub fn fault(&self) -> Option<ToolError> {
        let text = |key: &str| self.content[key].as_str().unwrap_or_default();
        let fault = ToolError::new(text("error"), text("detail")).hint(text("hint"));
        self.is_error.then_some(fault)
    }

    /// The text for the model: a text as it is, else JSON with `_` before the digits; cut where it is too long.
    pub fn text(&self) -> String {
        let text = match &self.content {
            Value::String(text) => text.clone(),
            other => {
                let mut json = String::new();
                write_json(other, &mut json);
                json
            }
        };
        let length = text.chars().count();
        if self.is_piece || length <= MAX_RESULT {
            return text;
        }
        let kept: String = text.chars().take(MAX_RESULT).collect();
        format!(
            "{kept}\n[cut after {MAX_RESULT} of {length} characters: ask for less, with a path, an offset or a limit]"
        )
    }
}

impl From<ToolError> for ToolResult {
    fn from(fault: ToolError) -> Self {
        let mut content = serde_json::Map::new();
        let usual = || usual_hint(&fault.kind).to_owned();
        let hint = fault.hint.clone().unwrap_or_else(usual);
        content.insert("error".to_owned(), fault.kind.to_string().into());
        content.insert("detail".to_owned(), fault.detail.into());
        content.insert("hint".to_owned(), hint.into());
        Self {
            content: content.into(),
            is_error: true,
            pending_face: false,
            is_piece: false,
            from: Origins::default(),
        }
    }
}

impl From<Result<Self, ToolError>> for ToolResult {
    fn from(result: Result<Self, ToolError>) -> Self {
        result.unwrap_or_else(Self::from)
    }
}

/// Compact JSON with the key `_` first, as blocks are written.
fn write_json(value: &Value, into: &mut String) {
    match value {
        Value::Object(map) => {
            into.push('{');
            let own = map.get_key_value("_").into_iter();
            let others = map.iter().filter(|(key, _)| *key != "_");
            for (index, (key, value)) in own.chain(others).enumerate() {
                if index > 0 {
                    into.push(',');
                }
                into.push_str(&Value::from(key.as_str()).to_string());
                into.push(':');
                write_json(value, into);
            }
            into.push('}');
        }
        Value::Array(items) => {
            into.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    into.push(',');
                }
                write_json(item, into);
            }
            into.push(']');
        }
        other => into.push_str(&other.to_string()),
    }
}
