use serde::Deserialize;

use super::FileStore;
use crate::KernelError;

/// The version that a file or a line names.
#[derive(Deserialize)]
pub(super) struct Versioned {
    pub schema_version: u64,
}

/// Refuses a file that is replaced as a whole, if a newer program wrote it. A file without a version is not refused.
///
/// # Errors
/// `newer`; or the file cannot be read.
pub(crate) fn refuse_newer(
    files: &FileStore,
    name: &'static str,
    known: u32,
) -> Result<(), KernelError> {
    let bytes = match files.read(name) {
        // The opening says what else is in its place.
        Err(error) if error.kind() == std::io::ErrorKind::IsADirectory => None,
        bytes => bytes.map_err(KernelError::file(name))?,
    };
    let found = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    match found {
        Some(Versioned { schema_version }) if schema_version > u64::from(known) => {
            Err(KernelError::Newer {
                path: files.path(name),
                found: schema_version,
                known,
            })
        }
        _ => Ok(()),
    }
}
