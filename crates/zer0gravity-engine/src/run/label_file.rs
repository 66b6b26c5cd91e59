use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use durable::{AppendFile, Disk, Lock, LockError};

use super::DirectoryError;
use crate::calibration::{Label, read_labels};

/// A file of labels that one process writes. Every answer is on the disk before the next one is given.
#[derive(Debug)]
pub struct LabelFile {
    path: PathBuf,
    file: AppendFile,
    labels: Vec<Label>,
    torn_bytes: usize,
    _lock: Lock,
}

impl LabelFile {
    /// Opens the file, or creates it, for this process alone. An incomplete last line, which a killed process left, is cut off.
    ///
    /// # Errors
    /// [`DirectoryError::InUse`], [`DirectoryError::Form`], and errors of the file.
    pub fn open(path: &Path) -> Result<Self, DirectoryError> {
        let path = path.to_owned();
        let failed = |source| DirectoryError::Read {
            path: path.clone(),
            source,
        };
        let disk = Disk::default();
        let lock = disk.lock(&path).map_err(|error| match error {
            LockError::Held { .. } => DirectoryError::InUse { path: path.clone() },
            other => failed(other.into()),
        })?;
        // Nothing of a file that does not hold labels is cut off.
        let mut bytes = Vec::new();
        match disk.open_read(&path) {
            Ok(mut file) => drop(file.read_to_end(&mut bytes).map_err(failed)?),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let (labels, torn_bytes) = read_labels(&bytes).map_err(|error| DirectoryError::Form {
            path: path.clone(),
            what: "labels",
            message: error.to_string(),
        })?;
        let (file, _) = disk.open_append(&path).map_err(failed)?;
        Ok(Self {
            path,
            file,
            labels,
            torn_bytes,
            _lock: lock,
        })
    }

    /// The labels, in the order of the file.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The length of the incomplete last line that was cut off, in bytes; 0 if there was none.
    pub fn torn_bytes(&self) -> usize {
        self.torn_bytes
    }

    /// Writes labels to the disk, one line each.
    ///
    /// # Errors
    /// [`DirectoryError::Write`]. No line is written.
    pub fn append(&mut self, labels: Vec<Label>) -> Result<(), DirectoryError> {
        let mut lines = Vec::new();
        let written = labels.iter().try_for_each(|label| {
            serde_json::to_writer(&mut lines, label)?;
            lines.push(b'\n');
            Ok(())
        });
        let synced = written.and_then(|()| self.file.append_synced(&lines));
        synced.map_err(|source| DirectoryError::Write {
            path: self.path.clone(),
            source,
        })?;
        self.labels.extend(labels);
        Ok(())
    }
}
