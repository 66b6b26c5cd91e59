use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::hash::canonical_sha256;
use crate::{CountRequest, ModelRequest, PortLabel};

/// The version of what goes into a key.
const VERSION: u32 = 1;

/// What a call asks, of whom, and which of its repetitions it is: SHA-256 of canonical JSON, in hex.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallKey(String);

impl CallKey {
    /// The key of a question to a role.
    pub fn of_message(request: &ModelRequest, label: &PortLabel) -> Self {
        let prompt = &request.prompt;
        Self::of(json!({
            "version": VERSION,
            "endpoint": "messages",
            "provider": label.provider,
            "host": label.host,
            "model": request.model,
            "system": prompt.system,
            "messages": prompt.messages,
            "max_tokens": prompt.max_tokens,
            "json_schema": prompt.json_schema,
            "repeat": request.repeat,
        }))
    }

    /// The key of a count.
    pub fn of_count(request: &CountRequest, label: &PortLabel) -> Self {
        Self::of(json!({
            "version": VERSION,
            "endpoint": "count_tokens",
            "provider": label.provider,
            "host": label.host,
            "model": request.model,
            "messages": [{ "role": "user", "content": request.text }],
        }))
    }

    fn of(identity: serde_json::Value) -> Self {
        Self(canonical_sha256(identity))
    }

    /// 64 hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
