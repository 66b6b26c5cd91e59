use bytes::Bytes;
use indexmap::IndexMap;
use llm_types::{
    Block, BlockKind, MediaSource, Message, Request, Role, Thinking, ToolChoice, ToolInput,
    ToolSpec,
};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::decode::ECHOED;
use super::dialect::Dialect;
use super::reply_builder::SentCall;
use crate::Error;
use crate::codec::fields::Fields;
use crate::codec::{Body, NO_FORM};
use crate::dialect::{MaxTokensField, ReasoningField, StreamUsage, SystemRole, ThinkingField};
use crate::provider::StructuredMode;

/// The receiver of a request.
#[derive(Clone, Copy)]
struct Addressee<'a> {
    dialect: &'a Dialect,
    provider: &'a str,
    model: &'a str,
}

/// The body of `request` for `model`.
pub(super) fn body(
    dialect: &Dialect,
    provider: &str,
    request: &Request,
    model: &str,
    streams: bool,
) -> Result<Bytes, Error> {
    let to = Addressee {
        dialect,
        provider,
        model,
    };
    let sampling = &request.sampling;
    let mut body = Body::default();
    body.set("model", model)?;
    body.set("messages", &to.messages(request)?)?;
    let max_tokens = match dialect.max_tokens_field {
        MaxTokensField::MaxTokens => "max_tokens",
        MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
    };
    body.set_some(max_tokens, request.max_tokens)?;
    body.set_some("temperature", sampling.temperature)?;
    body.set_some("top_p", sampling.top_p)?;
    body.set_some("top_k", sampling.top_k.filter(|_| dialect.top_k))?;
    body.set_some("seed", sampling.seed.filter(|_| dialect.seed))?;
    if !request.stop.is_empty() {
        body.set("stop", &request.stop)?;
    }
    set_tools(&mut body, dialect, request)?;
    body.set_some("response_format", response_format(dialect, request))?;
    match dialect.thinking {
        ThinkingField::None => {}
        ThinkingField::Effort => body.set_some("reasoning_effort", request.effort.as_deref())?,
        ThinkingField::Object => body.set_some("reasoning", reasoning(request)?)?,
    }
    body.set_some("user", request.user_id.as_deref())?;
    if streams {
        body.set("stream", &true)?;
        if dialect.stream_usage == StreamUsage::Send {
            body.set("stream_options", &json!({ "include_usage": true }))?;
        }
    }
    body.finish(&request.extra)
}

fn set_tools(body: &mut Body, dialect: &Dialect, request: &Request) -> Result<(), Error> {
    if request.tools.is_empty() {
        // Servers refuse a choice where there is nothing to choose.
        return Ok(());
    }
    if !dialect.tools {
        return Err(Error::refused(
            "tools",
            "this server takes no tools; ask without them",
        ));
    }
    let tools = request.tools.iter().map(tool);
    body.set("tools", &tools.collect::<Result<Vec<_>, _>>()?)?;
    match &request.tool_choice {
        ToolChoice::Unset => Ok(()),
        ToolChoice::Auto { parallel } => {
            body.set("tool_choice", "auto")?;
            body.set_some(
                "parallel_tool_calls",
                parallel.filter(|_| dialect.parallel_flag),
            )
        }
        ToolChoice::Any => body.set("tool_choice", "required"),
        ToolChoice::None => body.set("tool_choice", "none"),
        ToolChoice::Tool(name) => body.set(
            "tool_choice",
            &json!({ "type": "function", "function": { "name": name } }),
        ),
        _ => Err(Error::refused("tool_choice", NO_FORM)),
    }
}

fn tool(tool: &ToolSpec) -> Result<Box<RawValue>, Error> {
    #[derive(Serialize)]
    struct ToolFunction<'a> {
        name: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        parameters: &'a Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        strict: Option<bool>,
    }
    #[derive(Serialize)]
    struct FunctionTool<'a> {
        #[serde(rename = "type")]
        kind: &'a str,
        function: ToolFunction<'a>,
    }
    match tool {
        ToolSpec::Server(raw) => Ok(raw.as_raw_value().to_owned()),
        ToolSpec::Function {
            name,
            description,
            schema,
            strict,
        } => raw(&FunctionTool {
            kind: "function",
            function: ToolFunction {
                name,
                description,
                parameters: schema,
                strict: *strict,
            },
        }),
        _ => Err(Error::refused("tools", NO_FORM)),
    }
}

fn response_format(dialect: &Dialect, request: &Request) -> Option<Value> {
    let format = request.format.as_ref()?;
    match dialect.json_mode {
        StructuredMode::None => None,
        StructuredMode::Object => Some(json!({ "type": "json_object" })),
        StructuredMode::Schema => Some(json!({
            "type": "json_schema",
            "json_schema": { "name": format.name, "strict": format.strict, "schema": format.schema },
        })),
    }
}

/// The thinking setting: a number of tokens is preferred to an effort, since only one may be sent.
fn reasoning(request: &Request) -> Result<Option<Value>, Error> {
    Ok(Some(match (request.thinking, &request.effort) {
        (Thinking::Budget(tokens), _) => json!({ "max_tokens": tokens }),
        (Thinking::Off, _) => json!({ "effort": "none" }),
        (Thinking::Adaptive | Thinking::Unset, Some(effort)) => json!({ "effort": effort }),
        (Thinking::Adaptive, None) => json!({ "enabled": true }),
        (Thinking::Unset, None) => return Ok(None),
        _ => return Err(Error::refused("thinking", NO_FORM)),
    }))
}

/// A message other than an echo.
#[derive(Serialize)]
struct Sent<'a> {
    role: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<MessageContent>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<SentCall<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum MessageContent {
    Text(String),
    Parts(Vec<Box<RawValue>>),
}

fn sent(role: &str, content: MessageContent) -> Sent<'_> {
    Sent {
        role,
        tool_call_id: None,
        content: Some(content),
        tool_calls: Vec::new(),
    }
}

impl Addressee<'_> {
    fn messages(self, request: &Request) -> Result<Vec<Box<RawValue>>, Error> {
        let mut all = Vec::with_capacity(request.messages.len() + 1);
        if !request.system.is_empty() {
            all.push(raw(&self.instructions(&request.system))?);
        }
        for message in &request.messages {
            match message.role {
                Role::System => all.push(raw(&self.instructions(&message.content))?),
                Role::Assistant => all.push(self.assistant(message)?),
                Role::User => user(message, &mut all)?,
            }
        }
        Ok(all)
    }

    fn instructions(self, blocks: &[Block]) -> Sent<'static> {
        let role = match self.dialect.system_role {
            SystemRole::System => "system",
            SystemRole::Developer => "developer",
        };
        sent(role, MessageContent::Text(joined(blocks)))
    }

    fn assistant(self, message: &Message) -> Result<Box<RawValue>, Error> {
        let own = message.raw.as_ref();
        if let Some(fields) = own.and_then(|own| Fields::of(own.get())) {
            return self.echo(message, &fields);
        }
        let calls = message
            .content
            .iter()
            .filter_map(|block| match &block.kind {
                BlockKind::ToolUse { id, name, input } => {
                    let arguments = match input {
                        ToolInput::Json(raw) => raw.get(),
                        ToolInput::Invalid(text) => text,
                    };
                    Some(SentCall::new(id, name, arguments))
                }
                _ => None,
            });
        let (calls, text): (Vec<_>, _) = (calls.collect(), message.text());
        raw(&Sent {
            role: "assistant",
            tool_call_id: None,
            // Some servers refuse an empty text, all do without one beside calls.
            content: (calls.is_empty() || !text.is_empty()).then_some(MessageContent::Text(text)),
            tool_calls: calls,
        })
    }

    /// The assistant object as the server sent it.
    fn echo(self, message: &Message, fields: &Fields<'_>) -> Result<Box<RawValue>, Error> {
        let mut echo = IndexMap::new();
        for name in ECHOED {
            if let Some(value) = fields.raw(name).filter(|_| self.wants_back(name, message)) {
                echo.insert(name, value.to_owned());
            }
        }
        if !echo.contains_key("role") {
            echo.insert("role", raw("assistant")?);
        }
        if !echo.contains_key("content") && !echo.contains_key("tool_calls") {
            echo.insert("content", raw(&message.text())?);
        }
        raw(&echo)
    }

    /// The thoughts to send back: only to the model that had them, and only if it expects them.
    fn wants_back(self, name: &str, message: &Message) -> bool {
        let place = self.dialect.reasoning_field;
        let wanted = match name {
            "reasoning" => place == ReasoningField::Reasoning,
            "reasoning_content" => place == ReasoningField::ReasoningContent,
            "reasoning_details" => self.dialect.echo_reasoning_details,
            _ => return true,
        };
        let is_own = |block: &Block| {
            block
                .origin
                .as_ref()
                .is_some_and(|from| from.provider == self.provider && from.model == self.model)
        };
        wanted && message.content.iter().all(is_own)
    }
}

/// Writes the results of tools as separate messages first, then the rest as one.
fn user(message: &Message, all: &mut Vec<Box<RawValue>>) -> Result<(), Error> {
    let mut rest = Vec::new();
    for block in &message.content {
        let BlockKind::ToolResult {
            tool_use_id,
            content,
            is_error,
        } = &block.kind
        else {
            rest.push(block);
            continue;
        };
        if content.iter().any(|block| block.as_text().is_none()) {
            return Err(Error::refused(
                "messages",
                "a tool result of this protocol is text only; put other content into the user message after it",
            ));
        }
        let prefix = if *is_error { "ERROR: " } else { "" };
        all.push(raw(&Sent {
            tool_call_id: Some(tool_use_id),
            ..sent(
                "tool",
                MessageContent::Text(prefix.to_owned() + &joined(content)),
            )
        })?);
    }
    let content = match rest.as_slice() {
        [] if !message.content.is_empty() => return Ok(()),
        [] => MessageContent::Text(String::new()),
        [one] if one.as_text().is_some() => MessageContent::Text(message.text()),
        more => MessageContent::Parts(
            more.iter()
                .map(|block| part(block))
                .collect::<Result<_, _>>()?,
        ),
    };
    all.push(raw(&sent("user", content))?);
    Ok(())
}

fn part(block: &Block) -> Result<Box<RawValue>, Error> {
    let refused = |what: &str| {
        let why = format!("chat completions cannot take {what} from the user; leave it out");
        Err(Error::refused("messages", why))
    };
    match &block.kind {
        BlockKind::Text { text } => raw(&json!({ "type": "text", "text": text })),
        BlockKind::Image(source) => {
            let url = match source {
                MediaSource::Base64 { media_type, data } => {
                    format!("data:{media_type};base64,{data}")
                }
                MediaSource::Url(url) => url.clone(),
                MediaSource::File { .. } => return refused("an image by its file id"),
                _ => return refused("an image in this form"),
            };
            raw(&json!({ "type": "image_url", "image_url": { "url": url } }))
        }
        // A part of the caller's own, in the server's form.
        BlockKind::Other { .. } if block.raw.is_some() && block.origin.is_none() => raw(&block.raw),
        BlockKind::Document(_) => refused("a document"),
        _ => refused("such a block"),
    }
}

/// Joins text blocks into one text, since servers accept a list of parts in user messages only.
fn joined(blocks: &[Block]) -> String {
    let texts: Vec<_> = blocks.iter().filter_map(Block::as_text).collect();
    texts.join("\n\n")
}

fn raw<T: Serialize + ?Sized>(value: &T) -> Result<Box<RawValue>, Error> {
    to_raw_value(value).map_err(|error| Error::refused("messages", error.to_string()))
}
