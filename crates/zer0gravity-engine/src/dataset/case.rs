use serde::{Deserialize, Serialize};

use super::record::{Record, read};
use super::{CaseError, CaseFormat, CaseProblem};

/// One text to be encoded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Case {
    /// Unique in its dataset, 1 to 128 characters, no control characters.
    pub id: String,
    /// The text.
    pub text: String,
    /// What carrying out the text gives, if it is an instruction with one result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_output: Option<String>,
    /// Why that is its result, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// What kind of text it is, in the dataset's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub genre: Option<String>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// The cases of a dataset, and everything that is wrong with it: all bad lines, in their order. With no error the cases are the
/// whole file; with an error of the file itself (not UTF-8, broken JSON, no case) there are none.
///
/// `name` is what the errors call the file. A BOM is allowed, fields that no case has are ignored, null is a missing value, and a
/// blank text is a text.
///
/// ```
/// use zer0gravity_engine::{CaseFormat, parse_cases};
/// let file = b"{\"id\": \"a\", \"text\": \"x\"}\n{\"id\": \"a\", \"text\": \"y\"}\n{\"id\": \"b\"}";
/// let (cases, errors) = parse_cases(file, CaseFormat::JsonLines, "texts.jsonl");
/// assert_eq!(cases.len(), 1);
/// let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
/// assert_eq!(errors, [
///     "texts.jsonl:2: id `a` again, first on line 1",
///     "texts.jsonl:3: no `text`",
/// ]);
/// ```
pub fn parse_cases(bytes: &[u8], format: CaseFormat, name: &str) -> (Vec<Case>, Vec<CaseError>) {
    let key = |case: &Case| case.id.clone();
    read(bytes, format, name, &["id", "text"], key, |_, case| {
        Ok(case)
    })
}

/// An id that has a length for people to read and no control characters.
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
    pub(super) fn read(record: &Record) -> Result<Self, CaseProblem> {
        Ok(Self {
            id: checked_id("id", record.required("id")?)?,
            text: record.required("text")?,
            expected_output: record.text("expectedOutput")?,
            explanation: record.text("explanation")?,
            genre: record.text("genre")?,
            tags: record.list("tags")?,
        })
    }
}
