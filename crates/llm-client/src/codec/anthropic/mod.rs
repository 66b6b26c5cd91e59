//! The Messages API.

mod block;
mod decode;
mod encode;
mod object;
mod stream;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use self::decode::Exchange;
use self::stream::Assembly;
use super::{Endpoint, events, fault, readable, reply_as_events};
use crate::provider::SizeCaps;
use crate::provider::{Call, Caps, Provider, Route, Structure};
use crate::transport::{HttpRequest, HttpResponse, Method, Transport};
use crate::types::{Count, EventStream, ModelInfo, Reply, Request};
use crate::{ConfigError, Error};

const MESSAGES: &str = "/v1/messages";
const COUNT_TOKENS: &str = "/v1/messages/count_tokens";
const MODELS: &str = "/v1/models";

/// Models behind the Anthropic Messages API.
///
/// ```
/// use llm_client::provider::Provider as _;
/// use llm_client::{Anthropic, Auth, Endpoint};
///
/// let endpoint = Endpoint::new(Anthropic::DEFAULT_BASE, Auth::Bearer("the-key".into()))?;
/// let provider = Anthropic::new(endpoint).with_betas(["context-1m"])?;
/// assert_eq!(provider.name(), "anthropic");
/// # Ok::<(), llm_client::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Anthropic {
    endpoint: Endpoint,
    name: String,
    version: AnthropicVersion,
    /// The models that are asked with another version.
    versions: BTreeMap<String, AnthropicVersion>,
    /// The value of `anthropic-beta`.
    betas: Option<String>,
}

/// A version of the Messages API, sent as `anthropic-version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum AnthropicVersion {
    /// `2023-06-01`: sampling fields, documents in assistant messages and citations are allowed.
    V2023_06_01,
    /// `2026-10-21`: they are not.
    #[default]
    V2026_10_21,
}

impl AnthropicVersion {
    /// As it is sent.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2023_06_01 => "2023-06-01",
            Self::V2026_10_21 => "2026-10-21",
        }
    }
}

impl fmt::Display for AnthropicVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for AnthropicVersion {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        [Self::V2023_06_01, Self::V2026_10_21]
            .into_iter()
            .find(|version| version.as_str() == text)
            .ok_or_else(|| {
                let why = format!("expected 2026-10-21 or 2023-06-01, got {text:?}");
                ConfigError::setting("anthropic-version", why)
            })
    }
}

impl Anthropic {
    /// The base URL of the service itself.
    pub const DEFAULT_BASE: &'static str = "https://api.anthropic.com";

    /// Models at `endpoint`, asked with the newest version of the API.
    pub fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            name: "anthropic".to_owned(),
            version: AnthropicVersion::default(),
            versions: BTreeMap::new(),
            betas: None,
        }
    }

    /// Asks with another version of the API.
    #[must_use]
    pub fn with_version(mut self, version: AnthropicVersion) -> Self {
        self.version = version;
        self
    }

    /// Asks one model with another version of the API than the others.
    #[must_use]
    pub fn with_version_for(mut self, model: impl Into<String>, version: AnthropicVersion) -> Self {
        self.versions.insert(model.into(), version);
        self
    }

    fn version_for(&self, model: &str) -> AnthropicVersion {
        self.versions.get(model).copied().unwrap_or(self.version)
    }

    /// Another [`Provider::name`]; for two endpoints in one client.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Asks for these features in `anthropic-beta`.
    ///
    /// # Errors
    /// A name is empty or cannot stand in that header.
    pub fn with_betas<'a>(
        mut self,
        betas: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, ConfigError> {
        let betas: Vec<_> = betas.into_iter().collect();
        for beta in &betas {
            let fits = |byte: u8| byte.is_ascii_graphic() && byte != b',';
            if beta.is_empty() || !beta.bytes().all(fits) {
                let why = format!("{beta:?} is no name of a feature");
                return Err(ConfigError::setting("anthropic-beta", why));
            }
        }
        self.betas = (!betas.is_empty()).then(|| betas.join(","));
        Ok(self)
    }

    /// A request with the headers that every request to this API has.
    fn request(&self, method: Method, path: &str, version: AnthropicVersion) -> HttpRequest {
        let mut request = self.endpoint.request(method, path);
        request
            .headers
            .push(("anthropic-version", version.as_str().into()));
        if let Some(betas) = &self.betas {
            request
                .headers
                .push(("anthropic-beta", betas.as_str().into()));
        }
        request
    }

    /// Sends one attempt, whatever the answer.
    async fn execute(&self, call: &Call, route: Route) -> Result<HttpResponse, Error> {
        let mut request = self.encode(&call.request, &call.target.model, route)?;
        if call.attempt > 0 {
            let attempt = call.attempt.to_string();
            request
                .headers
                .push(("x-retry-count", attempt.as_str().into()));
        }
        call.transport.execute(request).await
    }

    /// Sends one attempt that must succeed.
    async fn ask(&self, call: &Call, route: Route) -> Result<(Exchange, HttpResponse), Error> {
        let response = self.execute(call, route).await?;
        let exchange = self.exchange(&call.target.model, &response);
        if is_success(response.status) {
            Ok((exchange, response))
        } else {
            Err(failure(&exchange, response).await)
        }
    }

    fn exchange(&self, model: &str, response: &HttpResponse) -> Exchange {
        Exchange::new(&self.name, model, self.endpoint.redactor(), response)
    }
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

/// The error that a reply without a success status is. A redirect is one too: the key stays where it is.
async fn failure(exchange: &Exchange, response: HttpResponse) -> Error {
    let status = response.status;
    let body = response.start(fault::BODY_READ).await;
    exchange.located(fault::of_response(
        exchange.asked(),
        status,
        &exchange.headers,
        &body,
    ))
}

/// Reads a reply in either form: its content type decides, not what was asked for.
async fn read_reply(
    exchange: Exchange,
    response: HttpResponse,
    call: &Call,
) -> Result<Reply, Error> {
    if response.is_event_stream() {
        let events = events(response, call.sizes, Assembly::new(exchange));
        return call.progress.watch(events).collect().await;
    }
    let body = response.bytes(call.sizes.reply).await;
    body.and_then(|body| decode::reply(&exchange, &readable(&body)))
        .map_err(|error| exchange.located(error))
}

impl Provider for Anthropic {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self, model: &str) -> Caps {
        let older = self.version_for(model) == AnthropicVersion::V2023_06_01;
        Caps {
            sampling: older,
            top_k: older,
            seed: false,
            effort: true,
            tools: true,
            parallel_tools: true,
            documents: older,
            count_tokens: true,
            structured: Structure::Schema,
            thinking: true,
            max_body: Some(32_000_000),
            default_max_tokens: Some(encode::DEFAULT_MAX_TOKENS),
            whole_by_stream: true,
            self_hosted: self.endpoint.is_loopback(),
            offline: None,
        }
    }

    fn encode(&self, request: &Request, model: &str, route: Route) -> Result<HttpRequest, Error> {
        let path = match route {
            Route::Complete | Route::Stream => MESSAGES,
            Route::CountTokens => COUNT_TOKENS,
        };
        let mut http = self.request(Method::Post, path, self.version_for(model));
        http.body = encode::body(request, model, route)?;
        http.streams = route == Route::Stream;
        Ok(http)
    }

    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Reply, Error>> {
        async move {
            let (exchange, response) = self.ask(call, Route::Complete).await?;
            read_reply(exchange, response, call).await
        }
        .boxed()
    }

    fn stream<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<EventStream, Error>> {
        async move {
            let (exchange, response) = self.ask(call, Route::Stream).await?;
            if response.is_event_stream() {
                return Ok(events(response, call.sizes, Assembly::new(exchange)));
            }
            read_reply(exchange, response, call)
                .await
                .map(reply_as_events)
        }
        .boxed()
    }

    fn count_tokens<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Count, Error>> {
        async move {
            let response = self.execute(call, Route::CountTokens).await?;
            let exchange = self.exchange(&call.target.model, &response);
            if response.status == 404 {
                let body = response.start(fault::BODY_READ).await;
                return Err(exchange.located(decode::count_not_found(&exchange, &body)));
            }
            if !is_success(response.status) {
                return Err(failure(&exchange, response).await);
            }
            let body = response.bytes(call.sizes.reply).await;
            body.and_then(|body| decode::count(&exchange, &body))
                .map_err(|error| exchange.located(error))
        }
        .boxed()
    }

    fn list_models<'a>(
        &'a self,
        transport: &'a Arc<dyn Transport>,
        sizes: SizeCaps,
    ) -> BoxFuture<'a, Result<Vec<ModelInfo>, Error>> {
        async move {
            let request = self.request(Method::Get, MODELS, self.version);
            let response = transport.execute(request).await?;
            let exchange = self.exchange("", &response);
            if !is_success(response.status) {
                return Err(failure(&exchange, response).await);
            }
            let body = response.bytes(sizes.reply).await;
            body.and_then(|body| decode::models(&exchange, &body))
                .map_err(|error| exchange.located(error))
        }
        .boxed()
    }
}
