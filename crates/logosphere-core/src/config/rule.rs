//! What a setting may be.

use std::fmt;

use serde_json::Value;

use crate::parser::may_be_signature;

/// What a setting may be. It shows as what is expected.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    /// A whole number in this range.
    Whole { min: u64, max: u64 },
    /// A number in this range.
    Number { min: f64, max: f64 },
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// True or false.
    Flag,
    /// Any text.
    Text,
    /// A text that says something.
    Name,
    /// What seeds are signed with.
    Signature,
    /// Where a server is.
    Address,
}

impl Rule {
    /// Whether a value is allowed.
    pub(super) fn allows(self, value: &Value) -> bool {
        let text = value.as_str();
        match self {
            Self::Whole { min, max } => value
                .as_u64()
                .is_some_and(|value| (min..=max).contains(&value)),
            Self::Number { min, max } => value
                .as_f64()
                .is_some_and(|value| (min..=max).contains(&value)),
            Self::OneOf(words) => text.is_some_and(|text| words.contains(&text)),
            Self::Flag => value.is_boolean(),
            Self::Text => text.is_some(),
            Self::Name => text.is_some_and(|text| !text.trim().is_empty()),
            Self::Signature => text.is_some_and(may_be_signature),
            Self::Address => text.is_some_and(is_address),
        }
    }

    /// What was found instead. A text shows only where it was to be one of a few words: it may be a secret.
    pub(super) fn found(self, value: &Value) -> String {
        match value {
            Value::String(text) => match self {
                Self::OneOf(_) => {
                    let start: String = text.chars().take(40).collect();
                    format!("{start:?}")
                }
                Self::Name if text.trim().is_empty() => "a blank text".to_owned(),
                Self::Signature | Self::Address => "another text".to_owned(),
                _ => "a text".to_owned(),
            },
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole { min, max } if min == max => write!(f, "{min}"),
            Self::Whole { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Number { min, max } => write!(f, "a number from {min} to {max}"),
            Self::OneOf(words) => write!(f, "one of {}", words.join(", ")),
            Self::Flag => f.write_str("true or false"),
            Self::Text => f.write_str("a text"),
            Self::Name => f.write_str("a text that is not blank"),
            Self::Signature => f.write_str(
                "~ and 1 to 31 characters on one line, without control characters and blanks at the end",
            ),
            Self::Address => f.write_str(
                "http:// or https:// and a host, without user name, password, query or fragment",
            ),
        }
    }
}

fn is_address(text: &str) -> bool {
    let rest = (text.strip_prefix("https://")).or_else(|| text.strip_prefix("http://"));
    let host = |rest: &str| !matches!(rest.chars().next(), None | Some('/' | ':'));
    rest.is_some_and(host)
        && !text.contains(['@', '?', '#'])
        && !text
            .chars()
            .any(|char| char.is_whitespace() || char.is_control())
}
