use serde::{Deserialize, Serialize};

use super::{Appended, Block, Change, Inverse, Summary};
use crate::{BlockError, Path};

/// An operation on a block, as data: what a store is asked for and what its log holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "blocks are edited by these seven operations"
)]
pub enum Op {
    /// Writes a text: see [`Block::write`].
    Write {
        /// The node.
        path: Path,
        /// The text of the node.
        text: String,
    },
    /// Removes a node: see [`Block::remove`].
    Remove {
        /// The node.
        path: Path,
    },
    /// Moves a node: see [`Block::relocate`].
    Relocate {
        /// The node.
        from: Path,
        /// The free place.
        to: Path,
    },
    /// Adds an entry: see [`Block::append`].
    Append {
        /// The entry.
        text: String,
        /// The summary of the nine entries of a full group.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Summary>,
    },
    /// Makes the block grow: see [`Block::grow`].
    Grow {
        /// The summary of the entries.
        summary: Summary,
    },
    /// Replaces the whole block.
    Replace {
        /// The block.
        block: Block,
    },
    /// Sets the decimal: see [`Block::set_decimal`].
    SetDecimal {
        /// The new decimal.
        decimal: u8,
    },
}

impl Op {
    /// Changes the texts that it would write, except those of a block.
    pub fn change_texts(&mut self, mut change: impl FnMut(&mut String)) {
        match self {
            Self::Write { text, .. } => change(text),
            Self::Append { text, summary } => {
                change(text);
                if let Some(summary) = summary {
                    change(&mut summary.text);
                }
            }
            Self::Grow { summary } => change(&mut summary.text),
            _ => {}
        }
    }
}

/// The effect of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each operation has its result")]
pub enum Applied {
    /// The block was changed.
    Changed(Change),
    /// [`Op::Append`] has its own answers.
    Appended(Appended),
}

impl Applied {
    /// The change of the block. `None` if an entry waits for a summary and nothing was stored on the way.
    pub fn change(&self) -> Option<&Change> {
        match self {
            Self::Changed(change) | Self::Appended(Appended::Written { change, .. }) => {
                Some(change)
            }
            Self::Appended(Appended::NeedsSummary { change, .. }) => change.as_ref(),
        }
    }
}

impl Block {
    /// Does `op`.
    ///
    /// # Errors
    /// Those of the operation; the block is as it was.
    pub fn apply(&mut self, op: &Op) -> Result<Applied, BlockError> {
        match op {
            Op::Write { path, text } => self.write(path, text),
            Op::Remove { path } => self.remove(path),
            Op::Relocate { from, to } => self.relocate(from, to),
            Op::Append { text, summary } => {
                return self.append(text, summary.clone()).map(Applied::Appended);
            }
            Op::Grow { summary } => self.grow(summary),
            Op::Replace { block } => Ok(self.replace(block.clone())),
            Op::SetDecimal { decimal } => self.set_decimal(*decimal),
        }
        .map(Applied::Changed)
    }

    /// Whether `op`, if it can be done, would leave the block as it is.
    pub(crate) fn is_already(&self, op: &Op) -> bool {
        match op {
            Op::Write { path, text } => self.text(path) == Ok(Some(text)),
            Op::Replace { block } => self == block,
            Op::SetDecimal { decimal } => self.decimal == *decimal,
            _ => false,
        }
    }

    fn replace(&mut self, block: Self) -> Change {
        let old = std::mem::replace(self, block);
        Change {
            path: self.head(),
            created: Vec::new(),
            grown: None,
            summary: None,
            inverse: Inverse::block(old),
        }
    }
}
