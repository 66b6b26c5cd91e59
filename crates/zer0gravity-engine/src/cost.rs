//! What an encoding saves, and when it has paid for its rules.

use serde::{Deserialize, Serialize};

/// What an encoding saves, in tokens and money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Tokens of the rules.
    pub rules_tokens: u64,
}
