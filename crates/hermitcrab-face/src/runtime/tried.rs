//! The note of a failed installation, so that no start waits for the same failure again on the same day.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use durable::Disk;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::error::{RuntimeError, reason};
use super::react;

/// The name of the file.
const FILE: &str = "tried.json";
/// The version of its format.
const SCHEMA: u32 = 1;
/// The time for which a failure counts.
const COUNTS: SignedDuration = SignedDuration::from_hours(24);
/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// The version alone, which every format has.
#[derive(Deserialize)]
struct TriedVersion {
    schema_version: u32,
}

/// A failure of both clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TriedClients {
    schema_version: u32,
    pub at: Timestamp,
    pub npm: String,
    pub pip: String,
}

impl TriedClients {
    pub fn new(at: Timestamp, npm: &RuntimeError, pip: &RuntimeError) -> Self {
        Self {
            schema_version: SCHEMA,
            at,
            npm: reason(npm),
            pip: reason(pip),
        }
    }

    /// Whether it counts at this time. A note from the future does not.
    pub fn counts(&self, now: Timestamp) -> bool {
        let age = now.duration_since(self.at);
        !age.is_negative() && age < COUNTS
    }

    pub fn into_error(self) -> RuntimeError {
        let Self { at, npm, pip, .. } = self;
        RuntimeError::TriedBefore { at, npm, pip }
    }
}

/// The file of the note, which may not exist.
pub(super) struct TriedFile(PathBuf);

impl TriedFile {
    pub fn of(data: &Path) -> Self {
        Self(react::place(data).join(FILE))
    }

    /// The note. Without one that this program can read, the clients are tried.
    pub fn read(&self) -> Option<TriedClients> {
        let tried: TriedClients = serde_json::from_slice(&self.bytes()?).ok()?;
        (tried.schema_version == SCHEMA).then_some(tried)
    }

    /// Keeps a note, unless a newer program wrote the one that is there.
    ///
    /// A note that cannot be written is lost: the next start tries again.
    pub fn write(&self, tried: &TriedClients) {
        if self.is_newer() {
            return;
        }
        if let Ok(mut bytes) = serde_json::to_vec(tried) {
            bytes.push(b'\n');
            let _ = Disk::private(react::WORK).replace(&self.0, &bytes);
        }
    }

    /// Removes the note, unless a newer program wrote it.
    pub fn remove(&self) {
        if !self.is_newer() {
            let _ = fs::remove_file(&self.0);
        }
    }

    fn is_newer(&self) -> bool {
        let bytes = self.bytes().unwrap_or_default();
        serde_json::from_slice::<TriedVersion>(&bytes).is_ok_and(|it| it.schema_version > SCHEMA)
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        // A pipe in its place would hold the start up.
        if !fs::symlink_metadata(&self.0).ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(&self.0).ok()?;
        file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}
