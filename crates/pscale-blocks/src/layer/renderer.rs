//! The lines of a layer, and how they keep to a budget.

use super::{Layer, Suffix};
use crate::{Block, BlockName, Path, TokenCounter};

/// The least tokens of a text that is cut: fewer say nothing.
const LEAST: usize = 12;
/// The least tokens of the head's text.
const LEAST_OF_HEAD: usize = 24;
/// The number of attempts at a layer that has more tokens as a whole than its lines have.
const ATTEMPTS: usize = 4;

/// Prints nodes of one block: a frame line, then lines that no text can imitate.
pub(super) struct OutlineRenderer<'a> {
    name: &'a BlockName,
    tokens: &'a dyn TokenCounter,
    suffix: &'a Suffix<'a>,
    frame: String,
    head: Path,
}

/// A node that may be printed.
pub(super) struct Line {
    pub path: Path,
    /// Path and text.
    body: String,
    /// The suffix and the line end.
    end: String,
    /// The number of bytes of `body` that are not text: the path and the space after it.
    start: usize,
    /// The mark and the end that follow a text that is cut.
    mark: String,
    /// Tokens of the path.
    pub path_tokens: usize,
    /// Tokens of the whole line, or more than was asked for.
    pub full: usize,
    /// Tokens of the shortest form that is worth its place.
    pub floor: usize,
}

/// A line as it is printed.
pub(super) struct RenderedLine {
    pub path: Path,
    text: String,
    pub tokens: usize,
    cut: bool,
}

/// The lines of a block for a budget.
pub(super) struct LineSelection {
    pub lines: Vec<RenderedLine>,
    /// The number of nodes that would belong here, too.
    pub left_out: usize,
}

impl<'a> OutlineRenderer<'a> {
    pub fn new(
        block: &Block,
        name: &'a BlockName,
        tokens: &'a dyn TokenCounter,
        suffix: &'a Suffix<'a>,
    ) -> Self {
        Self {
            name,
            tokens,
            suffix,
            frame: format!("== block {name} (decimal {})\n", block.decimal()),
            head: block.head(),
        }
    }

    /// The layer that `choose` finds for the tokens which the frame leaves. Its tokens are counted as a whole: should they
    /// be more than those of its lines, `choose` gets less room. If the budget is too small for the frame and a few words
    /// of the head, the layer is empty.
    pub fn layer(&self, budget: usize, choose: impl Fn(usize) -> Option<LineSelection>) -> Layer {
        let mut room = budget.checked_sub(self.tokens.count(&self.frame));
        for _ in 0..ATTEMPTS {
            let Some(choice) = room.and_then(&choose) else {
                break;
            };
            let layer = self.print(choice);
            if layer.tokens <= budget {
                return layer;
            }
            room = room.and_then(|room| room.checked_sub(layer.tokens - budget));
        }
        Layer {
            text: String::new(),
            tokens: 0,
            cut: 0,
            shown: Vec::new(),
        }
    }

    fn print(&self, mut choice: LineSelection) -> Layer {
        choice.lines.sort_by_key(|line| line.path);
        let mut text = self.frame.clone();
        text.extend(choice.lines.iter().map(|line| line.text.as_str()));
        if choice.left_out > 0 {
            text.push_str(&self.more(choice.left_out));
        }
        Layer {
            tokens: self.tokens.count(&text),
            text,
            cut: choice.lines.iter().filter(|line| line.cut).count() as u32,
            shown: choice.lines.iter().map(|line| line.path).collect(),
        }
    }

    fn more(&self, left_out: usize) -> String {
        format!("(+{left_out} more in {})\n", self.name)
    }

    /// Tokens of the line that says how many nodes are left out.
    pub fn more_tokens(&self, left_out: usize) -> usize {
        self.tokens.count(&self.more(left_out))
    }

    /// The line of a node, its tokens counted up to `limit`.
    pub fn line(&self, path: Path, text: Option<&str>, limit: usize) -> Line {
        let mut body = path.to_string();
        let path_tokens = self.tokens.count(&body);
        let mut start = body.len();
        if let Some(text) = text {
            body.push(' ');
            start += 1;
            push_indented(&mut body, text);
        }
        let mut end = String::new();
        push_indented(&mut end, &(self.suffix)(path));
        // A tree without a text of its own has neither path nor text.
        if !body.is_empty() || !end.is_empty() {
            end.push('\n');
        }
        let place = if path.is_root() {
            String::new()
        } else {
            format!(" {path}")
        };
        let mark = format!(" … read {}{place}{end}", self.name);
        let least = if path == self.head {
            LEAST_OF_HEAD
        } else {
            LEAST
        };
        let whole = body.len();
        body.push_str(&end);
        let full = self.count_to(&body, limit);
        body.truncate(whole);
        let cut = path_tokens + least + self.tokens.count(&mark);
        Line {
            path,
            start,
            path_tokens,
            full,
            floor: full.min(cut),
            body,
            end,
            mark,
        }
    }

    /// The line in at most `room` tokens. `None` if not one word fits.
    pub fn fit(&self, line: &Line, room: usize) -> Option<RenderedLine> {
        if line.full <= room {
            return Some(RenderedLine {
                path: line.path,
                text: format!("{}{}", line.body, line.end),
                tokens: line.full,
                cut: false,
            });
        }
        let kept = room.checked_sub(self.tokens.count(&line.mark))?;
        let text = self.longest(&line.body, line.start, kept)?;
        let text = format!("{text}{}", line.mark);
        let tokens = self.tokens.count(&text);
        (tokens <= room).then_some(RenderedLine {
            path: line.path,
            text,
            tokens,
            cut: true,
        })
    }

    /// The tokens of `text` if they are at most `limit`, else a number above it. Long texts are not counted to their end.
    fn count_to(&self, text: &str, limit: usize) -> usize {
        let enough = text.floor_char_boundary(limit.saturating_mul(16));
        if enough < text.len() {
            let count = self.tokens.count(&text[..enough]);
            // The last tokens of a beginning may be others than those of the whole.
            if count > limit.saturating_add(LEAST) {
                return count;
            }
        }
        self.tokens.count(text)
    }

    /// A long beginning of `body` in at most `room` tokens, which ends with a word. `None` if that leaves nothing after
    /// `start`. It is found by a few guesses, so it may be a word shorter than the longest.
    fn longest<'t>(&self, body: &'t str, start: usize, room: usize) -> Option<&'t str> {
        let mut best = None;
        let mut fits = 0;
        let mut over = body.len();
        let mut guess = start + room.saturating_mul(4);
        for _ in 0..8 {
            let end = guess.clamp(fits, over);
            let text = word_end(body, start, body.floor_char_boundary(end));
            let count = self.tokens.count(text).max(1);
            if count > room {
                over = end.saturating_sub(1);
            } else {
                if text.len() > start {
                    best = Some(text);
                }
                if count + 2 >= room {
                    break;
                }
                fits = end + 1;
            }
            if fits >= over {
                break;
            }
            guess = end * room / count;
        }
        best
    }
}

/// `body` up to the last word that ends before `end`, or up to `end` if words are long, as in Chinese.
fn word_end(body: &str, start: usize, end: usize) -> &str {
    let text = &body[..end];
    if body[end..].chars().next().is_none_or(char::is_whitespace) {
        return text.trim_end();
    }
    let word = text.rfind(char::is_whitespace).unwrap_or(0);
    if word > start && 2 * word > end {
        text[..word].trim_end()
    } else {
        text
    }
}

/// Every line of `text` but the first begins with two spaces. All that some reader takes for a line break is one.
fn push_indented(into: &mut String, text: &str) {
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' if letters.peek() == Some(&'\n') => {}
            '\n'
            | '\r'
            | '\u{b}'
            | '\u{c}'
            | '\u{1c}'..='\u{1e}'
            | '\u{85}'
            | '\u{2028}'
            | '\u{2029}' => into.push_str("\n  "),
            _ => into.push(letter),
        }
    }
}
