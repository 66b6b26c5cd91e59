use std::cmp::Reverse;

use super::renderer::{LineSelection, OutlineRenderer, RenderedLine};
use super::{Layer, Suffix};
use crate::block::Node;
use crate::path::MAX_DEPTH;
use crate::{Block, BlockName, Path, TokenCounter};

/// The most tokens of one text.
const MOST: usize = 60;
/// The number of last entries that are shown.
const LAST: usize = 3;

/// The part of its memory that a model needs, in at most `budget` tokens: the head, the widest summaries, the last entries.
///
/// Each text has at most 60 tokens. When not all has a place, the head comes first, then the last entry, the summaries just
/// below the head from the newest to the oldest, the two entries before the last, and the narrower summaries. The last line
/// says how many of the block's texts are not shown.
pub fn aperture(
    memory: &Block,
    name: &BlockName,
    budget: usize,
    tokens: &dyn TokenCounter,
    suffix: &Suffix<'_>,
) -> Layer {
    let renderer = OutlineRenderer::new(memory, name, tokens, suffix);
    let items = items(memory);
    let texts = memory.text_count();
    renderer.layer(budget, |room| {
        // The last line is needed unless these are all texts, and all have a place.
        if texts <= items.len()
            && let Some(choice) = fill(&renderer, &items, texts, room)
            && choice.left_out == 0
        {
            return Some(choice);
        }
        let room = room.checked_sub(renderer.more_tokens(texts))?;
        fill(&renderer, &items, texts, room)
    })
}

/// Takes what has a place, in order; the first is the head.
fn fill(
    renderer: &OutlineRenderer<'_>,
    items: &[(Path, &Node)],
    texts: usize,
    mut room: usize,
) -> Option<LineSelection> {
    let mut lines: Vec<RenderedLine> = Vec::new();
    let mut shown = 0;
    for (path, node) in items {
        let line = renderer.line(*path, node.text.as_deref(), room.min(MOST + 2 * MAX_DEPTH));
        let longest = room.min(line.path_tokens + MOST);
        let is_head = lines.is_empty();
        if !is_head && line.floor > longest {
            continue;
        }
        match renderer.fit(&line, longest) {
            Some(printed) => {
                room -= printed.tokens;
                shown += usize::from(node.text.is_some());
                lines.push(printed);
            }
            None if is_head => return None,
            None => {}
        }
    }
    let left_out = texts - shown;
    Some(LineSelection { lines, left_out })
}

/// The nodes that may be shown, the most important first.
fn items(memory: &Block) -> Vec<(Path, &Node)> {
    let head_path = memory.head();
    let Some(head) = memory.node(&head_path) else {
        return Vec::new();
    };
    let mut entries = Vec::new();
    last_entries(memory.decimal(), (head_path, head), &mut entries);
    let mut entries = entries.into_iter();
    let mut summaries = summaries(memory.decimal(), (head_path, head)).into_iter();

    let mut items = vec![(head_path, head)];
    items.extend(entries.next());
    let compressed = head.children.get(&0).filter(|node| node.text.is_some());
    items.extend(compressed.and_then(|node| Some((head_path.child(0).ok()?, node))));
    items.extend(summaries.next().into_iter().flatten());
    items.extend(entries);
    let narrow = items.len();
    items.extend(summaries.flatten());
    items[narrow..].sort_by_key(|(path, _)| Reverse(*path));
    items
}

/// The children 1 to 9 of a node, newest first.
fn newest_first((path, node): (Path, &Node)) -> impl Iterator<Item = (Path, &Node)> + use<'_> {
    let children = node.children.range(1..=9).rev();
    children.filter_map(move |(digit, child)| Some((path.child(*digit).ok()?, child)))
}

/// The summaries a level each: those below the head, then those below the open one, down to the groups.
fn summaries(decimal: u8, head: (Path, &Node)) -> Vec<Vec<(Path, &Node)>> {
    let open = |node: &(Path, _)| newest_first(*node).next();
    std::iter::successors(Some(head), open)
        .take_while(|(path, _)| path.depth() < usize::from(decimal))
        .map(|node| {
            newest_first(node)
                .filter(|(_, child)| child.text.is_some())
                .collect()
        })
        .collect()
}

/// The last entries below a node, newest first, until there are enough.
fn last_entries<'a>(decimal: u8, node: (Path, &'a Node), found: &mut Vec<(Path, &'a Node)>) {
    let (path, Node { text, .. }) = node;
    if path.depth() > usize::from(decimal) {
        found.extend(text.is_some().then_some(node));
        return;
    }
    for child in newest_first(node) {
        if found.len() == LAST {
            return;
        }
        last_entries(decimal, child, found);
    }
}
