//! Who read what, and which message comes from which.
//!
//! Exposure is known: the journal says what each call read. Descent is inferred from texts alone: a message comes from a
//! text that its mind read if they are equal, or else if at least 0.3 of its runs of three words stand in that text; it
//! is an innovation if there is none.
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
