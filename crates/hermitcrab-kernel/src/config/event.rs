use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::Usage;

/// What happens while the kernel works, for the face to show.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// More of the answer's text.
    Delta {
        /// What is added.
        text: String,
    },
    /// A tool begins.
    ToolStart {
        /// The tool.
        name: String,
        /// Its arguments in a few words.
        summary: String,
    },
    /// A tool is done.
    ToolEnd {
        /// The tool.
        name: String,
        /// It failed.
        is_error: bool,
        /// How long it took in milliseconds.
        ms: u64,
    },
    /// Another model answers than before.
    ModelChanged {
        /// The one before.
        from: String,
        /// The one from now on.
        to: String,
        /// Why.
        why: String,
    },
    /// A new shell is the face.
    ShellShown {
        /// Its revision.
        rev: u64,
    },
    /// A shell did not become the face.
    ShellFailed {
        /// Its revision, if it got one.
        rev: Option<u64>,
        /// What is wrong.
        message: String,
    },
    /// A tool changed a block.
    BlockChanged {
        /// The block.
        name: String,
    },
    /// What the conversation has taken so far.
    Usage(Usage),
    /// One line for the person.
    Notice {
        /// The line.
        text: String,
    },
}

/// Where events go. Cheap to clone.
#[derive(Clone)]
pub struct EventSink(Arc<dyn Fn(Event) + Send + Sync>);

impl EventSink {
    /// Calls `listener` with every event. It must not block.
    pub fn new(listener: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listener))
    }

    /// Nobody listens.
    pub fn none() -> Self {
        Self::new(|_| {})
    }

    /// Tells the listener.
    pub fn send(&self, event: Event) {
        (self.0)(event);
    }

    /// One line for the person.
    pub fn notice(&self, text: impl Into<String>) {
        self.send(Event::Notice { text: text.into() });
    }
}

impl fmt::Debug for EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventSink")
    }
}
