//! The errors of universes.

use super::rule::MAX_RADIUS;
use super::state::Symbol;
use crate::json::JsonError;

/// A definition or an implementation that is not a universe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UniverseError {
    /// The text is not JSON, or not an object.
    #[error("{message}")]
    Json {
        /// The message of the JSON reader, with line and column.
        message: String,
    },
    /// A field has an invalid value.
    #[error("{field}: {message}")]
    Field {
        /// The JSON path of the field, or the method that gave the value.
        field: String,
        /// The problem and the expected value.
        message: String,
    },
    /// The rule has no next symbol for a neighbourhood.
    #[error(
        "rule.table: neighbourhood {missing:?} is missing ({count} of {expected} are missing); \
         add them, or give \"patterns\" with a \"default\""
    )]
    Incomplete {
        /// The first neighbourhood without an entry, in symbol order.
        missing: String,
        /// The number of missing neighbourhoods.
        count: usize,
        /// The number of neighbourhoods of a total table.
        expected: usize,
    },
    /// The radius is larger than the limit.
    #[error("radius is {found}, the limit is {MAX_RADIUS}")]
    Radius {
        /// The radius that was found.
        found: usize,
    },
    /// Every symbol is forbidden at t = 0.
    #[error("no symbol may start")]
    NothingStarts,
    /// A rule gives a symbol that the alphabet does not have.
    #[error("next_cell: {window:?} gives symbol {symbol}, the alphabet has {symbols}")]
    OutOfRange {
        /// The window, in symbols.
        window: String,
        /// The symbol that the rule gives.
        symbol: Symbol,
        /// The size of the alphabet.
        symbols: usize,
    },
    /// A rule gives two symbols for one window.
    #[error("next_cell: {window:?} gives {first} and then {second}: it must be a pure function")]
    Impure {
        /// The window, in symbols.
        window: String,
        /// The symbol of the first call.
        first: char,
        /// The symbol of the second call.
        second: char,
    },
}

impl UniverseError {
    pub(super) fn field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Field {
            field: field.into(),
            message: message.into(),
        }
    }

    /// Returns the same error for a part of the field `outer`.
    pub(super) fn inside(self, outer: &str) -> Self {
        match self {
            Self::Field { field, message } => Self::field(format!("{outer}.{field}"), message),
            other => other,
        }
    }
}

impl From<JsonError> for UniverseError {
    fn from(error: JsonError) -> Self {
        match error.path.strip_prefix("$.") {
            Some(field) => Self::field(field, error.message),
            None => Self::Json {
                message: error.message,
            },
        }
    }
}
