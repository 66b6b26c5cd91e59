use crate::{Block, BlockKind, Reply, Usage};

/// A piece of a reply that is still being written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The reply begins.
    Start {
        /// The provider's id of the reply.
        id: String,
        /// The model that serves it.
        model: String,
    },
    /// A block begins.
    BlockStart {
        /// The block's position in the content, from 0.
        index: usize,
        /// The block's kind, without its content.
        kind: BlockKind,
    },
    /// More of a text block.
    TextDelta {
        /// The block's position, from 0.
        index: usize,
        /// The added text.
        text: String,
    },
    /// More of a thought.
    ThinkingDelta {
        /// The block's position, from 0.
        index: usize,
        /// The added text.
        text: String,
    },
    /// More of a tool's arguments; JSON only when the block stops.
    ToolInputDelta {
        /// The block's position, from 0.
        index: usize,
        /// The added part of the JSON text.
        json: String,
    },
    /// A block is complete.
    BlockStop {
        /// The block's position, from 0.
        index: usize,
        /// The whole block.
        block: Block,
    },
    /// The tokens so far.
    Usage(Usage),
    /// A sign of life of the server.
    Ping,
    /// An event of a type that this version does not know.
    Unknown {
        /// The event's name.
        name: String,
        /// The event's data as text.
        data: String,
    },
    /// The complete reply; the last event.
    Done(Box<Reply>),
}
