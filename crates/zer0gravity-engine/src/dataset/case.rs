use std::cell::Cell;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::record::{DatasetRecord, read};
use super::{CaseError, CaseFormat, CaseProblem};
use crate::text::setters::setters;

/// One text to be encoded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Case {
    /// The id, which is unique in its dataset: 1 to 128 characters, no control characters.
    pub id: String,
    /// The text to be encoded.
    #[serde(with = "crate::text::arc")]
    pub text: Arc<str>,
    /// The result of carrying out the text, if it is an instruction with one result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_output: Option<String>,
    /// The reason for that result, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// The kind of text, in the dataset's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub genre: Option<String>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl Case {
    /// Creates a case without an expected result.
    pub fn new(id: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self {
            id: id.into(),
            text: text.into(),
            ..Self::default()
        }
    }

    setters! {
        expected_output: Option<String>,
        explanation: Option<String>,
        genre: Option<String>,
        tags: Vec<String>,
    }
}

/// Reads the cases of a dataset and the errors of all its invalid lines, in order. With an error of the file itself (not UTF-8,
/// invalid JSON, no case) the list of cases is empty.
///
/// `name` is the name of the file in errors. A case without `id` is named by its position: `line-7`, `row-3` of a CSV file (without
/// the header row), `case-2` of an array. The text may also be in a field `input`, `prompt` or `content`. A BOM is allowed, unknown
/// fields are ignored, null is a missing value, and a blank text is valid.
///
/// ```
/// use zer0gravity_engine::dataset::{CaseFormat, parse_cases};
/// let file = b"{\"id\": \"a\", \"text\": \"x\"}\n{\"id\": \"a\", \"text\": \"y\"}\n{\"id\": \"b\"}";
/// let parsed = parse_cases(file, CaseFormat::JsonLines, "texts.jsonl");
/// assert_eq!(parsed.cases.len(), 1);
/// let errors: Vec<_> = parsed.errors.iter().map(ToString::to_string).collect();
/// assert_eq!(errors, [
///     "texts.jsonl:2: id `a` again, first on line 1; rename one of them",
///     "texts.jsonl:3: no `text`",
/// ]);
/// ```
pub fn parse_cases(bytes: &[u8], format: CaseFormat, name: &str) -> ParsedCases {
    let key = |case: &Case| case.id.clone();
    let alias = Cell::new(None);
    let (cases, errors) = read(bytes, format, name, &["text"], key, |record, case| {
        let field = record.text_field();
        if field != "text" {
            alias.set(Some(field));
        }
        Ok(case)
    });
    ParsedCases {
        cases,
        errors,
        text_field: alias.get().unwrap_or("text"),
    }
}

/// The result of [`parse_cases`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedCases {
    /// The cases, in their order.
    pub cases: Vec<Case>,
    /// The errors, by line.
    pub errors: Vec<CaseError>,
    /// The field with the texts: `text`, `input`, `prompt` or `content`.
    pub text_field: &'static str,
}

/// Returns `id` if it has 1 to 128 characters and no control characters.
pub(super) fn checked_id(field: &'static str, id: String) -> Result<String, CaseProblem> {
    /// The longest id in characters.
    const MAX_ID: usize = 128;
    let length = id.chars().count();
    if !(1..=MAX_ID).contains(&length) {
        return Err(CaseProblem::IdLength { field, length });
    }
    if id.chars().any(char::is_control) {
        return Err(CaseProblem::IdControl(field));
    }
    Ok(id)
}

impl Case {
    pub(super) fn read(record: &DatasetRecord) -> Result<Self, CaseProblem> {
        Ok(Self {
            id: checked_id(
                "id",
                record.text("id")?.unwrap_or_else(|| record.place.clone()),
            )?,
            text: record.required(record.text_field())?.into(),
            expected_output: record.text("expectedOutput")?,
            explanation: record.text("explanation")?,
            genre: record.text("genre")?,
            tags: record.list("tags")?,
        })
    }
}
