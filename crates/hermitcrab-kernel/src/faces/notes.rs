//! Lines about the face that wait for the model.

use std::collections::VecDeque;
use std::fmt::Write as _;

use pscale_blocks::store::Origins;

use crate::prompt::FROM_FACE;

/// The limits: the number of lines, and the characters of a line.
const LINES: usize = 5;
const LONGEST: usize = 500;

/// Lines about the face, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Notes(VecDeque<Note>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Note {
    line: String,
    times: u32,
    /// The places outside that the line may come from.
    from: Origins,
}

impl Notes {
    /// Adds a line; one that waits already is counted, and is the newest again.
    pub fn add(&mut self, line: &str, from: Origins) {
        let line = one_line(line);
        if line.is_empty() {
            return;
        }
        let times = 1;
        self.put(Note { line, times, from });
    }

    fn put(&mut self, mut note: Note) {
        let known = self.0.iter().position(|known| known.line == note.line);
        if let Some(known) = known.and_then(|at| self.0.remove(at)) {
            note.times = note.times.saturating_add(known.times);
            note.from = Origins::union([&known.from, &note.from]);
        }
        self.0.push_back(note);
        while self.0.len() > LINES {
            self.0.pop_front();
        }
    }

    /// Takes the lines that wait.
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Adds those that came later.
    pub fn add_all(&mut self, later: Self) {
        for note in later.0 {
            self.put(note);
        }
    }

    /// The places outside that the lines may come from.
    pub fn origins(&self) -> Origins {
        Origins::union(self.0.iter().map(|note| &note.from))
    }

    /// The lines as the model reads them; `None` without lines. They are marked, because a face may report any text.
    pub fn text(&self) -> Option<String> {
        let mut text = String::new();
        for Note { line, times, .. } in &self.0 {
            let times = match times {
                1 => String::new(),
                times => format!(" ({times} times)"),
            };
            let end = if text.is_empty() { "" } else { "\n" };
            // A String takes every write.
            let _ = write!(text, "{end}{FROM_FACE}{line}{times}]");
        }
        (!text.is_empty()).then_some(text)
    }
}

/// `text` as one line without control characters, cut where it is too long.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(LONGEST).collect()
}
