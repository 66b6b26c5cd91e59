use serde::Serialize;

use super::Block;
use crate::Path;

/// The number of characters that are shown before a hit, and in all.
const BEFORE: usize = 40;
const SHOWN: usize = 160;

/// A node that holds what was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Hit {
    /// The node.
    pub path: Path,
    /// The text around the first hit, in one line; `…` where something is left out.
    pub text: String,
}

impl Block {
    /// The nodes whose text holds `needle`, in upper or lower case, in order of their paths and at most `limit`.
    pub fn search(&self, needle: &str, limit: usize) -> Vec<Hit> {
        let needle = needle.to_lowercase();
        let mut hits = Vec::new();
        if needle.trim().is_empty() {
            return hits;
        }
        self.tree.walk(Path::root(), &mut |path, node| {
            if hits.len() < limit
                && let Some(text) = &node.text
                && let Some(at) = find(text, &needle)
            {
                let text = excerpt(text, at);
                hits.push(Hit { path, text });
            }
            hits.len() < limit
        });
        hits
    }
}

/// The character of `text` where `needle`, which is in lower case, begins.
fn find(text: &str, needle: &str) -> Option<usize> {
    let lower = text.to_lowercase();
    let place = lower.find(needle)?;
    // A letter in lower case may have more bytes, or be several letters: those of the beginning are counted.
    let mut bytes = 0;
    text.chars().position(|letter| {
        bytes += letter.to_lowercase().map(char::len_utf8).sum::<usize>();
        bytes > place
    })
}

fn excerpt(text: &str, at: usize) -> String {
    let start = at.saturating_sub(BEFORE);
    let mut letters = text.chars().skip(start);
    let line = letters.by_ref().take(SHOWN);
    let line: String = line
        .map(|letter| if letter.is_whitespace() { ' ' } else { letter })
        .collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if letters.next().is_some() { "…" } else { "" };
    format!("{before}{}{after}", line.trim())
}
