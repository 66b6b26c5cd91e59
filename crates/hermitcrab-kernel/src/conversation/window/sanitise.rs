//! Makes any conversation valid for a provider.

use std::collections::BTreeSet;
use std::ops::Range;

use llm_client::{Block, BlockKind, Message, Role};

use super::close::free_id;

/// A conversation that a provider takes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ValidMessages {
    /// The messages that stay.
    pub(super) kept: Vec<IndexedMessage>,
    /// Instructions from between the messages.
    pub system: Vec<Block>,
    /// Assistant messages that were taken out because a call in them has no result.
    pub dangling_removed: usize,
}

impl ValidMessages {
    /// The messages that stay.
    pub fn into_messages(self) -> Vec<Message> {
        self.into_kept().map(|(_, message)| message).collect()
    }

    /// The messages that stay, each with its place in the conversation that was given.
    pub(crate) fn into_kept(self) -> impl Iterator<Item = (usize, Message)> {
        (self.kept.into_iter()).map(|kept| (kept.index, kept.message))
    }
}

/// A message, and its place in the conversation that was given.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct IndexedMessage {
    pub index: usize,
    pub message: Message,
}

/// Takes out what no provider would take, anywhere in a conversation: assistant messages with calls that have no
/// result, results without their call, empty content, blocks in the wrong role. Two calls with one id get two ids.
/// Messages of one role after one another stay apart.
pub fn sanitise(messages: Vec<Message>) -> ValidMessages {
    let mut sane = ValidMessages::default();
    for (index, mut message) in messages.into_iter().enumerate() {
        if message.role == Role::System {
            sane.system.append(&mut message.content);
            continue;
        }
        clean(&mut message);
        if !message.content.is_empty() {
            sane.kept.push(IndexedMessage { index, message });
        }
    }
    sane.system.retain(|block| !is_blank(block));
    sane.dangling_removed = pair(&mut sane.kept);
    sane
}

fn is_blank(block: &Block) -> bool {
    block.as_text().is_some_and(|text| text.trim().is_empty())
}

fn is_result(block: &Block) -> bool {
    matches!(block.kind, BlockKind::ToolResult { .. })
}

/// Takes out blocks that must not stand in this message.
fn clean(message: &mut Message) {
    let assistant = message.role == Role::Assistant;
    message.content.retain(|block| {
        let own = match block.kind {
            BlockKind::ToolResult { .. } => !assistant,
            BlockKind::ToolUse { .. }
            | BlockKind::Thinking { .. }
            | BlockKind::RedactedThinking
            | BlockKind::ServerToolUse { .. }
            | BlockKind::ServerToolResult { .. } => assistant,
            _ => true,
        };
        own && !is_blank(block)
    });
}

/// Pairs calls with results; answers how many assistant messages went.
fn pair(kept: &mut Vec<IndexedMessage>) -> usize {
    let mut taken = BTreeSet::new();
    let mut gone = 0;
    let runs = runs(kept);
    for (at, run) in runs.iter().enumerate() {
        let next = runs.get(at + 1).cloned().unwrap_or(kept.len()..kept.len());
        if kept[run.start].message.role == Role::User {
            if at == 0 {
                // Nothing was called yet.
                take_results(&mut kept[run.clone()]);
            }
            continue;
        }
        let mut results = take_results(&mut kept[next.clone()]);
        let mut answers = Vec::new();
        for index in run.clone() {
            if let Some(mut own) = answered(&kept[index].message, &mut results) {
                rename(&mut kept[index].message, &mut own, &mut taken);
                answers.append(&mut own);
            } else {
                gone += 1;
                kept[index].message.content.clear();
            }
        }
        server_calls(&mut kept[run.clone()], next.is_empty());
        // A model that paused goes on from its very content.
        if !next.is_empty() {
            last_thoughts(&mut kept[run.clone()]);
        }
        if let Some(first) = kept[next].first_mut() {
            first.message.content.splice(0..0, answers);
        }
    }
    kept.retain(|kept| !kept.message.content.is_empty());
    gone
}

/// Messages of the same role after one another.
fn runs(kept: &[IndexedMessage]) -> Vec<Range<usize>> {
    let mut start = 0;
    kept.chunk_by(|a, b| a.message.role == b.message.role)
        .map(|run| {
            let range = start..start + run.len();
            start = range.end;
            range
        })
        .collect()
}

/// Takes the results out of these messages.
fn take_results(messages: &mut [IndexedMessage]) -> Vec<Block> {
    messages
        .iter_mut()
        .flat_map(|kept| {
            kept.message
                .content
                .extract_if(.., |block| is_result(block))
        })
        .collect()
}

/// The results of the calls of `message`, out of `results` and in the order of the calls; `None` if one is missing.
fn answered(message: &Message, results: &mut Vec<Block>) -> Option<Vec<Block>> {
    let mut places = Vec::new();
    for block in &message.content {
        let BlockKind::ToolUse { id, .. } = &block.kind else {
            continue;
        };
        let place = results.iter().enumerate().position(|(at, result)| {
            let answers = matches!(&result.kind, BlockKind::ToolResult { tool_use_id, .. } if tool_use_id == id);
            answers && !places.contains(&at)
        })?;
        places.push(place);
    }
    let own = places.iter().map(|at| results[*at].clone()).collect();
    let mut at = 0;
    results.retain(|_| {
        at += 1;
        !places.contains(&(at - 1))
    });
    Some(own)
}

/// Gives calls whose ids are taken new ones, and their results, which stand in the same order.
fn rename(message: &mut Message, results: &mut [Block], taken: &mut BTreeSet<String>) {
    let mut renamed = false;
    let calls = message
        .content
        .iter_mut()
        .filter(|block| matches!(block.kind, BlockKind::ToolUse { .. }));
    for (call, result) in calls.zip(results) {
        let BlockKind::ToolUse { id, .. } = &mut call.kind else {
            continue;
        };
        let BlockKind::ToolResult { tool_use_id, .. } = &mut result.kind else {
            continue;
        };
        if let Some(new) = free_id(id, taken) {
            id.clone_from(&new);
            *tool_use_id = new;
            // The JSON that came holds the old id.
            call.raw = None;
            result.raw = None;
            renamed = true;
        }
    }
    if renamed {
        message.raw = None;
    }
}

/// Takes out the thoughts at the end of a run: one that leads to nothing is refused.
fn last_thoughts(run: &mut [IndexedMessage]) {
    for kept in run.iter_mut().rev() {
        let content = &mut kept.message.content;
        while let Some(BlockKind::Thinking { .. } | BlockKind::RedactedThinking) =
            content.last().map(|block| &block.kind)
        {
            content.pop();
        }
        if !content.is_empty() {
            return;
        }
    }
}

/// Takes out calls of the provider's own tools without result, and results without call, from a run of the assistant.
/// A run at the end may hold open ones: the model paused in it.
fn server_calls(run: &mut [IndexedMessage], at_end: bool) {
    let mut calls = BTreeSet::new();
    let mut results = BTreeSet::new();
    for block in run.iter().flat_map(|kept| &kept.message.content) {
        match &block.kind {
            BlockKind::ServerToolUse { id, .. } => calls.insert(id.clone()),
            BlockKind::ServerToolResult { tool_use_id, .. } => results.insert(tool_use_id.clone()),
            _ => false,
        };
    }
    for kept in run {
        kept.message.content.retain(|block| match &block.kind {
            BlockKind::ServerToolUse { id, .. } => at_end || results.contains(id),
            BlockKind::ServerToolResult { tool_use_id, .. } => calls.contains(tool_use_id),
            _ => true,
        });
    }
}
