//! The window of messages that a value is computed from.

use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU32;
use std::ops::Range;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::pool::MessageId;
use crate::verify::Transcript;

/// The messages that a value at the end of a round is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a window is of the pool or of rounds"
)]
pub enum Window {
    /// The active pool.
    #[default]
    Active,
    /// The messages of the last `R` rounds. Seed messages belong to round 0.
    Rounds(NonZeroU32),
}

/// The error of a text that is not a [`Window`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("window {found:?} is neither `active` nor `rounds:R` with R of at least 1")]
#[non_exhaustive]
pub struct WindowError {
    /// The text.
    pub found: String,
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Active => f.write_str("active"),
            Self::Rounds(rounds) => write!(f, "rounds:{rounds}"),
        }
    }
}

impl FromStr for Window {
    type Err = WindowError;

    fn from_str(text: &str) -> Result<Self, WindowError> {
        let rounds = || text.strip_prefix("rounds:")?.parse().ok();
        match text {
            "active" => Ok(Self::Active),
            _ => rounds().map(Self::Rounds).ok_or_else(|| WindowError {
                found: text.to_owned(),
            }),
        }
    }
}

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Window {
    /// Returns the window at the end of each round, as ids. The first is that before round 1.
    pub(crate) fn ranges(self, run: &Transcript) -> Vec<Range<usize>> {
        let sizes = sizes(run);
        let ranges = sizes.iter().enumerate().map(|(at, &end)| match self {
            Self::Active => {
                let round = at.checked_sub(1).and_then(|at| run.rounds.get(at));
                let first = round.and_then(|round| round.first).map(MessageId::index);
                first.unwrap_or(end.saturating_sub(run.active)).min(end)..end
            }
            Self::Rounds(rounds) => {
                let before = at.checked_sub(rounds.get() as usize);
                before.map_or(0, |before| sizes[before])..end
            }
        });
        ranges.collect()
    }
}

/// Returns the messages that were taken out of the active pool before the end of a round; `at` is 0 for the time before
/// round 1.
pub(crate) fn ablated(run: &Transcript, at: usize) -> BTreeSet<usize> {
    let round = at.checked_sub(1).and_then(|at| run.rounds.get(at));
    let Some(round) = round.map(|round| round.round) else {
        return BTreeSet::new();
    };
    let gone = run.ablated.iter().filter(|(since, _)| *since <= round);
    gone.map(|(_, id)| id.index()).collect()
}

/// Returns the messages that each round added, as ids. The first are the seed messages.
pub(crate) fn round_ranges(run: &Transcript) -> Vec<Range<usize>> {
    let mut start = 0;
    (sizes(run).into_iter())
        .map(|end| std::mem::replace(&mut start, end)..end)
        .collect()
}

/// Returns the size of the pool before round 1 and at the end of each round. The sizes never decrease or exceed the
/// number of messages.
fn sizes(run: &Transcript) -> Vec<usize> {
    let all = run.messages.len();
    let ends = run.rounds.iter().map(|round| round.pool_size);
    let mut least = 0;
    std::iter::once(run.seeds)
        .chain(ends)
        .map(|size| {
            least = size.min(all).max(least);
            least
        })
        .collect()
}
