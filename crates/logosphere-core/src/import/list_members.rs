//! Lists of messages in which each one is counted once.

use std::mem;

/// The last list in which each message was seen. So a list is checked in time that grows with its length alone.
#[derive(Default)]
pub(super) struct ListMembers {
    /// The number of that list, from 1, by the index of the message; 0 for none.
    last: Vec<u64>,
    list: u64,
}

impl ListMembers {
    /// Begins the next list.
    pub(super) fn begin(&mut self) {
        self.list += 1;
    }

    /// Adds a message to the list; returns `false` if it is there already.
    pub(super) fn insert(&mut self, at: usize) -> bool {
        if at >= self.last.len() {
            self.last.resize(at + 1, 0);
        }
        mem::replace(&mut self.last[at], self.list) != self.list
    }
}
