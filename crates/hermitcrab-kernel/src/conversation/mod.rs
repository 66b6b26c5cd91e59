//! The conversation: its record, the window that a model sees, and the history of older turns.

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
