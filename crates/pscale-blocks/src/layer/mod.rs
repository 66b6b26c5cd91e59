//! Blocks as text for a model, under budgets.

mod aperture;
mod outline;
mod renderer;
mod suffix;

pub use aperture::aperture;
pub use outline::{DetailLevel, render_outline};
pub use suffix::Suffix;

use crate::Path;

/// A block's text for a model: a line that names the block, then a line for each node, with its path and its text. Further
/// lines of a text begin with two spaces, so that no text looks like a node or a block.
///
/// It never has more tokens than its budget. It is empty if the budget is too small for the first line and a few words of the
/// head.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layer {
    /// The text, with its frame line.
    pub text: String,
    /// The number of tokens.
    pub tokens: usize,
    /// The number of texts that were cut to keep to the budget.
    pub cut: u32,
    /// The nodes whose lines are shown, in order of their paths.
    pub shown: Vec<Path>,
}
