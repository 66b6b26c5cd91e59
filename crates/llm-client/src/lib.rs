//! A client for language models, safe and reproducible.
//!
//! A [`Client`] asks Anthropic, `OpenRouter`, any OpenAI-compatible server, on this machine or elsewhere, or an offline
//! provider. It retries failed attempts, keeps limits and a budget, records and replays, and counts tokens and money.
//!
//! ```
//! use std::sync::Arc;
//!
//! use futures_util::StreamExt as _;
//! use llm_client::{Budget, Client, Echo, Event, ReplySource, Request, SystemClock};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! // `Echo` asks no model. With a key it would be:
//! //   Anthropic::new(Endpoint::new(Anthropic::DEFAULT_BASE, Auth::Bearer(key))?)
//! let provider = Arc::new(Echo::new(7));
//! let client = Client::builder(provider, Arc::new(SystemClock::new()))
//!     .budget(Budget::default().usd(Some("0.50".parse()?)))
//!     .build()?;
//!
//! let request = Request::new("claude-opus-5-5", "Hello?").max_tokens(Some(100));
//! let reply = client.complete(&request).await?;
//! assert!(reply.text().ends_with("Hello?"));
//! // Every reply has its source, its tokens and its cost.
//! assert_eq!(reply.source, ReplySource::Offline("echo".to_owned()));
//! println!("{} tokens, {:?}", reply.usage.total(), reply.cost);
//!
//! // The same as a stream. Only the last event has the reply: a truncated stream is an error.
//! let mut events = client.stream(&request).await?;
//! while let Some(event) = events.next().await {
//!     match event? {
//!         Event::TextDelta { text, .. } => print!("{text}"),
//!         Event::Done(whole) => assert_eq!(whole.text(), reply.text()),
//!         _ => {}
//!     }
//! }
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! **The one decision.** A call passes layers in one fixed order, outermost first: replay, budget, retry, limiter,
//! timeout, record. So a replay costs nothing and neither waits nor connects, nothing is sent beyond the budget, each attempt is recorded
//! with any outcome, and a [`Provider`](provider::Provider) is only a codec: one call of it is one attempt.
//!
//! The crate reads no environment, clock or terminal: the caller passes key, [`Timer`], paths and seed.
//!
//! A truncated stream is never a reply. The input of a tool call is never incomplete. A key appears in no error, log or
//! recording, neither as text nor as a JSON escape. Percent-encoded and base64 forms are not searched for, and the reply
//! that you receive is not changed.
//!
//! # The budget
//!
//! Before each attempt the client reserves its maximum cost: the prompt at its highest price, the longest reply, the uses of
//! the provider's tools. The usage that the provider reports replaces the reservation. An attempt that is interrupted, times
//! out or is dropped before that is charged whole; only one that was not sent or got an HTTP error is free. So at most the
//! cap is billed after any failure. Four things are not covered: prompt sizes without a count, results of server tools
//! beyond 10,000 tokens a use, unknown keys of `extra`, and error replies that a provider bills.
//!
//! With [`Client::keep_ledger`] the account is in a file: a run that is killed and resumed keeps one cap.
//! [`Client::spent`] and [`Error::charged`] return the charges and the part of them that is an upper bound.
//!
//! # Next to other users of reqwest
//!
//! This crate compiles `reqwest` with TLS but without a crypto provider, and cargo unites the features of all crates of a
//! program. A client that another crate builds with `reqwest::Client::builder().build()` then uses the provider of the
//! process and panics if there is none. Call `llm_client::tls::install_default()` at the start of `main`: it installs ring
//! unless a provider is installed. [`HttpTransport::new`](provider::HttpTransport::new) calls it too.
//!
//! Next: [`Request`] and [`Reply`] for the content, [`Error::kind`] and [`Error::class`] for failures,
//! [`Request::with_schema`] and [`json`] for structured replies, [`Client::embed`] for vectors of texts,
//! `batch::Spool` for calls at half price within a day, [`Cassette`] for replay, [`Anthropic`], [`Compat`] and
//! [`Echo`] for the providers; the modules contain names that few callers need.

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

#[cfg(feature = "batch")]
pub mod batch;
mod client;
mod codec;
pub mod dialect;
pub mod embed;
pub mod error;
pub mod json;
mod layers;
pub mod models;
mod offline;
pub mod provider;
mod recording;
mod redact;
mod settings;

pub use client::{Client, ClientBuilder, Prepared};
pub use codec::{Anthropic, AnthropicVersion, Auth, Compat, Dialect, Endpoint};
pub use error::call::Error;
pub use error::config::ConfigError;
pub use error::kind::ErrorKind;
pub use layers::ledger_file::LedgerFile;
pub use layers::timer::Timer;
pub use llm_types::{
    Attempt, Block, BlockKind, CacheMark, Charge, Clock, Cost, CostSource, Count, CountSource,
    ErrorClass, Event, MediaSource, Message, Origin, OutputFormat, Raw, Reply, ReplySource,
    Request, Role, Sampling, StopReason, SystemClock, Target, Thinking, ToolChoice, ToolInput,
    ToolSpec, Usage, Usd, Warning,
};
pub use models::table::ModelTable;
pub use offline::Echo;
pub use provider::event_stream::EventStream;
#[cfg(feature = "tls")]
pub use provider::transport::tls;
pub use recording::cassette::Cassette;
pub use recording::clock::ReplayClock;
pub use redact::Redactor;
pub use secrecy::SecretString;
pub use settings::{Budget, CountPolicy, Limits, RetryPolicy, Spend, Timeouts, Unpriced};
