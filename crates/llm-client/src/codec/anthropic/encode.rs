use bytes::Bytes;
use indexmap::IndexMap;
use llm_types::{
    Block, BlockKind, CacheMark, MediaSource, Message, OutputFormat, Request, Role, Thinking,
    ToolChoice, ToolInput, ToolSpec,
};
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::Error;
use crate::codec::{Body, NO_FORM};
use crate::provider::Route;

/// The `max_tokens` of a request without one, since the API requires it.
pub(super) const DEFAULT_MAX_TOKENS: u32 = 4096;

/// Fields that affect the reply but not the prompt; the counting route refuses them.
const NOT_COUNTED: [&str; 7] = [
    "max_tokens",
    "metadata",
    "stop_sequences",
    "stream",
    "temperature",
    "top_k",
    "top_p",
];

/// The body of `request` for `model`.
pub(super) fn body(request: &Request, model: &str, route: Route) -> Result<Bytes, Error> {
    if request.sampling.seed.is_some() {
        let why = "the Messages API has no seed: leave it unset";
        return Err(Error::refused("sampling.seed", why));
    }
    let counts = route == Route::Count;
    let mut body = Body::default();
    body.set("model", model)?;
    if !counts {
        let max_tokens = request.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
        body.set("max_tokens", &max_tokens)?;
    }
    if !request.system.is_empty() {
        body.set("system", &BlockList(&request.system))?;
    }
    body.set("messages", &Each(&request.messages, Turn))?;
    if !request.tools.is_empty() {
        body.set("tools", &Tools(request))?;
    }
    body.set_some("tool_choice", tool_choice(&request.tool_choice)?)?;
    body.set_some("thinking", thinking(request.thinking)?)?;
    body.set_some(
        "output_config",
        output_config(request.effort.as_deref(), request.format.as_ref()),
    )?;
    if counts {
        let mut extra = request.extra.clone();
        extra.retain(|name, _| !NOT_COUNTED.contains(&name.as_str()));
        return body.finish(&extra);
    }
    if !request.stop.is_empty() {
        body.set("stop_sequences", &request.stop)?;
    }
    if let Some(user_id) = &request.user_id {
        body.set("metadata", &json!({ "user_id": user_id }))?;
    }
    body.set_some("temperature", request.sampling.temperature)?;
    body.set_some("top_p", request.sampling.top_p)?;
    body.set_some("top_k", request.sampling.top_k)?;
    if route == Route::Stream {
        body.set("stream", &true)?;
    }
    body.finish(&request.extra)
}

fn tool_choice(choice: &ToolChoice) -> Result<Option<Value>, Error> {
    Ok(Some(match choice {
        ToolChoice::Unset => return Ok(None),
        ToolChoice::Auto { parallel: None } => json!({ "type": "auto" }),
        ToolChoice::Auto {
            parallel: Some(parallel),
        } => json!({ "type": "auto", "disable_parallel_tool_use": !parallel }),
        ToolChoice::Any => json!({ "type": "any" }),
        ToolChoice::Tool(name) => json!({ "type": "tool", "name": name }),
        ToolChoice::None => json!({ "type": "none" }),
        _ => return Err(Error::refused("tool_choice", NO_FORM)),
    }))
}

fn thinking(thinking: Thinking) -> Result<Option<Value>, Error> {
    Ok(Some(match thinking {
        Thinking::Unset => return Ok(None),
        Thinking::Off => json!({ "type": "disabled" }),
        Thinking::Adaptive => json!({ "type": "adaptive" }),
        Thinking::Budget(tokens) => json!({ "type": "enabled", "budget_tokens": tokens }),
        _ => return Err(Error::refused("thinking", NO_FORM)),
    }))
}

fn output_config(effort: Option<&str>, format: Option<&OutputFormat>) -> Option<Value> {
    let mut config = serde_json::Map::new();
    if let Some(effort) = effort {
        config.insert("effort".to_owned(), effort.into());
    }
    if let Some(format) = format {
        let format = json!({ "type": "json_schema", "schema": format.schema });
        config.insert("format".to_owned(), format);
    }
    (!config.is_empty()).then_some(config.into())
}

/// Serialises a list with a converter for each item.
struct Each<'a, T, W>(&'a [T], fn(&'a T) -> W);

impl<T, W: Serialize> Serialize for Each<'_, T, W> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(self.1))
    }
}

struct Turn<'a>(&'a Message);

impl Serialize for Turn<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        // By name and not by `Role`'s own form: that one is ours and may change.
        let role = match self.0.role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
        };
        map.serialize_entry("role", role)?;
        map.serialize_entry("content", &BlockList(&self.0.content))?;
        map.end()
    }
}

/// Blocks, or a string if that is equivalent.
struct BlockList<'a>(&'a [Block]);

impl Serialize for BlockList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            [
                Block {
                    kind: BlockKind::Text { text },
                    raw: None,
                    cache: None,
                    ..
                },
            ] => text.serialize(serializer),
            blocks => Each(blocks, ContentBlock).serialize(serializer),
        }
    }
}

struct ContentBlock<'a>(&'a Block);

impl Serialize for ContentBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let block = self.0;
        if let Some(raw) = &block.raw {
            return raw.serialize(serializer);
        }
        let received_only = |kind: &str| {
            let why = format!("a {kind} block can only be sent back as it came, with its raw JSON");
            Err(S::Error::custom(why))
        };
        let mut map = serializer.serialize_map(None)?;
        match &block.kind {
            BlockKind::Text { text } => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
            }
            BlockKind::Image(source) => {
                map.serialize_entry("type", "image")?;
                map.serialize_entry("source", &MediaBody(source))?;
            }
            BlockKind::Document(source) => {
                map.serialize_entry("type", "document")?;
                map.serialize_entry("source", &MediaBody(source))?;
            }
            BlockKind::Thinking { text, signature } => {
                map.serialize_entry("type", "thinking")?;
                map.serialize_entry("thinking", text)?;
                if let Some(signature) = signature {
                    map.serialize_entry("signature", signature)?;
                }
            }
            BlockKind::ToolUse { id, name, input } => {
                map.serialize_entry("type", "tool_use")?;
                map.serialize_entry("id", id)?;
                map.serialize_entry("name", name)?;
                map.serialize_entry("input", &Input(input))?;
            }
            BlockKind::ToolResult {
                tool_use_id,
                content,
                is_error,
            } => {
                map.serialize_entry("type", "tool_result")?;
                map.serialize_entry("tool_use_id", tool_use_id)?;
                if !content.is_empty() {
                    map.serialize_entry("content", &BlockList(content))?;
                }
                map.serialize_entry("is_error", is_error)?;
            }
            BlockKind::ServerToolUse { .. } => return received_only("server_tool_use"),
            BlockKind::RedactedThinking => return received_only("redacted_thinking"),
            BlockKind::ServerToolResult { kind, .. } | BlockKind::Other { kind } => {
                return received_only(kind);
            }
            _ => return Err(S::Error::custom(NO_FORM)),
        }
        if let Some(mark) = block.cache {
            map.serialize_entry("cache_control", &CacheControl(mark))?;
        }
        map.end()
    }
}

struct CacheControl(CacheMark);

impl Serialize for CacheControl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "ephemeral")?;
        match self.0 {
            CacheMark::Default => {}
            CacheMark::FiveMinutes => map.serialize_entry("ttl", "5m")?,
            CacheMark::OneHour => map.serialize_entry("ttl", "1h")?,
            _ => return Err(S::Error::custom(NO_FORM)),
        }
        map.end()
    }
}

struct MediaBody<'a>(&'a MediaSource);

impl Serialize for MediaBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.0 {
            MediaSource::Base64 { media_type, data } => {
                map.serialize_entry("type", "base64")?;
                map.serialize_entry("media_type", media_type)?;
                map.serialize_entry("data", data)?;
            }
            MediaSource::Url(url) => {
                map.serialize_entry("type", "url")?;
                map.serialize_entry("url", url)?;
            }
            MediaSource::File { id } => {
                map.serialize_entry("type", "file")?;
                map.serialize_entry("file_id", id)?;
            }
            _ => return Err(S::Error::custom(NO_FORM)),
        }
        map.end()
    }
}

/// The input of a call as an object, which the API requires. Other input was never run, and its error result says so.
struct Input<'a>(&'a ToolInput);

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            ToolInput::Json(raw) if raw.get().starts_with('{') => raw.serialize(serializer),
            _ => serializer.serialize_map(Some(0))?.end(),
        }
    }
}

/// The tools, the last one with the cache mark.
struct Tools<'a>(&'a Request);

impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Request {
            tools, cache_tools, ..
        } = self.0;
        let last = tools.len().saturating_sub(1);
        serializer.collect_seq(tools.iter().enumerate().map(|(at, tool)| ToolEntry {
            tool,
            cache: cache_tools.filter(|_| at == last),
        }))
    }
}

struct ToolEntry<'a> {
    tool: &'a ToolSpec,
    cache: Option<CacheMark>,
}

impl Serialize for ToolEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let (ToolSpec::Server(raw), None) = (self.tool, self.cache) {
            return raw.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        match self.tool {
            ToolSpec::Server(raw) => {
                let fields: IndexMap<String, Box<RawValue>> = raw.to().map_err(S::Error::custom)?;
                for (name, value) in &fields {
                    map.serialize_entry(name, value)?;
                }
            }
            ToolSpec::Function {
                name,
                description,
                schema,
                strict,
            } => {
                map.serialize_entry("name", name)?;
                if !description.is_empty() {
                    map.serialize_entry("description", description)?;
                }
                map.serialize_entry("input_schema", schema)?;
                if let Some(strict) = strict {
                    map.serialize_entry("strict", strict)?;
                }
            }
            _ => return Err(S::Error::custom(NO_FORM)),
        }
        if let Some(mark) = self.cache {
            map.serialize_entry("cache_control", &CacheControl(mark))?;
        }
        map.end()
    }
}
