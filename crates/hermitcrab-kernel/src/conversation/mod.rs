//! What was said: its record, the part of it that a model gets to see, and what becomes of the rest.

mod author;
mod display;
mod history;
mod lean;
mod record;
pub mod window;

pub use author::{Author, Utterance};
pub use display::DisplayedMessage;
pub(crate) use display::said;
pub(crate) use lean::without_copies;
pub(crate) use record::{ConversationRecord, FILE};
