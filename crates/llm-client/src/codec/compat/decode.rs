use indexmap::IndexMap;
use llm_types::{Block, Cost, CostSource, ModelInfo, Raw, Reply, StopReason, Usage, Usd};
use serde_json::value::RawValue;

use super::dialect::Dialect;
use super::reply_builder::ReplyBuilder;
use super::wire::{Chunk, WireMessage};
use crate::Error;
use crate::codec::fields::Fields;
use crate::codec::{RequestContext, error_body};

/// The fields of an assistant object that can be sent back.
pub(super) const ECHOED: [&str; 6] = [
    "role",
    "content",
    "tool_calls",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
];

/// Reads a whole reply.
pub(super) fn reply(
    context: &RequestContext,
    mut draft: ReplyBuilder,
    body: &[u8],
) -> Result<Reply, Error> {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}');
    let unreadable = |why: &str| {
        let text = context.excerpt(text);
        Error::bad_response(format!("expected a chat completion, {why}: {text}"))
            .with_context(error_body::context(&context.headers))
    };
    let chunk: Chunk<'_> = serde_json::from_str(text).map_err(|_| unreadable("got"))?;
    if let Some(error) = chunk.error(text) {
        return Err(context.fault(error));
    }
    let choice = chunk.choices.as_ref().and_then(|choices| choices.first());
    let choice = choice.ok_or_else(|| unreadable("got none"))?;
    if let Some(error) = choice.error {
        return Err(context.fault(error));
    }
    let message = choice.message.ok_or_else(|| unreadable("got none"))?;
    let said: WireMessage<'_> =
        serde_json::from_str(message.get()).map_err(|_| unreadable("got another message"))?;

    draft.take_whole(&said);
    let finish = choice.finish_reason.filled();
    let content = draft.blocks(cuts(finish), None);
    let parts = ReplyParts {
        id: chunk.id.filled(),
        model: chunk.model.filled(),
        stop: stop(finish, &draft),
        native: choice.native_finish_reason,
        usage: chunk.usage,
    };
    let mut reply = parts.reply(context, &draft.dialect, content);
    reply.raw = Raw::parse(text).map_err(|_| unreadable("got"))?;
    reply.message_raw = echo(message, &draft);
    Ok(reply)
}

/// The parts that a reply and a stream share, in addition to the message.
pub(super) struct ReplyParts<'a> {
    pub id: Option<&'a str>,
    pub model: Option<&'a str>,
    pub stop: StopReason,
    pub native: Option<&'a RawValue>,
    pub usage: Option<&'a RawValue>,
}

impl ReplyParts<'_> {
    /// Builds the reply without its raw texts; the client adds cost and attempts.
    pub fn reply(self, context: &RequestContext, dialect: &Dialect, content: Vec<Block>) -> Reply {
        let model = self.model.unwrap_or(&context.origin.model);
        let mut reply = Reply::new(model, content, self.stop);
        reply.id = self.id.unwrap_or_default().into();
        reply.stop_details = self.native.map(copy);
        reply.usage = usage(self.usage);
        reply.cost = cost(dialect, self.usage);
        reply.request_id = context.request_id();
        reply
    }
}

pub(super) fn copy(raw: &RawValue) -> Raw {
    Raw::from(raw.to_owned())
}

/// The stop reason. Tool calls override the server's `stop`, unless the last call may be cut.
pub(super) fn stop(finish: Option<&str>, draft: &ReplyBuilder) -> StopReason {
    match finish.unwrap_or("stop") {
        "length" => StopReason::MaxTokens,
        _ if draft.has_calls() => StopReason::ToolUse,
        _ if draft.refuses() => StopReason::Refusal,
        "stop" => StopReason::EndTurn,
        "content_filter" => StopReason::ContentFilter,
        "error" => StopReason::Error,
        other => StopReason::Other(other.to_owned()),
    }
}

/// Whether the answer may end anywhere, so that the arguments of its calls may be incomplete.
pub(super) fn cuts(finish: Option<&str>) -> bool {
    matches!(finish, Some("content_filter" | "error"))
}

/// The received message, reduced to the fields that can be sent back, with the client's ids.
fn echo(message: &RawValue, draft: &ReplyBuilder) -> Option<Raw> {
    let fields = Fields::of(message.get())?;
    let renamed = draft
        .changed_ids()
        .and_then(|ids| rename(&fields.list("tool_calls")?, &ids));
    let kept: IndexMap<_, _> = fields
        .iter()
        .filter(|(name, _)| ECHOED.contains(name))
        .map(|(name, raw)| match &renamed {
            Some(calls) if name == "tool_calls" => (name, calls.as_ref()),
            _ => (name, raw),
        })
        .collect();
    Raw::of(&kept).ok()
}

fn rename(calls: &[&RawValue], ids: &[&str]) -> Option<Box<RawValue>> {
    let renamed: Option<Vec<_>> = calls
        .iter()
        .zip(ids)
        .map(|(call, id)| {
            let id = serde_json::value::to_raw_value(id).ok()?;
            let mut fields: IndexMap<String, Box<RawValue>> =
                serde_json::from_str(call.get()).ok()?;
            fields.insert("id".to_owned(), id);
            Some(fields)
        })
        .collect();
    serde_json::value::to_raw_value(&renamed?).ok()
}

/// The usage; a number that is missing or unreadable is zero and marks the usage as unknown.
pub(super) fn usage(raw: Option<&RawValue>) -> Usage {
    let Some((raw, fields)) = raw.and_then(|raw| Some((raw, Fields::of(raw.get())?))) else {
        return Usage::default();
    };
    let (prompt, output) = (
        fields.count("prompt_tokens"),
        fields.count("completion_tokens"),
    );
    let of_prompt = fields.object("prompt_tokens_details").unwrap_or_default();
    let of_output = fields
        .object("completion_tokens_details")
        .unwrap_or_default();
    let cache_read = of_prompt.count("cached_tokens").unwrap_or(0);
    let cache_write = of_prompt.count("cache_write_tokens").unwrap_or(0);
    let server_tools = fields.object("server_tool_use").unwrap_or_default();
    let mut usage = Usage::default();
    usage.input = prompt
        .unwrap_or(0)
        .saturating_sub(cache_read)
        .saturating_sub(cache_write);
    usage.cache_write_5m = cache_write;
    usage.cache_read = cache_read;
    usage.output = output.unwrap_or(0);
    usage.thinking = of_output.count("reasoning_tokens");
    usage.server_tools = server_tools
        .iter()
        .filter_map(|(tool, _)| Some((tool.to_owned(), server_tools.count(tool)?)))
        .collect();
    usage.raw = Some(copy(raw));
    usage.known = prompt.is_some() && output.is_some();
    usage
}

fn cost(dialect: &Dialect, usage: Option<&RawValue>) -> Cost {
    let dollars = usage
        .filter(|_| dialect.cost_in_usage)
        .and_then(|raw| serde_json::from_str(Fields::of(raw.get())?.raw("cost")?.get()).ok());
    match dollars.and_then(Usd::from_dollars) {
        Some(usd) => Cost::new(usd, CostSource::Provider),
        None => Cost::UNKNOWN,
    }
}

/// Reads the list of models.
pub(super) fn models(context: &RequestContext, body: &[u8]) -> Result<Vec<ModelInfo>, Error> {
    let text = String::from_utf8_lossy(body);
    let rows = Fields::of(&text).and_then(|fields| fields.list("data"));
    let rows = rows.ok_or_else(|| {
        let text = context.excerpt(&text);
        Error::bad_response(format!("expected a list of models, got: {text}"))
            .with_context(error_body::context(&context.headers))
    })?;
    Ok(rows.into_iter().filter_map(model).collect())
}

fn model(row: &RawValue) -> Option<ModelInfo> {
    let fields = Fields::of(row.get())?;
    let provider = fields.object("top_provider").unwrap_or_default();
    let mut model = ModelInfo::new(fields.text("id")?, copy(row));
    model.lifecycle = fields.text("lifecycle");
    model.retires_at = fields
        .text("retires_at")
        .or_else(|| fields.text("expiration_date"));
    model.max_input = fields
        .count("context_length")
        .or_else(|| fields.count("max_model_len"));
    model.max_output = provider.count("max_completion_tokens");
    Some(model)
}
