//! Checks of requests that every provider would refuse, before anything is sent.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use llm_types::{Block, BlockKind, Message, Request, Role, Sampling, ToolSpec};
use serde_json::Value;

use crate::Error;
use crate::provider::Capabilities;

/// The fields of a body that [`Request::extra`] may not set.
const OWN_FIELDS: [&str; 3] = ["messages", "model", "stream"];

/// Returns the first problem of `request`, independent of the model.
pub(crate) fn check(request: &Request, caps: &Capabilities) -> Result<(), Error> {
    let refused = |field: &str, why: &str| Err(Error::refused(field, why));
    if request.model.trim().is_empty() {
        return refused("model", "it is empty; give the id of a model");
    }
    if request.messages.is_empty() {
        return refused("messages", "there are none; give at least one");
    }
    if request.max_tokens == Some(0) {
        return refused("max_tokens", "it is 0; give at least 1 or leave it unset");
    }
    if let Some(name) = OWN_FIELDS
        .iter()
        .find(|name| request.extra.contains_key(**name))
    {
        return Err(Error::refused(
            format!("extra.{name}"),
            "this field has its own place; set it there",
        ));
    }
    one_reply(request)?;
    sampling(&request.sampling)?;
    tools(&request.tools)?;
    if let Some(format) = &request.format {
        form(|| "format.schema".to_owned(), &format.schema)?;
    }
    pairs(&request.messages)?;
    if !caps.documents {
        documents(&request.messages)?;
    }
    Ok(())
}

/// Refuses a request for several replies: all are paid and only one is read.
fn one_reply(request: &Request) -> Result<(), Error> {
    const TIMES: [&str; 10] = [
        "",
        "",
        "twice",
        "three times",
        "four times",
        "five times",
        "six times",
        "seven times",
        "eight times",
        "nine times",
    ];
    for name in ["n", "best_of"] {
        let times = match request.extra.get(name) {
            None | Some(Value::Null) => continue,
            Some(value) => value.as_u64(),
        };
        if times == Some(1) {
            continue;
        }
        let named = times.and_then(|times| TIMES.get(usize::try_from(times).ok()?).copied());
        let how_often = match (named.filter(|name| !name.is_empty()), times) {
            (Some(named), _) => named.to_owned(),
            (None, Some(times @ 10..)) => format!("{times} times"),
            _ => "once for each".to_owned(),
        };
        return Err(Error::refused(
            format!("extra.{name}"),
            format!("only one reply is read; send the request {how_often}"),
        ));
    }
    Ok(())
}

fn sampling(sampling: &Sampling) -> Result<(), Error> {
    let within = |field: &str, value: Option<f64>, most: f64| match value {
        // NaN is in no range.
        Some(value) if !(0.0..=most).contains(&value) => Err(Error::refused(
            field,
            format!("it is {value}; give a number from 0 to {most}"),
        )),
        _ => Ok(()),
    };
    within("sampling.temperature", sampling.temperature, 2.0)?;
    within("sampling.top_p", sampling.top_p, 1.0)?;
    if sampling.top_k == Some(0) {
        return Err(Error::refused("sampling.top_k", "it is 0; give at least 1"));
    }
    Ok(())
}

fn tools(tools: &[ToolSpec]) -> Result<(), Error> {
    let mut names = BTreeSet::new();
    for tool in tools {
        let ToolSpec::Function { name, schema, .. } = tool else {
            continue;
        };
        let field = || format!("tools.{name}");
        let fits = (1..=64).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if !fits {
            return Err(Error::refused(
                field(),
                "the name needs 1 to 64 of a-z, A-Z, 0-9, _ and -",
            ));
        }
        if !names.insert(name) {
            return Err(Error::refused(field(), "two tools have this name"));
        }
        form(field, schema)?;
    }
    Ok(())
}

fn form(field: impl FnOnce() -> String, schema: &Value) -> Result<(), Error> {
    llm_types::schema::check(schema).map_err(|why| Error::refused(field(), why))
}

/// Checks that every tool call has exactly one result, at the start of the next message, and every result its call.
fn pairs(messages: &[Message]) -> Result<(), Error> {
    let mut open = Calls::new();
    for (index, message) in messages.iter().enumerate() {
        let field = || format!("messages.{index}");
        let mut after_others = false;
        for block in &message.content {
            let BlockKind::ToolResult { tool_use_id, .. } = &block.kind else {
                after_others = true;
                continue;
            };
            if message.role != Role::User {
                return Err(Error::refused(
                    field(),
                    "only a user message holds tool results",
                ));
            }
            if after_others {
                return Err(Error::refused(
                    field(),
                    "tool results come before any other block of a message",
                ));
            }
            let call = open.get_mut(tool_use_id.as_str());
            let Some(answered @ false) = call else {
                return Err(Error::refused(
                    field(),
                    format!(
                        "the result {tool_use_id:?} belongs to no open call of the message before"
                    ),
                ));
            };
            *answered = true;
        }
        unanswered(&open, field)?;
        open.clear();
        if message.role == Role::Assistant {
            open = calls(&message.content);
        }
    }
    unanswered(&open, || "messages".to_owned())
}

/// Tool calls by id, in order, and whether each has its result.
type Calls<'a> = IndexMap<&'a str, bool>;

fn unanswered(open: &Calls<'_>, field: impl FnOnce() -> String) -> Result<(), Error> {
    match open
        .iter()
        .find_map(|(id, answered)| (!answered).then_some(id))
    {
        None => Ok(()),
        Some(id) => Err(Error::refused(
            field(),
            format!("the tool call {id:?} has no result in the message after it"),
        )),
    }
}

/// The calls, each id once.
fn calls(blocks: &[Block]) -> Calls<'_> {
    let ids = blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::ToolUse { id, .. } => Some((id.as_str(), false)),
        _ => None,
    });
    ids.collect()
}

/// Refuses documents in assistant messages and requests for citations.
fn documents(messages: &[Message]) -> Result<(), Error> {
    for (index, message) in messages.iter().enumerate() {
        for block in &message.content {
            if !matches!(block.kind, BlockKind::Document(_)) {
                continue;
            }
            let field = format!("messages.{index}");
            if message.role == Role::Assistant {
                return Err(Error::refused(
                    field,
                    "this version of the protocol takes no documents in assistant messages",
                ));
            }
            let asks = block
                .raw
                .as_ref()
                .and_then(|raw| raw.to::<Value>().ok())
                .is_some_and(|raw| raw["citations"]["enabled"] == true);
            if asks {
                return Err(Error::refused(
                    field,
                    "this version of the protocol takes no citations",
                ));
            }
        }
    }
    Ok(())
}
