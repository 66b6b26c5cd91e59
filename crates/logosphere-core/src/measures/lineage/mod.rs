//! The lineage: which messages each call read, and which message descends from which.
//!
//! Exposure is known: the journal records the sample of each call. Descent is inferred from texts alone. A message
//! descends from a text that its mind read if both have equal tokens. Otherwise it descends from the text with which it has
//! the longest common subsequence of tokens, if that is at least half of both ([`LEAST_SIMILARITY`]). Otherwise it is an
//! innovation. The rule is named [`PARENT_RULE`].
//!
//! Next: [`Lineage::of`] for the forest, [`Lineage::summary`] for its numbers, [`Lineage::text_tree`] for a drawing.

mod parent;
mod summary;
mod survival;
mod text_tree;
mod tree;

pub use parent::{LEAST_SIMILARITY, Method, PARENT_RULE, Parent, VectorRule};
pub(crate) use parent::{ParentSearch, readable};
pub use summary::{LineageSummary, SeedShare, Spreader};
pub use survival::Survival;
pub use text_tree::{TextNode, TextTree};
pub use tree::{Lineage, Node};
