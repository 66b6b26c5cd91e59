/// The error of a setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}{}{why}", if place.is_empty() { "" } else { ": " })]
pub struct ConfigError {
    place: String,
    why: String,
}

impl ConfigError {
    /// Returns an error. `place` is the key, or the line and the column, and empty for the whole file; `why` also says
    /// what to do.
    pub(crate) fn new(place: impl Into<String>, why: impl Into<String>) -> Self {
        let (place, why) = (place.into(), why.into());
        Self { place, why }
    }

    /// Returns the key of the setting, or the line and the column of unreadable text; empty for the whole file.
    pub fn place(&self) -> &str {
        &self.place
    }
}

/// Returns the path of a key in a group for a message; unusual names are quoted.
pub(crate) fn join(path: &str, name: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.');
    let name = if !name.is_empty() && name.len() <= 64 && name.chars().all(plain) {
        name.to_owned()
    } else {
        format!("{:?}", name.chars().take(40).collect::<String>())
    };
    if path.is_empty() {
        name
    } else {
        format!("{path}.{name}")
    }
}
