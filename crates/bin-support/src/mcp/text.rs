//! Texts for the client, without keys.

use llm_types::KeyForms;

/// The longest text of a client in a message or a log, in characters.
const QUOTED: usize = 64;

/// Returns a text of the client in a form for a message or a log: short, without keys and without control characters.
pub fn quoted(text: &str) -> String {
    crate::shortened(&without_keys(text), QUOTED)
}

/// Returns the text without keys of model providers.
pub fn without_keys(text: &str) -> String {
    KeyForms::Long.hide(text).0.into_owned()
}
