use super::renderer::{Line, LineSelection, OutlineRenderer};
use super::{Layer, Suffix};
use crate::block::Node;
use crate::{Block, BlockName, Path, TokenCounter};

/// The part of a block that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DetailLevel {
    /// The head's text.
    HeadOnly,
    /// The head and this many levels below it.
    Levels(u8),
    /// The whole block.
    Full,
}

/// The block's texts from the head to `depth`, one line a node, in at most `budget` tokens.
///
/// What is too long is cut from the end of the longest texts, and says where to read on. If the lines are too many even so,
/// the deepest are left out and the last line says how many.
pub fn render_outline(
    block: &Block,
    name: &BlockName,
    depth: DetailLevel,
    budget: usize,
    tokens: &dyn TokenCounter,
    suffix: &Suffix<'_>,
) -> Layer {
    let renderer = OutlineRenderer::new(block, name, tokens, suffix);
    renderer.layer(budget, |room| {
        let (lines, complete) = widest(block, depth, &renderer, room);
        if complete {
            return share(&renderer, &lines, room, 0);
        }
        let all = nodes(block, depth).map(|level| level.len()).sum();
        let room = room.saturating_sub(renderer.more_tokens(all));
        let (lines, _) = widest(block, depth, &renderer, room);
        share(&renderer, &lines, room, all - lines.len())
    })
}

/// The nodes to be shown, level by level: the head's and those below it.
fn nodes(block: &Block, depth: DetailLevel) -> impl Iterator<Item = Vec<(Path, &Node)>> {
    let head = block.head();
    let levels = match depth {
        DetailLevel::HeadOnly => 1,
        DetailLevel::Levels(levels) => usize::from(levels) + 1,
        DetailLevel::Full => usize::MAX,
    };
    // Other top-level digits stand beside the head.
    let first = if depth == DetailLevel::HeadOnly || head.is_root() {
        block
            .node(&head)
            .map(|node| (head, node))
            .into_iter()
            .collect()
    } else {
        below(&[(Path::root(), block.tree())])
    };
    std::iter::successors(Some(first), |level| Some(below(level)))
        .take_while(|level: &Vec<_>| !level.is_empty())
        .take(levels)
}

fn below<'a>(level: &[(Path, &'a Node)]) -> Vec<(Path, &'a Node)> {
    let children = level.iter().flat_map(|(path, node)| {
        let children = node.children.iter();
        children.filter_map(|(digit, child)| Some((path.child(*digit).ok()?, child)))
    });
    children.collect()
}

/// The widest nodes whose lines have a place in `room` when they are cut, and whether these are all. The head is always one
/// of them.
fn widest(
    block: &Block,
    depth: DetailLevel,
    renderer: &OutlineRenderer<'_>,
    room: usize,
) -> (Vec<Line>, bool) {
    let mut lines: Vec<Line> = Vec::new();
    let mut used = 0;
    for (path, node) in nodes(block, depth).flatten() {
        let line = renderer.line(path, node.text.as_deref(), room);
        used += line.floor;
        if used > room && !lines.is_empty() {
            return (lines, false);
        }
        lines.push(line);
    }
    (lines, true)
}

/// The lines in `room` tokens, the longest cut to one length.
fn share(
    renderer: &OutlineRenderer<'_>,
    lines: &[Line],
    room: usize,
    left_out: usize,
) -> Option<LineSelection> {
    let [head, ..] = lines else {
        return None;
    };
    if head.floor > room {
        return Some(LineSelection {
            lines: vec![renderer.fit(head, room)?],
            left_out: left_out + lines.len() - 1,
        });
    }
    let length = |line: &Line, longest: usize| line.full.min(longest.max(line.floor));
    let fits = |longest| {
        lines
            .iter()
            .map(|line| length(line, longest))
            .sum::<usize>()
            <= room
    };
    let (mut longest, mut over) = (0, room + 1);
    while over - longest > 1 {
        let middle = usize::midpoint(longest, over);
        if fits(middle) {
            longest = middle;
        } else {
            over = middle;
        }
    }
    let printed: Vec<_> = lines
        .iter()
        .filter_map(|line| renderer.fit(line, length(line, longest)))
        .collect();
    Some(LineSelection {
        left_out: left_out + lines.len() - printed.len(),
        lines: printed,
    })
}
