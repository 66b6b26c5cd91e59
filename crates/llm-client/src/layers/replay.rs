//! Answers from a cassette. Nothing sleeps and nothing is sent.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde_json::Value;

use crate::cassette::{Cassette, Line, RecordedResponse, Tail};
use crate::transport::{HttpRequest, HttpResponse, Transport};
use crate::{ConfigError, Error, Timeouts, trace};

/// How many differences a miss shows.
const SHOWN: usize = 8;
/// How many recorded questions a miss is compared with.
const COMPARED: usize = 1000;

/// The lines of a cassette and how far each question was replayed.
pub(crate) struct Player {
    /// The last attempt of each occurrence of a question, in their order.
    answers: HashMap<String, Vec<Arc<Line>>>,
    asked: Mutex<HashMap<String, usize>>,
}

impl Player {
    pub fn open(cassette: &Cassette) -> Result<Self, ConfigError> {
        let lines = cassette
            .read()
            .map_err(|error| ConfigError::Cassette(Box::new(error)))?;
        if lines.torn_at.is_some() {
            trace::torn(cassette.path());
        }
        let mut answers: HashMap<String, BTreeMap<u64, Arc<Line>>> = HashMap::new();
        for line in lines.lines {
            // Attempts of one call come in order, so the last one wins.
            let of_root = answers.entry(line.root.clone()).or_default();
            of_root.insert(line.n, Arc::new(line));
        }
        let answers = answers
            .into_iter()
            .map(|(root, of_root)| (root, in_order(of_root)))
            .collect();
        Ok(Self {
            answers,
            asked: Mutex::default(),
        })
    }

    /// The recorded answer to the next occurrence of this question.
    pub fn next(&self, root: &str, question: &Value, path: &str) -> Result<Arc<Line>, Error> {
        let n = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let count = asked.entry(root.to_owned()).or_insert(0);
            *count += 1;
            *count - 1
        };
        match self.answers.get(root) {
            None => Err(miss(self.nearest(question, path))),
            Some(of_root) => match of_root.get(n) {
                None => Err(miss(format!(
                    "this question was recorded {} times and is asked for the {}. time",
                    of_root.len(),
                    n + 1
                ))),
                Some(line) if !line.final_hint => Err(miss(
                    "the recording stopped before this call was over".to_owned(),
                )),
                Some(line) => Ok(line.clone()),
            },
        }
    }

    /// How the most similar recorded question differs.
    fn nearest(&self, question: &Value, path: &str) -> String {
        let mut keys: Vec<_> = self.answers.keys().collect();
        // A map's order changes from run to run; the message must not.
        keys.sort();
        keys.into_iter()
            .filter_map(|root| self.answers.get(root)?.first())
            .filter(|line| line.request.path == path)
            .take(COMPARED)
            .filter_map(|line| {
                let mut found = Vec::new();
                differences("", &line.question()?, question, &mut found);
                Some((found.len(), line, found))
            })
            .min_by_key(|(count, _, _)| *count)
            .map_or_else(
                || format!("it holds no request to {path}"),
                |(count, line, mut found)| {
                    found.truncate(SHOWN);
                    if count == 0 {
                        found.push("provider or replay_key".to_owned());
                    } else if count > SHOWN {
                        found.push(format!("and {} more", count - SHOWN));
                    }
                    format!(
                        "the nearest entry (call {}) differs in {}",
                        line.call,
                        found.join(", ")
                    )
                },
            )
    }
}

/// The occurrences of a question by their rank, for numbers are missing: a call that is given up before it is sent, or
/// refused by the budget, has one and no line. One that the recorder's end cut short gives way to those after it.
fn in_order(of_root: BTreeMap<u64, Arc<Line>>) -> Vec<Arc<Line>> {
    let any_whole = of_root.values().any(|line| line.final_hint);
    of_root
        .into_values()
        .filter(|line| line.final_hint || !any_whole)
        .collect()
}

fn miss(diff: String) -> Error {
    Error::ReplayMiss {
        diff,
        trail: Box::default(),
    }
}

/// Adds the places where two values differ, with both values cut short.
fn differences(place: &str, recorded: &Value, asked: &Value, found: &mut Vec<String>) {
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

/// Gives what was recorded, whatever is sent.
pub(crate) struct Replaying {
    pub line: Arc<Line>,
    pub timeouts: Timeouts,
}

impl Transport for Replaying {
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
        Some(Tail::Cut) => b"data",
        Some(Tail::NoUtf8) => b"\xff\n",
        None => b"",
    });
    let chunks = std::iter::once(Ok(Bytes::from(body))).chain(failure.map(Err));
    HttpResponse {
        status: recorded.status,
        headers: recorded.headers.clone(),
        body: stream::iter(chunks.collect::<Vec<_>>()).boxed(),
    }
}
