//! Texts to be encoded: the three levels, datasets of one's own, and samples that others encoded and decoded.

mod case;
mod error;
mod level;
mod record;
mod rules;
mod sample;

pub use case::{Case, ParsedCases, parse_cases};
pub use error::{CaseError, CaseProblem};
pub use level::{LEVELS, Level};
pub use record::CaseFormat;
pub use rules::{RulesError, normalise_rules};
pub use sample::{RoundTripSample, parse_samples};

/// How long a text may be unless its user says otherwise, in bytes: 1 MiB. Longer ones are parsed; whoever runs them decides.
pub const MAX_TEXT_BYTES: usize = 1 << 20;
