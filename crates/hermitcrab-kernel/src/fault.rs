use std::fmt;

use pscale_blocks::{BlockError, NameError, PathError, StoreError};
use serde::Serialize;

/// Why a tool failed, as the model reads it. A tool never fails in another way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The kind, one word for programs: `not_found`, `bad_path`.
    pub error: String,
    /// What happened.
    pub detail: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Fault {
    /// A fault of this kind.
    pub fn new(kind: &str, detail: impl Into<String>) -> Self {
        Self {
            error: kind.to_owned(),
            detail: detail.into(),
            hint: None,
        }
    }

    /// The same with what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// What to do about a fault of this kind, where the fault itself does not say it.
pub(crate) fn usual_hint(kind: &str) -> &'static str {
    match kind {
        "bad_arguments" => "call it again with arguments as its schema says",
        "bad_path" => "a path is digits with dots, such as \"0.3.1\"",
        "bad_name" => "a name begins with a letter: a-z, digits, _ and -, at most 64",
        "no_block" => "block_list has the names",
        "not_found" => "read the node above to see what is there",
        "exists" => "take another name or place, or write to what is there",
        "empty_content" => "give it a text",
        "too_large" => "split the text over several nodes",
        "too_deep" => "write it further up: 32 levels are the most",
        "full" => "nothing was changed; tell the person that the disk is full",
        "corrupt" | "io" => "nothing was changed; tell the person, and go on without it",
        "budget" => "answer the person with what you have",
        _ => "go another way, or tell the person",
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.error, self.detail)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        let mut detail = error.to_string();
        if let Some(source) = std::error::Error::source(&error) {
            detail = format!("{detail}: {source}");
        }
        Self::new(error.kind(), detail)
    }
}

impl From<BlockError> for Fault {
    fn from(error: BlockError) -> Self {
        Self::new(error.kind(), error.to_string())
    }
}

impl From<PathError> for Fault {
    fn from(error: PathError) -> Self {
        BlockError::from(error).into()
    }
}

impl From<NameError> for Fault {
    fn from(error: NameError) -> Self {
        Self::new(error.kind(), error.to_string())
    }
}
