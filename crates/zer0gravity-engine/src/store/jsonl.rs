use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use super::record::SCHEMA_VERSION;
use super::{CallKey, CallRecord, CallStore, MemoryStore, StoreError};

/// Keeps calls in a file of one JSON line each, only ever appended to; every line is on the disk before its call counts as
/// made.
///
/// One process writes at a time: the run directory's lock sees to that.
#[derive(Debug)]
pub struct JsonlStore {
    path: PathBuf,
    file: File,
    calls: MemoryStore,
    /// Bytes of whole lines.
    length: u64,
}

/// A last line that a writer that died did not finish. It was cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TornLine {
    /// The line, from 1.
    pub line: usize,
    /// The length of the line in bytes.
    pub bytes: usize,
}

impl JsonlStore {
    /// Opens the file, making it if it is not there, and cuts a torn last line off.
    ///
    /// # Errors
    /// [`StoreError`]: the file cannot be read or written, is damaged before its last line, or of another version.
    pub fn open(path: &Path) -> Result<(Self, Option<TornLine>), StoreError> {
        let failed = |verb, source| StoreError::Io {
            verb,
            path: path.to_owned(),
            source,
        };
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(|error| failed("open", error))?;
        let mut calls = MemoryStore::default();
        let (length, torn) = read_lines(&file, path, |record| calls.insert(&Arc::new(record)))?;
        calls.settle();
        if torn.is_some() {
            file.set_len(length)
                .and_then(|()| file.sync_all())
                .map_err(|error| failed("cut", error))?;
        }
        let store = Self {
            path: path.to_owned(),
            file,
            calls,
            length,
        };
        Ok((store, torn))
    }

    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.write_all(lines)?;
        self.file.sync_data()
    }
}

impl CallStore for JsonlStore {
    fn get(&self, key: &CallKey) -> Option<Arc<CallRecord>> {
        self.calls.get(key)
    }

    fn append(&mut self, records: &[Arc<CallRecord>]) -> Result<(), StoreError> {
        let path = self.path.clone();
        let failed = |source| StoreError::Io {
            verb: "write",
            path: path.clone(),
            source,
        };
        let mut lines = Vec::new();
        for record in records {
            serde_json::to_writer(&mut lines, record.as_ref())
                .map_err(|error| failed(error.into()))?;
            lines.push(b'\n');
        }
        if let Err(error) = self.write(&lines) {
            // Half a line in the middle of the file would be damage; if it cannot be cut now, the next opening does.
            let _ = self.file.set_len(self.length);
            return Err(failed(error));
        }
        self.length += lines.len() as u64;
        self.calls.append(records)
    }
}

/// Reads the calls of a file that another process may be writing: a last line without its end is left out.
///
/// # Errors
/// As [`JsonlStore::open`]; `each` has had the calls before the bad one.
pub(crate) fn read_calls(path: &Path, each: impl FnMut(CallRecord)) -> Result<(), StoreError> {
    let file = File::open(path).map_err(|source| StoreError::Io {
        verb: "read",
        path: path.to_owned(),
        source,
    })?;
    read_lines(&file, path, each).map(drop)
}

/// Gives `each` the calls of a file, one line in memory at a time; returns the length of the whole lines and an unfinished line
/// after them.
fn read_lines(
    file: &File,
    path: &Path,
    mut each: impl FnMut(CallRecord),
) -> Result<(u64, Option<TornLine>), StoreError> {
    let mut file = BufReader::new(file);
    let (mut line, mut length) = (Vec::new(), 0);
    for number in 1.. {
        line.clear();
        let bytes = file.read_until(b'\n', &mut line);
        let bytes = bytes.map_err(|source| StoreError::Io {
            verb: "read",
            path: path.to_owned(),
            source,
        })?;
        if bytes == 0 {
            break;
        }
        // A line is written with its end in one piece: without it, it was never whole.
        let Some(json) = line.strip_suffix(b"\n") else {
            let line = number;
            return Ok((length, Some(TornLine { line, bytes })));
        };
        each(parse(json, number, path)?);
        length += bytes as u64;
    }
    Ok((length, None))
}

fn parse(json: &[u8], line: usize, path: &Path) -> Result<CallRecord, StoreError> {
    #[derive(Deserialize)]
    struct Version {
        schema_version: u64,
    }
    let bad = |error: serde_json::Error| StoreError::BadLine {
        path: path.to_owned(),
        line,
        message: error.to_string(),
    };
    let Version { schema_version } = serde_json::from_slice(json).map_err(bad)?;
    if schema_version != u64::from(SCHEMA_VERSION) {
        return Err(StoreError::SchemaVersion {
            path: path.to_owned(),
            line,
            found: schema_version,
            expected: SCHEMA_VERSION,
        });
    }
    serde_json::from_slice(json).map_err(bad)
}
