//! The rules for values of settings.

use std::fmt;

use serde_json::Value;

use crate::format::may_be_signature;

/// The values that a setting may have; shown as the expectation in errors.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    /// A whole number from the first to the second.
    Whole(u64, u64),
    /// A number from 0 to this one.
    Number(f64),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// True or false.
    Flag,
    /// A list of minds, whose entries are checked one by one.
    List,
    /// A text with a form, what is expected of it, and the word for a text without this form.
    Text(fn(&str) -> bool, &'static str, &'static str),
}

pub(super) const TEXT: Rule = Rule::Text(|_| true, "a text", "a text");
pub(crate) const NAME: Rule = Rule::Text(
    |text| !text.trim().is_empty(),
    "a text that is not blank",
    "a blank text",
);
pub(super) const SIGNATURE: Rule = Rule::Text(
    may_be_signature,
    "~ and 1 to 31 characters on one line, without control characters and blanks at the end",
    "another text",
);
pub(super) const ADDRESS: Rule = Rule::Text(
    is_address,
    "http:// or https:// and a host, without user name, password, query or fragment",
    "another text",
);

impl Rule {
    /// Whether a value is allowed.
    pub(crate) fn allows(self, value: &Value) -> bool {
        let text = value.as_str();
        match self {
            Self::Whole(min, max) => value.as_u64().is_some_and(|n| (min..=max).contains(&n)),
            Self::Number(max) => value.as_f64().is_some_and(|n| (0.0..=max).contains(&n)),
            Self::OneOf(words) => text.is_some_and(|text| words.contains(&text)),
            Self::Flag => value.is_boolean(),
            Self::List => value.is_array(),
            Self::Text(has_form, ..) => text.is_some_and(has_form),
        }
    }

    /// Returns the value that was found, in words. A text is shown only if one of a few words was expected, because it
    /// may be a secret.
    pub(crate) fn found(self, value: &Value) -> String {
        match (value, self) {
            (Value::String(text), Self::OneOf(_)) => {
                format!("{:?}", text.chars().take(40).collect::<String>())
            }
            (Value::String(_), Self::Text(_, _, other)) => other.to_owned(),
            (Value::Bool(_) | Value::Number(_), _) => value.to_string(),
            _ => kind(value).to_owned(),
        }
    }
}

/// Returns the type of a value, without its content.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(min, max) if min == max => write!(f, "{min}"),
            Self::Whole(min, max) => write!(f, "a whole number from {min} to {max}"),
            Self::Number(max) => write!(f, "a number from 0 to {max}"),
            Self::OneOf(words) => write!(f, "one of {}", words.join(", ")),
            Self::Flag => f.write_str("true or false"),
            Self::List => f.write_str("a list of scripted minds or of models"),
            Self::Text(_, expected, _) => f.write_str(expected),
        }
    }
}

fn is_address(text: &str) -> bool {
    let rest = (text.strip_prefix("https://")).or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', ':']))
        && !text.contains(|char: char| {
            matches!(char, '@' | '?' | '#') || char.is_whitespace() || char.is_control()
        })
}
