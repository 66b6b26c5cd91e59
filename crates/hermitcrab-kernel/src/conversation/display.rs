//! The conversation as a face shows it.

use llm_client::Role;
use serde::Serialize;

use super::author::{Author, Utterance};

/// A message as a face displays it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DisplayedMessage {
    /// The person is the user.
    pub role: Role,
    /// The author.
    pub by: Author,
    /// The words.
    pub text: String,
}

/// The words of a record; see [`Kernel::said`](crate::Kernel::said).
pub(crate) fn said(record: Vec<Utterance>) -> Vec<DisplayedMessage> {
    let mut all: Vec<DisplayedMessage> = Vec::new();
    for said in record {
        let (by, text) = (said.by, said.words());
        match all.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.by == Author::Model && by == last.by => {
                last.text.push_str("\n\n");
                last.text.push_str(&text);
            }
            _ => all.push(DisplayedMessage {
                role: said.message.role,
                by,
                text,
            }),
        }
    }
    all
}
