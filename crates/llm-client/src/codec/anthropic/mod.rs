//! The Messages API.

mod block;
mod decode;
mod encode;
mod object;
mod stream;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use llm_types::{Request, Target};

use self::stream::Assembly;
use super::{
    Endpoint, LONGEST_REPLY, RequestContext, error_body, events, readable, repair_warning,
};
use crate::dialect::BatchForm;
use crate::provider::{
    Answer, Capabilities, HttpRequest, Method, Provider, ProviderCall, Route, StructuredMode,
};
use crate::{ConfigError, Error};

/// The path of messages after the base URL.
const MESSAGES: &str = "/v1/messages";

/// A provider for the Messages API of Anthropic.
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
    /// The request for a message with `version`, without its body.
    message: HttpRequest,
}

/// A version of the Messages API, sent as `anthropic-version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum AnthropicVersion {
    /// `2023-06-01`: sampling fields, documents in assistant messages and citations are allowed.
    V2023_06_01,
    /// `2026-10-21`: these are refused.
    #[default]
    V2026_10_21,
}

impl AnthropicVersion {
    /// The value of the header.
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
    /// The base URL of the service.
    pub const DEFAULT_BASE: &'static str = "https://api.anthropic.com";

    /// Models at `endpoint`, asked with the newest version of the API.
    pub fn new(endpoint: Endpoint) -> Self {
        let version = AnthropicVersion::default();
        Self {
            message: request(&endpoint, Method::Post, MESSAGES, version, None),
            endpoint,
            name: "anthropic".to_owned(),
            version,
            versions: BTreeMap::new(),
            betas: None,
        }
    }

    /// Asks with another version of the API.
    #[must_use]
    pub fn with_version(mut self, version: AnthropicVersion) -> Self {
        self.version = version;
        self.message = self.request(Method::Post, MESSAGES, version);
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

    /// Sets another [`Provider::name`], for two endpoints in one program.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Asks for these features in `anthropic-beta`.
    ///
    /// # Errors
    /// A name is empty or not allowed in that header.
    pub fn with_betas<'a>(
        mut self,
        betas: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, ConfigError> {
        let betas: Vec<_> = betas.into_iter().collect();
        for beta in &betas {
            let fits = |byte: u8| byte.is_ascii_graphic() && byte != b',';
            if beta.is_empty() || !beta.bytes().all(fits) {
                let why = format!("{beta:?} is not the name of a feature");
                return Err(ConfigError::setting("anthropic-beta", why));
            }
        }
        self.betas = (!betas.is_empty()).then(|| betas.join(","));
        self.message = self.request(Method::Post, MESSAGES, self.version);
        Ok(self)
    }

    fn request(
        &self,
        method: Method,
        path: &'static str,
        version: AnthropicVersion,
    ) -> HttpRequest {
        request(&self.endpoint, method, path, version, self.betas.as_deref())
    }
}

/// A request with the headers that every request to this API has.
fn request(
    endpoint: &Endpoint,
    method: Method,
    path: &'static str,
    version: AnthropicVersion,
    betas: Option<&str>,
) -> HttpRequest {
    let mut request = endpoint.request(method, path);
    request.headers.set("anthropic-version", version.as_str());
    if let Some(betas) = betas {
        request.headers.set("anthropic-beta", betas);
    }
    request
}

/// Sends `call` and decodes the answer.
async fn ask(mut context: RequestContext, call: ProviderCall) -> Result<Answer, Error> {
    let response = context.execute(&call.transport, call.wire).await?;
    if response.status == 404 && call.route == Route::Count {
        let body = response.start(error_body::BODY_READ).await;
        return Err(context.located(decode::count_not_found(&context, &body)));
    }
    if !(200..300).contains(&response.status) {
        return Err(context.failure(response).await);
    }
    let is_reply = matches!(call.route, Route::Whole | Route::Stream);
    // The content type decides, not what was asked for.
    if is_reply && response.is_event_stream() {
        return Ok(Answer::Stream(events(response, Assembly::new(context))));
    }
    let body = response.bytes(LONGEST_REPLY).await;
    body.and_then(|body| match call.route {
        Route::Count => decode::count(&context, &body).map(Answer::Count),
        Route::Models => decode::models(&context, &body).map(Answer::Models),
        Route::Embed => Err(call.route.refused_by(&context.origin.provider)),
        Route::Whole | Route::Stream => {
            let read = readable(&body);
            let mut reply = decode::reply(&context, &read)?;
            reply.warnings.extend(repair_warning(&body, &read));
            Ok(Answer::Reply(Box::new(reply)))
        }
    })
    .map_err(|error| context.located(error))
}

impl Provider for Anthropic {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        let older = self.version_for(model) == AnthropicVersion::V2023_06_01;
        Capabilities {
            sampling: older,
            top_k: older,
            seed: false,
            effort: true,
            tools: true,
            parallel_tools: true,
            documents: older,
            count_tokens: true,
            structured: StructuredMode::Schema,
            thinking: true,
            max_body: Some(32_000_000),
            default_max_tokens: Some(encode::DEFAULT_MAX_TOKENS),
            whole_by_stream: true,
            self_hosted: self.endpoint.is_loopback(),
            batch: BatchForm::Messages,
            offline: None,
        }
    }

    fn encode(
        &self,
        request: &Request,
        target: &Target,
        route: Route,
    ) -> Result<HttpRequest, Error> {
        let model = &target.model;
        let version = self.version_for(model);
        let mut http = match route {
            Route::Whole | Route::Stream if version == self.version => self.message.clone(),
            Route::Whole | Route::Stream => self.request(Method::Post, MESSAGES, version),
            Route::Count => self.request(Method::Post, "/v1/messages/count_tokens", version),
            Route::Models => self.request(Method::Get, "/v1/models", version),
            Route::Embed => return Err(route.refused_by(&self.name)),
        };
        if route != Route::Models {
            http.body = encode::body(request, model, route)?;
        }
        http.streams = route == Route::Stream;
        Ok(http)
    }

    fn answer(&self, call: ProviderCall) -> BoxFuture<'static, Result<Answer, Error>> {
        let context = RequestContext::new(&self.name, &call.target.model, self.endpoint.redactor());
        ask(context, call).boxed()
    }
}
