//! The parts of both forms of batches: the differences in requests, and what a server says about a batch and about a request
//! in it.

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::key::Key;
use super::{files, messages};
use crate::Error;
use crate::codec::Fields;
use crate::dialect::BatchForm;

/// The maximum length of an id that a server gives.
const LONGEST_ID: usize = 256;

/// A form of batches.
pub(super) struct FormRules {
    /// The maximum number of requests in a batch.
    pub requests: usize,
    /// The maximum number of bytes in a batch.
    pub bytes: usize,
    /// The maximum number of bytes of a request, without its body.
    pub item_overhead: usize,
    /// The text before and after all requests.
    pub begin: &'static str,
    pub end: &'static str,
    /// Adds a request to the path `route`.
    pub add: fn(text: &mut Vec<u8>, key: &Key, route: &str, body: &[u8]),
    /// Whether the requests are a file, which the request for a batch names. Such a batch has a label.
    pub is_file: bool,
    /// The parameter of a list for the last batch of the part before.
    pub cursor: &'static str,
    pub status: fn(&Fields<'_>) -> Option<BatchStatus>,
    pub outcome: for<'a> fn(&Fields<'a>) -> Option<ItemOutcome<'a>>,
}

impl FormRules {
    /// `None` for plain calls.
    pub fn of(form: BatchForm) -> Option<&'static Self> {
        match form {
            BatchForm::None => None,
            BatchForm::Messages => Some(&messages::RULES),
            BatchForm::Files => Some(&files::RULES),
        }
    }
}

/// A batch as the server describes it.
#[derive(Debug)]
pub(super) struct BatchStatus {
    pub id: String,
    /// The state in the server's words.
    pub word: String,
    pub is_over: bool,
    /// The number of requests with an answer, a reply or an error, if the server counts them.
    pub answered: Option<u64>,
    /// The number of requests.
    pub requests: u64,
    pub created: Option<Timestamp>,
    /// The name that the batch has in its spool.
    pub name: Option<String>,
    /// The files with results.
    pub files: Vec<String>,
    /// The error of a batch whose requests the server refused all.
    pub why: Option<Error>,
}

/// The answer to a request of a batch.
#[derive(Debug)]
pub(super) enum ItemOutcome<'a> {
    /// An HTTP answer: a reply or an error.
    Answer { status: u16, body: &'a RawValue },
    /// The request was not answered.
    Unanswered(String),
}

/// A part of a list of batches, newest first.
#[derive(Debug)]
pub(super) struct BatchPage {
    pub batches: Vec<BatchStatus>,
    /// Whether a batch of this part cannot be read.
    pub is_damaged: bool,
    /// The last id, if there are more.
    pub next: Option<String>,
}

impl BatchPage {
    /// Reads the part of a list after the id `after`. `None` if it is not one, or names no further place to continue at.
    pub fn read(text: &str, after: Option<&str>, form: &FormRules) -> Option<Self> {
        let fields = Fields::of(text)?;
        let rows = fields.list("data")?;
        let read = rows.iter().filter_map(|row| Fields::of(row.get()));
        let batches: Vec<_> = read.filter_map(|row| (form.status)(&row)).collect();
        let has_more = fields
            .raw("has_more")
            .is_some_and(|raw| raw.get() == "true");
        let last = batches.last().map(|batch| batch.id.clone());
        if has_more && (last.is_none() || last.as_deref() == after) {
            return None;
        }
        Some(Self {
            is_damaged: batches.len() < rows.len(),
            next: last.filter(|_| has_more),
            batches,
        })
    }
}

/// An id of the server that can be a part of a path: it is escaped there, and a dot would leave the folder.
pub(super) fn id(fields: &Fields<'_>, name: &str) -> Option<String> {
    let id = fields.text(name)?;
    let fits =
        (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    (fits && id != "." && id != "..").then_some(id)
}

/// A word of the server, cut to a length that a line can have.
pub(super) fn word(fields: &Fields<'_>, name: &str) -> Option<String> {
    let mut word = fields.text(name)?;
    word.truncate(word.floor_char_boundary(LONGEST_ID));
    Some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(data: &str, has_more: bool) -> Option<BatchPage> {
        let text = format!(r#"{{"data": [{data}], "has_more": {has_more}}}"#);
        BatchPage::read(&text, Some("b1"), &files::RULES)
    }

    #[test]
    fn a_part_of_a_list_names_another_place_to_continue_at() {
        let next = page(r#"{"id": "b2", "status": "completed"}"#, true).unwrap();
        assert_eq!((next.next.as_deref(), next.is_damaged), (Some("b2"), false));
        let damaged = page(
            r#"{"id": "b2", "status": "completed"}, {"id": "."}, 7"#,
            false,
        );
        let damaged = damaged.unwrap();
        assert!(damaged.is_damaged && damaged.next.is_none());
        assert!(page("", false).is_some());
        for (data, what) in [
            ("", "no batch"),
            (r#"{"id": "b1", "status": "completed"}"#, "the same place"),
            ("7", "no batch that can be read"),
        ] {
            assert!(page(data, true).is_none(), "{what}");
        }
    }
}
