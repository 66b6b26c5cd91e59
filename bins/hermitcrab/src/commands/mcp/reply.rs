//! Texts on their way to the client.

use pscale_blocks::store::remove_keys;

/// The most characters of a client's text in a message or a log.
const QUOTED: usize = 64;

/// What the client said, fit for a message or a log.
pub fn quoted(text: &str) -> String {
    bin_support::shortened(&clean(text), QUOTED)
}

/// The text without keys: whatever is in a block or was sent, none leaves the server.
pub fn clean(text: &str) -> String {
    remove_keys(text).0.into_owned()
}
