use futures_util::future::BoxFuture;

use crate::types::{Block, Raw, Reply, ToolInput, ToolSpec};

/// The tools of a loop, and how they are run.
pub trait Toolbox: Send + Sync {
    /// The tools there are now. Read before each turn, so tools may come and go; after a pause the last ones stay.
    fn specs(&self) -> Vec<ToolSpec>;

    /// Runs the tool `name` on `input`, which is JSON that follows the tool's schema (checked with feature
    /// `schema` only). Several calls run at the same time.
    ///
    /// The future is dropped when it takes too long or when the loop is dropped. A panic becomes an error result.
    fn call<'a>(&'a self, name: &'a str, input: &'a Raw) -> BoxFuture<'a, ToolResult>;

    /// Told of everything that happens in the loop while it happens: for logs, and to save a conversation that may
    /// be dropped halfway. Does nothing by default.
    fn on_step(&self, step: Step<'_>) {
        let _ = step;
    }
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// What the model is shown: text, images, documents.
    pub content: Vec<Block>,
    /// The tool failed, and the model is told so.
    pub is_error: bool,
}

impl ToolResult {
    /// The tool answers with these blocks.
    pub fn new(content: Vec<Block>) -> Self {
        Self {
            content,
            is_error: false,
        }
    }

    /// The tool answers with `text`.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![Block::text(text)])
    }

    /// The tool failed; `text` tells the model why, so that it can do better.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            content: vec![Block::text(text)],
            is_error: true,
        }
    }
}

/// What happens in a tool loop. Turns count from 1.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Step<'a> {
    /// The model answered.
    Reply {
        /// The turn.
        turn: u32,
        /// Its answer.
        reply: &'a Reply,
    },
    /// A tool is about to be run, or turned down.
    Call {
        /// The turn.
        turn: u32,
        /// The call's id.
        id: &'a str,
        /// The tool.
        name: &'a str,
        /// Its arguments.
        input: &'a ToolInput,
    },
    /// A call has its result. Calls of one turn end in any order.
    Result {
        /// The turn.
        turn: u32,
        /// The call's id.
        id: &'a str,
        /// The tool.
        name: &'a str,
        /// What the model will be told.
        result: &'a ToolResult,
    },
}
