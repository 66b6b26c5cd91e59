//! What is wrong with a universe.

use super::{MAX_RADIUS, Symbol};
use crate::json::JsonError;

/// A definition or an implementation that is not a universe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UniverseError {
    /// The text is not JSON, or not an object.
    #[error("{message}")]
    Json {
        /// What the reader said, with line and column.
        message: String,
    },
    /// A field holds what it may not.
    #[error("{field}: {message}")]
    Field {
        /// The JSON path of the field, or the method that gave the value.
        field: String,
        /// What is wrong and what was expected.
        message: String,
    },
    /// The rule does not say what becomes of a neighbourhood.
    #[error(
        "rule.table: neighbourhood {missing:?} is missing ({count} of {expected} are missing); \
         add them, or give \"patterns\" with a \"default\""
    )]
    Incomplete {
        /// The first neighbourhood without an entry, in symbol order.
        missing: String,
        /// How many are missing.
        count: usize,
        /// How many a total table has.
        expected: usize,
    },
    /// A cell depends on more neighbours than a universe may have.
    #[error("radius is {found}, the limit is {MAX_RADIUS}")]
    Radius {
        /// The radius.
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
        /// What the rule gives.
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

    /// The same error of a part of the field `outer`.
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
