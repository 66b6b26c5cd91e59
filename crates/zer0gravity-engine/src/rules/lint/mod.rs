//! Checks of rules before a run uses them.

mod cost;
mod finding;
mod report;
mod structure;
mod wording;

pub use finding::{LintFinding, MappingCost, TokenCounts};
pub use report::{CODES, LintReport, lint};
pub(crate) use structure::ambiguous_lines;
pub(crate) use wording::addressed_judge;
