//! A message of a foreign file before it has an id, and the fields that it is read from.

use std::str::FromStr;

use jiff::Timestamp;

use crate::format::is_blank;
use crate::pool::Round;

/// The largest size of a text in bytes.
pub const MOST_TEXT: usize = 1 << 20;

/// The number of characters of a value that an error shows.
const SHOWN: usize = 60;

/// The smallest size of a number that is a time in milliseconds, not in seconds.
const MILLISECONDS: f64 = 1e11;

/// A field of a foreign message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a message has these fields")]
pub enum ImportField {
    /// The text, 1 B to 1 MiB.
    Text,
    /// The id, unique over all files; by default the number of the line.
    Id,
    /// The author; by default unknown.
    Author,
    /// The time: RFC 3339, Unix seconds or Unix milliseconds; by default that of the message before it.
    Time,
    /// The ids of the messages that it answers or copies, the most important one first.
    Parent,
    /// The ids of the messages that its author had read.
    Reads,
}

impl ImportField {
    /// The list of all fields.
    pub const ALL: &[Self] = &[
        Self::Text,
        Self::Id,
        Self::Author,
        Self::Time,
        Self::Parent,
        Self::Reads,
    ];

    /// Returns the name, which is also that of its column by default.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Id => "id",
            Self::Author => "author",
            Self::Time => "time",
            Self::Parent => "parent",
            Self::Reads => "reads",
        }
    }
}

/// The column of a field that has another name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a field and its column")]
pub struct ColumnName {
    /// The field.
    pub field: ImportField,
    /// The name of its column in CSV, or of its key in JSON.
    pub column: String,
}

/// The error of a text that is not a [`ColumnName`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not FIELD=COLUMN with a FIELD of text, id, author, time, parent, reads")]
#[non_exhaustive]
pub struct UnknownColumn {
    /// The text.
    pub found: String,
}

impl FromStr for ColumnName {
    type Err = UnknownColumn;

    fn from_str(text: &str) -> Result<Self, UnknownColumn> {
        let named = || {
            let (field, column) = text.split_once('=')?;
            let field = ImportField::ALL.iter().find(|known| known.name() == field);
            (!column.is_empty()).then_some(Self {
                field: *field?,
                column: column.to_owned(),
            })
        };
        named().ok_or_else(|| UnknownColumn {
            found: text.to_owned(),
        })
    }
}

/// A message as a source has it.
#[derive(Debug, Clone, Default)]
pub(super) struct ForeignMessage {
    pub(super) text: String,
    pub(super) id: Option<String>,
    pub(super) author: Option<String>,
    pub(super) time: Option<Timestamp>,
    pub(super) parents: Vec<String>,
    /// `None` if the source has no such field.
    pub(super) reads: Option<Vec<String>>,
    /// The round, in a source that records it.
    pub(super) round: Option<Round>,
}

impl ForeignMessage {
    /// Returns the message, or the problem with one of its fields.
    pub(super) fn checked(self) -> Result<Self, String> {
        let named = self.id.iter().chain(&self.author).chain(&self.parents);
        check_values(&self.text, named.chain(self.reads.iter().flatten()))?;
        Ok(self)
    }
}

/// Returns the problem with a text, or with the other values of its message.
pub(super) fn check_values<'a>(
    text: &'a String,
    others: impl IntoIterator<Item = &'a String>,
) -> Result<(), String> {
    if text.is_empty() {
        return Err("text is missing or empty; expected 1 B to 1 MiB".to_owned());
    }
    if is_blank(text) {
        return Err("text is blank; expected a visible character".to_owned());
    }
    if text.len() > MOST_TEXT {
        let size = text.len();
        return Err(format!("text has {size} bytes; the most are {MOST_TEXT}"));
    }
    let mut all = others.into_iter().chain([text]);
    if all.any(|value| value.contains('\0')) {
        return Err("contains a NUL character; expected none".to_owned());
    }
    Ok(())
}

/// Returns a value for an error: quoted, without control characters, cut.
pub(super) fn quoted(value: &str) -> String {
    let cut: String = value.chars().take(SHOWN).collect();
    let more = if cut.len() < value.len() { "..." } else { "" };
    format!("{cut:?}{more}")
}

/// Returns the time of a text: RFC 3339, or a number as [`number_time`] reads it.
pub(super) fn text_time(text: &str) -> Result<Timestamp, String> {
    let text = text.trim();
    if text.parse::<f64>().is_ok() {
        return number_time(text);
    }
    text.parse().map_err(|_| unreadable(text))
}

/// Returns the time of a number: Unix seconds, from 10^11 on milliseconds. Nanoseconds are kept.
pub(super) fn number_time(text: &str) -> Result<Timestamp, String> {
    let size = text.parse().map_or(f64::NAN, f64::abs);
    let places = if size < MILLISECONDS { 9 } else { 6 };
    let time = (size.is_finite())
        .then(|| shifted(text, places))
        .flatten()
        .and_then(|nanoseconds| Timestamp::from_nanosecond(nanoseconds).ok());
    time.ok_or_else(|| unreadable(text))
}

/// Returns a decimal number times 10^`places`, rounded down; `None` if it is too large.
fn shifted(text: &str, places: usize) -> Option<i128> {
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let (sign, whole) = match whole.strip_prefix('-') {
        Some(whole) => (-1, whole),
        None => (1, whole.strip_prefix('+').unwrap_or(whole)),
    };
    // The place of the point among the digits.
    let end =
        i64::try_from(whole.len()).ok()? + i64::from(exponent) + i64::try_from(places).ok()?;
    let digits = whole.bytes().chain(fraction.bytes());
    let (mut value, mut is_exact) = (0_i128, true);
    for (at, digit) in (0..).zip(digits) {
        if at < end {
            value = value.checked_mul(10)?.checked_add((digit - b'0').into())?;
        } else {
            is_exact &= digit == b'0';
        }
    }
    let given = i64::try_from(whole.len() + fraction.len()).ok()?;
    if value != 0 {
        for _ in given..end {
            value = value.checked_mul(10)?;
        }
    }
    Some(sign * value - i128::from(sign < 0 && !is_exact))
}

fn unreadable(shown: &str) -> String {
    let shown = quoted(shown);
    format!(
        "unreadable time {shown}; expected RFC 3339 with an offset, or Unix seconds or milliseconds"
    )
}
