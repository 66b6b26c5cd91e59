//! Numbers of rounds, minds and messages as separate types. In JSON they are plain numbers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a round, from 1; 0 for the time before the first round, when the seed messages were added.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[expect(clippy::exhaustive_structs, reason = "a number with a meaning")]
pub struct Round(pub u32);

/// The number of a mind, from 0.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[expect(clippy::exhaustive_structs, reason = "a number with a meaning")]
pub struct MindId(pub u32);

/// The number of a message, from 0; seed messages are first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "a number with a meaning")]
pub struct MessageId(pub u64);

impl Round {
    /// Returns the round after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Returns the number of rounds before this one.
    pub fn before(self) -> u32 {
        self.0.saturating_sub(1)
    }
}

impl MindId {
    /// Returns the mind after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Returns the minds from this one on, of `minds` minds.
    pub fn of(self, minds: u32) -> impl Iterator<Item = Self> {
        (self.0..minds).map(Self)
    }
}

impl MessageId {
    /// Returns the id of the message at this index among all messages.
    pub fn at(place: usize) -> Self {
        Self(place as u64)
    }

    /// Returns the index among all messages.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<Round> for u64 {
    fn from(round: Round) -> Self {
        round.0.into()
    }
}

impl From<Round> for f64 {
    fn from(round: Round) -> Self {
        round.0.into()
    }
}

impl From<MessageId> for u64 {
    fn from(message: MessageId) -> Self {
        message.0
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for MindId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for MessageId {
    /// Writes the number alone, for lists of messages in errors.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
