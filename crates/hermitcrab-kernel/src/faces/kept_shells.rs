use std::path::Path;

use llm_client::Redactor;

use super::shell::ShellInfo;
use super::shells::Shells;
use super::state::ShellState;
use crate::KernelError;
use crate::storage::FileStore;

/// The kept shells of a data directory, to look at: also while another process writes.
#[derive(Debug)]
pub struct KeptShells {
    files: FileStore,
    shells: Shells,
    notice: Option<String>,
}

impl KeptShells {
    /// Reads the list. Without a directory it is empty.
    ///
    /// # Errors
    /// [`KernelError::Newer`]; or the list cannot be read.
    pub fn open(data: &Path) -> Result<Self, KernelError> {
        let files = FileStore::new(Some(data), false, &Redactor::default());
        let (shells, notice) = Shells::open(&files)?;
        Ok(Self {
            files,
            shells,
            notice,
        })
    }

    /// A line for the person about a list that cannot be read.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// The shells, oldest first.
    pub fn list(&self) -> &[ShellInfo] {
        self.shells.list()
    }

    /// The face: the current shell, or the newest one that has not failed; `None` if there is none.
    ///
    /// # Errors
    /// [`KernelError::Newer`]; or the state cannot be read.
    pub fn good(&self) -> Result<Option<&ShellInfo>, KernelError> {
        let (state, _) = ShellState::open(&self.files)?;
        Ok(self.shells.good(state.shell, &[]))
    }

    /// The source of a shell; `None` if it is not kept.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn source(&self, rev: u64) -> Result<Option<String>, KernelError> {
        let source = self.shells.source(&self.files, rev);
        source.map_err(KernelError::file("shells"))
    }
}
