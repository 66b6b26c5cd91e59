//! Texts for the client, without keys.

use pscale_blocks::store::remove_keys;

/// The longest text of a client in a message or a log, in characters.
const QUOTED: usize = 64;

/// Returns a text of the client in a form for a message or a log: short and without control characters.
pub fn quoted(text: &str) -> String {
    bin_support::shortened(&clean(text), QUOTED)
}

/// Returns the text without keys. No key leaves the server, neither from a block nor from a request.
pub fn clean(text: &str) -> String {
    remove_keys(text).0.into_owned()
}
