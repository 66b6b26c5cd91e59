//! The codecs: from the client's types to a server's bytes and back.

pub(crate) mod anthropic;
mod body;
pub(crate) mod compat;
mod context;
mod endpoint;
pub(crate) mod error_body;
mod fields;
mod ids;
mod readable;
pub(crate) mod sse;
mod stream;

pub use anthropic::{Anthropic, AnthropicVersion};
pub use compat::{Compat, Dialect};
pub use endpoint::{Auth, Endpoint};

/// The maximum size of a reply in bytes, also of a stream.
pub(crate) const LONGEST_REPLY: u64 = 64 << 20;
/// The maximum length of a line of an event stream in bytes.
const LONGEST_LINE: u64 = 16 << 20;
/// The refusal of a setting or a kind of content that the codec does not know.
const NO_FORM: &str = "this protocol has no form for it; leave it out";

pub(crate) use body::Body;
pub(crate) use context::RequestContext;
#[cfg(feature = "batch")]
pub(crate) use fields::Fields;
pub(crate) use ids::CallIds;
pub(crate) use readable::{as_text, readable, repair_warning};
pub(crate) use stream::{Assembler, events, is_object, is_ping, reply_as_events};
