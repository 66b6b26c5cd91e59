use std::path::PathBuf;
use std::{fmt, io};

use llm_client::{Error, ErrorClass};
use pscale_blocks::{BlockError, NameError, PathError, StoreError};
use serde::de::IntoDeserializer as _;
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Serialize};

/// An error of the kernel.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The blocks cannot be read or written.
    #[error("the blocks: {0}")]
    Store(#[from] StoreError),
    /// One of the kernel's own files cannot be read or written.
    #[error("{file} cannot be read or written")]
    File {
        /// The name of the file in the data directory.
        file: &'static str,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// A newer program wrote one of the kernel's own files. Nothing was written.
    #[error(
        "{} was written by a newer program (schema {found}, this one knows {known}): update the program",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of the format in the file.
        found: u64,
        /// The latest version that this program reads.
        known: u32,
    },
    /// A setting cannot be used.
    #[error("{0}")]
    Setting(ToolError),
    /// There is no answer. Complete rounds before it are kept.
    #[error("{}", .0.plain())]
    Brain(#[from] BrainError),
    /// The person's message is longer than allowed.
    #[error(
        "the message has {size} characters, more than {limit}: send a shorter one, or write it to a block"
    )]
    TooLong {
        /// The length in characters.
        size: usize,
        /// The limit in characters.
        limit: usize,
    },
    /// The person's message has no words.
    #[error("the message is empty")]
    Empty,
}

impl KernelError {
    pub(crate) fn file(file: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { file, source }
    }
}

/// An error of a brain.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrainError {
    /// Every model that may be asked failed; this is the last one's error.
    #[error("{model}: {source}")]
    Model {
        /// The last model that was asked.
        model: String,
        /// The error of the client or the server.
        #[source]
        source: llm_client::Error,
    },
    /// A budget does not allow the request; the line for the person says which.
    #[error("{0}")]
    Budget(String),
    /// The request was given up.
    #[error("stopped")]
    Cancelled,
    /// The brain cannot answer this.
    #[error("{0}")]
    Other(String),
}

/// The most characters of a server's own words.
const WORDS: usize = 200;

impl BrainError {
    /// The error in one plain line for the person.
    pub fn plain(&self) -> String {
        match self {
            Self::Model { model, source } => of_model(model, source),
            Self::Cancelled => "stopped".to_owned(),
            Self::Budget(what) | Self::Other(what) => one_line(what),
        }
    }

    /// The key was refused, so another one must be asked for.
    pub fn is_key_refused(&self) -> bool {
        matches!(self, Self::Model { source, .. } if source.class() == ErrorClass::Auth)
    }
}

fn of_model(model: &str, error: &Error) -> String {
    let http = error
        .status()
        .map(|status| format!(" (HTTP {status})"))
        .unwrap_or_default();
    match error.class() {
        ErrorClass::Auth => format!("key refused{http}: give another one"),
        ErrorClass::Quota => {
            format!("the account has nothing left{http}: add credit or use another key")
        }
        ErrorClass::ModelUnavailable => format!("{model} is not served here{http}"),
        ErrorClass::RateLimit => format!("too many requests{http}: wait a minute, then ask again"),
        ErrorClass::Overloaded => format!("{model} is overloaded{http}: ask again in a while"),
        ErrorClass::Server => format!("the provider failed{http}: ask again"),
        ErrorClass::BadRequest => {
            format!("the request was refused: {}", one_line(&error.message()))
        }
        ErrorClass::Network => format!(
            "no connection to the provider: {}",
            one_line(&error.message())
        ),
        ErrorClass::Timeout => "the provider did not answer in time: ask again".to_owned(),
        ErrorClass::BadResponse => match error.kind() {
            llm_client::ErrorKind::StreamTruncated { .. } => {
                "the answer was interrupted, and nothing of it is kept: ask again".to_owned()
            }
            _ => format!("the answer cannot be read: {}", one_line(&error.message())),
        },
        ErrorClass::Budget | ErrorClass::PriceUnknown => format!(
            "the budget ends here (--max-usd): {}",
            one_line(&error.message())
        ),
        ErrorClass::ReplayMiss => "the recording does not hold this request".to_owned(),
        ErrorClass::Cassette | ErrorClass::Cancelled => one_line(&error.message()),
    }
}

/// The start of `text`, in one line.
fn one_line(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = line.char_indices().nth(WORDS) {
        line.truncate(at);
        line.push('…');
    }
    line
}

/// The kind of a [`ToolError`], one word for programs: [`ErrorKind::NotFound`] is `not_found`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "each name is the word")]
pub enum ErrorKind {
    BadArguments,
    BadHost,
    BadKey,
    BadName,
    BadOffset,
    BadPath,
    BadReply,
    BadRoot,
    BadUri,
    BadUrl,
    Binary,
    Budget,
    Bug,
    Busy,
    Compile,
    Conflict,
    Corrupt,
    CutOff,
    Denied,
    DiskFull,
    EmptyContent,
    Exists,
    FaceIsNew,
    Failed,
    Format,
    Full,
    Gone,
    Inactive,
    IntoItself,
    Io,
    Locked,
    ManyRoots,
    Model,
    NeedsGrant,
    NewRoot,
    Newer,
    NoBlock,
    NoDelete,
    NoFrame,
    NoShell,
    NotEmpty,
    NotFound,
    NotOnce,
    NothingToGrow,
    NothingToRedo,
    NothingToUndo,
    Rate,
    ReadOnly,
    Refused,
    Repeated,
    Revision,
    ServerFailed,
    Stopped,
    Timeout,
    TooDeep,
    TooLarge,
    TooMany,
    TooManyRedirects,
    TooOften,
    Unavailable,
    UnknownMethod,
    UnknownModel,
    UnknownTool,
    Unreachable,
    WrongKind,
    /// A word of another program, or of a page: the kernel itself has none of these.
    #[serde(untagged)]
    Other(String),
}

impl From<&str> for ErrorKind {
    fn from(word: &str) -> Self {
        let word: StrDeserializer<'_, serde::de::value::Error> = word.into_deserializer();
        Self::deserialize(word).unwrap_or(Self::Failed)
    }
}

/// A kind is equal to its word.
impl PartialEq<&str> for ErrorKind {
    fn eq(&self, word: &&str) -> bool {
        let other = Self::from(*word);
        *self == other
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The error of a tool as the model reads it. A tool never fails in another way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolError {
    /// The kind. The key `error` in JSON.
    #[serde(rename = "error")]
    pub kind: ErrorKind,
    /// The cause.
    pub detail: String,
    /// The advice: what to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl ToolError {
    /// An error of this kind.
    pub fn new(kind: impl Into<ErrorKind>, detail: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            detail: detail.into(),
            hint: None,
        }
    }

    /// The failure of a file: `full` if the disk is, else `io`.
    #[expect(clippy::needless_pass_by_value, reason = "it is what map_err gives")]
    pub(crate) fn from_io(error: io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::StorageFull => ErrorKind::Full,
            _ => ErrorKind::Io,
        };
        Self::new(kind, error.to_string())
    }

    /// The same error with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The advice for an error of this kind, where the error itself has none.
pub(crate) fn usual_hint(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::BadArguments => "call it again with arguments as its schema says",
        ErrorKind::BadPath => "a path is digits with dots, such as \"0.3.1\"",
        ErrorKind::BadName => "a name begins with a letter: a-z, digits, _ and -, at most 64",
        ErrorKind::NoBlock => "block_list has the names",
        ErrorKind::NotFound => "read the node above to see what is there",
        ErrorKind::Exists => "take another name or place, or write to what is there",
        ErrorKind::EmptyContent => "give it a text",
        ErrorKind::TooLarge => "split the text over several nodes",
        ErrorKind::TooDeep => "write it further up: 32 levels are the most",
        ErrorKind::Full => "nothing was changed; tell the person that the disk is full",
        ErrorKind::Corrupt | ErrorKind::Io => {
            "nothing was changed; tell the person, and continue without it"
        }
        ErrorKind::ServerFailed => "try once more, or go another way and tell the person",
        ErrorKind::Budget => "answer the person with what you have",
        _ => "go another way, or tell the person",
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.detail)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ToolError {}

impl From<BrainError> for ToolError {
    fn from(error: BrainError) -> Self {
        match error {
            BrainError::Cancelled => Self::new(ErrorKind::Stopped, "stopped"),
            BrainError::Budget(line) => Self::new(ErrorKind::Budget, line),
            error => Self::new(ErrorKind::Model, error.plain()),
        }
    }
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        let mut detail = error.to_string();
        if let Some(source) = std::error::Error::source(&error) {
            detail = format!("{detail}: {source}");
        }
        Self::new(error.kind(), detail)
    }
}

impl From<BlockError> for ToolError {
    fn from(error: BlockError) -> Self {
        Self::new(error.kind(), error.to_string())
    }
}

impl From<PathError> for ToolError {
    fn from(error: PathError) -> Self {
        BlockError::from(error).into()
    }
}

impl From<NameError> for ToolError {
    fn from(error: NameError) -> Self {
        Self::new(error.kind(), error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_its_word_and_words_of_others_stay() {
        let fault = ToolError::new(ErrorKind::TooManyRedirects, "x");
        assert_eq!(fault.to_string(), "too_many_redirects: x");
        let json = serde_json::to_string(&fault).unwrap();
        assert_eq!(json, r#"{"error":"too_many_redirects","detail":"x"}"#);
        for word in ["not_found", "no_block", "into_itself", "io"] {
            let kind = ErrorKind::from(word);
            assert!(!matches!(kind, ErrorKind::Other(_)), "{kind:?}");
            assert_eq!(kind.to_string(), word);
        }
        for word in ["TypeError", "other", ""] {
            let kind = ErrorKind::from(word);
            assert_eq!(kind, ErrorKind::Other(word.to_owned()));
            assert_eq!(serde_json::json!(kind), word);
        }
    }

    #[test]
    fn a_file_error_leaves_the_cause_to_its_source() {
        let error = KernelError::file("shells.json")(io::Error::other("no room"));
        assert_eq!(error.to_string(), "shells.json cannot be read or written");
        assert!(std::error::Error::source(&error).is_some());
    }
}
