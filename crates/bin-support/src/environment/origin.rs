use std::fmt;
use std::path::{Path, PathBuf};

use crate::escape;

/// The source of a key or an address. Shown, it is the SOURCE of messages: `the environment`, `.env in FOLDER`, and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// This flag, such as `--base-url`.
    Flag(&'static str),
    /// A variable that was set when the program started.
    Environment,
    /// The `.env` that the search found in this folder.
    Found(PathBuf),
    /// The file of `--env-file`.
    Given(PathBuf),
    /// The file in which a program keeps keys for its user.
    KeyFile,
    /// The user, while the program runs.
    Entered,
    /// A file of settings or of an earlier run.
    Recorded(PathBuf),
    /// The provider's own address.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |path: &Path| escape(&path.display().to_string());
        match self {
            Self::Flag(name) => f.write_str(name),
            Self::Environment => f.write_str("the environment"),
            Self::Found(folder) => write!(f, ".env in {}", shown(folder)),
            Self::Given(file) | Self::Recorded(file) => f.write_str(&shown(file)),
            Self::KeyFile => f.write_str("the key file"),
            Self::Entered => f.write_str("this session"),
            Self::Default => f.write_str("the default"),
        }
    }
}
