use llm_types::{
    Block, BlockKind, Count, CountSource, ModelInfo, Raw, Reply, StopReason, ToolInput, Usage,
};
use serde_json::value::RawValue;

use crate::codec::fields::Fields;
use crate::codec::{CallIds, RequestContext, error_body};
use crate::{Error, ErrorKind};

/// The error in an object with an `error` field.
fn fault(context: &RequestContext, envelope: &Fields<'_>, object: &RawValue) -> Error {
    let mut error = context.located(context.fault(object));
    let request_id = &mut error.context_mut().request_id;
    *request_id = request_id.take().or_else(|| envelope.text("request_id"));
    error
}

/// The error of a body that is not `what` was asked for.
fn bad_response(context: &RequestContext, what: &str, body: &[u8]) -> Error {
    if body.trim_ascii().is_empty() {
        return Error::bad_response("it is empty");
    }
    let text = context.excerpt(&String::from_utf8_lossy(body));
    Error::bad_response(format!("{what}: {text}"))
}

/// The error in the object, or of a body that is not `what` was asked for.
pub(super) fn fault_or_bad(
    context: &RequestContext,
    fields: &Fields<'_>,
    what: &str,
    body: &[u8],
) -> Error {
    match fields.raw("error") {
        Some(object) => fault(context, fields, object),
        None => bad_response(context, what, body),
    }
}

/// Decodes a whole reply.
pub(super) fn reply(context: &RequestContext, body: &[u8]) -> Result<Reply, Error> {
    let (whole, fields) = object(context, body)?;
    let kind = fields.word("type");
    let content = fields.list("content");
    if kind.as_deref() == Some("error") || content.is_none() {
        if let Some(object) = fields.raw("error") {
            return Err(fault(context, &fields, object));
        }
        // A reply without content is one only if it says so.
        if kind.as_deref() != Some("message") {
            return Err(bad_response(context, "it is not a message", body));
        }
    }
    let mut blocks = Vec::new();
    let mut ids = CallIds::default();
    for raw in content.unwrap_or_default() {
        let kind = block_kind(&fields_of(raw))?;
        let mut block = received(context, kind, raw.to_owned().into());
        settle_id(&mut ids, &mut block);
        blocks.push(block);
    }
    let usage = fields.raw("usage").map_or_else(Usage::default, |raw| {
        usage(&fields_of(raw), Some(raw.to_owned().into()))
    });
    let raw = whole.to_owned().into();
    Ok(assemble(context, &fields, blocks, usage, raw))
}

/// Builds the reply of these parts.
pub(super) fn assemble(
    context: &RequestContext,
    fields: &Fields<'_>,
    content: Vec<Block>,
    usage: Usage,
    raw: Raw,
) -> Reply {
    // The client knows the price, what was tried before and what was changed.
    let model = fields.text("model").unwrap_or_default();
    let mut reply = Reply::new(model, content, stop_reason(fields));
    reply.id = fields.text("id").unwrap_or_default();
    reply.stop_details = fields.raw("stop_details").map(|raw| raw.to_owned().into());
    reply.usage = usage;
    reply.request_id = context.request_id();
    reply.raw = raw;
    reply
}

/// Decodes a block.
pub(super) fn received(context: &RequestContext, kind: BlockKind, raw: Raw) -> Block {
    Block::new(kind)
        .raw(Some(raw))
        .origin(Some(context.origin.clone()))
}

fn object<'a>(
    context: &RequestContext,
    body: &'a [u8],
) -> Result<(&'a RawValue, Fields<'a>), Error> {
    let whole: Option<&RawValue> = serde_json::from_slice(body).ok();
    whole
        .and_then(|whole| Some((whole, Fields::of(whole.get())?)))
        .ok_or_else(|| bad_response(context, "it is not a JSON object", body))
}

/// The fields of an object; no fields for any other value.
pub(super) fn fields_of(raw: &RawValue) -> Fields<'_> {
    Fields::of(raw.get()).unwrap_or_default()
}

/// Decodes the kind of a block.
pub(super) fn block_kind(fields: &Fields<'_>) -> Result<BlockKind, Error> {
    let kind = fields.word("type").unwrap_or_default();
    let text = |name: &str| fields.text(name).unwrap_or_default();
    Ok(match &*kind {
        "text" => BlockKind::Text {
            text: essential(fields, "text")?,
        },
        "thinking" => BlockKind::Thinking {
            text: essential(fields, "thinking")?,
            signature: fields.text("signature"),
        },
        "redacted_thinking" => BlockKind::RedactedThinking,
        "tool_use" => BlockKind::ToolUse {
            id: text("id"),
            name: text("name"),
            input: tool_input(fields),
        },
        "server_tool_use" => BlockKind::ServerToolUse {
            id: text("id"),
            name: text("name"),
        },
        _ if kind.ends_with("_tool_result") => BlockKind::ServerToolResult {
            tool_use_id: text("tool_use_id"),
            error_code: fields
                .object("content")
                .and_then(|content| content.text("error_code")),
            kind: kind.into_owned(),
        },
        _ => BlockKind::Other {
            kind: kind.into_owned(),
        },
    })
}

/// A text that may be absent; one that cannot be read is an error.
fn essential(fields: &Fields<'_>, name: &str) -> Result<String, Error> {
    match (fields.raw(name), fields.word(name)) {
        (_, Some(text)) => Ok(text.into_owned()),
        (None, None) => Ok(String::new()),
        (Some(_), None) => Err(Error::protocol(format!(
            "the {name} of a block is not a text"
        ))),
    }
}

fn tool_input(fields: &Fields<'_>) -> ToolInput {
    let input = fields
        .raw("input")
        .map(|raw| raw.to_owned().into())
        .or_else(|| Raw::parse("{}").ok());
    input.map_or_else(|| ToolInput::Invalid(String::new()), ToolInput::Json)
}

/// Assigns the id of a tool call. With another id than the server's the block's raw text is dropped.
pub(super) fn settle_id(ids: &mut CallIds, block: &mut Block) {
    let BlockKind::ToolUse { id, .. } = &mut block.kind else {
        return;
    };
    let settled = ids.settle(id.clone(), |_| false);
    if *id != settled {
        *id = settled;
        block.raw = None;
    }
}

fn stop_reason(fields: &Fields<'_>) -> StopReason {
    let reason = fields.word("stop_reason").unwrap_or_default();
    match &*reason {
        "end_turn" => StopReason::EndTurn,
        "stop_sequence" => StopReason::StopSequence(fields.text("stop_sequence")),
        "max_tokens" => StopReason::MaxTokens,
        "tool_use" => StopReason::ToolUse,
        "pause_turn" => StopReason::PauseTurn,
        "refusal" => StopReason::Refusal,
        "model_context_window_exceeded" => StopReason::ContextWindow,
        _ => StopReason::Other(reason.into_owned()),
    }
}

/// The tokens of a call; `raw` is the object that `fields` are of.
pub(super) fn usage(fields: &Fields<'_>, raw: Option<Raw>) -> Usage {
    let within = |name: &str| fields.object(name).unwrap_or_default();
    let tokens = |name: &str| fields.count(name).unwrap_or(0);
    let server_tools = within("server_tool_use");
    let written = within("cache_creation");
    let one_hour = written.count("ephemeral_1h_input_tokens").unwrap_or(0);
    let five_minutes = written.count("ephemeral_5m_input_tokens").unwrap_or(0);
    // The sum alone says nothing of how long: the default life is five minutes.
    let undivided = tokens("cache_creation_input_tokens").saturating_sub(one_hour);
    let mut usage = Usage::default();
    usage.input = tokens("input_tokens");
    usage.cache_write_5m = five_minutes.max(undivided);
    usage.cache_write_1h = one_hour;
    usage.cache_read = tokens("cache_read_input_tokens");
    usage.output = tokens("output_tokens");
    usage.thinking = within("output_tokens_details").count("thinking_tokens");
    usage.server_tools = server_tools
        .iter()
        .filter_map(|(name, _)| Some((name.to_owned(), server_tools.count(name)?)))
        .collect();
    usage.known = ["input_tokens", "output_tokens"]
        .iter()
        .any(|name| fields.count(name).is_some());
    usage.raw = raw;
    usage
}

/// The answer of the counting route.
pub(super) fn count(context: &RequestContext, body: &[u8]) -> Result<Count, Error> {
    let (_, fields) = object(context, body)?;
    let Some(tokens) = fields.count("input_tokens") else {
        return Err(fault_or_bad(
            context,
            &fields,
            "it has no input_tokens",
            body,
        ));
    };
    let source = match fields.text("litellm_count_source") {
        None => CountSource::Exact,
        Some(method) => CountSource::Estimate {
            method,
            reason: "the server itself calls its count an estimate".to_owned(),
        },
    };
    Ok(Count::new(tokens, source))
}

/// The error of a 404 of the counting route: the service's own error means an unknown model, anything else a missing
/// route.
pub(super) fn count_not_found(context: &RequestContext, body: &[u8]) -> Error {
    let text = String::from_utf8_lossy(body);
    let error = Fields::of(&text).and_then(|fields| fields.object("error"));
    let field = |name| error.as_ref().and_then(|error| error.text(name));
    let kind = field("type");
    if kind.as_deref() == Some("not_found_error") {
        return error_body::from_response(context, 404, body);
    }
    let message = field("message").unwrap_or_else(|| text.trim().to_owned());
    ErrorKind::Api {
        status: 404,
        kind,
        code: None,
        message: context.excerpt(&message),
        quota: false,
    }
    .into()
}

/// The list of models.
pub(super) fn models(context: &RequestContext, body: &[u8]) -> Result<Vec<ModelInfo>, Error> {
    let (_, fields) = object(context, body)?;
    let Some(rows) = fields.list("data") else {
        return Err(fault_or_bad(
            context,
            &fields,
            "it has no list of models",
            body,
        ));
    };
    let model = |row: &RawValue| {
        let fields = fields_of(row);
        let mut model = ModelInfo::new(fields.text("id")?, row.to_owned().into());
        model.lifecycle = fields.text("lifecycle");
        model.retires_at = fields.text("retires_at");
        model.max_input = fields.count("max_input_tokens");
        model.max_output = fields.count("max_tokens");
        Some(model)
    };
    Ok(rows.into_iter().filter_map(model).collect())
}
