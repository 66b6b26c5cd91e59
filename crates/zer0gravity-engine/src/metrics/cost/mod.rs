//! The saving of an encoding, and the number of messages after which it has paid for its rules.

mod curve;
pub(crate) mod dollars;
mod saving;

pub use curve::{Amortised, CostCurve, Messages, amortised};
pub use saving::{Cost, MoneySaved, OverheadSource, Saving, known_overhead_tokens};
