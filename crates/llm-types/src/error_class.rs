use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The class of a failure: one word for results and journals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a caller decides about every class, and the compiler shows it a new one"
)]
pub enum ErrorClass {
    /// The key is missing, wrong, or not allowed to do this.
    Auth,
    /// The account's quota is used up.
    Quota,
    /// The provider does not serve the model.
    ModelUnavailable,
    /// Too many requests or tokens.
    RateLimit,
    /// The provider has no capacity now.
    Overloaded,
    /// The server failed.
    Server,
    /// The request cannot be sent, or the server refuses it.
    BadRequest,
    /// The connection failed or was interrupted.
    Network,
    /// The server was silent for too long, or the time for the call is over.
    Timeout,
    /// The reply cannot be used.
    BadResponse,
    /// A cap of the budget does not allow the call.
    Budget,
    /// A cap in dollars is set, and the model has no known price.
    PriceUnknown,
    /// The cassette does not hold the request.
    ReplayMiss,
    /// A cassette cannot be read or written.
    Cassette,
    /// The caller cancelled the call.
    Cancelled,
}

impl ErrorClass {
    /// Every class, in the order of declaration.
    pub const ALL: &'static [Self] = &[
        Self::Auth,
        Self::Quota,
        Self::ModelUnavailable,
        Self::RateLimit,
        Self::Overloaded,
        Self::Server,
        Self::BadRequest,
        Self::Network,
        Self::Timeout,
        Self::BadResponse,
        Self::Budget,
        Self::PriceUnknown,
        Self::ReplayMiss,
        Self::Cassette,
        Self::Cancelled,
    ];

    /// The word, such as `rate_limit`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Quota => "quota",
            Self::ModelUnavailable => "model_unavailable",
            Self::RateLimit => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::Server => "server",
            Self::BadRequest => "bad_request",
            Self::Network => "network",
            Self::Timeout => "timeout",
            Self::BadResponse => "bad_response",
            Self::Budget => "budget",
            Self::PriceUnknown => "price_unknown",
            Self::ReplayMiss => "replay_miss",
            Self::Cassette => "cassette",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that is not an [`ErrorClass`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a class of errors")]
pub struct UnknownClass(String);

impl FromStr for ErrorClass {
    type Err = UnknownClass;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL
            .iter()
            .copied()
            .find(|class| class.as_str() == word);
        found.ok_or_else(|| UnknownClass(word.to_owned()))
    }
}

impl Serialize for ErrorClass {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ErrorClass {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        word.parse().map_err(de::Error::custom)
    }
}
