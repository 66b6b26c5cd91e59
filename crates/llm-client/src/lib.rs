//! Ask a language model, safely and reproducibly.

mod client;
mod clock;
mod codec;
mod error;
mod hash;
mod layers;
mod provider;
mod redact;
mod settings;
mod sse;
mod transport;
mod types;

pub use client::{Client, ClientBuilder};
pub use clock::{Clock, SystemClock};
pub use codec::{
    Anthropic, AnthropicVersion, Auth, Compat, Dialect, Endpoint, MaxTokensField, ReasoningField,
    StreamUsage, SystemRole, ThinkingField, ToolIndex,
};
pub use error::{
    Amount, ConfigError, ConnectPhase, Error, TimeoutPhase, Trail, UnavailableModel, Wish,
};
pub use provider::{Call, Caps, Provider, Route, Structure};
pub use redact::Redactor;
pub use settings::{
    Budget, CountPolicy, FallbackOn, Limits, Policy, RetryPolicy, SizeCaps, Spend, Timeouts,
    Unpriced,
};
pub use sse::{SseDecoder, SseEvent};
pub use transport::{
    HeaderText, HttpOptions, HttpRequest, HttpResponse, HttpTransport, Method, Transport,
};
pub use types::{
    Attempt, Block, BlockKind, CacheMark, Cost, CostSource, Count, CountSource, Event, EventStream,
    MediaSource, Message, ModelInfo, Origin, OutputFormat, Raw, Reply, ReplySource, Request, Role,
    Sampling, StopReason, Target, Thinking, ToolChoice, ToolInput, ToolSpec, Usage, Usd, UsdError,
    Warning,
};
