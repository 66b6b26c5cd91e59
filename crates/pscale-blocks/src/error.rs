use std::fmt;

use crate::{BlockName, NameError, Path, PathError};

/// The reason why an operation on a block failed. The block is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// The text is not a path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// There is no such node.
    #[error(
        "no node `{path}`{}; {}{}",
        block.as_ref().map(|name| format!(" in {name}")).unwrap_or_default(),
        entries(parent, children),
        near.as_ref().map(|near| format!("; did you mean {near}?")).unwrap_or_default()
    )]
    NotFound {
        /// The block, if it has a name.
        block: Option<Box<BlockName>>,
        /// The path that was asked for.
        path: Path,
        /// The deepest node on the way that exists.
        deepest: Path,
        /// The node whose entries are named: the deepest one, or the head if the path does not begin with it.
        parent: Box<Path>,
        /// The digits of that node's children.
        children: Vec<u8>,
        /// The place where the node may be instead. It is where the node went when the block grew, if exactly one place fits,
        /// or a node below the head, with whose digit the path should have begun.
        near: Option<Box<Path>>,
    },
    /// A node would be deeper than 32.
    #[error("a node would be deeper than {} levels", crate::path::MAX_DEPTH)]
    TooDeep,
    /// A second top-level digit.
    #[error("{path} would begin a second tree next to the block's head {head}; write below {head}")]
    NewRoot {
        /// The path that was to be written.
        path: Path,
        /// The block's head.
        head: Path,
    },
    /// A text for the tree itself, which has one only with decimal 0.
    #[error("the empty path has a text only in a block with decimal 0; write to the head {head}")]
    TreeText {
        /// The block's head.
        head: Path,
    },
    /// A text of white space only.
    #[error("the text is empty")]
    EmptyContent,
    /// A limit would be passed.
    #[error("the {what} would be {size}, more than {limit}")]
    TooLarge {
        /// The limited quantity, with its unit.
        what: &'static str,
        /// The limit.
        limit: usize,
        /// The size that the operation would lead to.
        size: usize,
    },
    /// The block has several trees.
    #[error("the block has several top-level digits; only a block with one grows")]
    ManyRoots,
    /// The head has no children.
    #[error("the head has no entries yet, there is nothing to compress")]
    NothingToGrow,
    /// The place is taken.
    #[error("{path} is taken")]
    Exists {
        /// The place.
        path: Path,
    },
    /// A node was to be moved into itself.
    #[error("{to} is inside of {from}")]
    IntoItself {
        /// The node.
        from: Path,
        /// The place.
        to: Path,
    },
    /// The head was to be removed or moved.
    #[error("{path} is the head of the block, which stays where it is")]
    Head {
        /// The head.
        path: Path,
    },
    /// A text that the format does not allow.
    #[error("{reason}")]
    Format {
        /// The rule that the text breaks.
        reason: String,
    },
}

/// Returns the entries below a node: `entries are 0.1 to 0.3`.
fn entries(node: &Path, children: &[u8]) -> String {
    let path = |digit: &u8| node.child(*digit).unwrap_or(*node).to_string();
    match children {
        [] if node.is_root() => "the block is empty".to_owned(),
        [] => format!("{node} has no entries"),
        [one] => format!("the one entry is {}", path(one)),
        [first, .., last] if usize::from(last - first) + 1 == children.len() => {
            format!("entries are {} to {}", path(first), path(last))
        }
        _ => {
            let paths: Vec<_> = children.iter().map(path).collect();
            format!("entries are {}", paths.join(", "))
        }
    }
}

impl BlockError {
    /// The same of a block that has a name.
    #[must_use]
    pub fn in_block(mut self, name: &BlockName) -> Self {
        if let Self::NotFound { block, .. } = &mut self {
            *block = Some(Box::new(name.clone()));
        }
        self
    }

    /// The name of the kind of error, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Path(PathError::Bad { .. }) => "bad_path",
            Self::Path(PathError::TooDeep) | Self::TooDeep => "too_deep",
            Self::NotFound { .. } => "not_found",
            Self::NewRoot { .. } | Self::TreeText { .. } => "new_root",
            Self::EmptyContent => "empty_content",
            Self::TooLarge { .. } => "too_large",
            Self::ManyRoots => "many_roots",
            Self::NothingToGrow => "nothing_to_grow",
            Self::Exists { .. } => "exists",
            Self::IntoItself { .. } => "into_itself",
            Self::Head { .. } => "not_empty",
            Self::Format { .. } => "format",
        }
    }
}

/// Everything that is wrong with a text that should be a block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a block: {}", listed(issues))]
#[non_exhaustive]
pub struct FormatErrors {
    /// At least one.
    pub issues: Vec<Issue>,
}

/// One fault of a block's text.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Issue {
    /// The node, as far as it has a path; the empty path for the block itself.
    pub path: Path,
    /// The rule that the text breaks.
    pub reason: String,
    /// The faulty part as JSON, if it was dropped.
    pub content: Option<String>,
}

fn listed(issues: &[Issue]) -> String {
    const SHOWN: usize = 5;
    let mut parts: Vec<_> = issues.iter().take(SHOWN).map(Issue::to_string).collect();
    if issues.len() > SHOWN {
        parts.push(format!("and {} more", issues.len() - SHOWN));
    }
    parts.join("; ")
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_root() {
            write!(f, "at {}: ", self.path)?;
        }
        f.write_str(&self.reason)
    }
}

impl FormatErrors {
    /// One fault of the block itself.
    pub(crate) fn of(reason: impl Into<String>) -> Self {
        Self {
            issues: vec![Issue {
                path: Path::root(),
                reason: reason.into(),
                content: None,
            }],
        }
    }

    /// The name of the kind of error, for programs.
    pub fn kind(&self) -> &'static str {
        "format"
    }
}

impl NameError {
    /// The name of the kind of error, for programs.
    pub fn kind(&self) -> &'static str {
        "bad_name"
    }
}
