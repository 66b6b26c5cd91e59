//! What is asked and what is answered, the same for every provider.

mod cost;
mod message;
mod raw;
mod reply;
mod request;
mod stream;

pub use cost::{Charge, Cost, CostSource, Usage, Usd, UsdError};
pub use message::{
    Block, BlockKind, CacheMark, MediaSource, Message, Origin, Role, Target, ToolInput,
};
pub use raw::Raw;
pub use reply::{Attempt, Count, CountSource, ModelInfo, Reply, ReplySource, StopReason, Warning};
pub use request::{OutputFormat, Request, Sampling, Thinking, ToolChoice, ToolSpec};
pub use stream::{Event, EventStream};
