//! What the kernel knows beside blocks and conversation: the tools, the shell, what a shell keeps.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::storage::FileStore;

const FILE: &str = "state.json";
const VERSION: u32 = 1;
/// The most that a shell keeps of one kind, as JSON.
pub(crate) const MAX_KEPT: usize = 1 << 20;

/// `state.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ShellState {
    pub schema_version: u32,
    /// The tools of the next calls, by name; none: those of a conversation.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// The revision of the shell that is the face.
    #[serde(default)]
    pub shell: Option<u64>,
    /// The last start failed to wake the model: the next one tries again, whatever was said since.
    pub must_wake: bool,
    /// What a shell keeps for itself.
    #[serde(default)]
    pub face: Option<Value>,
    /// How a shell displays the conversation.
    #[serde(default)]
    pub display: Option<Value>,
}

impl Default for ShellState {
    fn default() -> Self {
        Self {
            schema_version: VERSION,
            tools: None,
            shell: None,
            must_wake: false,
            face: None,
            display: None,
        }
    }
}

impl ShellState {
    /// What is kept, or nothing if it cannot be read; then with a line about it.
    pub fn open(files: &FileStore) -> io::Result<(Self, Option<String>)> {
        let (bytes, moved) = files.load(FILE)?;
        let Some(bytes) = bytes else {
            return Ok((Self::default(), moved));
        };
        let why = match serde_json::from_slice::<Self>(&bytes) {
            Ok(state) if state.schema_version == VERSION => return Ok((state, None)),
            Ok(state) => format!("it is of version {}", state.schema_version),
            Err(error) => error.to_string(),
        };
        let aside = files.back_up_unreadable(FILE, &bytes)?;
        files.remove(FILE)?;
        let notice = format!(
            "{FILE} cannot be read ({why}): tools and face state begin anew, it is kept as {aside}"
        );
        Ok((Self::default(), Some(notice)))
    }

    pub fn save(&self, files: &FileStore) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        files.replace(FILE, &text)
    }
}
