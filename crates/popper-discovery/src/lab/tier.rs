//! The tiers of sealed universes.

use serde::{Deserialize, Serialize};

/// A tier: the size of the universe, and the part of it that an experiment shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a tier more is another version of the lab"
)]
pub enum LabTier {
    /// Four symbols and radius 1; every state is seen.
    A,
    /// Three symbols and radius 2; every state is seen.
    B,
    /// Four symbols and radius 1; three observables of each state are seen, never the state.
    C,
    /// Four symbols and radius 1; every state is seen, each cell as another symbol with probability 0.02.
    D,
}

impl LabTier {
    /// The tiers, in their order.
    pub const ALL: [Self; 4] = [Self::A, Self::B, Self::C, Self::D];

    /// Returns the letter of the tier.
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
        }
    }

    /// Returns the symbols, the background first.
    pub fn symbols(self) -> &'static str {
        match self {
            Self::B => ".ab",
            Self::A | Self::C | Self::D => ".abc",
        }
    }

    /// Returns the number of neighbours on either side that a cell reads.
    pub fn radius(self) -> usize {
        match self {
            Self::B => 2,
            Self::A | Self::C | Self::D => 1,
        }
    }

    /// Whether experiments show states; otherwise they show observables.
    pub fn shows_states(self) -> bool {
        self != Self::C
    }

    /// Returns the probability in per cent that a seen cell is shown as another symbol.
    pub fn noise_percent(self) -> u8 {
        if self == Self::D { 2 } else { 0 }
    }
}
