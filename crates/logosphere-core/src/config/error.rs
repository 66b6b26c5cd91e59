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
    pub(super) fn new(place: impl Into<String>, why: impl Into<String>) -> Self {
        let (place, why) = (place.into(), why.into());
        Self { place, why }
    }

    /// Returns the key of the setting, or the line and the column of unreadable text; empty for the whole file.
    pub fn place(&self) -> &str {
        &self.place
    }
}
