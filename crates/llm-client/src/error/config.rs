use super::Error;

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A setting has a value it cannot have.
    #[error("{setting}: {why}")]
    Setting {
        /// Which.
        setting: &'static str,
        /// What is wrong and what to do; never shows a key.
        why: String,
    },
    /// A table of models cannot be read.
    #[error("models table, line {line}: {why}")]
    Models {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// A cassette cannot be opened.
    #[error("cannot open the cassette")]
    Cassette(#[source] Error),
    /// The HTTP client cannot be made.
    #[error("cannot make the HTTP client: {why}")]
    Transport {
        /// What the library says.
        why: String,
    },
}

impl ConfigError {
    /// `setting` has a value it cannot have.
    pub fn setting(setting: &'static str, why: impl Into<String>) -> Self {
        Self::Setting {
            setting,
            why: why.into(),
        }
    }
}
