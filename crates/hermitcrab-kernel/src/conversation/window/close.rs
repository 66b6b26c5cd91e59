//! The calls of a reply, as a conversation can take them: short names, and ids that no other call has.

use std::collections::BTreeSet;

use llm_client::{Block, BlockKind, Message};

/// The longest name of a tool that is kept, in characters. No tool of the kernel has a longer one.
const NAME_CHARS: usize = 64;

/// Cuts the names of the tools that `reply` calls: a longer one belongs to no tool and would fill the window.
pub fn cut_names(reply: &mut Message) {
    for block in &mut reply.content {
        if let BlockKind::ToolUse { name, .. } = &mut block.kind
            && let Some((end, _)) = name.char_indices().nth(NAME_CHARS)
        {
            name.truncate(end);
            // The JSON that came holds the long name.
            block.raw = None;
            reply.raw = None;
        }
    }
}

/// Gives every call of a tool in `reply` an id that no call in `before` has, and none twice.
pub fn distinct_ids<'a>(reply: &mut Message, before: impl IntoIterator<Item = &'a Message>) {
    let earlier = (before.into_iter()).flat_map(|message| &message.content);
    let mut taken: BTreeSet<String> = earlier.filter_map(call_id).map(str::to_owned).collect();
    for block in &mut reply.content {
        let BlockKind::ToolUse { id, .. } = &mut block.kind else {
            continue;
        };
        if let Some(new) = free_id(id, &mut taken) {
            *id = new;
            // The JSON that came holds the old id.
            block.raw = None;
            reply.raw = None;
        }
    }
}

/// Whether every provider takes an id: some refuse those that others make.
fn is_common(id: &str) -> bool {
    const LONGEST: usize = 64;
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=LONGEST).contains(&id.len()) && id.bytes().all(letter)
}

/// Takes `id` if every provider takes it and it is free, else another one, which is the answer.
pub(super) fn free_id(id: &str, taken: &mut BTreeSet<String>) -> Option<String> {
    let fits = is_common(id);
    if fits && taken.insert(id.to_owned()) {
        return None;
    }
    let base = if fits { id } else { "call" };
    // One more number than ids: one is free.
    let free = (2..=taken.len() + 2)
        .map(|n| format!("{base}_{n}"))
        .find(|new| !taken.contains(new))?;
    taken.insert(free.clone());
    Some(free)
}

fn call_id(block: &Block) -> Option<&str> {
    match &block.kind {
        BlockKind::ToolUse { id, .. } => Some(id),
        _ => None,
    }
}
