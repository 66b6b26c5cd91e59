//! Estimates of the tokens of a prompt, and the cache of counts by providers.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use llm_types::{Block, BlockKind, Count, CountSource, MediaSource, Request, ToolInput, ToolSpec};
use lru::LruCache;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The name of the estimator [`estimate`], which marks its counts.
pub(crate) const ESTIMATOR: &str = "bytes3";

/// The bytes of text per token, and the tokens of an image.
#[derive(Debug, Clone, Copy)]
struct TokenRatio {
    bytes: usize,
    image: u64,
}

const BYTES3: TokenRatio = TokenRatio {
    bytes: 3,
    image: 1600,
};
/// The ratios for reservations, which real counts hardly ever exceed.
const MOST: TokenRatio = TokenRatio {
    bytes: 2,
    image: 4800,
};
const MESSAGE: u64 = 4;
const REQUEST: u64 = 8;

impl TokenRatio {
    fn bytes(self, bytes: usize) -> u64 {
        bytes.div_ceil(self.bytes) as u64
    }

    fn text(self, text: &str) -> u64 {
        self.bytes(text.len())
    }

    fn content(self, blocks: &[Block]) -> u64 {
        blocks.iter().map(|block| self.block(block)).sum()
    }

    fn block(self, block: &Block) -> u64 {
        let raw = || {
            block
                .raw
                .as_ref()
                .map_or(0, |raw| self.bytes(raw.get().len()))
        };
        match &block.kind {
            BlockKind::Text { text } => self.text(text),
            BlockKind::Image(_) => self.image,
            BlockKind::Document(source) => self.document(source),
            BlockKind::ToolUse { name, input, .. } => {
                let input = match input {
                    ToolInput::Json(raw) => raw.get(),
                    ToolInput::Invalid(text) => text,
                };
                self.text(name) + self.text(input)
            }
            BlockKind::ToolResult { content, .. } => self.content(content),
            BlockKind::Thinking { text, .. } => raw().max(self.text(text)),
            BlockKind::ServerToolUse { name, .. } => raw().max(self.text(name)),
            // Also a kind that is unknown here: its JSON as it was received.
            _ => raw(),
        }
    }

    fn document(self, source: &MediaSource) -> u64 {
        match source {
            // Four characters of base64 are three bytes.
            MediaSource::Base64 { media_type, data } if media_type.starts_with("text/") => {
                self.bytes(data.len().div_ceil(4) * 3)
            }
            // A dense page is some 100 KB of a file and 2000 tokens.
            MediaSource::Base64 { data, .. } => self.image.max(data.len() as u64 / 66),
            _ => self.image,
        }
    }

    fn json(self, value: &Value) -> u64 {
        self.text(&value.to_string())
    }

    fn tool(self, tool: &ToolSpec) -> u64 {
        match tool {
            ToolSpec::Function {
                name,
                description,
                schema,
                ..
            } => self.text(name) + self.text(description) + self.json(schema),
            ToolSpec::Server(raw) => self.text(raw.get()),
            // A tool that only a provider of the caller knows: its own JSON.
            tool => serde_json::to_value(tool).map_or(0, |json| self.json(&json)),
        }
    }

    fn request(self, request: &Request) -> u64 {
        let messages = request
            .messages
            .iter()
            .map(|message| MESSAGE + self.content(&message.content));
        let format = request
            .format
            .iter()
            .map(|format| self.json(&format.schema));
        let tools = request.tools.iter().map(|tool| self.tool(tool));
        REQUEST + self.content(&request.system) + messages.chain(tools).chain(format).sum::<u64>()
    }
}

/// Estimates the tokens of a prompt: one for every three bytes of UTF-8 of each text, rounded up, 4 more for each message
/// and 8 for the request.
///
/// Texts are: system blocks, text blocks, thoughts, names and arguments of tool calls, results of tools, the
/// definitions of tools, the schema of the reply, documents whose media type is `text/...`, and the JSON of all other
/// blocks. Any other image or document counts as 1600 tokens, the size of a large picture at most models, and a document
/// in the request as one for 50 bytes if that is more.
pub(crate) fn estimate(request: &Request) -> u64 {
    BYTES3.request(request)
}

/// The tokens of the content of a reply or a message, counted as in [`estimate`].
pub(crate) fn estimate_content(blocks: &[Block]) -> u64 {
    BYTES3.content(blocks)
}

/// Builds a count that is marked as an estimate.
pub(crate) fn estimated(tokens: u64, reason: impl Into<String>) -> Count {
    let source = CountSource::Estimate {
        method: ESTIMATOR.to_owned(),
        reason: reason.into(),
    };
    Count::new(tokens, source)
}

/// The tokens to reserve for the prompt of `request` without a count: one for two bytes of text, by the parts of
/// [`estimate`], and 4800 for an image.
pub(crate) fn most(request: &Request) -> u64 {
    MOST.request(request)
}

/// The content of a prompt in addition to text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Media {
    /// Images whose bytes are in the request.
    Images,
    /// Content of unknown size, at this path of the request.
    Unknown(String),
}

/// Whether the prompt of `request` has parts that are not text.
pub(crate) fn media(request: &Request) -> Option<Media> {
    let mut found = None;
    for (i, message) in request.messages.iter().enumerate() {
        for (j, block) in message.content.iter().enumerate() {
            match block_media(block) {
                None => {}
                Some(false) => found = Some(Media::Images),
                Some(true) => return Some(Media::Unknown(format!("messages.{i}.content.{j}"))),
            }
        }
    }
    found
}

/// Whether a block is or contains an image or a document; `Some(true)` if one has an unknown size.
fn block_media(block: &Block) -> Option<bool> {
    match &block.kind {
        BlockKind::Image(MediaSource::Base64 { .. }) => Some(false),
        BlockKind::Document(MediaSource::Base64 { media_type, .. })
            if media_type.starts_with("text/") =>
        {
            None
        }
        BlockKind::Image(_) | BlockKind::Document(_) => Some(true),
        BlockKind::ToolResult { content, .. } => content.iter().filter_map(block_media).max(),
        _ => None,
    }
}

/// The counts by providers; the least recently used is dropped first.
#[derive(Debug)]
pub(crate) struct CountCache {
    counts: Mutex<LruCache<CountKey, Count>>,
}

/// The provider and the SHA-256 of the request's body. With a cassette the replay key too, since each has its own line
/// there.
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

    /// Adds the replay key of the request.
    pub fn with_replay_key(mut self, replay_key: Option<&str>) -> Self {
        self.replay_key = replay_key.map(str::to_owned);
        self
    }
}

impl CountCache {
    /// The number of counts in the cache.
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

    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
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
        Count::new(tokens, CountSource::Exact)
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
