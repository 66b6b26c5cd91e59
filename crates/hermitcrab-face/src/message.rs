//! The messages between a page and the server over the socket: JSON texts with a `type`.

use std::collections::BTreeSet;

use hermitcrab_kernel::config::Usage;
use hermitcrab_kernel::faces::ShellError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A message of a page. All of it is a claim: the shell in the page may lie.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum FromPage {
    /// The first message.
    Hello {
        /// The token from `POST /session`.
        token: String,
        /// The tools that this browser can run.
        #[serde(default)]
        skills: BTreeSet<String>,
        /// The page is in view.
        #[serde(default)]
        visible: bool,
    },
    /// The page came into view, or left it.
    Visible { visible: bool },
    /// A frame runs, and waits for its shell.
    Ready { frame: String },
    /// A shell's first render is done.
    Mounted { frame: String, rev: u64 },
    /// A shell failed to mount, or died after it had.
    Failed {
        frame: String,
        rev: u64,
        /// `load`, `render` or `timeout`.
        phase: String,
        message: String,
        /// The place in the script, from 1.
        line: Option<u32>,
        col: Option<u32>,
    },
    /// A shell calls one of its props; without a frame the bar does.
    Call {
        id: u64,
        frame: Option<String>,
        method: String,
        #[serde(default)]
        args: Vec<Value>,
        /// The browser says that the person has just clicked or typed. It is the page's word, not the shell's.
        #[serde(default)]
        gesture: bool,
    },
    /// The answer to [`ToPage::HostCall`].
    HostReply {
        id: u64,
        ok: bool,
        #[serde(default)]
        value: Value,
        /// `denied`, `unavailable` or `failed`.
        #[serde(default)]
        error: String,
        #[serde(default)]
        detail: String,
    },
    /// An uncaught error of a shell, or a line of its console.
    Log {
        frame: String,
        level: String,
        text: String,
    },
}

/// A message of the server.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ToPage {
    /// The answer to [`FromPage::Hello`].
    Welcome {
        page: u64,
        version: String,
        #[serde(flatten)]
        status: Status,
        usage: Box<Usage>,
        notices: Vec<String>,
    },
    /// A shell is to be mounted in a new frame; the one before stays until it has.
    Show {
        frame: String,
        rev: u64,
        props: Value,
    },
    /// All frames are to go: the page shows its own chat, until a shell mounts.
    Safe {
        reason: String,
        errors: Vec<ShellError>,
    },
    /// A frame whose shell failed is not wanted any longer.
    Discard { frame: String },
    /// All frames are to go at once. A browser runs the frames of one server in one process: a shell that never ends
    /// holds the others up, too, and its process goes with the last of them.
    Clear,
    /// The answer to [`FromPage::Call`].
    Reply {
        id: u64,
        ok: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Value>,
    },
    /// An event for the page.
    Event {
        event: &'static str,
        data: Value,
        /// With a call: only for the call with that id.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<u64>,
    },
    /// The browser is to do something, after asking the person where that is due.
    HostCall { id: u64, name: String, args: Value },
}

impl ToPage {
    pub fn event(event: &'static str, data: Value) -> Self {
        Self::Event {
            event,
            data,
            call: None,
        }
    }

    pub fn reply(id: u64, answer: Result<Value, Value>) -> Self {
        let ok = answer.is_ok();
        let (value, error) = match answer {
            Ok(value) => (Some(value), None),
            Err(error) => (None, Some(error)),
        };
        Self::Reply {
            id,
            ok,
            value,
            error,
        }
    }
}

/// The model and the runtime, for the bar and for a shell's props.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Status {
    pub model: String,
    #[serde(rename = "fastModel")]
    pub fast: String,
    pub offline: Option<String>,
    /// The runtime of the next frame, in the words of the bar.
    pub runtime: String,
    /// The whole reason why it is not React.
    pub runtime_reason: Option<String>,
    /// The provider whose key is missing.
    pub key_wanted: Option<String>,
    /// A turn is under way.
    pub busy: bool,
}
