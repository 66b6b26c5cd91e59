//! The types that a column has, and their form in the database.

use jiff::Timestamp;
use popper_discovery::store::{IterationStatus, LawStatus, StoreError};
use popper_harness::decide::Status;

use super::fields::Fields;
use super::record::Values;

/// A type that a column has.
pub(crate) trait Column: Sized {
    /// Adds the value to an INSERT.
    fn write(&self, values: Values<'_, '_>);

    /// Reads the next column.
    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError>;
}

/// Types that the database has itself.
macro_rules! stored_as_they_are {
    ($($kind:ty),*) => {$(
        impl Column for $kind {
            fn write(&self, values: Values<'_, '_>) {
                values.push_bind(self);
            }

            fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
                fields.stored()
            }
        }
    )*};
}

stored_as_they_are!(i64, Option<i64>, String, Option<String>);

/// The signed number with the same bits.
pub(crate) fn signed(number: u64) -> i64 {
    number.cast_signed()
}

impl Column for u64 {
    fn write(&self, values: Values<'_, '_>) {
        values.push_bind(signed(*self));
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        fields.stored().map(i64::cast_unsigned)
    }
}

impl Column for u32 {
    fn write(&self, values: Values<'_, '_>) {
        values.push_bind(i64::from(*self));
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        let number: i64 = fields.stored()?;
        let fits = Self::try_from(number);
        fits.map_err(|_| fields.bad(format!("is {number}, expected 0 to 2^32 - 1")))
    }
}

impl Column for bool {
    fn write(&self, values: Values<'_, '_>) {
        values.push_bind(i64::from(*self));
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        match fields.stored::<i64>()? {
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
    fn write(&self, values: Values<'_, '_>) {
        values.push_bind(self.map(time_text));
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        let text: Option<&str> = fields.stored()?;
        let time = text.map(str::parse).transpose();
        time.map_err(|error: jiff::Error| fields.bad(error.to_string()))
    }
}

impl Column for Timestamp {
    fn write(&self, values: Values<'_, '_>) {
        values.push_bind(time_text(*self));
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        let text: &str = fields.stored()?;
        text.parse()
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

impl<W: Word> Column for W {
    fn write(&self, values: Values<'_, '_>) {
        values.push_bind(word(*self));
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
        let text: &str = fields.stored()?;
        let known = W::ALL.iter().find(|(_, word)| *word == text);
        known.map(|(value, _)| *value).ok_or_else(|| {
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
