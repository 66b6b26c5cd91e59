//! The loop: it builds a snapshot, asks for laws, ranks them, tests some and stores the decisions, then begins again.

mod decision;
mod observer;
mod plan;
mod pool;
mod run_loop;
mod trial;

#[cfg(feature = "llm")]
pub(crate) use decision::json;
pub use decision::status_text;
pub use observer::{Event, Observer, Unobserved};
pub use run_loop::{Discovery, RunEnd, RunSelector};
