//! How many tokens a prompt has, where no provider counts them, and what was counted before.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use lru::LruCache;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::types::{
    Block, BlockKind, Count, CountSource, MediaSource, Request, ToolInput, ToolSpec,
};

/// Guesses how many tokens a prompt has.
pub trait Estimator: Send + Sync {
    /// A short name, such as `bytes3`; it marks every count that is an estimate.
    fn name(&self) -> &str;

    /// The tokens of the prompt of `request`; rather too many than too few, for budgets reckon with it.
    fn estimate(&self, request: &Request) -> u64;
}

/// One token for three bytes of UTF-8, begun ones too, of every text; 4 more for each message and 8 for the request.
///
/// Texts are: system blocks, text blocks, thoughts, names and arguments of tool calls, results of tools, the
/// definitions of tools, the schema of the reply, documents whose media type is `text/...`, and the JSON of blocks
/// that are nothing of these. Any other image or document counts as 1600 tokens, what a large picture has at most
/// models, and a document in the request as one for 50 bytes of it if that is more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bytes3;

/// An image, or a document that is not text.
const MEDIA: u64 = 1600;
const MESSAGE: u64 = 4;
const REQUEST: u64 = 8;

impl Bytes3 {
    /// The tokens of one text.
    pub fn text(text: &str) -> u64 {
        Self::bytes(text.len())
    }

    fn bytes(bytes: usize) -> u64 {
        bytes.div_ceil(3) as u64
    }

    /// The tokens of a reply's, or a message's, content.
    pub(crate) fn content(blocks: &[Block]) -> u64 {
        blocks.iter().map(Self::block).sum()
    }

    fn block(block: &Block) -> u64 {
        let raw = || {
            block
                .raw
                .as_ref()
                .map_or(0, |raw| Self::bytes(raw.get().len()))
        };
        match &block.kind {
            BlockKind::Text { text } => Self::text(text),
            BlockKind::Image(_) => MEDIA,
            BlockKind::Document(source) => Self::document(source),
            BlockKind::ToolUse { name, input, .. } => {
                let input = match input {
                    ToolInput::Json(raw) => raw.get(),
                    ToolInput::Invalid(text) => text,
                };
                Self::text(name) + Self::text(input)
            }
            BlockKind::ToolResult { content, .. } => Self::content(content),
            BlockKind::Thinking { text, .. } => raw().max(Self::text(text)),
            BlockKind::ServerToolUse { name, .. } => raw().max(Self::text(name)),
            BlockKind::RedactedThinking
            | BlockKind::ServerToolResult { .. }
            | BlockKind::Other { .. } => raw(),
        }
    }

    fn document(source: &MediaSource) -> u64 {
        match source {
            // Four characters of base64 are three bytes.
            MediaSource::Base64 { media_type, data } if media_type.starts_with("text/") => {
                Self::bytes(data.len().div_ceil(4) * 3)
            }
            // A dense page is some 100 KB of a file and 2000 tokens.
            MediaSource::Base64 { data, .. } => MEDIA.max(data.len() as u64 / 66),
            _ => MEDIA,
        }
    }

    fn json(value: &Value) -> u64 {
        Self::text(&value.to_string())
    }

    fn tool(tool: &ToolSpec) -> u64 {
        match tool {
            ToolSpec::Function {
                name,
                description,
                schema,
                ..
            } => Self::text(name) + Self::text(description) + Self::json(schema),
            ToolSpec::Server(raw) => Self::text(raw.get()),
        }
    }
}

impl Estimator for Bytes3 {
    fn name(&self) -> &'static str {
        "bytes3"
    }

    fn estimate(&self, request: &Request) -> u64 {
        let messages = request
            .messages
            .iter()
            .map(|message| MESSAGE + Self::content(&message.content));
        let format = request
            .format
            .iter()
            .map(|format| Self::json(&format.schema));
        let tools = request.tools.iter().map(Self::tool);
        REQUEST + Self::content(&request.system) + messages.chain(tools).chain(format).sum::<u64>()
    }
}

/// A count by this estimator.
pub(crate) fn estimated(
    estimator: &dyn Estimator,
    request: &Request,
    reason: impl Into<String>,
) -> Count {
    Count {
        tokens: estimator.estimate(request),
        source: CountSource::Estimate {
            method: estimator.name().to_owned(),
            reason: reason.into(),
        },
    }
}

/// What providers counted, the least used thrown out first.
#[derive(Debug)]
pub(crate) struct CountCache {
    counts: Mutex<LruCache<CountKey, Count>>,
}

/// The provider, and the SHA-256 of the body it was asked with; with a cassette the replay key too, for each is a line
/// of its own there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CountKey {
    provider: String,
    body: [u8; 32],
    replay_key: Option<String>,
}

impl CountKey {
    pub fn new(provider: &str, body: &[u8]) -> Self {
        Self {
            provider: provider.to_owned(),
            body: Sha256::digest(body).into(),
            replay_key: None,
        }
    }

    /// The same with the replay key of the request.
    pub fn with_replay_key(mut self, replay_key: Option<&str>) -> Self {
        self.replay_key = replay_key.map(str::to_owned);
        self
    }
}

impl CountCache {
    /// Room for this many counts when nothing else is set.
    pub const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9_999);

    pub fn new(capacity: NonZeroUsize) -> Self {
        Self {
            counts: Mutex::new(LruCache::new(capacity)),
        }
    }

    pub fn get(&self, key: &CountKey) -> Option<Count> {
        self.lock().get(key).cloned()
    }

    pub fn put(&self, key: CountKey, count: Count) {
        self.lock().put(key, count);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, LruCache<CountKey, Count>> {
        // A count is put whole or not at all, so one that panicked elsewhere harms nothing.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for CountCache {
    fn default() -> Self {
        Self::new(Self::CAPACITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(tokens: u64) -> Count {
        Count {
            tokens,
            source: CountSource::Exact,
        }
    }

    #[test]
    fn the_cache_keeps_what_was_used_last_and_tells_providers_apart() {
        assert_eq!(CountCache::CAPACITY.get(), 10_000);
        let cache = CountCache::new(NonZeroUsize::new(2).unwrap());
        let [a, b, c] = ["a", "b", "c"].map(|body| CountKey::new("p", body.as_bytes()));
        cache.put(a.clone(), exact(1));
        cache.put(b.clone(), exact(2));
        assert_eq!(cache.get(&a), Some(exact(1)));
        cache.put(c.clone(), exact(3));
        assert_eq!(cache.get(&b), None);
        assert_eq!(cache.get(&a), Some(exact(1)));
        assert_eq!(cache.get(&c), Some(exact(3)));
        assert_eq!(cache.get(&CountKey::new("q", b"a")), None);
        assert_eq!(cache.get(&a.with_replay_key(Some("x"))), None);
    }
}
