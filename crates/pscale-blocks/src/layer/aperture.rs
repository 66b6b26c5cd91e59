use super::{Depth, Layer, render_outline};
use crate::{Block, BlockName, TokenCounter};

/// What a model needs of its memory, in at most `budget` tokens: the head, the widest summaries, the last entries.
pub fn aperture(
    memory: &Block,
    name: &BlockName,
    budget: usize,
    tokens: &dyn TokenCounter,
) -> Layer {
    render_outline(memory, name, Depth::HeadOnly, budget, tokens)
}
