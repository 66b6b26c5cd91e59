use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use durable::{AppendFile, Disk, Line, lines};
use serde::Deserialize;

use super::record::SCHEMA_VERSION;
use super::{CallKey, CallRecord, CallStore, StoreError, StoredAnswer};

/// Keeps calls in a file of one JSON line each, only ever appended to; every line is on the disk before its call counts as
/// made. The memory holds where the line of each call begins; a call is read from the file again when it is asked for.
///
/// One process writes at a time: the run directory's lock sees to that.
#[derive(Debug)]
pub struct JsonlStore {
    path: PathBuf,
    file: AppendFile,
    /// The offsets of the lines.
    calls: HashMap<CallKey, u64>,
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
        let mut calls = HashMap::new();
        let mut is_answered = false;
        let count = read_lines(file.file(), path, |record, line| {
            if record.is_reusable() {
                is_answered |= !matches!(record.answer, StoredAnswer::Error(_));
                calls.insert(record.key, line.offset);
            }
        })?;
        // Where no reply ever came, nothing could count either: all are asked again.
        if !is_answered {
            calls.clear();
        }
        let torn = (!tail.torn.is_empty()).then_some(TornLine {
            line: count + 1,
            bytes: tail.torn.len(),
        });
        let path = path.to_owned();
        Ok((Self { path, file, calls }, torn))
    }
}

impl CallStore for JsonlStore {
    fn get(&self, key: &CallKey) -> Result<Option<Arc<CallRecord>>, StoreError> {
        let Some(&offset) = self.calls.get(key) else {
            return Ok(None);
        };
        let mut file = BufReader::new(self.file.file());
        let mut line = Vec::new();
        let read = file.seek(SeekFrom::Start(offset));
        read.and_then(|_| file.read_until(b'\n', &mut line))
            .map_err(|source| StoreError::Io {
                verb: "read",
                path: self.path.clone(),
                source,
            })?;
        let changed = |message| StoreError::Changed {
            path: self.path.clone(),
            offset,
            message,
        };
        let record: CallRecord =
            serde_json::from_slice(&line).map_err(|error| changed(error.to_string()))?;
        if record.key != *key {
            return Err(changed("it is another call".to_owned()));
        }
        Ok(Some(Arc::new(record)))
    }

    fn append(&mut self, records: &[Arc<CallRecord>]) -> Result<(), StoreError> {
        let path = self.path.clone();
        let failed = |source| StoreError::Io {
            verb: "write",
            path: path.clone(),
            source,
        };
        let (begin, mut lines) = (self.file.length(), Vec::new());
        let mut offsets = Vec::new();
        for record in records {
            if record.is_reusable() {
                offsets.push((record.key, begin + lines.len() as u64));
            }
            serde_json::to_writer(&mut lines, record.as_ref())
                .map_err(|error| failed(error.into()))?;
            lines.push(b'\n');
        }
        self.file.append_synced(&lines).map_err(failed)?;
        self.calls.extend(offsets);
        Ok(())
    }
}

/// Reads the calls of a file that another process may be writing: a last line without its end is left out.
///
/// # Errors
/// As [`JsonlStore::open`]; `each` has had the calls before the bad one.
pub(crate) fn read_calls(path: &Path, mut each: impl FnMut(CallRecord)) -> Result<(), StoreError> {
    let file = File::open(path).map_err(|source| StoreError::Io {
        verb: "read",
        path: path.to_owned(),
        source,
    })?;
    read_lines(&file, path, |record, _| each(record)).map(drop)
}

/// Gives `each` the calls of a file, one line in memory at a time; returns the number of whole lines.
fn read_lines(
    file: &File,
    path: &Path,
    mut each: impl FnMut(CallRecord, &Line),
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
            each(parse(line.text(), line.number, path)?, &line);
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
