use thiserror::Error;

/// A line of a dataset that cannot be used, or a whole file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {problem}")]
#[non_exhaustive]
pub struct CaseError {
    /// The file, as its reader named it.
    pub file: String,
    /// The line from 1 at which the case begins, or at which the file is malformed.
    pub line: usize,
    /// The fault of this line or file.
    pub problem: CaseProblem,
}

/// The fault of a line or a file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CaseProblem {
    /// The file is not UTF-8.
    #[error("not UTF-8; save the file as UTF-8")]
    NotUtf8,
    /// The file has no case.
    #[error("no case in it; add at least one text")]
    NoCase,
    /// The message of the JSON parser, without the position.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// Each case is a JSON object, and so is a level file.
    #[error("not a JSON object; expected one such as {{\"text\": \"...\"}}")]
    NotAnObject,
    /// The header row of a CSV file lacks a column that every case needs.
    #[error("no column `{0}`; name it in the header row")]
    MissingColumn(&'static str),
    /// The header row of a CSV file names a column twice.
    #[error("column `{0}` twice; remove or rename one")]
    DoubledColumn(String),
    /// A CSV row is not as long as the header row.
    #[error("{found} cells, the header row has {expected}; quote cells that contain a comma")]
    CellCount {
        /// Cells of the row.
        found: usize,
        /// Cells of the header row.
        expected: usize,
    },
    /// A quotation mark of a CSV row has no partner; rows after it may be lost to it.
    #[error("a quotation mark without its partner; close the cell, and double the marks in it")]
    OpenQuote,
    /// A field that every case needs.
    #[error("no `{0}`")]
    Missing(&'static str),
    /// A field that is written in another way.
    #[error("`{found}` is not read; write it `{expected}`")]
    Misspelt {
        /// The field in the file.
        found: String,
        /// The field that is read.
        expected: &'static str,
    },
    /// A field of another type.
    #[error("`{field}` is {found}, not {expected}")]
    WrongType {
        /// The field.
        field: &'static str,
        /// The kind of the value, such as `a number`.
        found: &'static str,
        /// The kind that is expected.
        expected: &'static str,
    },
    /// An id has 1 to 128 characters.
    #[error("`{field}` has {length} characters, not 1 to 128")]
    IdLength {
        /// The field.
        field: &'static str,
        /// The length in characters.
        length: usize,
    },
    /// An id has no control characters.
    #[error("`{0}` holds a control character; remove it")]
    IdControl(&'static str),
    /// An id is unique in its file.
    #[error("id `{id}` again, first on line {first}; rename one of them")]
    DuplicateId {
        /// The id.
        id: String,
        /// The line that has it first.
        first: usize,
    },
    /// Token numbers come together or not at all.
    #[error("`{present}` without `{absent}`; give both or neither")]
    OneTokenNumber {
        /// The one that is there.
        present: &'static str,
        /// The other one.
        absent: &'static str,
    },
    /// A number is whole and within its range.
    #[error("`{field}` is {found}, not a whole number from 0 to {max}")]
    BadNumber {
        /// The field.
        field: &'static str,
        /// The number as the file has it.
        found: String,
        /// The largest.
        max: u64,
    },
}
