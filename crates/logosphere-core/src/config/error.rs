/// Why settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}{}{why}", if place.is_empty() { "" } else { ": " })]
pub struct ConfigError {
    place: String,
    why: String,
}

impl ConfigError {
    /// `place` is the key, or the line and the column; empty for the whole file. `why` tells what to do, too.
    pub(super) fn new(place: impl Into<String>, why: impl Into<String>) -> Self {
        let (place, why) = (place.into(), why.into());
        Self { place, why }
    }

    /// Returns the key that the error is about, or the line and the column of what cannot be read; empty for the whole
    /// file.
    pub fn place(&self) -> &str {
        &self.place
    }
}
