//! A model server with batches, in both forms: a function from requests to answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};
use test_support::CannedReply;

use crate::faults::Wire;

/// The status of an answer that does not arrive.
pub const NO_ANSWER: u16 = 0;

/// The outcome of a request in a batch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Reply,
    Expired,
    /// The server has no capacity.
    Busy,
    /// The request is refused with HTTP 400.
    Refused,
    /// The key may not use the model.
    Denied,
    /// The model is not there.
    NoModel,
    /// The request is missing from the results.
    Lost,
    /// The request was not answered, and is missing from the results.
    Dropped,
}

/// The state of the files with results.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent faults")]
pub struct Mess {
    pub doubled: bool,
    pub reversed: bool,
    pub foreign: bool,
    /// The first answer ends in the middle of its second line.
    pub cut: bool,
}

pub struct Batch {
    pub id: String,
    /// The seconds since 1970 of its birth.
    pub created: i64,
    label: Value,
    /// Key and text of each request.
    pub requests: Vec<(String, String)>,
    /// The looks at it until it is over.
    pub looks: u32,
    pub is_cancelled: bool,
    downloads: u32,
}

type OutcomeOf = dyn Fn(&str, usize) -> Outcome + Send + Sync;

/// The server's state.
pub struct BatchServer {
    pub wire: Wire,
    pub batches: Vec<Batch>,
    files: BTreeMap<String, Vec<(String, String)>>,
    pub outcome: Box<OutcomeOf>,
    pub mess: Mess,
    /// The answer to every question about a batch, while there is one.
    pub outage: Option<(u16, &'static str)>,
    /// The answer to every request for a batch, while there is one.
    pub refusal: Option<(u16, &'static str)>,
    /// The answer to all that is about the batch of this number.
    pub blocked: Option<(usize, u16)>,
    /// The batch of this number has no results.
    pub expunged: Option<usize>,
    /// The number of batches whose submission is answered with an error of the server, and its status.
    pub lost_answers: usize,
    pub lost_status: u16,
    /// The number of requests for a batch.
    pub posts: usize,
    /// A batch with this text, or any if it is empty, is refused: at once, or as `failed` later.
    pub invalid: Option<(&'static str, bool)>,
    /// The code of a batch that failed later.
    pub code: &'static str,
    /// A request with this word is answered with HTTP 404.
    pub closed: Option<&'static str>,
    /// The answer to each request for results, while there is one.
    pub results_outage: Option<(u16, &'static str)>,
    /// The list has no end.
    pub loops: bool,
    /// The number of requests for a list.
    pub lists: usize,
    /// A longer body does not arrive.
    pub longest_body: usize,
    /// Is called when a batch is about to be made.
    pub before: Box<dyn Fn() + Send + Sync>,
    /// The seconds after which a new batch is in the list.
    pub listed_after: i64,
    /// The number of lists whose batches cannot be read.
    pub damaged_lists: usize,
    pub looks: u32,
    /// The time of the server in seconds since 1970.
    pub now: Box<dyn Fn() -> i64 + Send + Sync>,
}

pub type Shared = Arc<Mutex<BatchServer>>;

pub fn lock(shared: &Shared) -> MutexGuard<'_, BatchServer> {
    shared.lock().unwrap()
}

impl BatchServer {
    pub fn new(wire: Wire, now: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self {
            wire,
            batches: Vec::new(),
            files: BTreeMap::new(),
            outcome: Box::new(|_, _| Outcome::Reply),
            mess: Mess::default(),
            outage: None,
            refusal: None,
            blocked: None,
            expunged: None,
            lost_answers: 0,
            lost_status: 500,
            posts: 0,
            invalid: None,
            code: "invalid_line",
            closed: None,
            results_outage: None,
            loops: false,
            lists: 0,
            longest_body: usize::MAX,
            before: Box::new(|| {}),
            listed_after: 0,
            damaged_lists: 0,
            looks: 2,
            now: Box::new(now),
        }
    }

    /// Adds a batch of another program, with this many requests and looks until it is over.
    pub fn add_foreign(&mut self, requests: usize, looks: u32) {
        let keys = (0..requests).map(|n| (format!("other-{n}"), "other".to_owned()));
        let (requests, label) = (keys.collect(), json!({"orrery_spool": "other-1"}));
        self.add(requests, label, looks);
    }

    fn add(&mut self, requests: Vec<(String, String)>, label: Value, looks: u32) -> usize {
        self.batches.push(Batch {
            // An id that must be escaped in a path.
            id: format!("batch/{}?", self.batches.len()),
            created: (self.now)(),
            label,
            requests,
            looks,
            is_cancelled: false,
            downloads: 0,
        });
        self.batches.len() - 1
    }

    /// The number of batches with the request `text`.
    pub fn submissions(&self, text: &str) -> usize {
        let has = |batch: &&Batch| batch.requests.iter().any(|(_, own)| own == text);
        self.batches.iter().filter(has).count()
    }

    /// The number of files that were uploaded.
    pub fn uploads(&self) -> usize {
        self.files.len()
    }

    /// Answers one request: status and body.
    pub fn answer(&mut self, method: &str, path: &str, kind: &str, body: &[u8]) -> (u16, String) {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let path = path.strip_prefix("/prefix").unwrap_or(path);
        let path = path.strip_prefix("/v1").unwrap();
        if body.len() > self.longest_body {
            return (NO_ANSWER, String::new());
        }
        let parts: Vec<String> = path.split('/').skip(1).map(unescape).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let is_about = matches!(parts[..], ["messages", "batches", _] | ["batches", _]);
        if let Some((status, body)) = self.outage.filter(|_| is_about && method == "GET") {
            return (status, body.to_owned());
        }
        let id = match parts[..] {
            ["messages", "batches", id, ..] | ["batches", id, ..] => Some(id),
            _ => None,
        };
        if let (Some(id), Some((at, status))) = (id, self.blocked)
            && self.batches[at].id == id
        {
            return (status, "{}".to_owned());
        }
        match (method, &parts[..]) {
            ("POST", ["messages", "batches"] | ["batches"]) => self.create(body),
            ("POST", ["files"]) => self.upload(kind, body),
            ("GET", ["messages", "batches"] | ["batches"]) => self.list(query),
            ("GET", ["messages", "batches", id] | ["batches", id]) => self.look(id),
            ("POST", ["messages", "batches", id, "cancel"] | ["batches", id, "cancel"]) => {
                let at = self.at(id);
                if self.batches[at].looks == 0 {
                    return (400, "{}".to_owned());
                }
                self.batches[at].is_cancelled = true;
                (200, self.shown(at).to_string())
            }
            ("GET", ["messages", "batches", id, "results"]) => self.results(id, None),
            ("GET", ["files", file, "content"]) => {
                let (which, id) = file.split_once('-').unwrap();
                self.results(id, Some(which == "out"))
            }
            _ => (404, format!("no route {method} {path}")),
        }
    }

    fn at(&self, id: &str) -> usize {
        let found = self.batches.iter().position(|batch| batch.id == id);
        found.unwrap_or_else(|| panic!("no batch {id:?}"))
    }

    /// Makes a batch, unless that is refused.
    fn create(&mut self, body: &[u8]) -> (u16, String) {
        self.posts += 1;
        if let Some((status, text)) = self.refusal {
            return (status, text.to_owned());
        }
        let text = String::from_utf8_lossy(body);
        if self.closed.is_some_and(|word| text.contains(word)) {
            return (404, "{}".to_owned());
        }
        (self.before)();
        let at = match self.wire {
            Wire::Anthropic => self.create_messages(body),
            Wire::Openai => self.create_files(body),
        };
        if self.is_invalid(at, false) {
            self.batches.pop();
            let error = CannedReply::openai_error("invalid_request_error", "a bad request");
            return (400, error);
        }
        if self.lost_answers > 0 {
            self.lost_answers -= 1;
            return (self.lost_status, "{}".to_owned());
        }
        (200, self.shown(at).to_string())
    }

    fn is_invalid(&self, at: usize, later: bool) -> bool {
        let requests = &self.batches[at].requests;
        self.invalid.is_some_and(|(text, is_late)| {
            is_late == later && (text.is_empty() || requests.iter().any(|(_, own)| own == text))
        })
    }

    fn create_messages(&mut self, body: &[u8]) -> usize {
        let body: Value = serde_json::from_slice(body).unwrap();
        let requests = body["requests"].as_array().unwrap().iter();
        let requests = requests.map(|one| {
            let text = one["params"]["messages"][0]["content"].as_str();
            (
                one["custom_id"].as_str().unwrap().to_owned(),
                text.unwrap().to_owned(),
            )
        });
        self.add(requests.collect(), Value::Null, self.looks)
    }

    fn upload(&mut self, kind: &str, body: &[u8]) -> (u16, String) {
        let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
        let text = std::str::from_utf8(body).unwrap();
        assert!(text.ends_with(&format!("--{boundary}--\r\n")));
        let parts: Vec<&str> = text.split(&format!("--{boundary}")).collect();
        assert!(parts[1].ends_with("name=\"purpose\"\r\n\r\nbatch\r\n"));
        let (_, lines) = parts[2].split_once("\r\n\r\n").unwrap();
        let requests = lines.trim().lines().map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                (&line["method"], &line["url"]),
                (&json!("POST"), &json!("/v1/chat/completions"))
            );
            let text = line["body"]["messages"][0]["content"].as_str().unwrap();
            (
                line["custom_id"].as_str().unwrap().to_owned(),
                text.to_owned(),
            )
        });
        let id = format!("file-{}", self.files.len());
        let requests = requests.collect();
        self.files.insert(id.clone(), requests);
        (200, json!({"id": id, "object": "file"}).to_string())
    }

    fn create_files(&mut self, body: &[u8]) -> usize {
        let body: Value = serde_json::from_slice(body).unwrap();
        assert_eq!(body["endpoint"], "/v1/chat/completions");
        assert_eq!(body["completion_window"], "24h");
        let requests = self.files[body["input_file_id"].as_str().unwrap()].clone();
        self.add(requests, body["metadata"].clone(), self.looks)
    }

    /// Two batches a part, the newest first.
    fn list(&mut self, query: &str) -> (u16, String) {
        assert!(query.contains("limit=100"), "{query}");
        let after = query.split('&').find_map(|pair| {
            let (name, id) = pair.split_once('=')?;
            name.starts_with("after").then(|| unescape(id))
        });
        self.lists += 1;
        if self.loops {
            let id = if after.as_deref() == Some("b1") {
                "b2"
            } else {
                "b1"
            };
            let row = json!({
                "id": id, "status": "completed", "processing_status": "ended", "request_counts": {"succeeded": 999},
            });
            return (200, json!({"data": [row], "has_more": true}).to_string());
        }
        let end = after.map_or(self.batches.len(), |id| self.at(&id));
        let start = end.saturating_sub(2);
        for batch in &mut self.batches[start..end] {
            batch.looks = batch.looks.saturating_sub(1);
        }
        let listed = (self.now)() - self.listed_after;
        let rows = (start..end)
            .rev()
            .filter(|at| self.batches[*at].created <= listed);
        let mut rows: Vec<Value> = rows.map(|at| self.shown(at)).collect();
        if self.damaged_lists > 0 {
            self.damaged_lists -= 1;
            rows.fill(json!({"id": 7}));
        }
        (
            200,
            json!({"data": rows, "has_more": start > 0 && !rows.is_empty(), "later": [1]})
                .to_string(),
        )
    }

    fn look(&mut self, id: &str) -> (u16, String) {
        let at = self.at(id);
        let batch = &mut self.batches[at];
        batch.looks = batch.looks.saturating_sub(1);
        (200, self.shown(at).to_string())
    }

    fn outcomes(&self, at: usize) -> Vec<Outcome> {
        let batch = &self.batches[at];
        let texts = batch.requests.iter();
        let outcomes = texts.map(|(_, text)| {
            let before = self.batches[..at].iter();
            let has = |batch: &&Batch| batch.requests.iter().any(|(_, own)| own == text);
            let outcome = (self.outcome)(text, before.filter(has).count());
            if batch.is_cancelled {
                Outcome::Expired
            } else {
                outcome
            }
        });
        outcomes.collect()
    }

    fn shown(&self, at: usize) -> Value {
        let batch = &self.batches[at];
        let is_over = batch.looks == 0 || batch.is_cancelled;
        let count = batch.requests.len();
        let outcomes = self.outcomes(at);
        let expires = outcomes.contains(&Outcome::Expired);
        let number = |kinds: &[Outcome]| {
            let found = outcomes.iter().filter(|outcome| kinds.contains(outcome));
            if is_over { found.count() } else { 0 }
        };
        let replies = number(&[Outcome::Reply, Outcome::Lost]);
        let errors = number(&[
            Outcome::Busy,
            Outcome::Refused,
            Outcome::Denied,
            Outcome::NoModel,
        ]);
        let ended = number(&[Outcome::Expired, Outcome::Dropped]);
        match self.wire {
            Wire::Anthropic => {
                let state = if is_over { "ended" } else { "in_progress" };
                let created = jiff::Timestamp::from_second(batch.created).unwrap();
                json!({
                    "id": batch.id, "type": "message_batch", "processing_status": state, "created_at": created,
                    "results_url": "https://elsewhere.test/steals/keys", "archived_at": null,
                    "request_counts": {
                        "processing": count - replies - errors - ended, "succeeded": replies, "errored": errors,
                        "canceled": 0, "expired": ended, "later": 7,
                    },
                })
            }
            Wire::Openai => {
                let fails = self.is_invalid(at, true);
                let state = match is_over {
                    true if fails => "failed",
                    true if batch.is_cancelled => "cancelled",
                    true if expires => "expired",
                    true => "completed",
                    false => "a later state",
                };
                if fails {
                    let errors =
                        json!({"data": [{"code": self.code, "message": "a bad line", "line": 1}]});
                    return json!({
                        "id": batch.id, "status": state, "created_at": batch.created, "metadata": batch.label,
                        "request_counts": {"total": count, "completed": 0, "failed": 0}, "errors": errors,
                    });
                }
                json!({
                    "id": batch.id, "object": "batch", "status": state, "created_at": batch.created,
                    "metadata": batch.label,
                    "request_counts": {"total": count, "completed": replies, "failed": errors},
                    "output_file_id": format!("out-{}", batch.id), "error_file_id": format!("err-{}", batch.id),
                })
            }
        }
    }

    fn results(&mut self, id: &str, succeeded: Option<bool>) -> (u16, String) {
        let at = self.at(id);
        if let Some((status, text)) = self.results_outage {
            return (status, text.to_owned());
        }
        if self.expunged == Some(at) {
            return (404, "{}".to_owned());
        }
        let outcomes = self.outcomes(at);
        self.batches[at].downloads += 1;
        let batch = &self.batches[at];
        let mut lines = Vec::new();
        for ((key, text), outcome) in batch.requests.iter().zip(outcomes) {
            let is_reply = outcome == Outcome::Reply;
            let is_missing = matches!(outcome, Outcome::Lost | Outcome::Dropped);
            if is_missing || succeeded.is_some_and(|succeeded| succeeded != is_reply) {
                continue;
            }
            lines.push(match self.wire {
                Wire::Anthropic => anthropic_line(key, text, outcome),
                Wire::Openai => openai_line(key, text, outcome),
            });
        }
        if self.mess.foreign {
            lines.insert(
                0,
                r#"{"custom_id":"another-key","result":{"type":"succeeded"},"response":{}}"#.into(),
            );
            lines.push("{}".to_owned());
        }
        if self.mess.doubled {
            lines = lines
                .iter()
                .flat_map(|line| [line.clone(), line.clone()])
                .collect();
        }
        if self.mess.reversed {
            lines.reverse();
        }
        let mut text = lines.join("\n") + "\n";
        if self.mess.cut && batch.downloads == 1 && lines.len() > 1 {
            text.truncate(lines[0].len() + lines[1].len() / 2);
        }
        (200, text)
    }
}

pub fn canned(text: &str) -> CannedReply {
    CannedReply::text(format!("re: {text}")).tokens(100, 20)
}

fn anthropic_line(key: &str, text: &str, outcome: Outcome) -> String {
    let result = match outcome {
        Outcome::Reply => {
            let message: Value = serde_json::from_str(&canned(text).anthropic_json()).unwrap();
            json!({"type": "succeeded", "message": message})
        }
        Outcome::Busy => errored("overloaded_error", "busy"),
        Outcome::Refused => errored("invalid_request_error", "max_tokens is too large"),
        Outcome::Denied => errored("permission_error", "no access"),
        Outcome::NoModel => errored("not_found_error", "model: model-1"),
        Outcome::Expired | Outcome::Lost | Outcome::Dropped => json!({"type": "expired"}),
    };
    json!({"custom_id": key, "result": result}).to_string()
}

fn errored(kind: &str, message: &str) -> Value {
    let error = json!({"type": "error", "error": {"type": kind, "message": message}});
    json!({"type": "errored", "error": error})
}

fn openai_line(key: &str, text: &str, outcome: Outcome) -> String {
    let response = |status: u16, body: String| {
        let body: Value = serde_json::from_str(&body).unwrap();
        let response = json!({"status_code": status, "request_id": "r", "body": body});
        json!({"id": "x", "custom_id": key, "response": response, "error": null})
    };
    let error = |kind| CannedReply::openai_error(kind, "max_tokens is too large");
    let line = match outcome {
        Outcome::Reply => response(200, canned(text).openai_json()),
        Outcome::Busy => response(503, error("server_error")),
        Outcome::Refused => response(400, error("invalid_request_error")),
        Outcome::Denied => response(403, error("permission_error")),
        Outcome::NoModel => response(404, error("model_not_found")),
        Outcome::Expired | Outcome::Lost | Outcome::Dropped => {
            json!({"custom_id": key, "response": null, "error": {"code": "batch_expired", "message": "late"}})
        }
    };
    line.to_string()
}

fn unescape(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let hex = std::str::from_utf8(&rest[..2]).unwrap();
            bytes.push(u8::from_str_radix(hex, 16).unwrap());
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).unwrap()
}
