use std::time::Duration;

use serde::{Deserialize, Deserializer, de};
use serde_json::Value;
use serde_json::value::RawValue;

use super::last_user_text;
use crate::lines::{self, Fault};
use crate::types::{BlockKind, Request, Role, StopReason};

/// What a [`super::Script`] says to which requests.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Which requests it is for; by default all. In JSON: `match`.
    #[serde(default, rename = "match")]
    pub when: RuleMatch,
    /// What is said.
    pub reply: RuleReply,
}

/// Which requests a rule is for: those that meet every condition that is set.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleMatch {
    /// The last user text holds this.
    pub user_contains: Option<String>,
    /// The system text, or a system message, holds this.
    pub system_contains: Option<String>,
    /// This model is asked for.
    pub model: Option<String>,
    /// The last message holds a result of a tool, or does not.
    pub has_tool_result: Option<bool>,
    /// It is this attempt, from 0, that meets the other conditions. Attempts count for a rule even when an earlier
    /// rule answers them.
    pub nth: Option<u64>,
}

/// What a rule says: a text, tool calls or both; or JSON; or an error.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleReply {
    /// A text.
    pub text: Option<String>,
    /// Tool calls, after the text.
    pub tool_calls: Vec<RuleTool>,
    /// This value as a text of JSON without white space.
    #[serde(deserialize_with = "present")]
    pub json: Option<Value>,
    /// Why the reply ends. Unset: [`StopReason::ToolUse`] with tool calls, else [`StopReason::EndTurn`]. Alone, it
    /// makes a reply without content.
    pub stop: Option<StopReason>,
    /// No reply but the error of a server.
    pub error: Option<RuleError>,
    /// A stream breaks off after this many pieces of text, or before its last event; a whole reply stays whole.
    pub stream_cut_after: Option<usize>,
    /// What is waited before the reply or the error; in JSON, a number of seconds.
    #[serde(deserialize_with = "seconds")]
    pub delay: Option<Duration>,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleTool {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub input: Value,
}

/// An error as a server sends it; it is read like a server's.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleError {
    /// The HTTP status, 400 to 599.
    pub status: u16,
    /// The error's type, such as `overloaded_error`. In JSON: `type`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The header `retry-after`, in seconds.
    #[serde(default)]
    pub retry_after: Option<f64>,
}

/// A JSON null is a value here, not an absent field.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    Option::<f64>::deserialize(deserializer)?
        .map(Duration::try_from_secs_f64)
        .transpose()
        .map_err(de::Error::custom)
}

impl Rule {
    /// Reads a JSON array of rules.
    pub(super) fn list(json: &str) -> Result<Vec<Self>, Fault> {
        let parts: Vec<&RawValue> = lines::read(json)?;
        parts
            .into_iter()
            .map(|part| {
                let rule: Self = lines::read_part(json, part)?;
                rule.check().map_err(|why| Fault {
                    line: lines::line_of(json, part),
                    why: why.to_owned(),
                })?;
                Ok(rule)
            })
            .collect()
    }

    /// What the types cannot say.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let reply = &self.reply;
        let says = reply.text.is_some() || !reply.tool_calls.is_empty();
        if let Some(error) = &reply.error {
            if says
                || reply.json.is_some()
                || reply.stop.is_some()
                || reply.stream_cut_after.is_some()
            {
                return Err("a reply with an error has nothing else but a delay");
            }
            if !(400..600).contains(&error.status) {
                return Err("the status of an error is 400 to 599");
            }
        } else if says && reply.json.is_some() {
            return Err("a reply has json or text and tool_calls, not both");
        } else if !says && reply.json.is_none() && reply.stop.is_none() {
            return Err("a reply needs text, tool_calls, json, stop or error");
        }
        Ok(())
    }
}

/// What conditions are about.
pub(super) struct Facts<'a> {
    pub user: String,
    system: Vec<String>,
    pub model: &'a str,
    pub has_tool_result: bool,
}

impl<'a> Facts<'a> {
    pub fn of(request: &Request, model: &'a str) -> Self {
        let messages = request
            .messages
            .iter()
            .filter(|message| message.role == Role::System)
            .map(crate::Message::text);
        let system = request
            .system
            .iter()
            .filter_map(|block| block.as_text().map(str::to_owned));
        Self {
            user: last_user_text(request),
            system: system.chain(messages).collect(),
            model,
            has_tool_result: request.messages.last().is_some_and(|message| {
                message
                    .content
                    .iter()
                    .any(|block| matches!(block.kind, BlockKind::ToolResult { .. }))
            }),
        }
    }
}

impl RuleMatch {
    /// All conditions but `nth` are met.
    pub(super) fn meets(&self, facts: &Facts<'_>) -> bool {
        let Self {
            user_contains,
            system_contains,
            model,
            has_tool_result,
            nth: _,
        } = self;
        user_contains
            .as_ref()
            .is_none_or(|text| facts.user.contains(text))
            && system_contains
                .as_ref()
                .is_none_or(|text| facts.system.iter().any(|system| system.contains(text)))
            && model.as_ref().is_none_or(|model| model == facts.model)
            && has_tool_result.is_none_or(|has| has == facts.has_tool_result)
    }
}
