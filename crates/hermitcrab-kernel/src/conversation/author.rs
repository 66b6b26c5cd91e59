use std::fmt;
use std::str::FromStr;

use llm_client::{Block, Message, Role};
use pscale_blocks::store::Origins;
use serde::{Deserialize, Serialize};

use crate::prompt::FROM_FACE;
use crate::prompt::kernel_words::is_kernel_request;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Author {
    /// The person.
    Person,
    /// The model.
    Model,
    /// The kernel: its requests to the model in a turn, results of tools, and lines about the face.
    Kernel,
    /// The face of this revision, while the person was not at it.
    Face(u64),
}

/// The text before and after the number of a face in its messages.
const SAID_BY_FACE: [&str; 2] = ["[From face ", ", not from the person] "];

impl Author {
    /// `text` as the model and the pages read it: that of a face says so.
    pub fn says(self, text: String) -> String {
        let [before, behind] = SAID_BY_FACE;
        match self {
            Self::Face(rev) => format!("{before}{rev}{behind}{text}"),
            _ => text,
        }
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person => f.write_str("person"),
            Self::Model => f.write_str("model"),
            Self::Kernel => f.write_str("kernel"),
            Self::Face(rev) => write!(f, "face {rev}"),
        }
    }
}

impl From<Author> for String {
    fn from(author: Author) -> Self {
        author.to_string()
    }
}

impl FromStr for Author {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let face = || text.strip_prefix("face ")?.parse().ok();
        match text {
            "person" => Ok(Self::Person),
            "model" => Ok(Self::Model),
            "kernel" => Ok(Self::Kernel),
            _ => face().map(Self::Face).ok_or_else(|| {
                format!(
                    "expected \"person\", \"model\", \"kernel\" or \"face REV\", found {text:?}"
                )
            }),
        }
    }
}

impl TryFrom<String> for Author {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// A message of the conversation with its author.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Utterance {
    /// The author.
    pub by: Author,
    /// The message as the model gets it.
    pub message: Message,
    /// The places outside that it may come from.
    #[serde(skip_serializing_if = "Origins::is_empty")]
    pub from: Origins,
}

impl Utterance {
    /// A message of `by`.
    pub fn new(by: Author, message: Message) -> Self {
        let from = Origins::default();
        Self { by, message, from }
    }

    /// The message with the places outside that it may come from.
    #[must_use]
    pub fn with_from(self, from: Origins) -> Self {
        Self { from, ..self }
    }

    /// A message that the kernel sends to the model in a turn.
    pub(crate) fn kernel(text: impl Into<String>) -> Self {
        Self::new(Author::Kernel, Message::user(text))
    }

    /// The words that a person reads, without white space around them: those of the person, of a face and of the model, not
    /// those of the kernel. Empty without such words.
    pub fn words(&self) -> String {
        if self.by == Author::Kernel {
            return String::new();
        }
        let texts = self.message.content.iter().filter_map(Block::as_text);
        let texts: Vec<_> = (texts.map(str::trim).filter(|text| !text.is_empty())).collect();
        texts.join("\n")
    }

    /// A message of a record without authors, by its role and its words. A line about the face that it begins with is left out.
    pub(crate) fn without_author(mut message: Message) -> Self {
        let begins = |mark: &str| {
            let first = message.content.first().and_then(Block::as_text);
            first.is_some_and(|text| text.starts_with(mark))
        };
        if message.role == Role::User && message.content.len() > 1 && begins(FROM_FACE) {
            message.content.remove(0);
        }
        let mut texts = message.content.iter().filter_map(Block::as_text);
        let by = match message.role {
            Role::Assistant => Author::Model,
            Role::System => Author::Kernel,
            Role::User => match texts.find(|text| !text.trim().is_empty()) {
                Some(text) if !is_kernel_request(text) => {
                    face_of(text).map_or(Author::Person, Author::Face)
                }
                _ => Author::Kernel,
            },
        };
        Self::new(by, message)
    }
}

/// The face that [`Author::says`] names.
fn face_of(text: &str) -> Option<u64> {
    let [before, behind] = SAID_BY_FACE;
    let (rev, _) = text.strip_prefix(before)?.split_once(behind)?;
    rev.parse().ok()
}
