//! Estimates of the tokens of a prompt, and the cache of counts by providers.

use std::io;
use std::iter::Sum;
use std::num::NonZeroUsize;
use std::ops::Add;
use std::sync::{Mutex, PoisonError};

use llm_types::{Block, BlockKind, Count, CountSource, MediaSource, Request, ToolInput, ToolSpec};
use lru::LruCache;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// The name of the estimator of [`PromptTokens::estimate`], which marks its counts.
pub(crate) const ESTIMATOR: &str = "bytes3";

/// The tokens of a prompt or of a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PromptTokens {
    /// One token for every three bytes of UTF-8 of each text, rounded up, and 1600 for an image, the size of a large picture at
    /// most models. 4 more for each message and 8 for the request.
    pub estimate: u64,
    /// The tokens to reserve without a count, which real counts hardly ever exceed: one for two bytes, and 4800 for an image.
    pub most: u64,
}

const IMAGE: PromptTokens = PromptTokens {
    estimate: 1600,
    most: 4800,
};
const MESSAGE: PromptTokens = PromptTokens::both(4);
const REQUEST: PromptTokens = PromptTokens::both(8);

impl PromptTokens {
    const fn both(tokens: u64) -> Self {
        Self {
            estimate: tokens,
            most: tokens,
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            estimate: self.estimate.max(other.estimate),
            most: self.most.max(other.most),
        }
    }
}

impl Add for PromptTokens {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            estimate: self.estimate + other.estimate,
            most: self.most + other.most,
        }
    }
}

impl Sum for PromptTokens {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Self::add)
    }
}

/// The tokens of a prompt.
///
/// Texts are: system blocks, text blocks, thoughts, names and arguments of tool calls, results of tools, the
/// definitions of tools, the schema of the reply, documents whose media type is `text/...`, and the JSON of all other
/// blocks. Any other image or document counts as an image, and a document in the request as one token for 66 bytes of its
/// base64 if that is more.
pub(crate) fn prompt(request: &Request) -> PromptTokens {
    let messages = request
        .messages
        .iter()
        .map(|message| MESSAGE + of_content(&message.content));
    let format = request.format.iter().map(|format| of_json(&format.schema));
    let tools = request.tools.iter().map(of_tool);
    REQUEST + of_content(&request.system) + messages.chain(tools).chain(format).sum()
}

/// The estimated tokens of the content of a reply or a message.
pub(crate) fn estimate_content(blocks: &[Block]) -> u64 {
    of_content(blocks).estimate
}

fn of_bytes(bytes: usize) -> PromptTokens {
    PromptTokens {
        estimate: bytes.div_ceil(3) as u64,
        most: bytes.div_ceil(2) as u64,
    }
}

fn of_text(text: &str) -> PromptTokens {
    of_bytes(text.len())
}

fn of_content(blocks: &[Block]) -> PromptTokens {
    blocks.iter().map(of_block).sum()
}

fn of_block(block: &Block) -> PromptTokens {
    let raw = || {
        let raw = block.raw.as_ref();
        raw.map_or(PromptTokens::default(), |raw| of_text(raw.get()))
    };
    match &block.kind {
        BlockKind::Text { text } => of_text(text),
        BlockKind::Image(_) => IMAGE,
        BlockKind::Document(source) => of_document(source),
        BlockKind::ToolUse { name, input, .. } => {
            let input = match input {
                ToolInput::Json(raw) => raw.get(),
                ToolInput::Invalid(text) => text,
            };
            of_text(name) + of_text(input)
        }
        BlockKind::ToolResult { content, .. } => of_content(content),
        BlockKind::Thinking { text, .. } => raw().max(of_text(text)),
        BlockKind::ServerToolUse { name, .. } => raw().max(of_text(name)),
        // Also a kind that is unknown here: its JSON as it was received.
        _ => raw(),
    }
}

fn of_document(source: &MediaSource) -> PromptTokens {
    match source {
        // Four characters of base64 are three bytes.
        MediaSource::Base64 { media_type, data } if media_type.starts_with("text/") => {
            of_bytes(data.len().div_ceil(4) * 3)
        }
        // A dense page is some 100 KB of a file and 2000 tokens.
        MediaSource::Base64 { data, .. } => IMAGE.max(PromptTokens::both(data.len() as u64 / 66)),
        _ => IMAGE,
    }
}

fn of_json(value: &impl Serialize) -> PromptTokens {
    /// Counts the bytes instead of keeping them.
    struct Length(usize);

    impl io::Write for Length {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut length = Length(0);
    let written = serde_json::to_writer(&mut length, value);
    written.map_or(PromptTokens::default(), |()| of_bytes(length.0))
}

fn of_tool(tool: &ToolSpec) -> PromptTokens {
    match tool {
        ToolSpec::Function {
            name,
            description,
            schema,
            ..
        } => of_text(name) + of_text(description) + of_json(schema),
        ToolSpec::Server(raw) => of_text(raw.get()),
        // A tool that only a provider of the caller knows: its own JSON.
        tool => of_json(tool),
    }
}

/// Builds a count that is marked as an estimate.
pub(crate) fn estimated(tokens: u64, reason: impl Into<String>) -> Count {
    let source = CountSource::Estimate {
        method: ESTIMATOR.to_owned(),
        reason: reason.into(),
    };
    Count::new(tokens, source)
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
