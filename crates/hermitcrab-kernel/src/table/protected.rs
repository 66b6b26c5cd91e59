use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// Names of files and folders that a person keeps secrets or a repository under, in small letters.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProtectedNames {
    /// The whole names.
    pub names: Vec<String>,
    /// The starts of names.
    pub starts: Vec<String>,
    /// The ends of names.
    pub ends: Vec<String>,
}

/// The names that neither the program nor the page opens in a folder of the person.
pub fn protected_names() -> &'static ProtectedNames {
    /// The file is the program's own, and tests of the folders read it.
    static NAMES: LazyLock<ProtectedNames> =
        LazyLock::new(|| serde_json::from_str(include_str!("protected.json")).unwrap_or_default());
    &NAMES
}

impl ProtectedNames {
    /// Whether a name is one of these; it is in small letters.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|one| one == name)
            || self.starts.iter().any(|start| name.starts_with(&**start))
            || self.ends.iter().any(|end| name.ends_with(&**end))
    }
}
