//! What the kernel knows beside blocks and conversation: the tools, the shell, what a shell keeps.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::keeper::Keeper;

const FILE: &str = "state.json";
/// The longest state of a shell, as JSON.
pub(crate) const MAX_FACE_STATE: usize = 1 << 20;

/// `state.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct State {
    pub schema_version: u32,
    /// The tools of the next calls, by name; none: those of a conversation.
    pub tools: Option<Vec<String>>,
    /// The revision of the shell that is the face.
    pub shell: Option<u64>,
    /// What a shell keeps for itself.
    pub face: Option<Value>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            schema_version: 1,
            tools: None,
            shell: None,
            face: None,
        }
    }
}

impl State {
    /// What is kept, or nothing if it cannot be read; then with a line about it.
    pub fn open(keeper: &Keeper) -> io::Result<(Self, Option<String>)> {
        let Some(bytes) = keeper.read(FILE)? else {
            return Ok((Self::default(), None));
        };
        match serde_json::from_slice(&bytes) {
            Ok(state) => Ok((state, None)),
            Err(error) => {
                keeper.replace(&format!("{FILE}.broken"), &bytes)?;
                let notice = format!(
                    "{FILE} cannot be read ({error}): tools and face state begin anew, it is kept as {FILE}.broken"
                );
                Ok((Self::default(), Some(notice)))
            }
        }
    }

    pub fn save(&self, keeper: &Keeper) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        keeper.replace(FILE, &text)
    }
}
