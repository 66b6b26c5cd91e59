//! The size of a message in tokens, and the shortening of tool results.

use llm_client::{Block, BlockKind, Message, ToolInput};
use pscale_blocks::TokenCounter;

/// The tokens of a message in addition to its content.
const MESSAGE: usize = 4;
/// A picture, or a document that is not text: what a large one has at most models.
const MEDIA: usize = 1_600;
/// The most characters of a result that is shortened.
const SHORT: usize = 400;
const MARK: &str = " … [shortened]";

/// The bytes of the longest token of o200k: a text has at least one token for so much of it.
const LONGEST_TOKEN: usize = 128;

/// A counter that does not read a text which cannot fit: the least number that is too large is enough to know that.
pub(super) struct BoundedCounter<'a> {
    counter: &'a dyn TokenCounter,
    limit: usize,
}

impl<'a> BoundedCounter<'a> {
    /// Counts up to `limit` tokens.
    pub fn new(counter: &'a dyn TokenCounter, limit: usize) -> Self {
        Self { counter, limit }
    }
}

impl TokenCounter for BoundedCounter<'_> {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn count(&self, text: &str) -> usize {
        if text.len() / LONGEST_TOKEN > self.limit {
            return self.limit.saturating_add(1);
        }
        self.counter.count(text)
    }
}

/// The tokens of messages, by what is sent of them.
pub fn tokens(messages: &[Message], counter: &dyn TokenCounter) -> usize {
    messages.iter().map(|message| of(message, counter)).sum()
}

/// The tokens of a message.
pub(super) fn of(message: &Message, counter: &dyn TokenCounter) -> usize {
    let blocks = message.content.iter();
    MESSAGE + blocks.map(|block| of_block(block, counter)).sum::<usize>()
}

/// The tokens of a block.
pub(super) fn of_block(block: &Block, counter: &dyn TokenCounter) -> usize {
    let raw = || block.raw.as_ref().map_or(0, |raw| counter.count(raw.get()));
    match &block.kind {
        // A thought's signature is no part of the prompt.
        BlockKind::Text { text } | BlockKind::Thinking { text, .. } => counter.count(text),
        BlockKind::Image(_) | BlockKind::Document(_) => MEDIA,
        BlockKind::ToolUse { name, input, .. } => {
            let input = match input {
                ToolInput::Json(raw) => raw.get(),
                ToolInput::Invalid(text) => text,
            };
            counter.count(name) + counter.count(input)
        }
        BlockKind::ToolResult { content, .. } => {
            content.iter().map(|block| of_block(block, counter)).sum()
        }
        _ => raw(),
    }
}

/// Shortens a result of a tool to its first characters; false if there is nothing to shorten.
pub(super) fn shorten(block: &mut Block) -> bool {
    let BlockKind::ToolResult { content, .. } = &mut block.kind else {
        return false;
    };
    let only_text = content.iter().all(|block| block.as_text().is_some());
    let text: String = content.iter().filter_map(Block::as_text).collect();
    if only_text && text.chars().count() <= SHORT {
        return false;
    }
    let kept: String = text.chars().take(SHORT - MARK.chars().count()).collect();
    *content = vec![Block::text(kept + MARK)];
    // The block is a new one.
    block.raw = None;
    true
}
