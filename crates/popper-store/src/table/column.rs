//! The types that a column has, and their form in the database.

use std::borrow::Cow;

use jiff::Timestamp;
use popper_discovery::store::{IterationStatus, LawStatus, StoreError};
use popper_harness::decide::Status;

use super::fields::Fields;
use crate::statement::Value;

/// A type that a column has.
pub(crate) trait Column: Sized {
    /// The value in a statement.
    fn value(&self) -> Value<'_>;

    /// Reads the next column.
    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError>;
}

impl Column for i64 {
    fn value(&self) -> Value<'_> {
        (*self).into()
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        let number = fields.int()?;
        fields.present(number)
    }
}

impl Column for Option<i64> {
    fn value(&self) -> Value<'_> {
        (*self).into()
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        fields.int()
    }
}

impl Column for String {
    fn value(&self) -> Value<'_> {
        self.into()
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        let text = fields.text()?;
        fields.present(text).map(Cow::into_owned)
    }
}

impl Column for Option<String> {
    fn value(&self) -> Value<'_> {
        self.into()
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        Ok(fields.text()?.map(Cow::into_owned))
    }
}

/// The signed number with the same bits.
pub(crate) fn signed(number: u64) -> i64 {
    number.cast_signed()
}

impl Column for u64 {
    fn value(&self) -> Value<'_> {
        signed(*self).into()
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        i64::read(fields).map(i64::cast_unsigned)
    }
}

impl Column for u32 {
    fn value(&self) -> Value<'_> {
        i64::from(*self).into()
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        let number = i64::read(fields)?;
        let fits = Self::try_from(number);
        fits.map_err(|_| fields.bad(format!("is {number}, expected 0 to 2^32 - 1")))
    }
}

impl Column for bool {
    fn value(&self) -> Value<'_> {
        i64::from(*self).into()
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        match i64::read(fields)? {
            0 => Ok(false),
            1 => Ok(true),
            number => Err(fields.bad(format!("is {number}, expected 0 or 1"))),
        }
    }
}

/// The time in RFC 3339 with nine decimals.
pub(crate) fn time_text(time: Timestamp) -> String {
    format!("{time:.9}")
}

impl Column for Option<Timestamp> {
    fn value(&self) -> Value<'_> {
        self.map(time_text).into()
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        let time = fields.text()?.map(|text| text.parse()).transpose();
        time.map_err(|error: jiff::Error| fields.bad(error.to_string()))
    }
}

impl Column for Timestamp {
    fn value(&self) -> Value<'_> {
        time_text(*self).into()
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        let text = fields.text()?;
        fields
            .present(text)?
            .parse()
            .map_err(|error: jiff::Error| fields.bad(error.to_string()))
    }
}

/// An enumeration that a column has as a word.
pub(crate) trait Word: Sized + Copy + PartialEq + 'static {
    const ALL: &'static [(Self, &'static str)];
}

/// The word for a value; every value has one.
pub(crate) fn word<W: Word>(value: W) -> &'static str {
    let mut words = W::ALL.iter();
    words
        .find(|(known, _)| *known == value)
        .map_or("", |(_, word)| word)
}

/// The value that a word stands for.
pub(crate) fn from_word<W: Word>(text: &str) -> Option<W> {
    let known = W::ALL.iter().find(|(_, word)| *word == text);
    known.map(|(value, _)| *value)
}

impl<W: Word> Column for W {
    fn value(&self) -> Value<'_> {
        word(*self).into()
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        let text = fields.text()?;
        let text = fields.present(text)?;
        from_word(&text).ok_or_else(|| {
            let words: Vec<&str> = W::ALL.iter().map(|(_, word)| *word).collect();
            fields.bad(format!("is {text:?}, expected one of {}", words.join(", ")))
        })
    }
}

impl Word for Status {
    const ALL: &'static [(Self, &'static str)] = &[
        (Self::Pass, "PASS"),
        (Self::Fail, "FAIL"),
        (Self::Unknown, "UNKNOWN"),
    ];
}

impl Word for IterationStatus {
    const ALL: &'static [(Self, &'static str)] = &[
        (Self::Running, "running"),
        (Self::Completed, "completed"),
        (Self::Aborted, "aborted"),
    ];
}

impl Word for LawStatus {
    const ALL: &'static [(Self, &'static str)] = &[
        (Self::Proposed, "proposed"),
        (Self::RejectedSchema, "rejected_schema"),
        (Self::Queued, "queued"),
        (Self::Tested, "tested"),
    ];
}
