//! Texts to be encoded: the three levels, datasets, and samples that another tool encoded and decoded.

mod case;
mod error;
mod level;
mod record;
mod rules;
mod sample;
mod seal;

pub use case::{Case, ParsedCases, parse_cases};
pub use error::{CaseError, CaseProblem};
pub use level::{LEVELS, Level};
pub use record::CaseFormat;
pub use rules::{RulesError, normalise_rules};
pub use sample::{RoundTripSample, parse_samples};
pub use seal::Seal;

/// The default limit of a text in bytes: 1 MiB. Longer texts are parsed; the caller decides whether to run them.
pub const MAX_TEXT_BYTES: usize = 1 << 20;
