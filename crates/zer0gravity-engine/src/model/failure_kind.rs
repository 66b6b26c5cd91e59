use std::fmt;
use std::str::FromStr;

use llm_types::{ErrorClass, UnknownClass};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::model::Endpoint;

/// The kind of a failure: an error class of the model's client, or a reason of the engine. Results hold it as one word.
///
/// ```
/// use llm_types::ErrorClass;
/// use zer0gravity_engine::FailureKind;
/// assert_eq!("rate_limit".parse(), Ok(FailureKind::Model(ErrorClass::RateLimit)));
/// assert_eq!(FailureKind::Interrupted.as_str(), "interrupted");
/// assert!("gremlins".parse::<FailureKind>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// A failure of the call to the model.
    Model(ErrorClass),
    /// The caller stopped the run.
    Interrupted,
    /// A call could not be written to the store.
    Store,
    /// The work needs a model, and the run is offline.
    UnsupportedOffline,
    /// The provider does not count tokens exactly.
    NoExactCount,
    /// A rescore asks judges alone, and the call is for another role.
    OnlyJudges,
    /// A program of the user's rubric gave no score, or the client runs no programs.
    Program,
    /// The model does not take the temperature of the plan.
    TemperatureRefused,
}

impl FailureKind {
    const OWN: [Self; 7] = [
        Self::Interrupted,
        Self::Store,
        Self::UnsupportedOffline,
        Self::NoExactCount,
        Self::OnlyJudges,
        Self::Program,
        Self::TemperatureRefused,
    ];

    /// The word in results and in `calls.jsonl`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model(class) => class.as_str(),
            Self::Interrupted => "interrupted",
            Self::Store => "store",
            Self::UnsupportedOffline => "unsupported_offline",
            Self::NoExactCount => "estimate",
            Self::OnlyJudges => "rescore",
            Self::Program => "program",
            Self::TemperatureRefused => "temperature_refused",
        }
    }

    /// Returns whether a cap of the budget forbids the call.
    pub fn is_cap(self) -> bool {
        matches!(
            self,
            Self::Model(ErrorClass::Budget | ErrorClass::PriceUnknown)
        )
    }

    /// Returns whether every later call would fail for the same reason, so that the run ends.
    pub(crate) fn ends_run(self, endpoint: Endpoint) -> bool {
        match self {
            Self::Model(class) => match class {
                ErrorClass::Auth
                | ErrorClass::Quota
                | ErrorClass::Budget
                | ErrorClass::PriceUnknown => true,
                // A server without a route for counts may still serve the model.
                ErrorClass::ModelUnavailable => endpoint == Endpoint::Messages,
                ErrorClass::RateLimit
                | ErrorClass::Overloaded
                | ErrorClass::Server
                | ErrorClass::BadRequest
                | ErrorClass::Network
                | ErrorClass::Timeout
                | ErrorClass::BadResponse
                | ErrorClass::ReplayMiss
                | ErrorClass::Cassette
                | ErrorClass::Cancelled => false,
            },
            Self::TemperatureRefused => true,
            // The run has ended already, or the failure is about one text.
            Self::Interrupted
            | Self::Store
            | Self::UnsupportedOffline
            | Self::NoExactCount
            | Self::OnlyJudges
            | Self::Program => false,
        }
    }
}

impl From<ErrorClass> for FailureKind {
    fn from(class: ErrorClass) -> Self {
        Self::Model(class)
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for FailureKind {
    type Err = UnknownClass;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let own = Self::OWN.into_iter().find(|kind| kind.as_str() == word);
        own.map_or_else(|| word.parse().map(Self::Model), Ok)
    }
}

impl Serialize for FailureKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for FailureKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        word.parse().map_err(de::Error::custom)
    }
}
