//! Errors of batches and of the requests in them: which of them pass, and their form in a spool.

use llm_types::{Attempt, ErrorClass, Target};
use serde::{Deserialize, Serialize};

use crate::codec::{Fields, as_text, readable};
use crate::error::{ConnectPhase, UnavailableModel};
use crate::{Error, ErrorKind};

/// The key in a line of results.
pub(super) fn key_of(line: &[u8]) -> Option<String> {
    Fields::of(&as_text(&readable(line)))?.text("custom_id")
}

/// Whether the error is the server's answer, or its silence: not one of this machine, and not one of the key.
pub(super) fn is_of_server(error: &Error) -> bool {
    let is_auth = error.class() == ErrorClass::Auth;
    !is_auth && (error.status().is_some() || goes_again(error))
}

/// Whether the server refuses a batch for what is in it.
pub(super) fn is_refusal(error: &Error) -> bool {
    error.class() == ErrorClass::BadRequest && matches!(error.status(), Some(400 | 413 | 422))
}

/// Whether a request was too large for the way to the server, or may have been.
pub(super) fn is_cut(error: &Error) -> bool {
    let phase = match error.kind() {
        ErrorKind::Connect { phase } => Some(*phase),
        _ => None,
    };
    let is_cut = matches!(phase, Some(ConnectPhase::Send | ConnectPhase::Body));
    is_cut || error.class() == ErrorClass::Timeout
}

/// Whether a plain call failed for a reason of the server's and not of the request, and costs nothing.
pub(super) fn is_free_and_passing(error: &Error) -> bool {
    let class = error.class();
    let passes = [
        ErrorClass::RateLimit,
        ErrorClass::Overloaded,
        ErrorClass::Network,
    ];
    passes.contains(&class) && error.charged().is_none()
}

/// Whether the server may answer the same question about a batch later.
pub(super) fn is_passing(error: &Error) -> bool {
    match error.class() {
        ErrorClass::BadRequest => matches!(error.status(), Some(404 | 409)),
        ErrorClass::BadResponse => true,
        _ => goes_again(error),
    }
}

/// Whether the budget does not allow a batch.
pub(super) fn is_of_money(error: &Error) -> bool {
    let class = error.class();
    matches!(class, ErrorClass::Budget | ErrorClass::PriceUnknown)
}

/// Whether a request that got this error goes into another batch.
pub(super) fn goes_again(error: &Error) -> bool {
    may_pass(error.class())
}

fn may_pass(class: ErrorClass) -> bool {
    matches!(
        class,
        ErrorClass::RateLimit
            | ErrorClass::Overloaded
            | ErrorClass::Server
            | ErrorClass::Network
            | ErrorClass::Timeout
            | ErrorClass::Quota
            | ErrorClass::Cancelled
    )
}

/// Whether the error is of the client and not of one request: a spool keeps no such error as a result.
pub(super) fn stops_all(class: ErrorClass) -> bool {
    matches!(
        class,
        ErrorClass::Auth
            | ErrorClass::Budget
            | ErrorClass::PriceUnknown
            | ErrorClass::Quota
            | ErrorClass::Cassette
            | ErrorClass::ReplayMiss
    )
}

/// The error of a request that a batch returned without an answer.
pub(super) fn unanswered(why: &str) -> Error {
    api(408, format!("the batch ended without an answer: {why}"))
}

/// The error of a batch that the server took and then refused as a whole. A code that names a limit is of the account, and
/// passes.
pub(super) fn failed_whole(code: &str, why: &str) -> Error {
    let message = format!("the batch failed: {why}");
    let limits = ["limit", "quota", "billing"];
    if !limits.iter().any(|word| code.contains(word)) {
        return api(400, message);
    }
    let (status, quota) = (429, false);
    ErrorKind::RateLimited {
        status,
        message,
        quota,
    }
    .into()
}

fn api(status: u16, message: String) -> Error {
    let (kind, code, quota) = (None, None, false);
    ErrorKind::Api {
        status,
        kind,
        code,
        message,
        quota,
    }
    .into()
}

/// An error in a spool: its class, its text without keys, and the attempts before it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredError {
    class: ErrorClass,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    message: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<Attempt>,
}

impl StoredError {
    pub fn of(error: &Error) -> Self {
        let message = match error.kind() {
            ErrorKind::Api { message, .. }
            | ErrorKind::Auth { message, .. }
            | ErrorKind::RateLimited { message, .. }
            | ErrorKind::Overloaded { message, .. } => message.clone(),
            ErrorKind::ModelUnavailable(model) => model.message.clone(),
            ErrorKind::BadResponse { what } => what.clone(),
            ErrorKind::Refused { field, why } => format!("{field}: {why}"),
            _ => error.message(),
        };
        Self {
            class: error.class(),
            status: error.status(),
            message,
            attempts: error.attempts().to_vec(),
        }
    }

    /// Whether the same request may get an answer later: of this account, or one that can be read.
    pub fn may_pass(&self) -> bool {
        let others = [ErrorClass::BadResponse, ErrorClass::ModelUnavailable];
        may_pass(self.class) || stops_all(self.class) || others.contains(&self.class)
    }

    /// An error of the same class, status, text and attempts.
    pub fn into_error(mut self, target: &Target) -> Error {
        let attempts = std::mem::take(&mut self.attempts);
        let mut error = self.without_attempts(target);
        error.context_mut().attempts = attempts;
        error
    }

    fn without_attempts(self, target: &Target) -> Error {
        let (status, message) = (self.status.unwrap_or(500), self.message);
        match (self.class, self.status) {
            (ErrorClass::Auth, _) => ErrorKind::Auth { status, message }.into(),
            (class @ (ErrorClass::RateLimit | ErrorClass::Quota), _) => {
                let quota = class == ErrorClass::Quota;
                let kind = ErrorKind::RateLimited {
                    status,
                    message,
                    quota,
                };
                kind.into()
            }
            (ErrorClass::Overloaded, _) => ErrorKind::Overloaded { status, message }.into(),
            (ErrorClass::ModelUnavailable, _) => {
                let mut model = UnavailableModel::new(&target.provider, &target.model, status);
                model.message = message;
                ErrorKind::ModelUnavailable(Box::new(model)).into()
            }
            (ErrorClass::BadResponse, _) => Error::bad_response(message),
            (ErrorClass::Network, _) => Error::connect(ConnectPhase::Send, message),
            (ErrorClass::Timeout, None) => Error::deadline(None).with_source(message),
            (ErrorClass::BadRequest, None) => {
                let (field, why) = message.split_once(": ").unwrap_or(("request", &message));
                Error::refused(field, why)
            }
            _ => api(status, message),
        }
    }
}
