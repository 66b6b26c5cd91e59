use std::collections::BTreeSet;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::shell::{Shell, ShellError};

/// The connection between the kernel and the person: a page, a terminal, or nothing.
#[async_trait]
pub trait Host: Send + Sync {
    /// The tools that the host can run.
    fn offers(&self) -> HostSkills;

    /// Runs one of its tools, after asking the person where that is needed.
    ///
    /// # Errors
    /// The person declines, or the tool fails.
    async fn ask(&self, call: HostCall) -> Result<Value, HostError>;

    /// Makes a shell the face. The one before stays where this one does not mount, and where `cancel` fires before it has.
    async fn show(&self, shell: Shell, cancel: CancellationToken) -> Mounted;
}

/// The tools that a host can run, by name, such as `notify`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "a set of names")]
pub struct HostSkills(pub BTreeSet<String>);

/// A tool call for the host.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a name and its arguments")]
pub struct HostCall {
    /// The tool, such as `notify`.
    pub name: String,
    /// The arguments, already checked against the schema.
    pub args: Value,
}

/// An error of the host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The person said no.
    #[error("the person said no")]
    Denied,
    /// The host cannot do this.
    #[error("{0}")]
    Unavailable(String),
    /// The tool failed.
    #[error("{0}")]
    Failed(String),
}

/// The outcome of showing a shell.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Mounted {
    /// The shell is the face now.
    Yes,
    /// No page is open; it will be shown when one opens.
    NoPage,
    /// The shell failed on the page; the previous one is the face.
    Failed(ShellError),
    /// The request was cancelled; the previous shell is the face.
    Cancelled,
}

/// No host: nothing is shown and nothing can be asked.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "a host without a screen")]
pub struct NoHost;

#[async_trait]
impl Host for NoHost {
    fn offers(&self) -> HostSkills {
        HostSkills::default()
    }

    async fn ask(&self, call: HostCall) -> Result<Value, HostError> {
        Err(HostError::Unavailable(format!(
            "{} needs a page, and none is open",
            call.name
        )))
    }

    async fn show(&self, _: Shell, _: CancellationToken) -> Mounted {
        Mounted::NoPage
    }
}
