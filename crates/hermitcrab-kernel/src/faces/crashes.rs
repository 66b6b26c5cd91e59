//! A face that died, and which one comes after it.

use super::shell::{Shell, ShellError};
use crate::kernel::Inner;

/// What is to be shown after a face died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaceNext {
    /// This kept shell.
    Shell(u64),
    /// The host's own face.
    Safe,
}

/// The phase of a shell that no longer answers.
const HANG: &str = "timeout";

impl Inner {
    pub(crate) fn note_face(&self, line: &str) {
        let line = self.config.redactor.clean(line);
        let (line, _) = pscale_blocks::remove_keys(&line);
        self.notes().add(&line);
    }

    pub(crate) fn face_died(&self, rev: u64, error: &ShellError) -> FaceNext {
        let hung = error.kind == HANG;
        let current = self.state().shell;
        let mut shells = self.shells();
        let counted = shells.died(&self.keeper, rev, hung);
        let next = match current {
            // A new shell took its place meanwhile.
            Some(current) if current != rev => FaceNext::Shell(current),
            Some(_) => shells.after(rev).map_or(FaceNext::Safe, FaceNext::Shell),
            // The host's own is shown already, and no late report takes it away.
            None => FaceNext::Safe,
        };
        drop(shells);
        let shown = match next {
            FaceNext::Shell(next) if next == rev => "it is shown once more".to_owned(),
            FaceNext::Shell(next) => format!("face {next} is shown"),
            FaceNext::Safe => "the safe face is shown".to_owned(),
        };
        self.note_face(&format!("face {rev} died: {}; {shown}", told(error)));
        let now = match next {
            FaceNext::Shell(next) => Some(next),
            FaceNext::Safe => None,
        };
        let noted = self.change_state(|state| state.shell = now);
        // What cannot be written holds in memory: the next face must not depend on the disk.
        if counted.and(noted).is_err() {
            self.state().shell = now;
        }
        next
    }

    /// Compiles a kept shell.
    pub(crate) fn compile_kept(&self, rev: u64) -> Result<Shell, Vec<ShellError>> {
        let source = self.shells().source(&self.keeper, rev);
        let failed = |message: String| vec![ShellError::new("load", message)];
        let source = source.map_err(|error| failed(error.to_string()))?;
        let source = source.ok_or_else(|| failed(format!("there is no shell {rev}")))?;
        let compiled = self.compiler.compile(&source)?;
        Ok(Shell { rev, compiled })
    }
}

/// A fault in one line.
fn told(error: &ShellError) -> String {
    let place = match (error.line, error.column) {
        (Some(line), Some(column)) => format!(", line {line}, column {column}"),
        (Some(line), None) => format!(", line {line}"),
        _ => String::new(),
    };
    format!("{}: {}{place}", error.kind, error.message)
}
