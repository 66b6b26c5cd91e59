use super::call::Error;

/// The error of a setting that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A setting has an invalid value.
    #[error("{setting}: {why}")]
    Setting {
        /// The name of the setting.
        setting: &'static str,
        /// The problem and its remedy, without keys.
        why: String,
    },
    /// A table of models cannot be read.
    #[error("models table, line {line}: {why}")]
    Models {
        /// The line, from 1.
        line: usize,
        /// The problem.
        why: String,
    },
    /// A cassette cannot be opened.
    #[error("cannot open the cassette")]
    Cassette(#[source] Error),
    /// The HTTP client cannot be created.
    #[error("cannot make the HTTP client: {why}")]
    Transport {
        /// The error of the library.
        why: String,
    },
}

impl ConfigError {
    /// The error of an invalid value of `setting`.
    pub fn setting(setting: &'static str, why: impl Into<String>) -> Self {
        Self::Setting {
            setting,
            why: why.into(),
        }
    }
}
