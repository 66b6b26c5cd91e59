//! The cap on the messages of one answer, between the parser and the pool.

use std::mem;

use super::parsed::{Note, Parsed, Reason};
use super::rules::Rules;

/// The cap of a run on the messages of one answer. `None` sends all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageCap {
    /// The number of messages that are sent, the first ones.
    count: Option<u32>,
    /// The characters of the longest message that is sent, without its signature.
    chars: Option<u32>,
}

impl MessageCap {
    /// Returns the cap of these settings by the rules of a journal; 0 and `None` mean without a cap.
    pub(crate) fn new(count: Option<u32>, chars: Option<u32>, rules: Rules) -> Self {
        let cap = |setting: Option<u32>| setting.filter(|most| rules.caps_messages && *most > 0);
        Self {
            count: cap(count),
            chars: cap(chars),
        }
    }

    /// Returns whether each message of an answer is sent, in order. Messages that are too long do not use up the number.
    pub(crate) fn allows(self, parsed: &Parsed) -> Vec<bool> {
        let mut left = self.count.unwrap_or(u32::MAX);
        let messages = parsed.messages.iter();
        messages
            .map(|message| {
                let allowed = left > 0 && !self.is_too_long(message, parsed);
                left -= u32::from(allowed);
                allowed
            })
            .collect()
    }

    /// Leaves out the messages over the cap, which count as lost, and returns their number. An answer of which no message
    /// remains is a silence with text.
    pub(crate) fn apply(self, parsed: &mut Parsed) -> u64 {
        let allowed = self.allows(parsed);
        let (mut over, mut over_chars, mut too_many) = (0, 0, false);
        for (message, allowed) in mem::take(&mut parsed.messages).into_iter().zip(allowed) {
            if allowed {
                parsed.messages.push(message);
            } else {
                over += 1;
                over_chars += parsed.chars_of(&message);
                too_many |= !self.is_too_long(&message, parsed);
            }
        }
        if over > 0 && parsed.messages.is_empty() {
            parsed.reason = Reason::Silence;
        }
        if too_many {
            // Its name is the last one.
            parsed.notes.push(Note::TooManyMessages);
        }
        parsed.lost_blocks += over;
        parsed.lost_chars += over_chars;
        over
    }

    fn is_too_long(self, message: &str, parsed: &Parsed) -> bool {
        self.chars
            .is_some_and(|most| parsed.chars_of(message) > u64::from(most))
    }
}
