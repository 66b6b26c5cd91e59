//! The `novel_memes.yaml` of the Python program: one fixed form, not YAML in general.
//!
//! A message is `round: N`, `mind_id: N`, perhaps `signature: '...'`, `content: |-` and its lines, indented by two spaces.
//! A line `---` is between two messages.

use super::message::ForeignMessage;
use crate::pool::Round;

/// The message that is read.
#[derive(Default)]
struct OpenMessage {
    round: Option<u32>,
    mind: Option<u32>,
    content: Option<String>,
}

/// The reader of the lines of a file.
#[derive(Default)]
pub(super) struct MemeReader {
    open: OpenMessage,
    last: u32,
    count: u64,
}

impl MemeReader {
    /// Reads a line, and returns the message that it ends; an error says what was expected.
    pub(super) fn line(&mut self, line: &str) -> Result<Option<ForeignMessage>, String> {
        if line == "---" {
            return self.end().map(Some);
        }
        if let Some(content) = &mut self.open.content {
            let text = match line.strip_prefix("  ") {
                Some(text) => text,
                None if line.trim().is_empty() => "",
                None => return Err("expected a text indented by two spaces, or ---".to_owned()),
            };
            if !content.is_empty() {
                content.push('\n');
            }
            content.push_str(text);
            return Ok(None);
        }
        let number = |text: &str| text.parse::<u32>().ok();
        if let Some(round) = line.strip_prefix("round: ").and_then(number) {
            if round < self.last || self.open.round.replace(round).is_some() {
                return Err("rounds go back, or one message has two".to_owned());
            }
            self.last = round;
        } else if let Some(mind) = line.strip_prefix("mind_id: ").and_then(number) {
            self.open.mind = Some(mind);
        } else if line == "content: |-" {
            self.open.content = Some(String::new());
        } else if !line.starts_with("signature: ") {
            let expected = "expected `round: N`, `mind_id: N`, `signature: ...` or `content: |-`";
            return Err(expected.to_owned());
        }
        Ok(None)
    }

    /// Returns the message that the end of the file ends.
    pub(super) fn end(&mut self) -> Result<ForeignMessage, String> {
        let OpenMessage {
            round,
            mind,
            content,
        } = std::mem::take(&mut self.open);
        let (Some(round), Some(content)) = (round, content) else {
            return Err("a message needs `round: N` and `content: |-`".to_owned());
        };
        self.count += 1;
        ForeignMessage {
            text: content,
            id: Some(format!("meme:{}", self.count)),
            author: mind.map(|mind| format!("mind {mind}")),
            round: Some(Round(round.max(1))),
            ..ForeignMessage::default()
        }
        .checked()
    }
}
