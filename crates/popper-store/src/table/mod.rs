//! The tables: their columns, and the rows that are written to them and read from them.

mod column;
mod fields;
mod record;

pub(crate) use column::{from_word, signed, time_text, word};
pub(crate) use fields::{Fields, record};
pub(crate) use record::{Keys, Record, Table};
