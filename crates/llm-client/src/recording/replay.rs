//! Replay from a cassette, without waits and requests.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde_json::Value;
use tracing::warn;

use super::cassette::{
    Cassette, Line, LineAt, RecordedKind, RecordedResponse, Recording, StreamTail,
};
use super::root::key_of;
use crate::provider::{HttpRequest, HttpResponse, Transport};
use crate::{ConfigError, Error, ErrorKind, Timeouts, Timer};

/// The maximum number of differences that a miss shows.
const SHOWN: usize = 8;
/// The maximum number of recorded requests that a miss is compared with: the first ones of its path.
const COMPARED: usize = 20;

/// The positions of a cassette's lines, and the replay state of each request.
pub(crate) struct Player {
    recording: Recording,
    /// The last attempt of each repetition of a request, in order.
    answers: HashMap<String, Vec<Recorded>>,
    /// The first lines of each path, for the message of a miss.
    near: HashMap<String, Vec<LineAt>>,
    asked: Mutex<HashMap<String, usize>>,
    clock: Arc<dyn Timer>,
}

/// Logs that a cassette ends in the middle of a line.
fn torn(cassette: &Path) {
    warn!(
        target: "llm_client",
        { llm.cassette = %cassette.display() },
        "{}: the last line is torn and left out",
        cassette.display()
    );
}

/// A line that is read when it is needed.
#[derive(Clone, Copy)]
struct Recorded {
    at: LineAt,
    final_hint: bool,
    /// Whether the caller waited for the result. A call that was cancelled and made again has another entry.
    is_awaited: bool,
}

impl Player {
    /// Opens a cassette, and tells `clock` the time of its first line.
    pub fn open(cassette: &Cassette, clock: Arc<dyn Timer>) -> Result<Self, ConfigError> {
        let mut first = None;
        let mut answers: HashMap<String, BTreeMap<u64, Recorded>> = HashMap::new();
        let mut near: HashMap<String, Vec<LineAt>> = HashMap::new();
        let read = cassette.read(|line, at| {
            first.get_or_insert(line.t);
            let final_hint = line.final_hint;
            let kind = line.error.as_ref().map(|error| error.kind);
            let is_awaited = final_hint && kind != Some(RecordedKind::Cancelled);
            let is_new = !answers.contains_key(&line.root);
            if is_new {
                let near = near.entry(line.request.path).or_default();
                if near.len() < COMPARED {
                    near.push(at);
                }
            }
            // Attempts of one call come in order, so the last one wins.
            let of_root = answers.entry(line.root).or_default();
            let recorded = Recorded {
                at,
                final_hint,
                is_awaited,
            };
            of_root.insert(line.n, recorded);
        });
        let recording = read.map_err(ConfigError::Cassette)?;
        if recording.is_torn {
            torn(cassette.path());
        }
        if let Some(time) = first {
            clock.replayed(time.into());
        }
        let answers = answers
            .into_iter()
            .map(|(root, of_root)| (root, in_order(of_root)))
            .collect();
        Ok(Self {
            recording,
            answers,
            near,
            asked: Mutex::default(),
            clock,
        })
    }

    /// The recorded answer to the next repetition of this request. The clock shows its time from now on.
    pub fn next(&self, root: &str, request: &HttpRequest) -> Result<Arc<Line>, Error> {
        let n = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let count = asked.entry(root.to_owned()).or_insert(0);
            *count += 1;
            *count - 1
        };
        match self.answers.get(root) {
            None => Err(miss(self.nearest(request))),
            Some(of_root) => match of_root.get(n) {
                None => Err(miss(format!(
                    "this question was recorded {} times and is asked for the {}. time",
                    of_root.len(),
                    n + 1
                ))),
                Some(line) if !line.final_hint => Err(miss(
                    "the recording stopped before this call was over".to_owned(),
                )),
                Some(line) => {
                    let line = self.recording.line(line.at)?;
                    self.clock.replayed(line.t.into());
                    Ok(Arc::new(line))
                }
            },
        }
    }

    /// The differences to the most similar of the first recorded requests of this path.
    fn nearest(&self, request: &HttpRequest) -> String {
        let (key, path) = (key_of(request), &*request.path);
        let near = self.near.get(path).into_iter().flatten();
        near.filter_map(|at| {
            let line = self.recording.line(*at).ok()?;
            let mut found = Vec::new();
            differences("", &line.request_key()?, &key, &mut found);
            Some((line.call, found))
        })
        .min_by_key(|(_, found)| found.len())
        .map_or_else(
            || format!("it holds no request to {path}"),
            |(call, mut found)| {
                if found.is_empty() {
                    found.push("provider or replay_key".to_owned());
                } else if found.len() > SHOWN {
                    found.truncate(SHOWN);
                    found.push("and more".to_owned());
                }
                format!(
                    "the nearest entry (call {call}) differs in {}",
                    found.join(", ")
                )
            },
        )
    }
}

/// The repetitions of a request by rank, since numbers are missing: a call that was cancelled before it was sent, or refused
/// by the budget, has a number and no line. Unfinished and cancelled calls are left out if there are other ones.
fn in_order(of_root: BTreeMap<u64, Recorded>) -> Vec<Recorded> {
    let any_awaited = of_root.values().any(|line| line.is_awaited);
    of_root
        .into_values()
        .filter(|line| line.is_awaited || !any_awaited)
        .collect()
}

fn miss(diff: String) -> Error {
    ErrorKind::ReplayMiss { diff }.into()
}

/// Adds the paths at which two values differ, with both values shortened, up to one more than are shown.
fn differences(place: &str, recorded: &Value, asked: &Value, found: &mut Vec<String>) {
    if found.len() > SHOWN {
        return;
    }
    match (recorded, asked) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                let child = |map: &serde_json::Map<_, _>| map.get(key).cloned().unwrap_or_default();
                differences(&format!("{place}/{key}"), &child(a), &child(b), found);
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            for index in 0..a.len().max(b.len()) {
                let child = |list: &[Value]| list.get(index).cloned().unwrap_or_default();
                differences(&format!("{place}/{index}"), &child(a), &child(b), found);
            }
        }
        (a, b) if a == b => {}
        (a, b) => found.push(format!(
            "{place} (recorded {}, asked {})",
            short(a),
            short(b)
        )),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// A transport that returns the recorded response to any request.
pub(crate) struct ReplayTransport {
    pub line: Arc<Line>,
    pub timeouts: Timeouts,
}

impl Transport for ReplayTransport {
    fn execute(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        let failure = self
            .line
            .error
            .as_ref()
            .map(|error| error.kind.to_error(&self.timeouts));
        let response = match (&self.line.response, failure) {
            (Some(response), failure) => Ok(respond(response, failure)),
            (None, Some(failure)) => Err(failure),
            (None, None) => Err(Error::cassette(
                None,
                "an entry has neither a response nor an error",
            )),
        };
        async { response }.boxed()
    }
}

fn respond(recorded: &RecordedResponse, failure: Option<Error>) -> HttpResponse {
    let mut body = String::new();
    if let Some(events) = &recorded.events {
        for event in events {
            if let Some(name) = &event.event {
                body.extend(["event: ", name, "\n"]);
            }
            for line in event.data.split('\n') {
                body.extend(["data: ", line, "\n"]);
            }
            body.push('\n');
        }
    } else if let Some(raw) = &recorded.body {
        body.push_str(raw.get());
    } else if let Some(text) = &recorded.body_text {
        body.push_str(text);
    }
    let mut body = body.into_bytes();
    body.extend_from_slice(match recorded.tail {
        Some(StreamTail::Cut) => b"data",
        Some(StreamTail::NoUtf8) => b"\xff\n",
        None => b"",
    });
    let chunks = std::iter::once(Ok(Bytes::from(body))).chain(failure.map(Err));
    let body = stream::iter(chunks.collect::<Vec<_>>()).boxed();
    HttpResponse::new(recorded.status, recorded.headers.clone(), body)
}
