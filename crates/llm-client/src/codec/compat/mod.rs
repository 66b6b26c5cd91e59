//! The chat completions protocol of `OpenAI` and many other servers.

mod decode;
mod dialect;
mod embed;
mod encode;
mod reply_builder;
mod stream;
mod wire;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use llm_types::{Request, Target};

use self::embed::SentInputs;
use self::reply_builder::ReplyBuilder;
use self::stream::Chunks;
use super::{Endpoint, LONGEST_REPLY, RequestContext, events, readable, repair_warning};
use crate::Error;
use crate::dialect::ThinkingField;
use crate::provider::{Answer, Capabilities, HttpRequest, Method, Provider, ProviderCall, Route};

pub use dialect::Dialect;

/// The path of completions after the base URL.
const COMPLETIONS: &str = "/chat/completions";
/// The path of embeddings after the base URL.
const EMBEDDINGS: &str = "/embeddings";

/// A provider for servers of chat completions: `OpenAI`, `OpenRouter`, llama.cpp, Ollama, vLLM and others.
#[derive(Debug, Clone)]
pub struct Compat {
    endpoint: Endpoint,
    dialect: Dialect,
    name: String,
    referer: Option<String>,
    title: Option<String>,
    /// The request for a completion, without its body.
    completion: HttpRequest,
}

impl Compat {
    /// The server at `endpoint`, whose base URL includes `/v1`, `/api/v1` or the like.
    pub fn new(endpoint: Endpoint, dialect: Dialect) -> Self {
        Self {
            completion: endpoint.request(Method::Post, COMPLETIONS),
            endpoint,
            name: dialect.name.to_owned(),
            dialect,
            referer: None,
            title: None,
        }
    }

    /// Sets the provider's name in targets, cassettes and results; needed for two of the same dialect.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sends `http-referer`: the address of the program, for `OpenRouter`.
    #[must_use]
    pub fn with_referer(mut self, address: impl Into<String>) -> Self {
        self.referer = Some(address.into());
        self.completion = self.request(Method::Post, COMPLETIONS);
        self
    }

    /// Sends `x-title`: the name of the program, for `OpenRouter`.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self.completion = self.request(Method::Post, COMPLETIONS);
        self
    }

    fn request(&self, method: Method, path: &'static str) -> HttpRequest {
        let mut request = self.endpoint.request(method, path);
        for (name, value) in [("http-referer", &self.referer), ("x-title", &self.title)] {
            if let Some(value) = value {
                request.headers.set(name, value);
            }
        }
        request
    }
}

impl Provider for Compat {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self, _model: &str) -> Capabilities {
        Capabilities {
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
            batch: self.dialect.batch,
            self_hosted: self.dialect.self_hosted || self.endpoint.is_loopback(),
            ..Capabilities::ALL
        }
    }

    fn encode(
        &self,
        request: &Request,
        target: &Target,
        route: Route,
    ) -> Result<HttpRequest, Error> {
        match route {
            Route::Whole | Route::Stream => {}
            Route::Models => return Ok(self.request(Method::Get, "/models")),
            Route::Embed => {
                let mut http = self.request(Method::Post, EMBEDDINGS);
                http.body = embed::body(request, &target.model)?;
                return Ok(http);
            }
            Route::Count => return Err(route.refused_by(&self.name)),
        }
        let mut http = self.completion.clone();
        http.streams = route == Route::Stream;
        let (dialect, name, model) = (&self.dialect, &self.name, &target.model);
        http.body = encode::body(dialect, name, request, model, http.streams)?;
        Ok(http)
    }

    fn answer(&self, call: ProviderCall) -> BoxFuture<'static, Result<Answer, Error>> {
        let model = &call.target.model;
        let mut context = RequestContext::new(&self.name, model, self.endpoint.redactor());
        context.moderates = self.dialect.moderates;
        let draft = ReplyBuilder::new(&context, &self.dialect, &call.wire.body);
        let inputs = (call.route == Route::Embed).then(|| SentInputs::of(&call.wire.body));
        async move {
            let response = context.execute(&call.transport, call.wire).await?;
            if !(200..300).contains(&response.status) {
                return Err(context.failure(response).await);
            }
            // The content type decides, not what was asked for: some servers do not stream, some do nothing else.
            let may_stream = matches!(call.route, Route::Whole | Route::Stream);
            if may_stream && response.is_event_stream() {
                return Ok(Answer::Stream(events(
                    response,
                    Chunks::new(context, draft),
                )));
            }
            let body = response.bytes(LONGEST_REPLY).await;
            let body = body.map_err(|error| context.located(error))?;
            if call.route == Route::Models {
                return decode::models(&context, &body).map(Answer::Models);
            }
            if let Some(inputs) = inputs {
                let reply = inputs?.reply(&context, &body)?;
                return Ok(Answer::Vectors(Box::new(reply)));
            }
            let read = readable(&body);
            let mut reply = decode::reply(&context, draft, &read)?;
            reply.warnings.extend(repair_warning(&body, &read));
            Ok(Answer::Reply(Box::new(reply)))
        }
        .boxed()
    }
}
