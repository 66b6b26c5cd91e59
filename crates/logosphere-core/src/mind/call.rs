//! The facts of a call of a mind: its input, its request and its failure.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::config::{ModelSettings, Options};
use crate::format::Prompt;
use crate::journal::{AttemptFacts, FailureClass};
use crate::pool::{MindId, Round};

/// The whole input of a mind: the prompt and the model settings. It has no field for an identity, a time or a round.
#[derive(Debug, Clone)]
pub struct MindInput {
    prompt: Prompt,
    model: Arc<ModelSettings>,
}

impl MindInput {
    /// Returns the input of one call.
    pub fn new(prompt: Prompt, model: Arc<ModelSettings>) -> Self {
        Self { prompt, model }
    }

    /// Returns the prompt.
    pub fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    /// Returns model, token limit and options, which are the same in every call of a run.
    pub fn model(&self) -> &ModelSettings {
        &self.model
    }
}

/// The facts of a call that are never sent.
#[derive(Debug, Clone)]
pub struct CallContext {
    nonce: [u8; 32],
    call_key: String,
    attempt: Arc<AtomicU32>,
}

impl CallContext {
    /// Returns the context of mind `mind` (from 0) in round `round` (from 1).
    pub fn new(seed: u64, round: Round, mind: MindId) -> Self {
        let mut hash = Sha256::new();
        hash.update(format!("logosphere/side/v1\n{seed}\n{round}\n{mind}"));
        Self {
            nonce: hash.finalize().into(),
            call_key: format!("{round}/{mind}"),
            attempt: Arc::new(AtomicU32::new(1)),
        }
    }

    /// Returns random bytes of this call: the SHA-256 of `logosphere/side/v1`, seed, round and mind as decimals,
    /// separated by line feeds.
    pub fn nonce(&self) -> &[u8; 32] {
        &self.nonce
    }

    /// Returns `round/mind`, which distinguishes equal requests in a recording.
    pub fn call_key(&self) -> &str {
        &self.call_key
    }

    /// Returns the number of the current attempt, from 1. A mind that retries updates it.
    pub fn attempt(&self) -> &Arc<AtomicU32> {
        &self.attempt
    }
}

/// A request as it is sent, or as it would be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WireRequest {
    /// The body of the request.
    pub body: Vec<u8>,
    /// Names and values of the headers in the order sent; a value that is secret is shown as its SHA-256.
    pub headers: Vec<(String, String)>,
}

/// The error of a call without an answer.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{class}: {message}")]
pub struct MindError {
    /// The class of the failure.
    pub class: FailureClass,
    /// The error message, without secrets.
    pub message: String,
    /// Whether every other call would fail too.
    pub fatal: bool,
    /// The attempts of the call, in order.
    pub attempts: Vec<AttemptFacts>,
}

impl MindError {
    /// Returns a failure after which other calls may succeed.
    pub fn new(class: impl Into<FailureClass>, message: impl Into<String>) -> Self {
        Self {
            class: class.into(),
            message: message.into(),
            fatal: false,
            attempts: Vec::new(),
        }
    }

    /// Returns this failure as one that every other call would share.
    #[must_use]
    pub fn fatal(mut self) -> Self {
        self.fatal = true;
        self
    }
}

impl WireRequest {
    /// Returns the request that a server of chat completions would receive, for scripted minds.
    pub fn local(input: &MindInput) -> Self {
        #[derive(Serialize)]
        struct Body<'a> {
            model: &'a str,
            messages: Vec<Turn<'a>>,
            max_tokens: u32,
            #[serde(flatten)]
            options: &'a Options,
        }
        #[derive(Serialize)]
        struct Turn<'a> {
            role: &'static str,
            content: &'a str,
        }
        let turn = |role, content| Turn { role, content };
        let (prompt, model) = (input.prompt(), input.model());
        let system = prompt.system().map(|text| turn("system", text));
        let body = Body {
            model: &model.model,
            messages: system
                .into_iter()
                .chain([turn("user", prompt.user())])
                .collect(),
            max_tokens: model.token_limit,
            options: &model.options,
        };
        Self {
            body: serde_json::to_vec(&body).unwrap_or_default(),
            headers: Vec::new(),
        }
    }
}
