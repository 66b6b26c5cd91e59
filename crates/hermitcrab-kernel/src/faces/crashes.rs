//! The recovery after a crash of a face.

use super::shell::ShellError;

/// The face that is to be shown after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a crash ends in a kept shell or in the safe face"
)]
pub enum FaceRecovery {
    /// The kept shell with this revision.
    Shell(u64),
    /// The host's safe face.
    Safe,
}

/// The phase of a shell that no longer answers.
const HANG: &str = "timeout";

impl ShellError {
    /// Whether the shell stopped answering.
    pub(super) fn is_hang(&self) -> bool {
        self.kind == HANG
    }

    /// The error in one line, with its place.
    fn line(&self) -> String {
        let place = match (self.line, self.column) {
            (Some(line), Some(column)) => format!(", line {line}, column {column}"),
            (Some(line), None) => format!(", line {line}"),
            _ => String::new(),
        };
        format!("{}: {}{place}", self.kind, self.message)
    }
}

impl FaceRecovery {
    /// The revision of the kept shell.
    pub(super) fn rev(self) -> Option<u64> {
        match self {
            Self::Shell(rev) => Some(rev),
            Self::Safe => None,
        }
    }

    /// The line for the model after face `rev` crashed.
    pub(super) fn line(self, rev: u64, error: &ShellError) -> String {
        let shown = match self {
            Self::Shell(next) if next == rev => "it is shown once more".to_owned(),
            Self::Shell(next) => format!("face {next} is shown"),
            Self::Safe => "the safe face is shown".to_owned(),
        };
        let failed = if error.is_need() {
            "cannot be shown"
        } else {
            "died"
        };
        format!("face {rev} {failed}: {}; {shown}", error.line())
    }
}
