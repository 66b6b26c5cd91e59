//! Ask a language model, safely and reproducibly.

mod adapt;
mod cassette;
mod check;
mod client;
mod clock;
mod codec;
mod counting;
mod error;
mod fit;
mod hash;
mod layers;
mod lines;
mod live;
mod models;
mod offline;
mod outgoing;
mod pipeline;
mod provider;
mod redact;
mod settings;
mod sse;
#[cfg(feature = "schema")]
mod structured;
mod tokens;
mod tools;
mod trace;
mod transport;
mod types;

pub use cassette::Cassette;
pub use client::{Client, ClientBuilder, Prepared};
pub use clock::{Clock, SystemClock};
pub use codec::{
    Anthropic, AnthropicVersion, Auth, Compat, Dialect, Endpoint, MaxTokensField, ReasoningField,
    StreamUsage, SystemRole, ThinkingField, ToolIndex,
};
pub use error::{
    Amount, ConfigError, ConnectPhase, Error, TimeoutPhase, Trail, UnavailableModel, Wish,
};
pub use models::{Model, ModelStatus, ModelTable, ModelThinking, Price, Tier};
pub use offline::{Echo, Rule, RuleError, RuleMatch, RuleReply, RuleTool, Script};
pub use provider::{Call, Caps, Provider, Route, Structure};
pub use redact::Redactor;
pub use settings::{
    Budget, CountPolicy, FallbackOn, Limits, Policy, RetryPolicy, SizeCaps, Spend, Timeouts,
    Unpriced,
};
pub use sse::{SseDecoder, SseEvent};
#[cfg(feature = "schema")]
pub use structured::{Structured, StructuredOpts};
pub use tokens::{Bytes3, Estimator};
pub use tools::{
    LoopBounds, LoopError, LoopOutcome, LoopProgress, LoopStop, Step, ToolResult, Toolbox,
};
pub use transport::{
    HeaderText, HttpOptions, HttpRequest, HttpResponse, HttpTransport, Method, Transport,
};
pub use types::{
    Attempt, Block, BlockKind, CacheMark, Cost, CostSource, Count, CountSource, Event, EventStream,
    MediaSource, Message, ModelInfo, Origin, OutputFormat, Raw, Reply, ReplySource, Request, Role,
    Sampling, StopReason, Target, Thinking, ToolChoice, ToolInput, ToolSpec, Usage, Usd, UsdError,
    Warning,
};
