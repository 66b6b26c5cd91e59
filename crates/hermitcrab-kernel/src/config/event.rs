use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::config::Usage;

/// An event during the kernel's work, for the face to show.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// More of the answer's text.
    Delta {
        /// The new text.
        text: String,
    },
    /// A tool begins.
    ToolStart {
        /// The tool.
        name: String,
        /// A short summary of the arguments.
        summary: String,
    },
    /// A tool is done.
    ToolEnd {
        /// The tool.
        name: String,
        /// Whether the tool failed.
        is_error: bool,
        /// The duration in milliseconds.
        ms: u64,
    },
    /// The model that answers has changed.
    ModelChanged {
        /// The previous model.
        from: String,
        /// The new model.
        to: String,
        /// The reason in one line.
        why: String,
    },
    /// A new shell is the face.
    ShellShown {
        /// The revision of the shell.
        rev: u64,
    },
    /// A shell did not become the face.
    ShellFailed {
        /// The revision of the shell, if it has one.
        rev: Option<u64>,
        /// The error message.
        message: String,
    },
    /// A tool changed a block.
    BlockChanged {
        /// The block.
        name: String,
    },
    /// The usage so far.
    Usage(Usage),
    /// Sends one line for the person.
    Notice {
        /// The line.
        text: String,
    },
}

/// The receiver of events. Cheap to clone.
#[derive(Clone)]
pub struct EventSink(Arc<dyn Fn(Event) + Send + Sync>);

impl EventSink {
    /// Calls `listener` with every event. It must not block.
    pub fn new(listener: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listener))
    }

    /// A sink that drops every event.
    pub fn none() -> Self {
        Self::new(|_| {})
    }

    /// Sends an event to the listener.
    pub fn send(&self, event: Event) {
        (self.0)(event);
    }

    /// Sends one line for the person.
    pub fn notice(&self, text: impl Into<String>) {
        self.send(Event::Notice { text: text.into() });
    }
}

impl fmt::Debug for EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventSink")
    }
}
