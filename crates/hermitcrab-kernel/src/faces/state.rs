//! The state apart from blocks and conversation: active tools, current shell, values that a shell keeps.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::KernelError;
use crate::storage::{FileStore, refuse_newer};

const FILE: &str = "state.json";
const VERSION: u32 = 1;
/// The most that a shell keeps of one kind, as JSON.
pub(crate) const MAX_KEPT: usize = 1 << 20;

/// The content of `state.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ShellState {
    pub schema_version: u32,
    /// The tools of the next calls, by name; `None`: the default ten.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// The revision of the shell that is the face.
    #[serde(default)]
    pub shell: Option<u64>,
    /// The last start failed to wake the model: the next one tries again, whatever was said since.
    pub must_wake: bool,
    /// The state that a shell keeps.
    #[serde(default)]
    pub face: Option<Value>,
    /// The display of the conversation that a shell keeps.
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
    /// Fails if a newer program wrote the state. Nothing is written.
    pub fn refuse_newer(files: &FileStore) -> Result<(), KernelError> {
        refuse_newer(files, FILE, VERSION)
    }

    /// Reads the state; the default, with a line about it, if it cannot be read.
    ///
    /// # Errors
    /// `newer`; or the file cannot be read or kept.
    pub fn open(files: &FileStore) -> Result<(Self, Option<String>), KernelError> {
        Self::refuse_newer(files)?;
        Self::read(files).map_err(KernelError::file(FILE))
    }

    fn read(files: &FileStore) -> io::Result<(Self, Option<String>)> {
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
            "{FILE} cannot be read ({why}): tools and face state begin again, it is kept as {aside}"
        );
        Ok((Self::default(), Some(notice)))
    }

    pub fn save(&self, files: &FileStore) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        files.replace(FILE, &text)
    }
}
