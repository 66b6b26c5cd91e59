use hermitcrab_kernel::faces::{Shell, ShellError};

use crate::jsx::source_place;

/// A shell as a frame shows it.
#[derive(Debug)]
pub(crate) struct FaceView {
    pub rev: u64,
    pub script: String,
    map: Option<String>,
    source: String,
}

impl From<Shell> for FaceView {
    fn from(shell: Shell) -> Self {
        let Shell { rev, compiled } = shell;
        Self {
            rev,
            script: compiled.script,
            map: compiled.map,
            source: compiled.source,
        }
    }
}

impl FaceView {
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
