use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::extract;
use super::schema::{Validator, cut, is_closed, quoted};
use crate::provider::Structure;
use crate::types::{Block, Cost, Message, OutputFormat, Reply, Request, StopReason, Usage};
use crate::{Client, Error};

/// How structured output is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StructuredOpts {
    /// Turns that tell the model what is wrong with its reply.
    pub max_repairs: u32,
    /// Uses what the provider has for structured output; else the schema goes into the system text.
    pub native: bool,
    /// A reply cut at `max_tokens` is asked for once more with twice as many, if the request sets them.
    pub grow_max_tokens: bool,
}

impl Default for StructuredOpts {
    fn default() -> Self {
        Self {
            max_repairs: 2,
            native: true,
            grow_max_tokens: true,
        }
    }
}

/// A value that follows the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Structured<T> {
    /// The value.
    pub value: T,
    /// The whole text of the reply it stands in.
    pub raw: String,
    /// Turns it took beyond the first to make it right.
    pub repairs: u32,
    /// The reply it stands in.
    pub reply: Reply,
    /// Tokens of all replies.
    pub usage: Usage,
    /// Money for all replies; unknown if one is.
    pub cost: Cost,
}

impl Client {
    /// Asks for a `T`. See [`Self::structured_value`].
    ///
    /// # Errors
    /// Those of [`Self::structured_value`]. What `T` itself refuses is repaired like a breach of the schema.
    pub async fn structured<T: DeserializeOwned + JsonSchema>(
        &self,
        request: &Request,
        options: StructuredOpts,
    ) -> Result<Structured<T>, Error> {
        let schema = schemars::schema_for!(T).to_value();
        self.ask_structured(request, &schema, options, |json, _| {
            serde_json::from_str(json).map_err(|error| error.to_string())
        })
        .await
    }

    /// Asks for JSON that follows `schema`, and checks here that it does. What does not is sent back with the errors,
    /// at most [`StructuredOpts::max_repairs`] times. The request's own `format` is replaced; no tool is forced.
    ///
    /// # Errors
    /// [`Error::Refused`] before anything is sent when `schema` is not valid or refers to another document;
    /// [`Error::BadResponse`] when the model refuses, is cut, pauses or calls a tool instead of answering;
    /// [`Error::Schema`] when the repairs are used up; and whatever a call gives.
    pub async fn structured_value(
        &self,
        request: &Request,
        schema: &Value,
        options: StructuredOpts,
    ) -> Result<Structured<Value>, Error> {
        self.ask_structured(request, schema, options, |_, value| Ok(value))
            .await
    }

    /// The request that also says what form the reply must have: by what the provider has for that, else in the system
    /// text. For callers that read replies themselves, with [`find_json`](crate::find_json) and
    /// [`parse_json`](crate::parse_json); what comes back is not checked. The request's own `format` is replaced.
    #[must_use]
    pub fn with_schema(&self, request: &Request, schema: &Value) -> Request {
        let provider = &self.inner.settings.provider;
        with_schema(
            request,
            schema,
            provider.capabilities(&request.model).structured,
        )
    }

    async fn ask_structured<T>(
        &self,
        request: &Request,
        schema: &Value,
        options: StructuredOpts,
        convert: impl Fn(&str, Value) -> Result<T, String>,
    ) -> Result<Structured<T>, Error> {
        let validator = Validator::new(schema).map_err(|why| Error::refused("schema", why))?;
        let mut request = if options.native {
            self.with_schema(request, schema)
        } else {
            with_schema(request, schema, Structure::None)
        };
        let mut may_grow = options.grow_max_tokens;
        let mut repairs = 0;
        let mut usage = Usage {
            known: true,
            ..Usage::default()
        };
        let mut cost = Cost::FREE;
        loop {
            let reply = self.complete(&request).await?;
            usage.add(&reply.usage);
            cost = cost.plus(&reply.cost);
            if let Some(more) = request
                .max_tokens
                .filter(|_| may_grow && reply.stop == StopReason::MaxTokens)
            {
                may_grow = false;
                request.max_tokens = Some(more.saturating_mul(2));
                continue;
            }
            if let Some(why) = no_answer(&reply) {
                return Err(failed(Error::bad_response(why), &reply));
            }
            let raw = reply.text();
            let errors = match read(&raw, &validator, &convert) {
                Ok(value) => {
                    return Ok(Structured {
                        value,
                        raw,
                        repairs,
                        reply,
                        usage,
                        cost,
                    });
                }
                Err(errors) => errors,
            };
            if let Some(tool) = tool_called(&reply) {
                let why = format!(
                    "the model called the tool {tool} instead of answering; structured output runs no tools"
                );
                return Err(failed(Error::bad_response(why), &reply));
            }
            if repairs >= options.max_repairs {
                let error = Error::Schema {
                    errors,
                    raw,
                    trail: Box::default(),
                };
                return Err(failed(error, &reply));
            }
            repairs += 1;
            request.messages.push(echo(&reply));
            request.messages.push(complaint(&errors));
        }
    }
}

/// The request that also says what form the reply must have.
fn with_schema(request: &Request, schema: &Value, native: Structure) -> Request {
    let mut request = request.clone();
    request.format = (native != Structure::None).then(|| OutputFormat {
        name: name(schema),
        schema: schema.clone(),
        // A provider turns down a strict schema that leaves anything open; the check here is the same either way.
        strict: is_closed(schema),
    });
    if native != Structure::Schema {
        request.system.push(Block::text(format!(
            "Answer with one JSON value and nothing else: no explanation before or after it, no code fence. It must follow this JSON Schema:\n{schema}"
        )));
    }
    request
}

/// A name for the schema that every provider takes.
fn name(schema: &Value) -> String {
    let title = schema.get("title").and_then(Value::as_str).unwrap_or("");
    let name: String = title
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .take(64)
        .collect();
    if name.is_empty() {
        "reply".into()
    } else {
        name
    }
}

/// Why the reply is no attempt at an answer that could be repaired.
fn no_answer(reply: &Reply) -> Option<&'static str> {
    match reply.stop {
        StopReason::Refusal => Some("the model refused to answer"),
        StopReason::MaxTokens => Some("the answer is cut at max_tokens"),
        StopReason::ContextWindow => Some("the answer is cut at the end of the context window"),
        StopReason::ContentFilter => Some("the answer is cut by a content filter"),
        StopReason::PauseTurn => Some("the model paused; structured output runs no tools"),
        StopReason::Error => Some("the server failed in the middle of the answer"),
        _ => None,
    }
}

fn read<T>(
    raw: &str,
    validator: &Validator,
    convert: &impl Fn(&str, Value) -> Result<T, String>,
) -> Result<T, Vec<String>> {
    let json = extract::find(raw).map_err(|error| vec![error])?;
    let value = extract::parse(json).map_err(|error| vec![error])?;
    validator.check(&value, json.len())?;
    convert(json, value).map_err(|error| vec![cut(&error, 400)])
}

fn tool_called(reply: &Reply) -> Option<&str> {
    reply.tool_uses().find_map(|block| match &block.kind {
        crate::BlockKind::ToolUse { name, .. } => Some(name.as_str()),
        _ => None,
    })
}

/// The assistant turn to send back; servers take no empty one.
fn echo(reply: &Reply) -> Message {
    if reply.content.is_empty() {
        return Message::assistant("(no content)");
    }
    reply.to_message()
}

fn complaint(errors: &[String]) -> Message {
    Message::user(format!(
        "That is not the JSON I asked for:\n{}Answer again with the whole corrected JSON value and nothing else.",
        quoted(errors)
    ))
}

fn failed(mut error: Error, reply: &Reply) -> Error {
    let trail = error.trail_mut();
    trail.attempts.clone_from(&reply.attempts);
    trail.request_id.clone_from(&reply.request_id);
    error
}
