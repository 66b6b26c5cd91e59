use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use super::record::SCHEMA_VERSION;
use super::{Answer, CallKey, CallRecord, CallStore, StoreError};

/// Keeps calls in a file of one JSON line each, only ever appended to; every line is on the disk before its call counts as
/// made.
///
/// One process writes at a time: the run directory's lock sees to that.
#[derive(Debug)]
pub struct JsonlStore {
    path: PathBuf,
    file: File,
    calls: Calls,
    /// Bytes of whole lines.
    length: u64,
}

/// A last line that a writer that died did not finish. It was cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornLine {
    /// From 1.
    pub line: usize,
    /// Its length.
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
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(|error| failed("open", error))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|error| failed("read", error))?;
        let (calls, length, torn) = read(&bytes, path)?;
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
        self.calls.get(key).cloned()
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
        let reusable = records.iter().filter(|record| record.is_reusable());
        let known = reusable.map(|record| (record.key.clone(), record.clone()));
        self.calls.extend(known);
        Ok(())
    }
}

type Calls = HashMap<CallKey, Arc<CallRecord>>;

/// The calls of a file, the length of its whole lines, and what stands behind them.
fn read(bytes: &[u8], path: &Path) -> Result<(Calls, u64, Option<TornLine>), StoreError> {
    let mut calls = Calls::new();
    let mut length = 0;
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let number = index + 1;
        // A line is written with its end in one piece: without it, it was never whole.
        let Some(json) = line.strip_suffix(b"\n") else {
            let torn = TornLine {
                line: number,
                bytes: line.len(),
            };
            return Ok((settled(calls), length, Some(torn)));
        };
        let record = parse(json, number, path)?;
        if record.is_reusable() {
            calls.insert(record.key.clone(), Arc::new(record));
        }
        length += line.len() as u64;
    }
    Ok((settled(calls), length, None))
}

/// Where no reply ever came, nobody was there to count either: all is asked again.
fn settled(mut calls: Calls) -> Calls {
    let replied = |record: &Arc<CallRecord>| !matches!(record.answer, Answer::Error(_));
    if !calls.values().any(replied) {
        calls.clear();
    }
    calls
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
