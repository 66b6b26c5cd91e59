//! The state that the lines of a record add up to.

use jiff::Timestamp;
use llm_client::Message;
use pscale_blocks::store::Origins;

use super::author::Utterance;
use super::line::{KeptMessage, Line, OldLine, VERSION};
use super::window;

/// The messages that have not moved to `history`, and where they are in the record.
#[derive(Debug, Default)]
pub(super) struct View {
    /// The number of the newest message; 0 without one.
    pub last: u64,
    /// The number of the last message that has moved; 0 without one.
    pub moved: u64,
    /// The messages that have not moved, oldest first.
    pub said: Vec<Utterance>,
    /// The times of these messages.
    pub times: Vec<Timestamp>,
    /// The numbers of these messages.
    numbers: Vec<u64>,
    /// The last turn that moved.
    pub last_moved: Option<MovedTurn>,
}

/// A turn that has moved, as the block `history` has it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MovedTurn {
    /// The words, clipped.
    pub text: String,
    /// The places outside that they may come from.
    pub from: Origins,
}

impl View {
    /// A view of which the newest message has this number.
    pub fn after(last: u64) -> Self {
        Self {
            last,
            ..Self::default()
        }
    }

    /// Numbers up to this one are in use, whatever the lines said.
    pub fn go_on_after(&mut self, last: u64) {
        self.last = self.last.max(last);
        if self.said.is_empty() {
            self.moved = self.moved.max(last);
        }
    }

    /// Takes the next line in.
    pub fn follow(&mut self, line: Line) {
        match line {
            Line::Begin {
                n,
                moved,
                last_moved,
                last_moved_from: from,
                ..
            } => self.begin(n, moved, last_moved.map(|text| MovedTurn { text, from })),
            Line::Message {
                n,
                at,
                by,
                from,
                message,
                ..
            } => {
                // A second copy of a line.
                if n <= self.last {
                    return;
                }
                if self.last == 0 {
                    // The line about the messages before it cannot be read.
                    self.moved = n - 1;
                }
                self.last = n;
                self.said.push(Utterance::new(by, message).with_from(from));
                self.times.push(at);
                self.numbers.push(n);
            }
            Line::Moved { n, new_window, .. } => {
                self.move_through(n);
                if new_window {
                    self.last_moved = None;
                }
            }
            Line::Repaired { kept, .. } => self.keep(kept),
        }
    }

    fn begin(&mut self, n: u64, moved: u64, last_moved: Option<MovedTurn>) {
        if self.last > 0 {
            return;
        }
        self.last = n.saturating_sub(1);
        self.moved = moved;
        self.last_moved = last_moved;
    }

    fn move_through(&mut self, n: u64) {
        let count = self.numbers.partition_point(|number| *number <= n);
        if let Some(at) = self.times.first() {
            // Of thousands at a start only the last one is made.
            let last = window::turns_of_history(&self.said[..count], *at).next_back();
            self.last_moved = last.or(self.last_moved.take());
        }
        self.said.drain(..count);
        self.times.drain(..count);
        self.numbers.drain(..count);
        self.moved = self.moved.max(n);
    }

    fn keep(&mut self, kept: Vec<KeptMessage>) {
        let mut kept = kept.into_iter().peekable();
        let mut at = 0;
        // The first changed message of a run: words of those after it may have moved to it.
        let mut first: Option<usize> = None;
        while let Some(&number) = self.numbers.get(at) {
            while kept.next_if(|kept| kept.n < number).is_some() {}
            if let Some(KeptMessage { message, .. }) = kept.next_if(|kept| kept.n == number) {
                let role = self.said[at].message.role;
                first = first.filter(|first| self.said[*first].message.role == role);
                if let Some(message) = message {
                    self.said[at].message = message;
                    let from = self.said[at].from.clone();
                    self.add_origins(*first.get_or_insert(at), &from);
                }
                at += 1;
            } else {
                let removed = self.said.remove(at);
                if let Some(first) = first {
                    self.add_origins(first, &removed.from);
                }
                self.times.remove(at);
                self.numbers.remove(at);
            }
        }
    }

    fn add_origins(&mut self, index: usize, more: &Origins) {
        let from = &mut self.said[index].from;
        *from = Origins::union([&*from, more]);
    }

    /// The number of a message that has not moved.
    pub fn number(&self, index: usize) -> u64 {
        self.numbers.get(index).copied().unwrap_or(self.moved)
    }

    /// The line of a repair after which `kept` are the messages that have not moved, each with its index among them.
    pub fn repaired(&self, kept: Vec<(usize, Message)>) -> Line {
        let kept = kept.into_iter().map(|(index, message)| KeptMessage {
            n: self.number(index),
            message: Some(message).filter(|message| *message != self.said[index].message),
        });
        Line::Repaired {
            schema_version: VERSION,
            kept: kept.collect(),
        }
    }

    /// A line of an earlier version in the current one, as the next line.
    pub fn to_current(&self, line: OldLine) -> Line {
        let schema_version = VERSION;
        match line {
            OldLine::Message {
                at, by, message, ..
            } => {
                let said = match by {
                    Some(by) => Utterance::new(by, message),
                    None => Utterance::without_author(message),
                };
                Line::Message {
                    schema_version,
                    n: self.last + 1,
                    at,
                    by: said.by,
                    from: said.from,
                    message: said.message,
                }
            }
            OldLine::Moved { messages, .. } => Line::Moved {
                schema_version,
                n: match messages.min(self.said.len()).checked_sub(1) {
                    Some(last) => self.number(last),
                    None => self.moved,
                },
                new_window: false,
            },
            OldLine::Repaired { messages, .. } => self.repaired(self.indexed(messages)),
        }
    }

    /// Finds the messages of a repair of an earlier version among those that have not moved. They are in the same order, and a
    /// message that was changed is taken for the next one there.
    fn indexed(&self, messages: Vec<Message>) -> Vec<(usize, Message)> {
        let count = messages.len();
        let mut next = 0;
        let mut indexed = Vec::new();
        for (done, message) in messages.into_iter().enumerate() {
            // As many must be left as there are messages after this one.
            let end = (self.said.len() + done + 1).saturating_sub(count);
            if next >= end {
                break;
            }
            let same = (next..end).find(|index| self.said[*index].message == message);
            let index = same.unwrap_or(next);
            next = index + 1;
            indexed.push((index, message));
        }
        indexed
    }
}

#[cfg(test)]
mod tests {
    use pscale_blocks::store::Origin;

    use super::super::archive::begin_line;
    use super::super::author::Author;
    use super::super::line::ParsedLine;
    use super::*;

    /// The numbers and texts after a repair of version 2.
    fn repaired(said: &[&str], repaired: &[&str]) -> Vec<(u64, String)> {
        let mut view = View::default();
        let schema_version = 2;
        for text in said {
            view.follow(view.to_current(OldLine::Message {
                schema_version,
                at: Timestamp::UNIX_EPOCH,
                by: Some(Author::Person),
                message: Message::user(*text),
            }));
        }
        let messages = repaired.iter().map(|text| Message::user(*text)).collect();
        view.follow(view.to_current(OldLine::Repaired {
            schema_version,
            messages,
        }));
        assert_eq!(view.said.len(), view.times.len());
        let texts = view.said.iter().map(|said| said.message.text());
        view.numbers.iter().copied().zip(texts).collect()
    }

    #[test]
    fn a_repair_of_an_earlier_version_finds_its_messages() {
        let found = |said: &[&str], kept: &[&str]| -> Vec<(u64, String)> {
            let rows = repaired(said, kept);
            let texts: Vec<_> = rows.iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!(texts, kept);
            rows
        };
        let numbers = |rows: Vec<(u64, String)>| rows.into_iter().map(|(n, _)| n).collect();
        let kept = |said: &[&str], kept: &[&str]| -> Vec<u64> { numbers(found(said, kept)) };
        assert_eq!(kept(&["a", "b", "c"], &["a", "c"]), [1, 3]);
        assert_eq!(
            kept(&["a", "b", "c", "d"], &["a", "changed", "d"]),
            [1, 2, 4]
        );
        // A text that comes again later is not taken for that if then too few are left.
        assert_eq!(kept(&["a", "b", "a"], &["changed", "a", "a"]), [1, 2, 3]);
        assert_eq!(kept(&["a", "b"], &[]), [0_u64; 0]);
        assert_eq!(repaired(&[], &["a"]), []);
    }

    #[test]
    fn origins_stay_with_their_messages_in_a_repair_and_with_the_last_turn() {
        let page = |n| {
            let url = format!("page {n}");
            Origins::from(Origin::Web { url })
        };
        let mut view = View::default();
        for n in 1..=4 {
            view.follow(Line::Message {
                schema_version: VERSION,
                n,
                at: Timestamp::UNIX_EPOCH,
                by: [Author::Model, Author::Person][(n % 2) as usize],
                from: page(n),
                message: Message::user(format!("text {n}")),
            });
        }
        let kept = vec![(0, Message::user("changed")), (2, Message::user("text 3"))];
        view.follow(view.repaired(kept));
        let from: Vec<_> = view.said.iter().map(|said| said.from.clone()).collect();
        // The changed one may have words of the removed ones.
        let moved_from = Origins::union([&page(1), &page(2), &page(4)]);
        assert_eq!(from, [moved_from.clone(), page(3)]);
        view.follow(Line::Moved {
            schema_version: VERSION,
            n: 1,
            new_window: false,
        });
        let moved = view.last_moved.clone().unwrap();
        assert!(moved.text.ends_with("person: changed"), "{}", moved.text);
        assert_eq!(moved.from, moved_from);
        // The next file begins with it.
        let mut line = Vec::new();
        begin_line(1, view.last_moved).write(&mut line).unwrap();
        let Ok(ParsedLine::Current { line, .. }) = ParsedLine::parse(&line) else {
            panic!("not a line");
        };
        let mut next = View::default();
        next.follow(line);
        assert_eq!(next.last_moved, Some(moved));
    }
}
