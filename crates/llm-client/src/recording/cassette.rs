//! The file of recorded exchanges: one JSON line for each attempt, append only.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use llm_types::Raw;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::root::request_key;
use crate::error::{ConnectPhase, TimeoutPhase};
use crate::{Error, ErrorKind, Timeouts};

/// The version of the line format.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// A file of recorded exchanges, for [`crate::ClientBuilder::record`] or [`crate::ClientBuilder::replay`].
#[derive(Debug, Clone)]
pub struct Cassette {
    path: PathBuf,
}

impl Cassette {
    /// The cassette at `path`. For recording it need not exist, and its lines are kept.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of recorded calls. Attempts of one call count once, and an interrupted call counts.
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

    /// The time of the first line; `None` without one, and for a pipe, which cannot be read twice.
    pub(crate) fn first_time(&self) -> Result<Option<SystemTime>, Error> {
        let failed = |error| self.io_error("read", error);
        if !fs::metadata(&self.path).map_err(failed)?.is_file() {
            return Ok(None);
        }
        let mut file = BufReader::new(File::open(&self.path).map_err(failed)?);
        let mut first = Vec::new();
        file.read_until(b'\n', &mut first).map_err(failed)?;
        let mut time = None;
        scan(&first[..], failed, |line, _| time = Some(line.t.into()))?;
        Ok(time)
    }

    /// Reads all lines, one at a time, and passes each to `found` with its position. A torn last line is left out.
    pub(crate) fn read(&self, found: impl FnMut(Line, LineAt)) -> Result<Recording, Error> {
        let failed = |error| self.io_error("read", error);
        let mut file = File::open(&self.path).map_err(failed)?;
        let (source, end) = if file.metadata().map_err(failed)?.is_file() {
            let end = scan(BufReader::new(&file), failed, found)?;
            (LineSource::File(Mutex::new(file)), end)
        } else {
            // A pipe cannot be read twice.
            let mut text = Vec::new();
            file.read_to_end(&mut text).map_err(failed)?;
            let end = scan(&text[..], failed, found)?;
            (LineSource::Memory(text), end)
        };
        Ok(Recording {
            cassette: self.clone(),
            source,
            is_torn: end.torn_at.is_some(),
        })
    }

    /// Opens the file for more lines and cuts off a torn last one; also returns the number of entries of each request.
    pub(crate) fn append(&self) -> Result<OpenCassette, Error> {
        let failed = |error| self.io_error("write", error);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&self.path)
            .map_err(failed)?;
        let mut repeats = HashMap::new();
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
                let count = repeats.entry(line.root).or_insert(0);
                *count = line.n.saturating_add(1).max(*count);
            })?;
            if let Some(torn) = end.torn_at {
                file.set_len(torn).map_err(failed)?;
            } else if end.is_open {
                file.write_all(b"\n").map_err(failed)?;
            }
        }
        Ok(OpenCassette {
            file,
            repeats,
            is_regular,
        })
    }

    pub(crate) fn io_error(&self, what: &str, error: io::Error) -> Error {
        let what = format!("cannot {what} {}", self.path.display());
        Error::cassette(None, what).with_source(error)
    }
}

/// A cassette that is open for more lines.
pub(crate) struct OpenCassette {
    pub file: File,
    /// The number of entries of each request.
    pub repeats: HashMap<String, u64>,
    /// Whether it is a regular file, not a device or a pipe.
    pub is_regular: bool,
}

/// A cassette that is replayed; its lines are read from the file when they are needed.
pub(crate) struct Recording {
    cassette: Cassette,
    source: LineSource,
    /// Whether the last line was torn and left out.
    pub is_torn: bool,
}

enum LineSource {
    File(Mutex<File>),
    Memory(Vec<u8>),
}

/// The position of a line in bytes, and its number from 1.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LineAt {
    start: u64,
    length: usize,
    number: usize,
}

impl Recording {
    /// Reads the line at this position again.
    pub fn line(&self, at: LineAt) -> Result<Line, Error> {
        let mut bytes = vec![0; at.length];
        let read = match &self.source {
            LineSource::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let start = file.seek(SeekFrom::Start(at.start));
                start.and_then(|_| file.read_exact(&mut bytes))
            }
            LineSource::Memory(text) => {
                let text = text.get(at.start as usize..).unwrap_or_default();
                (&*text).read_exact(&mut bytes)
            }
        };
        read.map_err(|error| self.cassette.io_error("read", error))?;
        let line = Line::parse(&bytes, at.number)?;
        line.ok_or_else(|| Error::cassette(Some(at.number), "it is no longer there"))
    }
}

/// The state of the last line of a cassette.
#[derive(Default)]
struct LastLine {
    /// The start of a torn last line, in bytes.
    torn_at: Option<u64>,
    /// Whether the last line is whole and lacks its line end.
    is_open: bool,
}

/// Reads lines one at a time and passes each to `found`, with its position.
fn scan(
    mut text: impl BufRead,
    failed: impl Fn(io::Error) -> Error,
    mut found: impl FnMut(Line, LineAt),
) -> Result<LastLine, Error> {
    let mut end = LastLine::default();
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

/// Whether the last line is torn: a killed writer leaves the start of a line, a power loss leaves zeros. Anything else is
/// damage or not a cassette, and must not be cut.
fn is_torn(bytes: &[u8]) -> bool {
    const OPENING: &[u8] = br#"{"schema_version":"#;
    let written = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let shared = written.len().min(OPENING.len());
    written[..shared] == OPENING[..shared] && serde_json::from_slice::<IgnoredAny>(bytes).is_err()
}

/// A recorded attempt.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Line {
    /// The hash of the request key: see [`super::root::root_of`].
    pub root: String,
    /// The number of equal requests before, from 0.
    pub n: u64,
    /// The call's number in the run that recorded it, from 0.
    pub call: u64,
    /// The attempt's number in the call, from 1.
    pub attempt: u32,
    /// Whether this was the last attempt of its call.
    pub final_hint: bool,
    pub provider: String,
    pub model: String,
    /// The time of the attempt's end.
    pub t: jiff::Timestamp,
    pub request: RecordedRequest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<RecordedResponse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RecordedError>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RecordedRequest {
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Raw>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RecordedResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// The events of a stream, in place of a body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<RecordedEvent>>,
    /// The rest after the last whole event, so that a truncated stream is replayed as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<StreamTail>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Raw>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_text: Option<String>,
}

/// The rest after the whole events of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StreamTail {
    /// The start of a further event.
    Cut,
    /// Bytes that are not UTF-8.
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

/// The error of a connection that failed, timed out or was cancelled.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RecordedError {
    pub kind: RecordedKind,
}

/// The errors that do not follow from the bytes of a response.
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
    TimeoutReply,
    Deadline,
    Cancelled,
}

impl RecordedKind {
    /// The recorded kind of `error`; `None` if it follows from the bytes of the response.
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
                TimeoutPhase::Reply => Self::TimeoutReply,
            },
            ErrorKind::Deadline => Self::Deadline,
            ErrorKind::Cancelled => Self::Cancelled,
            _ => return None,
        })
    }

    /// The error, with the limits of this client.
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
            Self::TimeoutReply => {
                let limit = timeouts.attempt.unwrap_or(timeouts.total);
                Error::timeout(TimeoutPhase::Reply, limit)
            }
            Self::Deadline => Error::deadline(None),
            Self::Cancelled => ErrorKind::Cancelled.into(),
        }
    }
}

impl Line {
    /// Parses one line; `None` for an empty one.
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

    /// The request key for replay, if the request's body is JSON.
    pub fn request_key(&self) -> Option<Value> {
        let body = self.request.body.as_ref()?.to().ok()?;
        Some(request_key(body))
    }
}
