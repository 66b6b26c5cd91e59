use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::json;

use crate::model::{CountRequest, ModelLabel, ModelRequest};
use crate::prompts::Role;
use crate::rules::codec::LEXICAL_JUDGE_VERSION;
use crate::text::hash;

/// The version of what goes into a key.
const VERSION: u32 = 1;

/// The SHA-256 of what a call asks, of whom, and which of its repetitions it is, as canonical JSON; 64 hex digits as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallKey([u8; 32]);

impl CallKey {
    /// The key of a question to a role.
    pub fn of_message(request: &ModelRequest, label: &ModelLabel) -> Self {
        let prompt = &request.prompt;
        let mut identity = json!({
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
        });
        if let Some(temperature) = request.temperature {
            // Minus zero is zero, as in a plan.
            identity["temperature"] = (temperature + 0.0).into();
        }
        // The program that judges offline is a part of what is asked, as a model is.
        if label.offline && request.role == Role::SemanticJudge {
            identity["lexical_judge"] = LEXICAL_JUDGE_VERSION.into();
        }
        Self::of(identity)
    }

    /// The key of a count.
    pub fn of_count(request: &CountRequest, label: &ModelLabel) -> Self {
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
        Self(hash::canonical_sha256_bytes(identity))
    }
}

impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&hex::encode(self.0))
    }
}

impl Serialize for CallKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CallKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        let mut bytes = [0; 32];
        match hex::decode_to_slice(&text, &mut bytes) {
            Ok(()) if is_lower => Ok(Self(bytes)),
            _ => Err(de::Error::invalid_value(
                de::Unexpected::Str(&text),
                &"64 hex digits in lower case",
            )),
        }
    }
}
