//! A way to reach models, and what it is made of: the client's side of a call, and HTTP.

pub(crate) mod event_stream;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use llm_types::{Count, ModelInfo, Reply, Request, Target};

use crate::{Error, EventStream};

pub use crate::transport::{
    HeaderText, HttpOptions, HttpRequest, HttpResponse, HttpTransport, Method, Transport,
};

/// A way to reach models: a codec between our types and a server's, or something that answers by itself.
///
/// One call of [`Provider::answer`] is one attempt: retries, limits, budget and recording are the client's.
pub trait Provider: Send + Sync {
    /// A short name, such as `anthropic`; part of every target, cassette line and result.
    fn name(&self) -> &str;

    /// What the provider can do with `model`, as far as its protocol decides it.
    fn capabilities(&self, _model: &str) -> Caps {
        Caps::default()
    }

    /// The HTTP request that asks `request` of `target` by `route`. Never holds an unmarked key.
    ///
    /// It is made once per call: all attempts send its bytes, and the record and the count of tokens are known by them.
    /// A provider that asks no server gives a request that is sent nowhere and serves as its identity. For
    /// [`Route::Models`] `request` is empty.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Refused`] when the protocol cannot say it; [`Route::refused_by`] for a route that it lacks.
    fn encode(
        &self,
        request: &Request,
        target: &Target,
        route: Route,
    ) -> Result<HttpRequest, Error>;

    /// Sends what [`Provider::encode`] made and reads the answer. A whole reply may be answered by a stream and a stream
    /// by a whole reply; the client gives its caller the form that was asked for.
    fn answer(&self, call: Call) -> BoxFuture<'static, Result<Answer, Error>>;
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Route {
    /// A whole reply.
    Whole,
    /// A reply in pieces.
    Stream,
    /// The number of tokens of the prompt.
    Count,
    /// The list of models.
    Models,
}

impl Route {
    /// The word for it in errors, such as `count`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Stream => "stream",
            Self::Count => "count",
            Self::Models => "models",
        }
    }

    /// The error of a provider that does not have this route.
    pub fn refused_by(self, provider: &str) -> Error {
        Error::refused("route", format!("{provider} has no {}", self.as_str()))
    }
}

/// One attempt.
pub struct Call {
    /// What is sent, as [`Provider::encode`] made it; a repetition may have `x-retry-count` in addition.
    pub wire: HttpRequest,
    /// What is asked for.
    pub route: Route,
    /// The provider and the model that are asked.
    pub target: Target,
    /// The number of the attempt, from 0.
    pub attempt: u32,
    /// How the provider reaches its server; already wrapped in timeouts and recording.
    pub transport: Arc<dyn Transport>,
}

/// The answer to a [`Call`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Answer {
    /// A whole reply.
    Reply(Box<Reply>),
    /// A reply in pieces. The events depend on neither the provider nor the call any longer.
    Stream(EventStream),
    /// The number of tokens of the prompt.
    Count(Count),
    /// The models that there are.
    Models(Vec<ModelInfo>),
}

/// What a provider's protocol can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of a protocol that is there or not"
)]
pub struct Caps {
    /// `temperature` and `top_p` are allowed.
    pub sampling: bool,
    /// `top_k` is allowed.
    pub top_k: bool,
    /// `seed` is allowed.
    pub seed: bool,
    /// `effort` is allowed.
    pub effort: bool,
    /// Tools are allowed.
    pub tools: bool,
    /// It can be said whether several tools may be called at once.
    pub parallel_tools: bool,
    /// Documents in assistant messages and citations asked for by the user are allowed.
    pub documents: bool,
    /// The provider counts tokens.
    pub count_tokens: bool,
    /// What the protocol has for structured output.
    pub structured: Structure,
    /// Thinking blocks are part of the protocol.
    pub thinking: bool,
    /// The longest body in bytes.
    pub max_body: Option<u64>,
    /// `max_tokens` is required; this is sent when the request has none.
    pub default_max_tokens: Option<u32>,
    /// A whole reply that may take longer than the time for the call is asked for as a stream.
    pub whole_by_stream: bool,
    /// The server is the caller's own, of a speed that nothing is known of: a plain reply may take the time for the whole
    /// call.
    pub self_hosted: bool,
    /// The provider asks no model and costs nothing; the label of its replies.
    pub offline: Option<&'static str>,
}

/// What a protocol has for structured output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Structure {
    /// Nothing: the schema goes into the system text.
    None,
    /// JSON of any form.
    Object,
    /// A schema.
    Schema,
}

impl Caps {
    /// A protocol that allows everything and has no limits of its own.
    pub const ALL: Self = Self {
        sampling: true,
        top_k: true,
        seed: true,
        effort: true,
        tools: true,
        parallel_tools: true,
        documents: true,
        count_tokens: true,
        structured: Structure::Schema,
        thinking: true,
        max_body: None,
        default_max_tokens: None,
        whole_by_stream: false,
        self_hosted: false,
        offline: None,
    };
}

impl Default for Caps {
    /// [`Caps::ALL`].
    fn default() -> Self {
        Self::ALL
    }
}
