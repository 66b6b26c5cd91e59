//! The system prompt: the top of each block, under budgets.
//!
//! A boot shows the keystone whole, two levels of the constitution and of the capabilities, and the heads of the others. A
//! later call shows three heads and the memory's aperture; everything else is read on demand. Nothing here reads a store or a
//! clock: the same blocks give the same bytes, so that a provider's cache holds as long as no head is edited.

mod builder;
mod defaults;
pub(crate) mod kernel_words;
pub mod keystone;
mod receipt;
mod system;

pub use defaults::{CoreBlock, new_memory};
pub(crate) use kernel_words::FROM_FACE;
pub use receipt::{Receipt, SummaryFact};
pub use system::{
    BOOT_MESSAGE, BlockLabels, FIXED_LINE, Part, Phase, PromptBlocks, Running, SystemPrompt,
};
pub(crate) use system::{Identity, MARKS};
