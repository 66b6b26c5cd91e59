//! Chat completions, as `OpenAI` began them and many servers speak them.

mod decode;
mod dialect;
mod draft;
mod encode;
mod stream;
mod wire;

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use self::stream::Chunks;
use super::fault::{self, Asked};
use super::{Endpoint, events, readable, reply_as_events};
use crate::provider::SizeCaps;
use crate::provider::{Call, Caps, Provider, Route};
use crate::transport::{HeaderText, HttpRequest, HttpResponse, Method, Transport};
use crate::types::{BlockKind, Count, EventStream, ModelInfo, Origin, Reply, Request};
use crate::{Error, Redactor};

pub use dialect::{
    Dialect, MaxTokensField, ReasoningField, StreamUsage, SystemRole, ThinkingField, ToolIndex,
};

/// A server that speaks chat completions: `OpenAI`, `OpenRouter`, llama.cpp, Ollama, vLLM and others.
#[derive(Debug, Clone)]
pub struct Compat {
    endpoint: Endpoint,
    dialect: Dialect,
    name: String,
    referer: Option<String>,
    title: Option<String>,
}

impl Compat {
    /// The server at `endpoint`, whose base URL includes `/v1`, `/api/v1` or the like.
    pub fn new(endpoint: Endpoint, dialect: Dialect) -> Self {
        Self {
            endpoint,
            name: dialect.name.to_owned(),
            dialect,
            referer: None,
            title: None,
        }
    }

    /// Calls the provider `name` in targets, cassettes and results; needed for two of the same dialect.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sends `http-referer`: the address of the program, for `OpenRouter`.
    #[must_use]
    pub fn with_referer(mut self, address: impl Into<String>) -> Self {
        self.referer = Some(address.into());
        self
    }

    /// Sends `x-title`: the name of the program, for `OpenRouter`.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    fn request(&self, method: Method, path: &str) -> HttpRequest {
        let mut request = self.endpoint.request(method, path);
        for (name, value) in [("http-referer", &self.referer), ("x-title", &self.title)] {
            if let Some(value) = value {
                request
                    .headers
                    .push((name, HeaderText::Open(value.clone())));
            }
        }
        request
    }

    fn asking(&self, request: Option<&Request>, model: &str) -> Asking {
        let blocks = request.iter().flat_map(|request| &request.messages);
        let ids = blocks
            .flat_map(|message| &message.content)
            .filter_map(|block| match &block.kind {
                BlockKind::ToolUse { id, .. } => Some(id.clone()),
                _ => None,
            });
        Asking {
            origin: Origin {
                provider: self.name.clone(),
                model: model.to_owned(),
            },
            dialect: self.dialect.clone(),
            redactor: self.endpoint.redactor().clone(),
            headers: Vec::new(),
            taken_ids: ids.collect(),
        }
    }

    async fn ask(&self, call: &Call, route: Route) -> Result<Answer, Error> {
        let model = &call.target.model;
        let mut request = self.encode(&call.request, model, route)?;
        if call.attempt > 0 {
            let count = HeaderText::Open(call.attempt.to_string());
            request.headers.push(("x-retry-count", count));
        }
        let asking = self.asking(Some(&call.request), model);
        let (asking, response) = asking.execute(&call.transport, request).await?;
        // The content type decides, not what was asked for: some servers do not stream, some do nothing else.
        if response.is_event_stream() {
            let chunks = Chunks::new(asking);
            return Ok(Answer::Pieces(events(response, call.sizes, chunks)));
        }
        let body = response.bytes(call.sizes.reply).await;
        let body = body.map_err(|error| with_id(error, &asking.headers))?;
        Ok(Answer::Whole(Box::new(decode::reply(
            &asking,
            &readable(&body),
        )?)))
    }
}

enum Answer {
    Whole(Box<Reply>),
    Pieces(EventStream),
}

/// What was asked, as far as the reading of the answer needs it.
struct Asking {
    origin: Origin,
    dialect: Dialect,
    redactor: Redactor,
    /// The answer's.
    headers: Vec<(String, String)>,
    /// Ids of tool calls that the conversation has already: none is made again.
    taken_ids: BTreeSet<String>,
}

impl Asking {
    /// Sends `request` and takes an answer with a success status.
    async fn execute(
        mut self,
        transport: &Arc<dyn Transport>,
        request: HttpRequest,
    ) -> Result<(Self, HttpResponse), Error> {
        let mut response = transport.execute(request).await?;
        let status = response.status;
        if !(200..300).contains(&status) {
            let headers = std::mem::take(&mut response.headers);
            let body = response.start(fault::BODY_READ).await;
            return Err(fault::of_response(self.asked(), status, &headers, &body));
        }
        self.headers.clone_from(&response.headers);
        Ok((self, response))
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            provider: &self.origin.provider,
            model: &self.origin.model,
            moderates: self.dialect.moderates,
            redactor: &self.redactor,
        }
    }

    /// The error that an `error` field is.
    fn fault(&self, object: &RawValue) -> Error {
        fault::of_object(self.asked(), &self.headers, object)
    }

    fn request_id(&self) -> Option<String> {
        fault::trail(&self.headers).request_id
    }
}

/// Names the exchange in an error that knows nothing of it.
fn with_id(mut error: Error, headers: &[(String, String)]) -> Error {
    let id = &mut error.trail_mut().request_id;
    if id.is_none() {
        *id = fault::trail(headers).request_id;
    }
    error
}

impl Provider for Compat {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self, _model: &str) -> Caps {
        Caps {
            top_k: self.dialect.top_k,
            seed: self.dialect.seed,
            effort: self.dialect.thinking != ThinkingField::None,
            tools: self.dialect.tools,
            parallel_tools: self.dialect.parallel_flag,
            documents: false,
            count_tokens: false,
            structured: self.dialect.json_mode,
            // An effort alone says nothing of how long to think.
            thinking: self.dialect.thinking == ThinkingField::Object,
            self_hosted: self.dialect.self_hosted || self.endpoint.is_loopback(),
            ..Caps::ALL
        }
    }

    fn encode(&self, request: &Request, model: &str, route: Route) -> Result<HttpRequest, Error> {
        if route == Route::CountTokens {
            return Err(no_count());
        }
        let mut http = self.request(Method::Post, "/chat/completions");
        http.streams = route == Route::Stream;
        http.body = encode::body(&self.dialect, &self.name, request, model, http.streams)?;
        Ok(http)
    }

    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Reply, Error>> {
        async move {
            match self.ask(call, Route::Complete).await? {
                Answer::Whole(reply) => Ok(*reply),
                Answer::Pieces(events) => call.progress.watch(events).collect().await,
            }
        }
        .boxed()
    }

    fn stream<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<EventStream, Error>> {
        async move {
            Ok(match self.ask(call, Route::Stream).await? {
                Answer::Whole(reply) => reply_as_events(*reply),
                Answer::Pieces(events) => events,
            })
        }
        .boxed()
    }

    fn count_tokens<'a>(&'a self, _call: &'a Call) -> BoxFuture<'a, Result<Count, Error>> {
        async { Err(no_count()) }.boxed()
    }

    fn list_models<'a>(
        &'a self,
        transport: &'a Arc<dyn Transport>,
        sizes: SizeCaps,
    ) -> BoxFuture<'a, Result<Vec<ModelInfo>, Error>> {
        async move {
            let request = self.request(Method::Get, "/models");
            let (asking, response) = self.asking(None, "").execute(transport, request).await?;
            let body = response.bytes(sizes.reply).await;
            let body = body.map_err(|error| with_id(error, &asking.headers))?;
            decode::models(&asking, &body)
        }
        .boxed()
    }
}

fn no_count() -> Error {
    Error::refused(
        "count_tokens",
        "chat completions have no route that counts tokens",
    )
}
