use serde::{Deserialize, Serialize};

/// What calls took.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// The turn under way, or the last one.
    pub turn: Taken,
    /// The day, UTC.
    pub day: Taken,
    /// Everything on record.
    pub total: Taken,
}

/// Tokens and money.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Taken {
    /// Calls.
    pub calls: u64,
    /// Tokens of prompts, cached ones included.
    pub input: u64,
    /// Tokens of prompts that came from the provider's cache.
    pub cached: u64,
    /// Tokens of replies.
    pub output: u64,
    /// Dollars, as far as they are known.
    pub usd: f64,
    /// Calls whose cost nobody knows.
    pub unknown: u64,
}
