use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The part of `calls.jsonl` that a report was made of, with its hash: later calls do not change it, an edited line does.
///
/// The hash shows accidents. A person who edits the calls can also write the hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallsFile {
    /// Bytes, from the start of the file.
    pub bytes: u64,
    /// Their SHA-256 in hex.
    pub sha256: String,
    /// The report was made again of calls that had changed after an earlier report; written only when true.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
}

impl CallsFile {
    /// The whole of a file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(path: &Path) -> io::Result<Self> {
        Self::of(path, u64::MAX)
    }

    /// Whether the file still begins with the same bytes.
    ///
    /// # Errors
    /// The file cannot be read; a file that is gone holds nothing.
    pub fn holds(&self, path: &Path) -> io::Result<bool> {
        match Self::of(path, self.bytes) {
            Ok(now) => Ok((now.bytes, &now.sha256) == (self.bytes, &self.sha256)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn of(path: &Path, limit: u64) -> io::Result<Self> {
        let mut file = BufReader::new(File::open(path)?.take(limit));
        let (mut hash, mut bytes) = (Sha256::new(), 0);
        loop {
            let part = file.fill_buf()?;
            let length = part.len();
            if length == 0 {
                break;
            }
            hash.update(part);
            bytes += length as u64;
            file.consume(length);
        }
        Ok(Self {
            bytes,
            sha256: hex::encode(hash.finalize()),
            changed: false,
        })
    }
}
