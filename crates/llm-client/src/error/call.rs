use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

#[cfg(feature = "batch")]
use llm_types::Target;
use llm_types::{Attempt, Charge, ErrorClass};

use super::kind::ErrorKind;
use super::parts::{ConnectPhase, TimeoutPhase};

/// The error of a call: its [`ErrorKind`], its cause as [`source`](StdError::source), and the attempts made.
///
/// `Display` shows the kind alone; [`Error::message`] adds the causes. No text of an error contains a key.
pub struct Error(Box<ErrorParts>);

/// The cause of an error.
type ErrorSource = Box<dyn StdError + Send + Sync>;

struct ErrorParts {
    kind: ErrorKind,
    source: Option<ErrorSource>,
    context: ErrorContext,
}

/// The history of an error.
#[derive(Debug, Clone, Default)]
pub(crate) struct ErrorContext {
    /// Every attempt, the failed one last. Empty if nothing was sent.
    pub attempts: Vec<Attempt>,
    /// The provider's id of the last HTTP exchange.
    pub request_id: Option<String>,
    /// The server's retry headers.
    pub retry_headers: RetryHeaders,
    /// The wait that the headers ask for, once it is computed.
    pub retry_after: Option<Duration>,
    /// The reason why the budget refused a further attempt that the policy allows.
    pub note: Option<String>,
}

/// The retry headers of an error response, unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RetryHeaders {
    /// The header `x-should-retry`.
    pub should_retry: Option<bool>,
    /// The header `retry-after-ms`.
    pub retry_after_ms: Option<String>,
    /// The header `retry-after`: seconds or an HTTP date.
    pub retry_after: Option<String>,
}

impl Error {
    /// The kind of the failure, for a `match`.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The class of the failure, for results and journals.
    pub fn class(&self) -> ErrorClass {
        self.0.kind.class()
    }

    /// The error and its causes in one line, joined by `: `.
    pub fn message(&self) -> String {
        let mut text = self.to_string();
        let mut source = self.source();
        while let Some(cause) = source {
            text.push_str(": ");
            text.push_str(&cause.to_string());
            source = cause.source();
        }
        if let Some(note) = &self.0.context.note {
            text.push_str("; no further attempt: ");
            text.push_str(note);
        }
        text
    }

    /// The HTTP status, if an answer came.
    pub fn status(&self) -> Option<u16> {
        match &self.0.kind {
            ErrorKind::Api { status, .. }
            | ErrorKind::Auth { status, .. }
            | ErrorKind::RateLimited { status, .. }
            | ErrorKind::Overloaded { status, .. } => Some(*status),
            ErrorKind::ModelUnavailable(model) => Some(model.status),
            ErrorKind::RetryAfterTooLong { .. } => {
                self.attempts().last().and_then(|attempt| attempt.status)
            }
            // These are found in replies with a success status only.
            ErrorKind::BadResponse { .. }
            | ErrorKind::StreamTruncated { .. }
            | ErrorKind::Protocol { .. }
            | ErrorKind::TooLarge { .. } => Some(200),
            _ => None,
        }
    }

    /// Every attempt, the failed one last. Empty if nothing was sent.
    pub fn attempts(&self) -> &[Attempt] {
        &self.0.context.attempts
    }

    /// The provider's id of the last HTTP exchange.
    pub fn request_id(&self) -> Option<&str> {
        self.0.context.request_id.as_deref()
    }

    /// The wait before another call that the server asks for.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.0.kind {
            ErrorKind::RetryAfterTooLong { asked } => Some(asked),
            _ => self.0.context.retry_after,
        }
    }

    /// The charge to the budget for all attempts of the call.
    pub fn charged(&self) -> Charge {
        let attempts = self.attempts().iter();
        attempts.fold(Charge::NONE, |sum, attempt| sum.plus(attempt.charge))
    }

    /// An error of a request that cannot be sent: `field` is wrong, and `why` gives the remedy.
    pub fn refused(field: impl Into<String>, why: impl Into<String>) -> Self {
        let (field, why) = (field.into(), why.into());
        ErrorKind::Refused { field, why }.into()
    }

    /// An error of a server that breaks the protocol.
    pub fn protocol(what: impl Into<String>) -> Self {
        ErrorKind::Protocol { what: what.into() }.into()
    }

    /// An error of a reply with status 200 that cannot be read.
    pub fn bad_response(what: impl Into<String>) -> Self {
        ErrorKind::BadResponse { what: what.into() }.into()
    }

    /// An error of a connection, with the system's message.
    pub fn connect(phase: ConnectPhase, source: impl Into<ErrorSource>) -> Self {
        Self::from(ErrorKind::Connect { phase }).with_source(source)
    }

    /// An error of a server that was silent for `after`.
    pub fn timeout(phase: TimeoutPhase, after: Duration) -> Self {
        ErrorKind::Timeout { phase, after }.into()
    }

    /// An error of a reply, or of a line of it, that is longer than `limit` bytes.
    pub fn too_large(what: &'static str, limit: u64) -> Self {
        ErrorKind::TooLarge { what, limit }.into()
    }

    pub(crate) fn cassette(line: Option<usize>, what: impl Into<String>) -> Self {
        let what = what.into();
        ErrorKind::Cassette { line, what }.into()
    }

    /// An error of a call whose time is over, or would be before another attempt.
    pub(crate) fn deadline(last: Option<Self>) -> Self {
        let mut error = Self::from(ErrorKind::Deadline);
        if let Some(last) = last {
            *error.context_mut() = last.context().clone();
            error = error.with_source(last);
        }
        error
    }

    /// Adds the cause, which must not contain a key.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<ErrorSource>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The same error for another call, with its causes as one text.
    #[cfg(feature = "batch")]
    pub(crate) fn repeated(&self) -> Self {
        let mut error = Self::from(self.0.kind.clone()).with_context(self.0.context.clone());
        let causes = std::iter::successors(self.source(), |cause| (*cause).source());
        let causes: Vec<String> = causes.map(ToString::to_string).collect();
        if !causes.is_empty() {
            error = error.with_source(causes.join(": "));
        }
        error
    }

    /// The error as the answer to one attempt.
    #[cfg(feature = "batch")]
    pub(crate) fn after_attempt(mut self, target: Target, charge: Charge) -> Self {
        let mut attempt = Attempt::new(1, target);
        (attempt.status, attempt.class) = (self.status(), Some(self.class()));
        attempt.charge = charge;
        self.context_mut().attempts = vec![attempt];
        self
    }

    /// Adds the history.
    pub(crate) fn with_context(mut self, context: ErrorContext) -> Self {
        self.0.context = context;
        self
    }

    pub(crate) fn kind_mut(&mut self) -> &mut ErrorKind {
        &mut self.0.kind
    }

    pub(crate) fn context(&self) -> &ErrorContext {
        &self.0.context
    }

    /// The history, to be completed by a codec or a layer.
    pub(crate) fn context_mut(&mut self) -> &mut ErrorContext {
        &mut self.0.context
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(ErrorParts {
            kind,
            source: None,
            context: ErrorContext::default(),
        }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.kind.fmt(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ErrorParts {
            kind,
            source,
            context,
        } = &*self.0;
        f.debug_struct("Error")
            .field("kind", kind)
            .field("source", source)
            .field("context", context)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
