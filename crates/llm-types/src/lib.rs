//! The vocabulary of calls to language models: requests, replies, tokens, money, classes of errors and time.
//!
//! `llm-client` uses and re-exports these types. A crate that only records or judges replies depends on this crate alone, without
//! a network stack.
//!
//! ```
//! use llm_types::{Block, BlockKind, ErrorClass, Reply, Request, StopReason, Usd};
//!
//! let request = Request::new("claude-opus-5-5", "Hello?").max_tokens(Some(100));
//! assert_eq!(request.messages.len(), 1);
//!
//! let reply = Reply::new("claude-opus-5-5", vec![Block::text("Hello.")], StopReason::EndTurn);
//! assert_eq!(reply.text(), "Hello.");
//! assert!(matches!(reply.content[0].kind, BlockKind::Text { .. }));
//!
//! // Money is exact: nano-dollars inside, dollars outside.
//! assert_eq!("0.0021".parse::<Usd>()?, Usd(2_100_000));
//! // Journals have error classes as words; an unknown word is an error.
//! assert_eq!("rate_limit".parse::<ErrorClass>()?, ErrorClass::RateLimit);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod clock;
mod cost;
mod error_class;
mod event;
mod keys;
mod message;
mod raw;
mod reply;
mod request;
pub mod schema;
mod setters;

pub use clock::{Clock, FixedClock, SystemClock};
pub use cost::{Charge, Cost, CostSource, Usage, Usd, UsdError};
pub use error_class::{ErrorClass, UnknownClass};
pub use event::Event;
pub use keys::KeyForms;
pub use message::{
    Block, BlockKind, CacheMark, MediaSource, Message, Origin, Role, Target, ToolInput,
};
pub use raw::Raw;
pub use reply::{Attempt, Count, CountSource, ModelInfo, Reply, ReplySource, StopReason, Warning};
pub use request::{OutputFormat, Request, Sampling, Thinking, ToolChoice, ToolSpec};
