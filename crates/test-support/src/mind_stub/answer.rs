//! The stub's answers to calls.

use bytes::Bytes;
use serde_json::Value;

use super::digest::Digest;
use super::{Billed, MindFatal, MindFault, MindForm, MindMode, MindScript};
use crate::{Answer, CannedReply};

/// The wait that a busy server asks for, in milliseconds. Without it llm-client retries a 429 only once and waits longer.
const WISH: &str = "5";

/// A placeholder in a reply for bytes that no JSON writer would write.
const PLACE: &str = "@content@";

/// The protocol of the stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    ChatCompletions,
    Messages,
}

/// The content of a request.
pub(super) struct MindRequest {
    pub protocol: Protocol,
    /// The whole text of the request, system first.
    pub prompt: Vec<u8>,
    pub model: String,
}

impl MindRequest {
    pub fn new(protocol: Protocol, body: &Value) -> Self {
        let turns = body["messages"].as_array();
        let contents = turns.into_iter().flatten().map(|turn| &turn["content"]);
        let texts: Vec<_> = [&body["system"]]
            .into_iter()
            .chain(contents)
            .filter(|text| !text.is_null())
            .map(|text| {
                text.as_str()
                    .map_or_else(|| text.to_string(), str::to_owned)
            })
            .collect();
        Self {
            protocol,
            prompt: texts.join("\n").into_bytes(),
            model: body["model"].as_str().unwrap_or_default().to_owned(),
        }
    }

    /// The delay of the answer.
    pub fn delay(&self, script: &MindScript) -> std::time::Duration {
        script.latency + script.jitter.mul_f64(Digest::new(&self.prompt, 1).unit())
    }

    /// Status (0 for none) and answer to the request `number`, the attempt `attempt` (both from 0) for its body.
    pub fn reply(
        &self,
        script: &MindScript,
        number: usize,
        attempt: usize,
    ) -> (u16, Answer, Billed) {
        if let Some((from, fatal)) = script.fatal
            && number >= from
        {
            let (status, answer) = self.fatal(fatal);
            return (status, answer, Billed::default());
        }
        if let Some((status, answer)) = self.fault(script, number, attempt) {
            return (status, answer, Billed::default());
        }
        let (body, billed) = self.said(script);
        (200, Answer::json(200, body), billed)
    }

    fn fatal(&self, fatal: MindFatal) -> (u16, Answer) {
        match fatal {
            MindFatal::Auth => self.error(401, "authentication_error", "no such key"),
            MindFatal::Quota => self.error(402, "billing_error", "nothing left on this account"),
            MindFatal::NoModel => {
                self.error(404, "not_found_error", &format!("no model {}", self.model))
            }
            MindFatal::BadRequest => self.error(400, "invalid_request_error", "cannot be served"),
        }
    }

    fn fault(&self, script: &MindScript, number: usize, attempt: usize) -> Option<(u16, Answer)> {
        if let Some(every) = script.fail_every
            && (number + 1).is_multiple_of(every)
        {
            return Some(self.passing(MindFault::Server));
        }
        let faults = script.faults?;
        if attempt >= faults.attempts || Digest::new(&self.prompt, 2).unit() >= faults.rate {
            return None;
        }
        let kinds = [MindFault::TooMany, MindFault::Server, MindFault::Reset];
        let fault = match faults.fault {
            MindFault::Any => kinds[Digest::new(&self.prompt, 3 + attempt as u64).below(3)],
            fault => fault,
        };
        Some(self.passing(fault))
    }

    fn passing(&self, fault: MindFault) -> (u16, Answer) {
        let (status, answer) = match fault {
            MindFault::TooMany => self.error(429, "rate_limit_error", "slow down"),
            MindFault::Server => self.error(500, "api_error", "internal server error"),
            MindFault::Reset | MindFault::Any => return (0, Answer::raw().reset()),
        };
        (status, answer.header("retry-after-ms", WISH))
    }

    fn error(&self, status: u16, kind: &str, message: &str) -> (u16, Answer) {
        let body = match self.protocol {
            Protocol::ChatCompletions => CannedReply::openai_error(kind, message),
            Protocol::Messages => CannedReply::anthropic_error(kind, message),
        };
        (status, Answer::json(status, body))
    }

    fn said(&self, script: &MindScript) -> (Bytes, Billed) {
        let mut digest = Digest::new(&self.prompt, 0);
        let form = self.form(&script.mode);
        let text = match (&script.mode, form) {
            (_, Some(form)) => form.words(&mut digest),
            (MindMode::Literal { texts, bytes }, _) => literal(*texts, *bytes),
            (MindMode::Say(text), _) => text.clone(),
            (MindMode::Raw(bytes), _) => String::from_utf8_lossy(bytes).into_owned(),
            _ => String::new(),
        };
        let (input, output) = (quarter(self.prompt.len()), quarter(text.len()));
        let mut canned = CannedReply::text(text).tokens(input, output);
        canned.id = format!("gen-{:016x}", digest.next());
        canned.model.clone_from(&self.model);
        let cost = script.cost.map(|[of_prompt, of_answer]| {
            (input as f64 * of_prompt + output as f64 * of_answer) / 1e6
        });
        canned.cost = cost;
        if form == Some(MindForm::Cut) {
            canned = canned.stopped("max_tokens", "length");
        }
        let odd = match (&script.mode, form) {
            (MindMode::Raw(bytes), _) => Some(Odd::Content(bytes)),
            (_, Some(MindForm::Missing)) => Some(Odd::Missing),
            (_, Some(MindForm::Empty)) => Some(Odd::Content(b"\"\"")),
            // The canned reply's own for an empty text: null, or no block.
            _ => None,
        };
        if odd.is_some() {
            PLACE.clone_into(&mut canned.text);
        }
        let json = match self.protocol {
            Protocol::ChatCompletions => canned.openai_json(),
            Protocol::Messages => canned.anthropic_json(),
        };
        let billed = Billed {
            prompt: input,
            completion: output,
            usd: cost.unwrap_or_default(),
        };
        (
            odd.map_or(json.clone().into(), |odd| odd.put(&json)),
            billed,
        )
    }

    /// The form of the answer, if the mode has forms.
    pub fn form(&self, mode: &MindMode) -> Option<MindForm> {
        match mode {
            MindMode::Ok => Some(MindForm::Plain),
            MindMode::Mix => Some(MindForm::drawn(&mut Digest::new(&self.prompt, 4))),
            MindMode::Form(form) => Some(*form),
            MindMode::Literal { .. } | MindMode::Say(_) | MindMode::Raw(_) => None,
        }
    }
}

/// The replacement of the content.
enum Odd<'a> {
    /// The given bytes.
    Content(&'a [u8]),
    /// No field at all.
    Missing,
}

impl Odd<'_> {
    fn put(&self, json: &str) -> Bytes {
        let (found, put) = match self {
            Self::Content(bytes) => (format!("\"{PLACE}\""), *bytes),
            Self::Missing => (format!("\"content\":\"{PLACE}\","), &b""[..]),
        };
        let (before, after) = json.split_once(&found).expect("a place for the content");
        [before.as_bytes(), put, after.as_bytes()].concat().into()
    }
}

/// An answer of `texts` messages of `bytes` bytes each.
fn literal(texts: usize, bytes: usize) -> String {
    let message = |n: usize| {
        let line = format!("Message {n} of {texts} says the same to everybody. ");
        line.chars().cycle().take(bytes).collect::<String>()
    };
    let messages: Vec<_> = (1..=texts).map(message).collect();
    format!("Thinking.\n---\n{}\n---\n\n---\n", messages.join("\n---\n"))
}

/// The number of tokens, as this server counts them.
fn quarter(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}
