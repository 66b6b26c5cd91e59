//! Text helpers: trimming as in ECMAScript, visible characters, words and hashes.

pub(crate) mod arc;
pub(crate) mod cell;
pub(crate) mod hash;
pub(crate) mod lexicon;
pub(crate) mod setters;
mod trim;
pub(crate) mod visible;
pub(crate) mod words;

pub use lexicon::Lexicon;
pub(crate) use trim::is_js_space;
pub use trim::{js_trim, preview};
