//! A store for what is too large for a block.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use llm_client::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::storage::FileStore;
use crate::{ErrorKind, ToolError};

const FOLDER: &str = "kv";
const MAX_KEY: usize = 200;
/// Bytes of a value as JSON.
const MAX_VALUE: usize = 1 << 20;
/// Bytes of all files.
const MAX_ALL: usize = 64 << 20;
const MAX_KEYS: usize = 10_000;

/// Values by key, in the data directory or in memory. Each value has one file, which is replaced whole.
pub struct Kv {
    files: FileStore,
    state: Mutex<KvState>,
}

#[derive(Default)]
struct KvState {
    /// The bytes of each file.
    sizes: BTreeMap<String, usize>,
    all: usize,
    skipped: Vec<String>,
}

/// A key that is in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KvKey {
    /// The key.
    pub key: String,
    /// The size in the store, in bytes.
    pub bytes: usize,
}

/// A file: its name is only a digest, so the key is inside.
#[derive(Deserialize)]
struct Stored {
    key: String,
    value: Value,
}

impl Kv {
    /// The store in the folder `kv` of `data`; in memory without one. Files that cannot be read are left alone.
    ///
    /// # Errors
    /// `io`: the folder cannot be read.
    pub fn open(data: Option<&Path>, redactor: &Redactor) -> Result<Self, ToolError> {
        let mut state = KvState::default();
        if let Some(data) = data {
            state
                .scan(&data.join(FOLDER))
                .map_err(|error| fault(&error))?;
        }
        Ok(Self {
            files: FileStore::new(data, true, redactor),
            state: Mutex::new(state),
        })
    }

    /// A text as it is kept.
    pub(super) fn written(&self, text: &str) -> String {
        self.files.gates().written(text)
    }

    /// The files that were left alone when the store was opened, and why.
    pub fn skipped(&self) -> Vec<String> {
        self.state().skipped.clone()
    }

    /// The value of a key; `None` without one.
    ///
    /// # Errors
    /// `bad_key`; `corrupt`; `io`.
    pub fn get(&self, key: &str) -> Result<Option<Value>, ToolError> {
        check(key)?;
        let state = self.state();
        if !state.sizes.contains_key(key) {
            return Ok(None);
        }
        let Some(bytes) = self.files.read(&file(key)).map_err(|error| fault(&error))? else {
            return Ok(None);
        };
        match read(&bytes) {
            Ok(stored) if stored.key == key => Ok(Some(stored.value)),
            _ => Err(ToolError::new(
                ErrorKind::Corrupt,
                format!("the file of {key:?} is damaged"),
            )
            .hint("put a new value, or delete the key")),
        }
    }

    /// Gives a key a value. It is on the disk when this returns.
    ///
    /// # Errors
    /// `bad_key`; `too_large`; `full`; `io`.
    pub fn put(&self, key: &str, value: &Value) -> Result<(), ToolError> {
        check(key)?;
        let value = value.to_string();
        if value.len() > MAX_VALUE {
            return Err(ToolError::new(
                ErrorKind::TooLarge,
                format!("{} bytes as JSON; {MAX_VALUE} are the limit", value.len()),
            )
            .hint("cut it into several keys"));
        }
        let bytes = format!("{{\"key\":{},\"value\":{value}}}", Value::from(key));
        let mut state = self.state();
        let old = state.sizes.get(key).copied();
        let all = state.all - old.unwrap_or(0) + bytes.len();
        if all > MAX_ALL || (old.is_none() && state.sizes.len() == MAX_KEYS) {
            return Err(ToolError::new(
                ErrorKind::Full,
                format!("the store is full: {MAX_ALL} bytes, {MAX_KEYS} keys"),
            )
            .hint("delete what is no longer needed"));
        }
        let written = self.files.replace(&file(key), bytes.as_bytes());
        written.map_err(|error| fault(&error))?;
        state.sizes.insert(key.to_owned(), bytes.len());
        state.all = all;
        Ok(())
    }

    /// The keys in use, in order.
    pub fn list(&self) -> Vec<KvKey> {
        let state = self.state();
        let keys = state.sizes.iter().map(|(key, &bytes)| KvKey {
            key: key.clone(),
            bytes,
        });
        keys.collect()
    }

    /// Takes a key away; whether it was there.
    ///
    /// # Errors
    /// `bad_key`; `io`.
    pub fn delete(&self, key: &str) -> Result<bool, ToolError> {
        check(key)?;
        let mut state = self.state();
        if !state.sizes.contains_key(key) {
            return Ok(false);
        }
        let removed = self.files.remove(&file(key));
        removed.map_err(|error| fault(&error))?;
        let bytes = state.sizes.remove(key).unwrap_or(0);
        state.all -= bytes;
        Ok(true)
    }

    fn state(&self) -> MutexGuard<'_, KvState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KvState {
    fn scan(&mut self, folder: &Path) -> io::Result<()> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // Anything else is a file whose writing was interrupted, or not ours.
            if entry.path().extension().is_none_or(|end| end != "json") {
                continue;
            }
            match fs::read(entry.path()).map(|bytes| (read(&bytes), bytes.len())) {
                Ok((Ok(stored), bytes)) if file(&stored.key) == format!("{FOLDER}/{name}") => {
                    self.sizes.insert(stored.key, bytes);
                    self.all += bytes;
                }
                Ok((Ok(_), _)) => self.skip(&name, "it has the name of another key"),
                Ok((Err(error), _)) => self.skip(&name, &error.to_string()),
                Err(error) => self.skip(&name, &error.to_string()),
            }
        }
        Ok(())
    }

    fn skip(&mut self, name: &str, why: &str) {
        self.skipped.push(format!("{FOLDER}/{name}: {why}"));
    }
}

fn read(bytes: &[u8]) -> serde_json::Result<Stored> {
    serde_json::from_slice(bytes)
}

/// A name that any key can have on any file system.
fn file(key: &str) -> String {
    format!("{FOLDER}/{}.json", hex::encode(Sha256::digest(key)))
}

fn check(key: &str) -> Result<(), ToolError> {
    let length = key.chars().count();
    if length == 0 || length > MAX_KEY || key.contains('\0') {
        return Err(ToolError::new(
            ErrorKind::BadKey,
            format!("a key has 1 to {MAX_KEY} characters and no NUL; this one has {length}"),
        ));
    }
    Ok(())
}

fn fault(error: &io::Error) -> ToolError {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::DiskFull,
        _ => ErrorKind::Io,
    };
    ToolError::new(kind, format!("the key-value store: {error}"))
}
