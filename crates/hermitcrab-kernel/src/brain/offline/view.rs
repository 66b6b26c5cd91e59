use llm_client::{BlockKind, Message, Role, ToolSpec};
use serde_json::Value;

use crate::conversation::window::{LEFT_OUT, is_notice};
use crate::{BrainRequest, Face};

/// The script's view of a conversation: the last words of the person, and the calls since then.
pub(super) struct ConversationView<'a> {
    /// The last words of the person, or `BOOT`.
    pub words: &'a str,
    /// The calls since then, oldest first.
    pub calls: Vec<OfflineToolCall<'a>>,
    /// The face is a terminal.
    pub terminal: bool,
    /// The number of the next call.
    pub next_call: u64,
    tools: &'a [ToolSpec],
}

/// A call of a tool.
pub(super) struct OfflineToolCall<'a> {
    pub name: &'a str,
    /// The result as JSON; a text if it is not JSON, null if it is missing.
    pub result: Value,
    pub is_error: bool,
}

impl<'a> ConversationView<'a> {
    pub fn of(request: &'a BrainRequest) -> Self {
        let blocks: Vec<(Role, &BlockKind)> = request
            .messages
            .iter()
            .flat_map(|message| {
                message
                    .content
                    .iter()
                    .map(|block| (message.role, &block.kind))
            })
            .collect();
        let said = |at: &usize| match blocks[*at] {
            (Role::User, BlockKind::Text { text }) if !is_notice(text) && text != LEFT_OUT => {
                Some(text.trim())
            }
            _ => None,
        };
        let last = (0..blocks.len()).rev().find(|at| said(at).is_some());
        let since = last.map_or(0, |at| at + 1);
        Self {
            words: last.as_ref().and_then(said).unwrap_or_default(),
            calls: blocks[since..]
                .iter()
                .filter_map(|(_, kind)| call(kind, &request.messages))
                .collect(),
            terminal: request.face == Face::Terminal,
            next_call: 1 + blocks
                .iter()
                .filter_map(|(_, kind)| number(kind))
                .max()
                .unwrap_or(0),
            tools: &request.tools,
        }
    }

    /// The last call of this tool since the person spoke.
    pub fn last(&self, name: &str) -> Option<&OfflineToolCall<'a>> {
        self.calls.iter().rev().find(|call| call.name == name)
    }

    /// Whether this tool can be called.
    pub fn has(&self, tool: &str) -> bool {
        self.tools.iter().any(|spec| spec.name() == Some(tool))
    }
}

/// The prefix of the ids of the script's calls.
pub(super) const CALL_ID: &str = "offline_";

/// The number of a call of the script.
fn number(kind: &BlockKind) -> Option<u64> {
    match kind {
        BlockKind::ToolUse { id, .. } => id.strip_prefix(CALL_ID)?.parse().ok(),
        _ => None,
    }
}

fn call<'a>(kind: &'a BlockKind, messages: &'a [Message]) -> Option<OfflineToolCall<'a>> {
    let BlockKind::ToolUse { id, name, .. } = kind else {
        return None;
    };
    let mut blocks = messages.iter().flat_map(|message| &message.content);
    let found = blocks.find_map(|block| match &block.kind {
        BlockKind::ToolResult {
            tool_use_id,
            content,
            is_error,
        } if tool_use_id == id => {
            // What may follow is about the face.
            let text = content.iter().find_map(llm_client::Block::as_text);
            Some((text.unwrap_or_default().to_owned(), *is_error))
        }
        _ => None,
    });
    let (text, is_error) = found.unwrap_or_default();
    Some(OfflineToolCall {
        name,
        // A result that is no JSON is a text.
        result: serde_json::from_str(&text).unwrap_or(Value::String(text)),
        is_error,
    })
}

impl OfflineToolCall<'_> {
    /// The error of a failed call in one line.
    pub fn failure(&self) -> String {
        let part = |name: &str| self.result[name].as_str().unwrap_or_default();
        let mut text = match self.result["error"].as_str() {
            Some(kind) => format!("{kind}: {}", part("detail")),
            None => self.result.to_string(),
        };
        if !part("hint").is_empty() {
            text = format!("{text} ({})", part("hint"));
        }
        text
    }

    /// A result that is a source: a text, or an object that holds one.
    pub fn source(&self) -> Option<&str> {
        let fields = [&self.result, &self.result["source"], &self.result["jsx"]];
        fields.into_iter().find_map(Value::as_str)
    }
}
