//! The file of recorded exchanges: one JSON line for each attempt, only ever appended to.

use std::collections::{BTreeSet, HashMap};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use llm_types::Raw;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::hash::{canonical_json, sha256_hex};
use crate::error::{ConnectPhase, TimeoutPhase};
use crate::transport::HttpRequest;
use crate::{Error, ErrorKind, Timeouts};

/// The version of the line format.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// Fields of a body that do not tell one question from another.
const NOT_THE_QUESTION: [&str; 4] = ["metadata", "stream", "stream_options", "user"];

/// A file of recorded exchanges, for [`crate::ClientBuilder::record`] or [`crate::ClientBuilder::replay`].
#[derive(Debug, Clone)]
pub struct Cassette {
    path: PathBuf,
}

impl Cassette {
    /// The cassette at `path`. For recording it need not exist, and what it holds is kept.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of calls that it can answer. Attempts at one call count once, and a call that was cut short counts.
    ///
    /// # Errors
    /// [`Error`] when the file cannot be read, or is not a cassette.
    pub fn calls(&self) -> Result<u64, Error> {
        let mut calls = BTreeSet::new();
        self.read(|line, _| {
            calls.insert((line.root, line.n));
        })?;
        Ok(calls.len() as u64)
    }

    /// Reads all lines, one at a time, each given to `found` with its place. A torn last one is left out.
    pub(crate) fn read(&self, found: impl FnMut(Line, LineAt)) -> Result<Recording, Error> {
        let failed = |error| self.io_error("read", error);
        let mut file = File::open(&self.path).map_err(failed)?;
        let (source, end) = if file.metadata().map_err(failed)?.is_file() {
            let end = scan(BufReader::new(&file), failed, found)?;
            (Source::File(Mutex::new(file)), end)
        } else {
            // A pipe cannot be read twice.
            let mut text = Vec::new();
            file.read_to_end(&mut text).map_err(failed)?;
            let end = scan(&text[..], failed, found)?;
            (Source::Memory(text), end)
        };
        Ok(Recording {
            cassette: self.clone(),
            source,
            is_torn: end.torn_at.is_some(),
        })
    }

    /// Opens the file for more lines, after cutting a torn last one off; says how often it holds each question.
    pub(crate) fn append(&self) -> Result<Appending, Error> {
        let failed = |error| self.io_error("write", error);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&self.path)
            .map_err(failed)?;
        let mut occurrences = HashMap::new();
        // A device or a pipe holds no lines, some never end, and there is nothing to mix up in it.
        let is_regular = file.metadata().map_err(failed)?.is_file();
        if is_regular {
            // A file system without locks is no error: one writer is the user's to see to there.
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                return Err(Error::cassette(
                    None,
                    format!("{} is recorded to by another client", self.path.display()),
                ));
            }
            let end = scan(BufReader::new(&file), failed, |line, _| {
                let count = occurrences.entry(line.root).or_insert(0);
                *count = line.n.saturating_add(1).max(*count);
            })?;
            if let Some(torn) = end.torn_at {
                file.set_len(torn).map_err(failed)?;
            } else if end.is_open {
                file.write_all(b"\n").map_err(failed)?;
            }
        }
        Ok(Appending {
            file,
            occurrences,
            is_regular,
        })
    }

    pub(crate) fn io_error(&self, what: &str, error: io::Error) -> Error {
        let what = format!("cannot {what} {}", self.path.display());
        Error::cassette(None, what).with_source(error)
    }
}

/// A cassette that is open for more lines.
pub(crate) struct Appending {
    pub file: File,
    /// How often it holds each question.
    pub occurrences: HashMap<String, u64>,
    /// A file on a disk; else a device or a pipe.
    pub is_regular: bool,
}

/// A cassette that is replayed: its lines stay where they are.
pub(crate) struct Recording {
    cassette: Cassette,
    source: Source,
    /// The last line was left out.
    pub is_torn: bool,
}

enum Source {
    File(Mutex<File>),
    Memory(Vec<u8>),
}

/// Where a line is, in bytes, and its number from 1.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LineAt {
    start: u64,
    length: usize,
    number: usize,
}

impl Recording {
    /// The line that was read at this place.
    pub fn line(&self, at: LineAt) -> Result<Line, Error> {
        let mut bytes = vec![0; at.length];
        let read = match &self.source {
            Source::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let start = file.seek(SeekFrom::Start(at.start));
                start.and_then(|_| file.read_exact(&mut bytes))
            }
            Source::Memory(text) => {
                let text = text.get(at.start as usize..).unwrap_or_default();
                (&*text).read_exact(&mut bytes)
            }
        };
        read.map_err(|error| self.cassette.io_error("read", error))?;
        let line = Line::parse(&bytes, at.number)?;
        line.ok_or_else(|| Error::cassette(Some(at.number), "it is no longer there"))
    }
}

/// How a cassette ends.
#[derive(Default)]
struct End {
    /// Where a torn last line begins, in bytes.
    torn_at: Option<u64>,
    /// The last line is whole and lacks its line end.
    is_open: bool,
}

/// Reads lines one at a time and gives each to `found`, with its place.
fn scan(
    mut text: impl BufRead,
    failed: impl Fn(io::Error) -> Error,
    mut found: impl FnMut(Line, LineAt),
) -> Result<End, Error> {
    let mut end = End::default();
    let mut at = LineAt::default();
    let mut bytes = Vec::new();
    loop {
        at.start += at.length as u64;
        at.number += 1;
        bytes.clear();
        at.length = text.read_until(b'\n', &mut bytes).map_err(&failed)?;
        if at.length == 0 {
            return Ok(end);
        }
        // Only the last line can lack its end.
        end.is_open = !bytes.ends_with(b"\n");
        match Line::parse(&bytes, at.number) {
            Ok(Some(line)) => found(line, at),
            Ok(None) => {}
            Err(_) if end.is_open && is_torn(&bytes) => end.torn_at = Some(at.start),
            Err(error) => return Err(error),
        }
    }
}

/// A writer that died leaves the start of a line, or the zeros of a disk that lost its power. Anything else is damage, or a
/// file that is no cassette, and must not be cut.
fn is_torn(bytes: &[u8]) -> bool {
    const OPENING: &[u8] = br#"{"schema_version":"#;
    let written = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let shared = written.len().min(OPENING.len());
    written[..shared] == OPENING[..shared] && serde_json::from_slice::<IgnoredAny>(bytes).is_err()
}

/// One attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Line {
    pub schema_version: u32,
    /// What the question is: see [`root_of`].
    pub root: String,
    /// How often it was asked before, from 0.
    pub n: u64,
    /// The call's number in the run that recorded it, from 0.
    pub call: u64,
    /// The attempt's number in the call, from 1.
    pub attempt: u32,
    /// No attempt was to follow.
    pub final_hint: bool,
    pub provider: String,
    pub model: String,
    /// When the attempt was over.
    pub t: jiff::Timestamp,
    pub request: RecordedRequest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<RecordedResponse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RecordedError>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RecordedRequest {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Raw>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_text: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RecordedResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// An event stream; then there is no body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<RecordedEvent>>,
    /// What stands behind the last whole event: a stream that was not whole must not become so by its record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<Tail>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Raw>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_text: Option<String>,
}

/// What follows the whole events of a stream and is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tail {
    /// The start of an event.
    Cut,
    /// Bytes that are no UTF-8.
    NoUtf8,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecordedEvent {
    /// Milliseconds after the attempt began.
    pub t_ms: u64,
    pub data: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
}

/// The connection failed, was too slow, or was given up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RecordedError {
    pub kind: RecordedKind,
}

/// The errors that a reply's bytes do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RecordedKind {
    Connect,
    Trust,
    Send,
    Body,
    TimeoutConnect,
    TimeoutFirstByte,
    TimeoutIdle,
    TimeoutProgress,
    Deadline,
    Cancelled,
}

impl RecordedKind {
    /// What of `error` a reply's bytes do not tell.
    pub fn of(error: &Error) -> Option<Self> {
        Some(match error.kind() {
            ErrorKind::Connect { phase } => match phase {
                ConnectPhase::Connect => Self::Connect,
                ConnectPhase::Trust => Self::Trust,
                ConnectPhase::Send => Self::Send,
                ConnectPhase::Body => Self::Body,
            },
            ErrorKind::Timeout { phase, .. } => match phase {
                TimeoutPhase::Connect => Self::TimeoutConnect,
                TimeoutPhase::FirstByte => Self::TimeoutFirstByte,
                TimeoutPhase::Idle => Self::TimeoutIdle,
                TimeoutPhase::Progress => Self::TimeoutProgress,
            },
            ErrorKind::Deadline => Self::Deadline,
            ErrorKind::Cancelled => Self::Cancelled,
            _ => return None,
        })
    }

    /// The error again, with the limits of today's client.
    pub fn to_error(self, timeouts: &Timeouts) -> Error {
        let connect = |phase| Error::connect(phase, "as recorded");
        match self {
            Self::Connect => connect(ConnectPhase::Connect),
            Self::Trust => connect(ConnectPhase::Trust),
            Self::Send => connect(ConnectPhase::Send),
            Self::Body => connect(ConnectPhase::Body),
            Self::TimeoutConnect => Error::timeout(TimeoutPhase::Connect, timeouts.connect),
            Self::TimeoutFirstByte => Error::timeout(TimeoutPhase::FirstByte, timeouts.first_byte),
            Self::TimeoutIdle => Error::timeout(TimeoutPhase::Idle, timeouts.idle),
            Self::TimeoutProgress => Error::timeout(TimeoutPhase::Progress, timeouts.progress),
            Self::Deadline => Error::deadline(None),
            Self::Cancelled => ErrorKind::Cancelled.into(),
        }
    }
}

impl Line {
    /// Reads one line; none for an empty one.
    fn parse(bytes: &[u8], number: usize) -> Result<Option<Self>, Error> {
        #[derive(Deserialize)]
        struct Version {
            schema_version: u32,
        }
        let bytes = bytes.trim_ascii();
        if bytes.is_empty() {
            return Ok(None);
        }
        let damaged = |error: serde_json::Error| {
            Error::cassette(Some(number), "expected one recorded attempt").with_source(error)
        };
        let Version { schema_version } = serde_json::from_slice(bytes).map_err(damaged)?;
        if schema_version != SCHEMA_VERSION {
            return Err(Error::cassette(
                Some(number),
                format!("schema_version is {schema_version}, this program reads {SCHEMA_VERSION}"),
            ));
        }
        serde_json::from_slice(bytes).map(Some).map_err(damaged)
    }

    /// The question as it counts for replay, if the request's body is JSON.
    pub fn question(&self) -> Option<Value> {
        let body = self.request.body.as_ref()?.to().ok()?;
        Some(question(body))
    }
}

/// A body as a cassette holds it: JSON as itself if it is one line, anything else as a text.
pub(crate) fn body_fields(text: &str) -> (Option<Raw>, Option<String>) {
    if text.is_empty() {
        return (None, None);
    }
    let one_line = !text.contains(['\n', '\r']);
    match Raw::parse(text) {
        // White space around the value would be lost.
        Ok(raw) if one_line && raw.get().len() == text.len() => (Some(raw), None),
        _ => (None, Some(text.to_owned())),
    }
}

/// What of a body makes the question.
fn question(mut body: Value) -> Value {
    if let Some(fields) = body.as_object_mut() {
        fields.retain(|name, _| !NOT_THE_QUESTION.contains(&name.as_str()));
    }
    body
}

/// The hash of what is asked, and the question itself: provider, path and body, but not who asks, how the answer is
/// delivered, or which server or key is used.
pub(crate) fn root_of(
    provider: &str,
    request: &HttpRequest,
    replay_key: Option<&str>,
) -> Result<(String, Value), Error> {
    let body = serde_json::from_slice(&request.body)
        .map_err(|error| Error::refused("request", format!("its body is no JSON: {error}")))?;
    // Moved in and out again: the question may be long.
    let mut identity = serde_json::json!({ "provider": provider, "path": request.path });
    identity["body"] = question(body);
    if let Some(key) = replay_key {
        identity["replay_key"] = key.into();
    }
    let root = sha256_hex(canonical_json(&identity).as_bytes());
    Ok((root, identity["body"].take()))
}
