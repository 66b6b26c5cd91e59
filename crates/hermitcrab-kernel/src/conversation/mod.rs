//! The conversation: its record, the window that a model sees, and the history of older turns.

mod archive;
mod author;
mod display;
mod history;
mod lean;
mod line;
mod pages;
mod record;
mod trace;
mod view;
pub mod window;

pub use author::{Author, Utterance};
pub use display::DisplayedMessage;
pub(crate) use history::HistoryBlocks;
pub(crate) use lean::without_copies;
pub use pages::DisplayedPage;
pub(crate) use pages::{all, displayed, range};
pub(crate) use record::{ConversationRecord, FILE};
pub use trace::{Trace, TracedOrigin};
pub(crate) use view::MovedTurn;
