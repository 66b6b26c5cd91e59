//! The facts of a call of a mind: its input, its request and its failure.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::config::{ModelSettings, Options};
use crate::format::Prompt;
use crate::journal::{AttemptFacts, FailureClass};
use crate::pool::{MindId, Round};

/// All that a mind is told: the prompt and how to answer. Who it is, when it is and which round it is have no place in
/// it.
#[derive(Debug, Clone)]
pub struct MindInput {
    prompt: Prompt,
    model: Arc<ModelSettings>,
}

impl MindInput {
    /// What is asked of one mind.
    pub fn new(prompt: Prompt, model: Arc<ModelSettings>) -> Self {
        Self { prompt, model }
    }

    /// The text.
    pub fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    /// Model, token limit and options, the same in every call of a run.
    pub fn model(&self) -> &ModelSettings {
        &self.model
    }
}

/// What stays on this context of a call.
#[derive(Debug, Clone)]
pub struct CallContext {
    nonce: [u8; 32],
    call_key: String,
    attempt: Arc<AtomicU32>,
}

impl CallContext {
    /// That of mind `mind` (from 0) in round `round` (from 1).
    pub fn new(seed: u64, round: Round, mind: MindId) -> Self {
        let mut hash = Sha256::new();
        hash.update(format!("logosphere/side/v1\n{seed}\n{round}\n{mind}"));
        Self {
            nonce: hash.finalize().into(),
            call_key: format!("{round}/{mind}"),
            attempt: Arc::new(AtomicU32::new(1)),
        }
    }

    /// Randomness of this call: SHA-256 of `logosphere/side/v1`, seed, round and mind as decimals, each after a line
    /// feed.
    pub fn nonce(&self) -> &[u8; 32] {
        &self.nonce
    }

    /// `round/mind`: tells equal requests apart in a recording.
    pub fn call_key(&self) -> &str {
        &self.call_key
    }

    /// The number of the attempt that the call is at, from 1, kept by a mind that tries more than once.
    pub fn attempt(&self) -> &Arc<AtomicU32> {
        &self.attempt
    }
}

/// A request as it goes out, or as it would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireRequest {
    /// The body.
    pub body: Vec<u8>,
    /// Names and values of the headers in the order sent; a value that is secret is shown as its SHA-256.
    pub headers: Vec<(String, String)>,
}

/// A call without an answer.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{class}: {message}")]
pub struct MindError {
    /// The class of the failure.
    pub class: FailureClass,
    /// What went wrong, without secrets.
    pub message: String,
    /// No other call would fare better.
    pub fatal: bool,
    /// Every try.
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
    /// What a server of chat completions would be sent, for minds that are programs.
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
