use std::path::{Path, PathBuf};

/// A file or folder that a program writes unless a flag names another one; `paths` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub(crate) label: &'static str,
    pub(crate) path: PathBuf,
}

impl Place {
    /// A place with its label; a relative path counts from the working directory.
    pub fn new(label: &'static str, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        Self {
            label,
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
        }
    }
}
