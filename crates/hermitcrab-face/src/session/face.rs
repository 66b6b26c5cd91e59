use hermitcrab_kernel::faces::{Shell, ShellError};

use crate::jsx::source_place;

/// A shell as a frame shows it.
#[derive(Debug)]
pub(crate) struct FaceView {
    /// 0 is the program's own face.
    pub rev: u64,
    pub script: String,
    map: Option<String>,
    source: String,
    /// The reason why the safe face is shown.
    pub reason: Option<String>,
    pub errors: Vec<ShellError>,
}

impl From<Shell> for FaceView {
    fn from(shell: Shell) -> Self {
        let Shell { rev, compiled } = shell;
        Self {
            rev,
            script: compiled.script,
            map: compiled.map,
            source: compiled.source,
            reason: None,
            errors: Vec::new(),
        }
    }
}

impl FaceView {
    pub fn is_safe(&self) -> bool {
        self.rev == 0
    }

    /// The program's own face, and why it is shown.
    pub fn with_reason(mut self, reason: String, errors: Vec<ShellError>) -> Self {
        self.reason = Some(reason);
        self.errors = errors;
        self
    }

    /// The failure that a page reports, with its position in the source instead of the script.
    pub fn error(
        &self,
        kind: &str,
        message: &str,
        line: Option<u32>,
        col: Option<u32>,
    ) -> ShellError {
        const LONGEST: usize = 2_000;
        let place = line.and_then(|line| {
            let map = self.map.as_deref()?;
            source_place(map, line, col.unwrap_or(1))
        });
        let line = place.map(|(line, _)| line);
        let text = line.and_then(|line| self.source.lines().nth(line as usize - 1));
        ShellError {
            kind: match kind {
                "load" | "timeout" => kind.to_owned(),
                _ => "render".to_owned(),
            },
            message: message.chars().take(LONGEST).collect(),
            line,
            column: place.map(|(_, column)| column),
            source_line: text.map(|text| text.chars().take(LONGEST).collect()),
            truncated: false,
        }
    }
}
