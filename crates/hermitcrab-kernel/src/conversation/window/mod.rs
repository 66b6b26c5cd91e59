//! The part of the conversation that a model sees.

mod close;
mod history;
mod sanitise;
mod size;

use std::ops::Range;

use llm_client::{Block, BlockKind, Message, Role};
use pscale_blocks::TokenCounter;

pub use close::{cut_names, distinct_ids};
pub(crate) use history::{days_of, turns_of_history};
pub use history::{entries, group_summary};
pub use sanitise::{ValidMessages, sanitise};
pub use size::tokens;

use sanitise::IndexedMessage;

/// The text that a window begins with when earlier messages are not in it.
pub const NOTICE: &str = "[Earlier messages moved to memory. Use block_read(\"memory\") for full history.] \
                          The exact words are in block \"history\".";

/// [`NOTICE`] where the exact words are in another block.
pub fn notice(block: &str) -> String {
    NOTICE.replacen("\"history\"", &format!("\"{block}\""), 1)
}

/// Whether a text is the [`notice`] of some block.
pub(crate) fn is_notice(text: &str) -> bool {
    let (before, _) = NOTICE.split_once("history\"").unwrap_or_default();
    text.starts_with(before)
}

/// The text in its place where the words before are nowhere that the model could read them.
pub const LEFT_OUT: &str = "[Earlier messages are left out.]";

/// The limits of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "one limit of messages and one of tokens"
)]
pub struct WindowLimits {
    /// The number of messages.
    pub messages: usize,
    /// The number of tokens in their content.
    pub tokens: usize,
}

impl Default for WindowLimits {
    fn default() -> Self {
        Self {
            messages: 20,
            tokens: 3_800,
        }
    }
}

/// The part of a conversation that a model sees.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Window {
    /// The messages to send: user and assistant in turn, the user first, every call of a tool with its result.
    pub messages: Vec<Message>,
    /// Instructions from between the messages, oldest first. They belong to the system blocks.
    pub system: Vec<Block>,
    /// The messages of the turns that are left out, oldest first, as they are in the conversation.
    pub dropped: Vec<Message>,
    /// The number of messages before the window.
    pub kept_from: usize,
    /// Whether messages are left out; then the first message says so.
    pub notice: bool,
    /// Assistant messages that were taken out because a call in them has no result.
    pub dangling_removed: usize,
}

/// The longest run of whole newest turns that fits into `limits`.
///
/// A turn starts at a user message that holds no result of a tool. The current turn is the last one, or what starts at
/// message `current` of `messages`. It is kept whole whatever its size. If it alone is too large, the results in it are
/// shortened, the oldest first; those of its last message are not, for the model has not seen them yet.
///
/// Blocks that stay are the very blocks that were given.
pub fn trim(
    messages: Vec<Message>,
    current: Option<usize>,
    limits: WindowLimits,
    counter: &dyn TokenCounter,
) -> Window {
    let given = messages.len();
    let ValidMessages {
        mut kept,
        system,
        dangling_removed,
    } = sanitise(messages);
    let turns = turns(&kept, current);
    let Some(last) = turns.last().cloned() else {
        // Nobody has said anything that a model could answer.
        return Window {
            dropped: kept.into_iter().map(|kept| kept.message).collect(),
            system,
            kept_from: given,
            dangling_removed,
            ..Window::default()
        };
    };
    let counter = &size::BoundedCounter::new(counter, limits.tokens);
    let mut sizes: Vec<usize> = kept
        .iter()
        .map(|kept| size::of(&kept.message, counter))
        .collect();
    let (turn, of_turn) = (&mut kept[last.clone()], &mut sizes[last.clone()]);
    shorten(turn, of_turn, limits.tokens, counter);
    let fits = |start: usize| {
        // Whatever lies before needs the notice.
        let notice = if start == 0 { 0 } else { counter.count(NOTICE) };
        kept.len() - start <= limits.messages
            && sizes[start..].iter().sum::<usize>() + notice <= limits.tokens
    };
    let start = turns
        .iter()
        .map(|turn| turn.start)
        .find(|start| fits(*start))
        .unwrap_or(last.start);

    let tail = kept.split_off(start);
    let mut window = Window {
        kept_from: tail.first().map_or(given, |kept| kept.index),
        dropped: kept.into_iter().map(|kept| kept.message).collect(),
        messages: merged(tail),
        system,
        notice: start > 0,
        dangling_removed,
    };
    if window.notice
        && let Some(first) = window.messages.first_mut()
    {
        first.content.insert(0, Block::text(NOTICE));
    }
    window
}

/// The turns, each as a range. Messages before the first one belong to no turn.
fn turns(kept: &[IndexedMessage], current: Option<usize>) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = (0..kept.len())
        .filter(|at| starts_turn(&kept[*at].message))
        .collect();
    if let Some(current) = current {
        // What the kernel says in the midst of the current turn starts no other.
        let before = starts.partition_point(|at| kept[*at].index < current);
        starts.truncate(before + 1);
    }
    let ends = starts.iter().skip(1).copied().chain([kept.len()]);
    starts
        .iter()
        .copied()
        .zip(ends)
        .map(|(a, b)| a..b)
        .collect()
}

/// Whether a turn starts here: the person speaks, and no tool answers.
pub fn starts_turn(message: &Message) -> bool {
    let is_result = |block: &Block| matches!(block.kind, BlockKind::ToolResult { .. });
    message.role == Role::User && !message.content.iter().any(is_result)
}

/// Shortens the results of a turn, the oldest first, until it has at most `tokens` tokens. `sizes` are those of its messages.
fn shorten(
    turn: &mut [IndexedMessage],
    sizes: &mut [usize],
    tokens: usize,
    counter: &dyn TokenCounter,
) {
    let mut total: usize = sizes.iter().sum();
    let Some((_, earlier)) = turn.split_last_mut() else {
        return;
    };
    for (kept, size) in earlier.iter_mut().zip(sizes) {
        for block in &mut kept.message.content {
            if total <= tokens {
                return;
            }
            if !matches!(block.kind, BlockKind::ToolResult { .. }) {
                continue;
            }
            let before = size::of_block(block, counter);
            if size::shorten(block) {
                let after = size::of_block(block, counter);
                total = total - before + after;
                *size = *size - before + after;
            }
        }
    }
}

/// Messages of the same role after one another as one.
fn merged(messages: Vec<IndexedMessage>) -> Vec<Message> {
    let mut all: Vec<Message> = Vec::new();
    for IndexedMessage { message, .. } in messages {
        match all.last_mut() {
            Some(last) if last.role == message.role => {
                // Two objects of a server cannot be made one.
                last.raw = None;
                last.content.extend(message.content);
            }
            _ => all.push(message),
        }
    }
    all
}
