//! Errors of sealed files and logs.

use popper_harness::universe::UniverseError;

/// A reason why a sealed file or a log cannot be used. Errors of a line are answers of the episode instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A key of a sealed file has another form.
    #[error("{path}: {message}")]
    Field {
        /// The JSON path, `$` for the whole text.
        path: String,
        /// The expected form and the one that was found.
        message: String,
    },
    /// The definition in a sealed file is invalid.
    #[error("$.definition: {0}")]
    Universe(#[from] UniverseError),
    /// The sealed file is not the one that the log or the public file is about.
    #[error(
        "the sealed file does not match: its commitment is {found}, expected {expected}; give the file that was made together with it"
    )]
    Mismatch {
        /// The commitment in the log or the public file.
        expected: String,
        /// The commitment that follows from the sealed file.
        found: String,
    },
    /// A log or a public file has the commitment of the sealed file, and other contents.
    #[error("{what} has the commitment of the sealed file, but differs from it: it was edited")]
    Edited {
        /// The text that differs.
        what: String,
    },
    /// A line of a log is not what an episode writes.
    #[error("line {number}: {message}")]
    Log {
        /// The number of the line, from 1.
        number: usize,
        /// The expected form and the one that was found.
        message: String,
    },
}

impl LabError {
    pub(super) fn form(path: &str, message: impl Into<String>) -> Self {
        Self::Field {
            path: path.to_owned(),
            message: message.into(),
        }
    }
}
