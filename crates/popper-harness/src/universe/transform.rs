//! Transforms of states, for the symmetry laws.

use serde::{Deserialize, Serialize};

use super::{State, Symbol};

/// A named rearrangement of a state: turned round or not, then every symbol replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transform {
    /// The name laws use.
    pub name: String,
    /// Whether the order of the cells is reversed.
    pub reverse: bool,
    /// The image of each symbol, by index.
    pub map: Vec<Symbol>,
}

impl Transform {
    /// The image of a state.
    pub fn apply(&self, state: &[Symbol]) -> State {
        let image = |&symbol: &Symbol| self.map[usize::from(symbol)];
        if self.reverse {
            state.iter().rev().map(image).collect()
        } else {
            state.iter().map(image).collect()
        }
    }

    /// Whether no symbol changes and the order stays.
    pub fn is_identity(&self) -> bool {
        !self.reverse
            && self
                .map
                .iter()
                .enumerate()
                .all(|(from, &to)| from == usize::from(to))
    }
}

/// A shift of the ring: cell `i` moves to `i + k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shift {
    /// By this many cells, to the left when negative.
    By(i64),
    /// By every number of cells (`shift_k`).
    Every,
}

impl Shift {
    /// Reads `shift_3`, `shift_-1` or `shift_k`.
    pub fn parse(name: &str) -> Option<Self> {
        match name.strip_prefix("shift_")? {
            "k" => Some(Self::Every),
            number => number.parse().ok().map(Self::By),
        }
    }

    /// A state moved by `k` cells.
    pub fn apply(k: i64, state: &[Symbol]) -> State {
        let mut moved = state.to_vec();
        if !moved.is_empty() {
            moved.rotate_right(k.rem_euclid(state.len() as i64) as usize);
        }
        moved.into()
    }
}
