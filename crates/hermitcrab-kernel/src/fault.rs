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
