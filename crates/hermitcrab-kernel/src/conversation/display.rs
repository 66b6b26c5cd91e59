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

/// The words of messages, each with the number of its first message. What the model says in one turn is one text.
pub(super) fn texts<'a>(
    messages: impl Iterator<Item = (u64, &'a Utterance)>,
) -> Vec<(u64, DisplayedMessage)> {
    let mut all: Vec<(u64, DisplayedMessage)> = Vec::new();
    for (n, said) in messages {
        let (by, text) = (said.by, said.words());
        match all.last_mut() {
            _ if text.is_empty() => {}
            Some((_, last)) if last.by == Author::Model && by == last.by => {
                last.text.push_str("\n\n");
                last.text.push_str(&text);
            }
            _ => {
                let role = said.message.role;
                all.push((n, DisplayedMessage { role, by, text }));
            }
        }
    }
    all
}
