//! A way to reach models, and what it is made of: the client's side of a call, HTTP, and event streams.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::Error;
use crate::types::{Count, EventStream, ModelInfo, Reply, Request, Target};

pub use crate::layers::timeout::ProgressLimit;
pub use crate::settings::SizeCaps;
pub use crate::sse::{SseDecoder, SseEvent};
pub use crate::tokens::{Bytes3, Estimator};
pub use crate::transport::{
    HeaderText, HttpOptions, HttpRequest, HttpResponse, HttpTransport, Method, Transport,
};

/// A way to reach models: a codec between our types and a server's, or something that answers by itself.
///
/// One call of a method is one attempt: retries, limits, budget and recording are the client's.
pub trait Provider: Send + Sync {
    /// A short name, such as `anthropic`; part of every target, cassette line and result.
    fn name(&self) -> &str;

    /// What the provider can do with `model`, as far as its protocol decides it.
    fn capabilities(&self, model: &str) -> Caps;

    /// The HTTP request that asks `request` of `model` by `route`. Never holds an unmarked key.
    ///
    /// A provider that asks no server gives a request that is sent nowhere and serves as its identity.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Refused`] when the protocol cannot say it.
    fn encode(&self, request: &Request, model: &str, route: Route) -> Result<HttpRequest, Error>;

    /// Asks for a whole reply.
    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Reply, Error>>;

    /// Asks for a reply in pieces. The events do not depend on the provider or the call any longer.
    fn stream<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<EventStream, Error>>;

    /// Asks how many tokens the prompt has.
    fn count_tokens<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Count, Error>>;

    /// Asks which models there are.
    fn list_models<'a>(
        &'a self,
        transport: &'a Arc<dyn Transport>,
        sizes: SizeCaps,
    ) -> BoxFuture<'a, Result<Vec<ModelInfo>, Error>>;
}

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Route {
    /// A whole reply.
    Complete,
    /// A reply in pieces.
    Stream,
    /// The number of tokens of the prompt.
    CountTokens,
}

/// One attempt.
pub struct Call {
    /// What is asked, checked and adapted to the target.
    pub request: Request,
    /// Who is asked.
    pub target: Target,
    /// From 0, for this target; sent as `x-retry-count` when it is not 0 and the policy says so.
    pub attempt: u32,
    /// How the provider reaches its server; already wrapped in timeouts and recording.
    pub transport: Arc<dyn Transport>,
    /// The longest replies to read.
    pub sizes: SizeCaps,
    /// For the events of a stream that [`Provider::send`] reads; those of [`Provider::stream`] are watched by the client.
    pub progress: ProgressLimit,
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
