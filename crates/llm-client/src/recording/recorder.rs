//! The recorder: every attempt is written before its result reaches the caller.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use llm_types::{Clock, Target};

use super::cassette::{
    Cassette, OpenCassette, RecordedError, RecordedEvent, RecordedKind, SCHEMA_VERSION, StreamTail,
};
use super::syncer::Syncer;
use super::written::{WrittenHeaders, WrittenLine, WrittenRequest, WrittenResponse, body_fields};
use crate::codec::as_text;
use crate::codec::sse::{SseDecoder, SseEvent};
use crate::layers::timer::timestamp;
use crate::provider::transport::is_event_stream;
use crate::provider::{Headers, HttpRequest, HttpResponse, Transport};
use crate::{ConfigError, Error, ErrorKind, Redactor};

/// The maximum time until a line is synced to the disk.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The bytes that most lines need.
const LINE: usize = 8 << 10;

/// The headers that are recorded, by name or prefix.
const KEPT: [&str; 9] = [
    "accept",
    "anthropic-beta",
    "anthropic-ratelimit-",
    "anthropic-version",
    "content-type",
    "request-id",
    "retry-after",
    "x-ratelimit-",
    "x-request-id",
];

/// A writer of a cassette. [`Recorder::write`] passes a line to the system, so that a killed program loses none; it is on
/// the disk a second later, so that no call waits for the disk.
pub(crate) struct Recorder {
    clock: Arc<dyn Clock>,
    file: Mutex<CassetteFile>,
    /// `None` for a device or a pipe, which cannot be synced.
    syncer: Option<Syncer>,
    /// The number of entries of each request, in the file and by this client.
    repeats: Mutex<HashMap<String, u64>>,
}

struct CassetteFile {
    file: File,
    torn: bool,
}

impl Recorder {
    pub fn open(cassette: &Cassette, clock: Arc<dyn Clock>) -> Result<Self, ConfigError> {
        let OpenCassette {
            file,
            repeats,
            is_regular,
        } = cassette.append().map_err(ConfigError::Cassette)?;
        let syncer = || {
            let file = file.try_clone()?;
            Syncer::start(SYNC_EVERY, move || file.sync_data())
        };
        let syncer = is_regular.then(syncer).transpose();
        Ok(Self {
            syncer: syncer
                .map_err(|error| ConfigError::Cassette(cassette.io_error("write", error)))?,
            file: Mutex::new(CassetteFile { file, torn: false }),
            repeats: Mutex::new(repeats),
            clock,
        })
    }

    /// The index of this request among equal ones, from 0.
    pub fn next_repeat_index(&self, root: &str) -> u64 {
        let mut counts = self.repeats.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(root.to_owned()).or_insert(0);
        *count += 1;
        *count - 1
    }

    /// Checks that lines can still be written. After a failed write the last line may be torn, and a further one would make the
    /// file unreadable; so no further call is made either, which would be paid for and lost.
    pub fn check(&self) -> Result<(), Error> {
        self.check_file(&self.file())
    }

    fn check_file(&self, written: &CassetteFile) -> Result<(), Error> {
        if written.torn {
            return Err(Error::cassette(
                None,
                "an earlier attempt could not be written whole, so no further one is recorded",
            ));
        }
        match self.syncer.as_ref().and_then(Syncer::failure) {
            Some(error) => Err(unwritten(error)),
            None => Ok(()),
        }
    }

    fn file(&self) -> MutexGuard<'_, CassetteFile> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, line: &WrittenLine<'_>) -> Result<(), Error> {
        let mut text = Vec::with_capacity(LINE);
        serde_json::to_writer(&mut text, line).map_err(unwritten)?;
        text.push(b'\n');
        let mut written = self.file();
        self.check_file(&written)?;
        let done = written.file.write_all(&text);
        written.torn = done.is_err();
        done.map_err(unwritten)?;
        if let Some(syncer) = &self.syncer {
            syncer.written();
        }
        Ok(())
    }
}

fn unwritten(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::cassette(None, "cannot write the recorded attempt").with_source(error)
}

/// The position of a call in the cassette.
#[derive(Debug, Clone)]
pub(crate) struct CassetteKey {
    pub root: String,
    pub n: u64,
    pub call: u64,
}

/// The recorder of one attempt. A drop without an outcome records the attempt as cancelled.
pub(crate) struct AttemptRecorder {
    recorder: Arc<Recorder>,
    key: CassetteKey,
    target: Target,
    attempt: u32,
    recorded: Arc<Mutex<RecordedBytes>>,
    done: bool,
}

/// The bytes sent and received so far.
#[derive(Default)]
struct RecordedBytes {
    request: Option<HttpRequest>,
    began: Duration,
    response: Option<(u16, Headers)>,
    chunks: Vec<(Duration, Bytes)>,
}

impl AttemptRecorder {
    pub fn new(recorder: Arc<Recorder>, key: CassetteKey, target: Target, attempt: u32) -> Self {
        Self {
            recorder,
            key,
            target,
            attempt,
            recorded: Arc::default(),
            done: false,
        }
    }

    /// Wraps a transport whose traffic is recorded.
    pub fn listen(&self, inner: Arc<dyn Transport>) -> Arc<dyn Transport> {
        Arc::new(RecordingTransport {
            inner,
            clock: self.recorder.clock.clone(),
            recorded: self.recorded.clone(),
        })
    }

    /// Writes the attempt; `is_final` if no other one follows.
    pub fn finish(&mut self, error: Option<&Error>, is_final: bool) -> Result<(), Error> {
        self.done = true;
        let recorded =
            std::mem::take(&mut *self.recorded.lock().unwrap_or_else(PoisonError::into_inner));
        // Refused before it was sent: nothing happened.
        let Some(request) = recorded.request else {
            return Ok(());
        };
        let keys = request.redactor();
        let chunks: Vec<&[u8]> = recorded.chunks.iter().map(|(_, it)| &it[..]).collect();
        let (mut events, mut tail, mut reply) = (None, None, Cow::Borrowed(""));
        match &recorded.response {
            Some((_, headers)) if is_event_stream(headers) => {
                let hide = |text: String| keys.redact_exact(text);
                let (mut whole, rest) = decode(&recorded.chunks, recorded.began, hide);
                super::deltas::hide_split(&mut whole, &keys);
                (events, tail) = (Some(whole), rest);
            }
            Some(_) => {
                reply = if let [one] = chunks[..] {
                    hidden(as_text(one), &keys)
                } else {
                    let whole = as_text(&chunks.concat()).into_owned();
                    hidden(whole.into(), &keys)
                };
            }
            None => {}
        }
        let response = recorded.response.as_ref().map(|(status, headers)| {
            let (body, body_text) = body_fields(&reply);
            WrittenResponse {
                status: *status,
                headers: kept(headers, &keys),
                events,
                tail,
                body,
                body_text,
            }
        });
        let asked = hidden(as_text(&request.body), &keys);
        let (body, body_text) = body_fields(&asked);
        self.recorder.write(&WrittenLine {
            schema_version: SCHEMA_VERSION,
            root: &self.key.root,
            n: self.key.n,
            call: self.key.call,
            attempt: self.attempt,
            final_hint: is_final,
            provider: &self.target.provider,
            model: &self.target.model,
            t: timestamp(self.recorder.clock.now()),
            request: WrittenRequest {
                method: request.method.as_str(),
                path: hidden(request.path.as_ref().into(), &keys),
                headers: kept(&request.headers, &keys),
                body,
                body_text,
            },
            response,
            error: error
                .and_then(RecordedKind::of)
                .map(|kind| RecordedError { kind }),
        })
    }
}

/// The text without keys.
fn hidden<'a>(text: Cow<'a, str>, keys: &Redactor) -> Cow<'a, str> {
    keys.without_keys(&text).map_or(text, Cow::Owned)
}

impl Drop for AttemptRecorder {
    fn drop(&mut self) {
        if !self.done {
            let cancelled = Error::from(ErrorKind::Cancelled);
            // Whoever dropped the call waits for no answer.
            let _ = self.finish(Some(&cancelled), true);
        }
    }
}

/// The headers that are recorded, without keys.
fn kept<'a>(headers: &'a Headers, keys: &Redactor) -> WrittenHeaders<'a> {
    headers
        .open()
        .filter(|(name, _)| {
            KEPT.iter().any(|kept| {
                name == kept
                    || (kept.ends_with('-') && name.starts_with(kept))
                    || (*kept == "retry-after" && name.starts_with(kept))
            })
        })
        .map(|(name, value)| (name, hidden(value.into(), keys)))
        .collect()
}

/// The whole events among these chunks, and the rest after them.
fn decode(
    chunks: &[(Duration, Bytes)],
    began: Duration,
    hide: impl Fn(String) -> String,
) -> (Vec<RecordedEvent>, Option<StreamTail>) {
    let mut decoder = SseDecoder::new(u64::MAX);
    let mut events = Vec::new();
    let mut add = |at: Duration, event: SseEvent<'_>| {
        events.push(RecordedEvent {
            t_ms: at.saturating_sub(began).as_millis() as u64,
            data: hide(event.data.to_owned()),
            event: (event.event != "message").then(|| hide(event.event.to_owned())),
        });
    };
    for (at, chunk) in chunks {
        decoder.push(chunk);
        // What cannot be decoded is an error again at the end.
        while let Ok(Some(event)) = decoder.next_event() {
            add(*at, event);
        }
    }
    let last = chunks.last().map_or(began, |(at, _)| *at);
    let tail = match decoder.finish() {
        Ok(Some(event)) => {
            add(last, event);
            None
        }
        Ok(None) => decoder.is_pending().then_some(StreamTail::Cut),
        Err(_) => Some(StreamTail::NoUtf8),
    };
    (events, tail)
}

struct RecordingTransport {
    inner: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
    recorded: Arc<Mutex<RecordedBytes>>,
}

impl RecordingTransport {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Error> {
        with(&self.recorded, |recorded| {
            recorded.began = self.clock.elapsed();
            recorded.request = Some(request.clone());
        });
        let mut response = self.inner.execute(request).await?;
        with(&self.recorded, |recorded| {
            recorded.response = Some((response.status, response.headers.clone()));
        });
        let (clock, recorded) = (self.clock.clone(), self.recorded.clone());
        response.body = response
            .body
            .inspect(move |chunk| {
                if let Ok(chunk) = chunk {
                    with(&recorded, |recorded| {
                        recorded.chunks.push((clock.elapsed(), chunk.clone()));
                    });
                }
            })
            .boxed();
        Ok(response)
    }
}

fn with(recorded: &Mutex<RecordedBytes>, change: impl FnOnce(&mut RecordedBytes)) {
    change(&mut recorded.lock().unwrap_or_else(PoisonError::into_inner));
}

impl Transport for RecordingTransport {
    fn execute(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        self.send(request).boxed()
    }
}
