use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{self, BoxFuture};
use serde_json::json;

use super::pieces::in_pieces;
use super::rules::Facts;
use super::{Asked, Rule, RuleError, RuleReply, Voice};
use crate::codec::fault;
use crate::provider::{Call, Caps, Provider, Route};
use crate::transport::{HttpRequest, Transport};
use crate::types::{
    Block, BlockKind, Count, EventStream, ModelInfo, Raw, Reply, Request, StopReason, ToolInput,
};
use crate::{Clock, ConfigError, Error, Redactor, SizeCaps};

/// Answers by rules: the first one whose conditions are met. Where none is, the request is refused.
///
/// ```
/// # fn main() -> Result<(), llm_client::ConfigError> {
/// let script = llm_client::Script::from_json(
///     r#"[
///         {"match": {"nth": 0}, "reply": {"error": {"status": 529, "type": "overloaded_error"}}},
///         {"match": {"user_contains": "score"}, "reply": {"json": {"score": 3}}},
///         {"reply": {"text": "hello"}}
///     ]"#,
/// )?;
/// # Ok(())
/// # }
/// ```
pub struct Script {
    voice: Voice,
    rules: Vec<Rule>,
    /// For each rule, how many attempts met its conditions other than `nth`.
    met: Mutex<Vec<u64>>,
    clock: Option<Arc<dyn Clock>>,
}

impl Script {
    /// Reads a JSON array of rules, none of which has a delay.
    ///
    /// # Errors
    /// [`ConfigError::Script`] with the line: no JSON, an unknown field, a reply that says nothing or too much. And
    /// as [`Self::new`].
    pub fn from_json(json: &str) -> Result<Self, ConfigError> {
        Self::new(Self::rules(json)?)
    }

    /// Reads a JSON array of rules, for [`Self::with_clock`].
    ///
    /// # Errors
    /// As [`Self::from_json`].
    pub fn rules(json: &str) -> Result<Vec<Rule>, ConfigError> {
        Rule::list(json).map_err(|fault| ConfigError::Script {
            line: fault.line,
            why: fault.why,
        })
    }

    /// A script called `script` of these rules, none of which has a delay.
    ///
    /// # Errors
    /// A rule that says nothing or too much, or has a delay.
    pub fn new(rules: Vec<Rule>) -> Result<Self, ConfigError> {
        Self::build(rules, None)
    }

    /// A script called `script` of these rules, whose delays go by `clock`.
    ///
    /// # Errors
    /// A rule that says nothing or too much.
    pub fn with_clock(rules: Vec<Rule>, clock: Arc<dyn Clock>) -> Result<Self, ConfigError> {
        Self::build(rules, Some(clock))
    }

    fn build(rules: Vec<Rule>, clock: Option<Arc<dyn Clock>>) -> Result<Self, ConfigError> {
        for (place, rule) in rules.iter().enumerate() {
            let late = clock.is_none() && rule.reply.delay.is_some();
            let checked = rule.check().and(if late {
                Err("a delay needs a clock: Script::with_clock")
            } else {
                Ok(())
            });
            checked.map_err(|why| {
                ConfigError::setting("script", format!("rule {}: {why}", place + 1))
            })?;
        }
        Ok(Self {
            voice: Voice {
                name: "script".to_owned(),
                label: "script",
                seed: None,
            },
            met: Mutex::new(vec![0; rules.len()]),
            rules,
            clock,
        })
    }

    /// The same script under another [`Provider::name`]. Its replies are still labelled `script`.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.voice.name = name.into();
        self
    }

    /// The reply of the first rule that is for this attempt. It counts for every rule.
    fn pick(&self, facts: &Facts<'_>) -> Option<&RuleReply> {
        // A count is right after every step, so one that panicked elsewhere harms nothing.
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        let mut picked = None;
        for (rule, met) in self.rules.iter().zip(met.iter_mut()) {
            if rule.when.meets(facts) {
                let is_nth = rule.when.nth.is_none_or(|nth| nth == *met);
                *met += 1;
                picked = picked.or(is_nth.then_some(&rule.reply));
            }
        }
        picked
    }

    async fn answer(&self, call: &Call) -> Result<(Reply, Asked, Option<usize>), Error> {
        let model = &call.target.model;
        let asked = self.voice.asked(&call.request, model)?;
        let facts = Facts::of(&call.request, model);
        let rule = self.pick(&facts).ok_or_else(|| self.no_match(&facts))?;
        if let (Some(delay), Some(clock)) = (rule.delay, &self.clock) {
            clock.sleep(delay).await;
        }
        if let Some(error) = &rule.error {
            return Err(self.error(error, model));
        }
        let content = content(rule, &call.request)?;
        let stop = rule.stop.clone().unwrap_or(if rule.tool_calls.is_empty() {
            StopReason::EndTurn
        } else {
            StopReason::ToolUse
        });
        let reply = self.voice.reply(call, &asked, content, stop)?;
        Ok((reply, asked, rule.stream_cut_after))
    }

    fn no_match(&self, facts: &Facts<'_>) -> Error {
        let why = format!(
            "none of the {} rules of {} is for this attempt: model {}, last user text of {} characters, {} of a tool",
            self.rules.len(),
            self.voice.name,
            facts.model,
            facts.user.chars().count(),
            if facts.has_tool_result {
                "a result"
            } else {
                "no result"
            },
        );
        Error::refused("script", why)
    }

    fn error(&self, error: &RuleError, model: &str) -> Error {
        let asked = fault::Asked {
            provider: &self.voice.name,
            model,
            moderates: false,
            redactor: &Redactor::default(),
        };
        let body = json!({"type": "error", "error": {"type": error.kind, "message": "by script"}});
        let headers: Vec<_> = error
            .retry_after
            .map(|seconds| ("retry-after".to_owned(), seconds.to_string()))
            .into_iter()
            .collect();
        fault::of_response(asked, error.status, &headers, body.to_string().as_bytes())
    }
}

/// What `rule` says, with ids for its tool calls that no earlier call of the conversation has.
fn content(rule: &RuleReply, request: &Request) -> Result<Vec<Block>, Error> {
    let text = rule
        .text
        .clone()
        .or_else(|| rule.json.as_ref().map(ToString::to_string));
    let mut content: Vec<Block> = text.map(Block::text).into_iter().collect();
    let earlier = request
        .messages
        .iter()
        .flat_map(|message| &message.content)
        .filter(|block| matches!(block.kind, BlockKind::ToolUse { .. }))
        .count();
    for (place, tool) in rule.tool_calls.iter().enumerate() {
        let input = Raw::of(&tool.input).map_err(|error| Error::bad_response(error.to_string()))?;
        content.push(Block::new(BlockKind::ToolUse {
            id: format!("call_{}", earlier + place + 1),
            name: tool.name.clone(),
            input: ToolInput::Json(input),
        }));
    }
    Ok(content)
}

impl Provider for Script {
    fn name(&self) -> &str {
        &self.voice.name
    }

    fn capabilities(&self, _model: &str) -> Caps {
        self.voice.caps()
    }

    fn encode(&self, request: &Request, model: &str, route: Route) -> Result<HttpRequest, Error> {
        self.voice.encode(request, model, route)
    }

    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Reply, Error>> {
        async move { self.answer(call).await.map(|(reply, ..)| reply) }.boxed()
    }

    fn stream<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<EventStream, Error>> {
        async move {
            let (reply, asked, cut_after) = self.answer(call).await?;
            Ok(in_pieces(reply, &asked.hash, cut_after))
        }
        .boxed()
    }

    fn count_tokens<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Count, Error>> {
        future::ready(Ok(Voice::count(&call.request))).boxed()
    }

    /// Rules say nothing of models, so none is named.
    fn list_models<'a>(
        &'a self,
        _transport: &'a Arc<dyn Transport>,
        _sizes: SizeCaps,
    ) -> BoxFuture<'a, Result<Vec<ModelInfo>, Error>> {
        future::ready(Ok(Vec::new())).boxed()
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script")
            .field("name", &self.voice.name)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}
