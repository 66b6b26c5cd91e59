use std::fmt;
use std::str::FromStr;

use llm_types::{ErrorClass, UnknownClass};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The class of a call without an answer: one word in a journal.
///
/// ```
/// use llm_types::ErrorClass;
/// use logosphere_core::journal::FailureClass;
/// assert_eq!("rate_limit".parse(), Ok(FailureClass::Call(ErrorClass::RateLimit)));
/// assert_eq!(FailureClass::Leak.as_str(), "leak");
/// assert!("gremlins".parse::<FailureClass>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureClass {
    /// A failure of the call to the model; [`FailureClass::CAP`] is a cap that forbids it.
    Call(ErrorClass),
    /// The request contained information that a mind must not receive, and was not sent.
    Leak,
}

impl FailureClass {
    /// The class of a call that was not made because it could exceed a cap.
    pub const CAP: Self = Self::Call(ErrorClass::Budget);

    /// Returns the word of a journal, such as `rate_limit`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Call(class) => class.as_str(),
            Self::Leak => "leak",
        }
    }
}

/// Returns whether a call that failed so may succeed after a wait. Then a run with `on_error` wait does not give it up.
pub(crate) fn may_pass(class: FailureClass, fatal: bool) -> bool {
    let FailureClass::Call(class) = class else {
        return false;
    };
    match class {
        ErrorClass::RateLimit
        | ErrorClass::Overloaded
        | ErrorClass::Network
        | ErrorClass::Timeout => !fatal,
        ErrorClass::Auth
        | ErrorClass::Quota
        | ErrorClass::ModelUnavailable
        | ErrorClass::BadResponse
        | ErrorClass::Cancelled
        | ErrorClass::Server
        | ErrorClass::BadRequest
        | ErrorClass::Budget
        | ErrorClass::PriceUnknown
        | ErrorClass::ReplayMiss
        | ErrorClass::Cassette => false,
    }
}

/// Returns whether the model may have answered, and the provider may bill, although the attempt failed.
pub(crate) fn may_cost(class: ErrorClass) -> bool {
    match class {
        ErrorClass::Network
        | ErrorClass::Timeout
        | ErrorClass::BadResponse
        | ErrorClass::Cancelled => true,
        ErrorClass::Auth
        | ErrorClass::Quota
        | ErrorClass::ModelUnavailable
        | ErrorClass::RateLimit
        | ErrorClass::Overloaded
        | ErrorClass::Server
        | ErrorClass::BadRequest
        | ErrorClass::Budget
        | ErrorClass::PriceUnknown
        | ErrorClass::ReplayMiss
        | ErrorClass::Cassette => false,
    }
}

impl From<ErrorClass> for FailureClass {
    fn from(class: ErrorClass) -> Self {
        Self::Call(class)
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for FailureClass {
    type Err = UnknownClass;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        if word == Self::Leak.as_str() {
            return Ok(Self::Leak);
        }
        word.parse().map(Self::Call)
    }
}

impl Serialize for FailureClass {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for FailureClass {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        word.parse().map_err(de::Error::custom)
    }
}
