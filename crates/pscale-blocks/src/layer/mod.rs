//! Blocks as text for a model, under budgets.

mod aperture;
mod outline;

pub use aperture::aperture;
pub use outline::render_outline;

/// A block's text for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// The text, with its frame line.
    pub text: String,
    /// Its tokens.
    pub tokens: usize,
    /// How many texts were cut to keep to the budget.
    pub cut: u32,
}

/// How much of a block is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The head's text.
    HeadOnly,
    /// The head and this many levels below it.
    Levels(u8),
    /// Everything.
    Full,
}
