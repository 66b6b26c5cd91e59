use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use durable::{AppendFile, Disk, lines};
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
    file: AppendFile,
    calls: MemoryStore,
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
        let opened = Disk::default().open_append(path);
        let (file, tail) = opened.map_err(|source| StoreError::Io {
            verb: "open",
            path: path.to_owned(),
            source,
        })?;
        let mut calls = MemoryStore::default();
        let count = read_lines(file.file(), path, |record| calls.insert(&Arc::new(record)))?;
        calls.clear_unanswered();
        let torn = (!tail.torn.is_empty()).then_some(TornLine {
            line: count + 1,
            bytes: tail.torn.len(),
        });
        let path = path.to_owned();
        Ok((Self { path, file, calls }, torn))
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
        self.file.append_synced(&lines).map_err(failed)?;
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

/// Gives `each` the calls of a file, one line in memory at a time; returns the number of whole lines.
fn read_lines(
    file: &File,
    path: &Path,
    mut each: impl FnMut(CallRecord),
) -> Result<usize, StoreError> {
    let mut count = 0;
    for line in lines(BufReader::new(file)) {
        let line = line.map_err(|source| StoreError::Io {
            verb: "read",
            path: path.to_owned(),
            source,
        })?;
        // A line is written with its end in one piece: without it, it was never whole.
        if line.is_whole() {
            each(parse(line.text(), line.number, path)?);
            count = line.number;
        }
    }
    Ok(count)
}

fn parse(json: &[u8], line: usize, path: &Path) -> Result<CallRecord, StoreError> {
    #[derive(Deserialize)]
    struct LineVersion {
        schema_version: u64,
    }
    let bad = |error: serde_json::Error| StoreError::BadLine {
        path: path.to_owned(),
        line,
        message: error.to_string(),
    };
    let LineVersion { schema_version } = serde_json::from_slice(json).map_err(bad)?;
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
