//! Providers of models, and the parts of an implementation: the client's side of a call, and HTTP.

pub(crate) mod event_stream;
pub(crate) mod transport;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use llm_types::{Count, ModelInfo, Reply, Request, Target};

use crate::dialect::BatchForm;
use crate::embed::EmbedReply;
use crate::{Error, EventStream};

pub use transport::{
    HeaderText, Headers, HttpOptions, HttpRequest, HttpResponse, HttpTransport, Method, Transport,
};

/// A provider of models: a codec between the client's types and a server's, or an implementation without a server.
///
/// A call of [`Provider::answer`] is one attempt; the client does retries, limits, budget and recording.
pub trait Provider: Send + Sync {
    /// A short name, such as `anthropic`; part of every target, cassette line and result.
    fn name(&self) -> &str;

    /// The capabilities of the provider's protocol for `model`.
    fn capabilities(&self, _model: &str) -> Capabilities {
        Capabilities::default()
    }

    /// Encodes `request` for `target` and `route` as an HTTP request. A key in it must be marked as secret.
    ///
    /// The client calls this once per call: all attempts send these bytes, and the record and the count of tokens are keyed by
    /// them. The request of an offline provider is never sent and only identifies the call. For [`Route::Models`] `request` is
    /// empty.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Refused`] if the protocol cannot express the request; [`Route::refused_by`] for a missing route.
    fn encode(
        &self,
        request: &Request,
        target: &Target,
        route: Route,
    ) -> Result<HttpRequest, Error>;

    /// Sends the request of [`Provider::encode`] and decodes the answer. Whole replies and streams may replace each other; the
    /// client converts the answer to the requested form.
    fn answer(&self, call: ProviderCall) -> BoxFuture<'static, Result<Answer, Error>>;
}

/// The kind of answer that is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Route {
    /// A whole reply.
    Whole,
    /// A streamed reply.
    Stream,
    /// The number of tokens of the prompt.
    Count,
    /// The list of models.
    Models,
    /// Vectors of texts: the request has a message for each text.
    Embed,
}

impl Route {
    /// The name in errors, such as `count`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Stream => "stream",
            Self::Count => "count",
            Self::Models => "models",
            Self::Embed => "embeddings",
        }
    }

    /// The error of a provider without this route.
    pub fn refused_by(self, provider: &str) -> Error {
        Error::refused("route", format!("{provider} has no {}", self.as_str()))
    }
}

/// An attempt of a call.
#[non_exhaustive]
pub struct ProviderCall {
    /// The request of [`Provider::encode`]; a retry may have the header `x-retry-count` in addition.
    pub wire: HttpRequest,
    /// The kind of answer that is requested.
    pub route: Route,
    /// The provider and the model that are asked.
    pub target: Target,
    /// The number of the attempt, from 0.
    pub attempt: u32,
    /// The transport to the server, wrapped in timeouts and recording.
    pub transport: Arc<dyn Transport>,
}

impl ProviderCall {
    /// Creates the first attempt of a call.
    pub fn new(
        wire: HttpRequest,
        route: Route,
        target: Target,
        transport: Arc<dyn Transport>,
    ) -> Self {
        Self {
            wire,
            route,
            target,
            attempt: 0,
            transport,
        }
    }
}

/// The answer to a [`ProviderCall`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Answer {
    /// A whole reply.
    Reply(Box<Reply>),
    /// A streamed reply. The events borrow neither the provider nor the call.
    Stream(EventStream),
    /// The number of tokens of the prompt.
    Count(Count),
    /// The models of the provider.
    Models(Vec<ModelInfo>),
    /// Vectors of texts.
    Vectors(Box<EmbedReply>),
}

/// The capabilities of a provider's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of a protocol that is there or not"
)]
#[non_exhaustive]
pub struct Capabilities {
    /// Whether `temperature` and `top_p` are allowed.
    pub sampling: bool,
    /// Whether `top_k` is allowed.
    pub top_k: bool,
    /// Whether `seed` is allowed.
    pub seed: bool,
    /// Whether `effort` is allowed.
    pub effort: bool,
    /// Whether tools are allowed.
    pub tools: bool,
    /// Whether parallel tool calls can be allowed or forbidden.
    pub parallel_tools: bool,
    /// Whether documents in assistant messages and requests for citations are allowed.
    pub documents: bool,
    /// Whether the provider counts tokens.
    pub count_tokens: bool,
    /// The protocol's support of structured output.
    pub structured: StructuredMode,
    /// Whether thinking blocks are part of the protocol.
    pub thinking: bool,
    /// The maximum size of a request's body in bytes.
    pub max_body: Option<u64>,
    /// The `max_tokens` of a request without one, if the protocol requires it.
    pub default_max_tokens: Option<u32>,
    /// Whether a whole reply that may take longer than the call's deadline is requested as a stream.
    pub whole_by_stream: bool,
    /// Whether the server is the caller's own, at an unknown speed: a plain reply may take the time for the whole call.
    pub self_hosted: bool,
    /// The form of message batches.
    pub batch: BatchForm,
    /// The label of the replies of an offline provider, which is free.
    pub offline: Option<&'static str>,
}

/// A protocol's support of structured output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StructuredMode {
    /// No support: the schema goes into the system text.
    None,
    /// JSON without a schema.
    Object,
    /// JSON of a given schema.
    Schema,
}

impl Capabilities {
    /// A protocol that allows everything and has no limits and no batches.
    pub const ALL: Self = Self {
        sampling: true,
        top_k: true,
        seed: true,
        effort: true,
        tools: true,
        parallel_tools: true,
        documents: true,
        count_tokens: true,
        structured: StructuredMode::Schema,
        thinking: true,
        max_body: None,
        default_max_tokens: None,
        whole_by_stream: false,
        self_hosted: false,
        batch: BatchForm::None,
        offline: None,
    };
}

impl Default for Capabilities {
    /// Returns [`Capabilities::ALL`].
    fn default() -> Self {
        Self::ALL
    }
}
