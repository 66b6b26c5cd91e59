//! Transforms of states, for the symmetry laws.

use serde::{Deserialize, Serialize};

use super::error::UniverseError;
use super::rule::Rule;
use super::state::{Alphabet, State, Symbol};

/// A named transform of a state: optionally reversed, then every symbol replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transform {
    pub(crate) name: String,
    pub(crate) reverse: bool,
    /// The image of each symbol, by index.
    pub(crate) map: Vec<Symbol>,
}

impl Transform {
    /// Creates a transform that replaces the symbols in `map` and keeps the others.
    ///
    /// ```
    /// use popper_harness::universe::{Alphabet, Transform};
    ///
    /// let alphabet = Alphabet::new(".><".chars())?;
    /// let mirror = Transform::new("mirror", true, [('>', '<'), ('<', '>')], &alphabet)?;
    /// assert_eq!(*mirror.apply(&[0, 1, 1]), [2, 2, 0]);
    /// # Ok::<(), popper_harness::universe::UniverseError>(())
    /// ```
    ///
    /// # Errors
    /// [`UniverseError`] when the name is blank, has a control character or is that of a shift, or when `map` is not a
    /// permutation of symbols of the alphabet.
    pub fn new(
        name: &str,
        reverse: bool,
        map: impl IntoIterator<Item = (char, char)>,
        alphabet: &Alphabet,
    ) -> Result<Self, UniverseError> {
        if name.trim().is_empty()
            || name.chars().any(char::is_control)
            || name.starts_with("shift_")
        {
            let message =
                format!("{name:?} is blank, has a control character, or begins like a shift");
            return Err(UniverseError::field("name", message));
        }
        let wrong = |message| Err(UniverseError::field("map", message));
        let mut images: Vec<Option<Symbol>> = vec![None; alphabet.len()];
        for (from, to) in map {
            let of = |char| alphabet.known_symbol("map", char);
            let (index, image) = (usize::from(of(from)?), of(to)?);
            if images[index].replace(image).is_some() {
                return wrong(format!("names {from:?} twice"));
            }
        }
        let map: Vec<Symbol> = (0..)
            .zip(images)
            .map(|(symbol, image)| image.unwrap_or(symbol))
            .collect();
        for (index, &image) in map.iter().enumerate() {
            if let Some(earlier) = map[..index].iter().position(|&other| other == image) {
                let [first, second, both] =
                    [earlier as Symbol, index as Symbol, image].map(|symbol| alphabet.char(symbol));
                return wrong(format!(
                    "{first:?} and {second:?} both become {both:?}, expected an exchange of symbols"
                ));
            }
        }
        Ok(Self {
            name: name.into(),
            reverse,
            map,
        })
    }

    /// Returns the name in laws.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the image of a state.
    pub fn apply(&self, state: &[Symbol]) -> State {
        let image = |&symbol: &Symbol| self.map[usize::from(symbol)];
        if self.reverse {
            state.iter().rev().map(image).collect()
        } else {
            state.iter().map(image).collect()
        }
    }

    /// Whether a step of an image is the image of the step, on rings of any length.
    pub(crate) fn commutes_with(&self, rule: &Rule) -> bool {
        rule.windows()
            .all(|(window, next)| rule.next(&self.apply(&window)) == self.map[usize::from(next)])
    }

    /// Whether no symbol and no position changes.
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
#[non_exhaustive]
pub enum Shift {
    /// The shift by this many cells, to the left when negative.
    By(i64),
    /// The shifts by every number of cells (`shift_k`).
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

    /// Returns a state moved by `k` cells.
    pub fn apply(k: i64, state: &[Symbol]) -> State {
        let mut moved = state.to_vec();
        if !moved.is_empty() {
            moved.rotate_right(k.rem_euclid(state.len() as i64) as usize);
        }
        moved.into()
    }
}
