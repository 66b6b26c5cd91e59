use std::fmt;

use llm_types::Usd;

/// A model that a provider does not serve.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnavailableModel {
    /// The provider's name.
    pub provider: String,
    /// The id that was asked for.
    pub model: String,
    /// The HTTP status.
    pub status: u16,
    /// The day of its retirement by the models table, `YYYY-MM-DD`.
    pub retired_at: Option<String>,
    /// The day the models table was read, `YYYY-MM-DD`.
    pub read_on: String,
    /// Up to five active ids of that provider by the table; empty if the table lists this model as served.
    pub active: Vec<String>,
    /// The server's message: redacted, one line, at most 300 characters; may be empty.
    pub message: String,
}

impl UnavailableModel {
    /// Creates a model that the models table does not hold, without a message.
    pub fn new(provider: impl Into<String>, model: impl Into<String>, status: u16) -> Self {
        Self {
            provider: provider.into(),
            model: model.into(),
            status,
            retired_at: None,
            read_on: String::new(),
            active: Vec::new(),
            message: String::new(),
        }
    }
}

impl fmt::Display for UnavailableModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            provider,
            model,
            status,
            ..
        } = self;
        write!(
            f,
            "model {model} is not available at {provider} (HTTP {status})"
        )?;
        if let Some(retired_at) = &self.retired_at {
            write!(
                f,
                "; retired {retired_at} per models file of {}",
                self.read_on
            )?;
        }
        if !self.active.is_empty() {
            write!(f, "; active: {}", self.active.join(", "))?;
        }
        if !self.message.is_empty() {
            write!(f, "; the server says: {}", self.message)?;
        }
        Ok(())
    }
}

/// The phase in which a connection failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectPhase {
    /// The name lookup or the connection.
    Connect,
    /// The server's certificate is not trusted.
    Trust,
    /// The connection was interrupted before the reply's headers.
    Send,
    /// The connection was interrupted inside the reply's body.
    Body,
}

impl fmt::Display for ConnectPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "cannot connect",
            Self::Trust => "the server's certificate is not trusted",
            Self::Send => "the connection broke before an answer came",
            Self::Body => "the connection broke inside the reply",
        })
    }
}

/// The phase that timed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeoutPhase {
    /// The connection.
    Connect,
    /// The first byte of a stream.
    FirstByte,
    /// A further byte.
    Idle,
    /// A further event that is more than a sign of life.
    Progress,
    /// The whole reply of one attempt.
    Reply,
}

impl fmt::Display for TimeoutPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connection",
            Self::FirstByte => "first byte",
            Self::Idle => "further byte",
            Self::Progress => "progress",
            Self::Reply => "whole reply",
        })
    }
}

/// An amount of a quantity that a budget caps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Amount {
    /// An amount of money.
    Usd(Usd),
    /// A number of calls.
    Calls(u64),
    /// A number of tokens of prompts and replies.
    Tokens(u64),
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usd(usd) => usd.fmt(f),
            Self::Calls(n) => write!(f, "{n} calls"),
            Self::Tokens(n) => write!(f, "{n} tokens"),
        }
    }
}
