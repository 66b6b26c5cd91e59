use crate::{Block, BlockKind, Reply, Usage};

/// A piece of a reply that is still being written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The reply begins.
    Start {
        /// The provider's id of it.
        id: String,
        /// The model that serves it.
        model: String,
    },
    /// A block begins.
    BlockStart {
        /// Its place in the content.
        index: usize,
        /// Its kind, still empty.
        kind: BlockKind,
    },
    /// More of a text block.
    TextDelta {
        /// The block's place.
        index: usize,
        /// The added text.
        text: String,
    },
    /// More of a thought.
    ThinkingDelta {
        /// The block's place.
        index: usize,
        /// The added text.
        text: String,
    },
    /// More of a tool's arguments; JSON only when the block stops.
    ToolInputDelta {
        /// The block's place.
        index: usize,
        /// The added part of the JSON text.
        json: String,
    },
    /// A block is complete.
    BlockStop {
        /// The block's place.
        index: usize,
        /// The whole block.
        block: Block,
    },
    /// The tokens so far.
    Usage(Usage),
    /// The server lives.
    Ping,
    /// An event of a type this version does not know.
    Unknown {
        /// Its name.
        name: String,
        /// Its data as text.
        data: String,
    },
    /// The reply is complete. The last event.
    Done(Box<Reply>),
}
