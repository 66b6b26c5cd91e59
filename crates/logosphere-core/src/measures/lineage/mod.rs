//! The lineage: which messages each call read, and which message descends from which.
//!
//! Exposure is known: the journal records the sample of each call. Descent is inferred from texts alone. A message
//! descends from a text that its mind read if both are equal, or if the text contains at least a share of 0.3 of the
//! message's trigrams. Otherwise the message is an innovation.
//!
//! Next: [`Lineage::of`] for the forest, [`Lineage::summary`] for its numbers.

mod parent;
mod summary;
mod survival;
mod tree;

pub use parent::{LEAST_SHARE, Method, Parent};
pub use summary::{LineageSummary, SeedShare, Spreader};
pub use survival::Survival;
pub use tree::{Lineage, Node};
