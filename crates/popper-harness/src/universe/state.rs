//! Symbols and the states made of them.

use std::ops::Deref;

use super::{MAX_SYMBOLS, UniverseError};

/// A symbol, as its index in the alphabet of its universe.
pub type Symbol = u8;

/// A state that is not one of the universe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// A ring has at least one cell.
    #[error("the state is empty: a ring has at least one cell")]
    Empty,
    /// A symbol that the universe does not know.
    #[error("symbol {symbol:?} at cell {position} is not one of the universe's {alphabet:?}")]
    ForeignSymbol {
        /// The cell, counted from 0.
        position: usize,
        /// What stands there.
        symbol: char,
        /// What may stand there.
        alphabet: String,
    },
    /// A symbol that the universe knows but forbids at t = 0.
    #[error("symbol {symbol:?} at cell {position} may not occur at t = 0")]
    ForbiddenStart {
        /// The cell, counted from 0.
        position: usize,
        /// What stands there.
        symbol: char,
    },
}

/// The symbols of a universe, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alphabet(Vec<char>);

impl Alphabet {
    /// An alphabet of 1 to 8 different symbols, the background first.
    ///
    /// ```
    /// use popper_harness::universe::Alphabet;
    ///
    /// let alphabet = Alphabet::new(['.', 'o'])?;
    /// assert_eq!(alphabet.symbol('o'), Some(1));
    /// assert!(Alphabet::new("o o".chars()).is_err());
    /// # Ok::<(), popper_harness::universe::UniverseError>(())
    /// ```
    ///
    /// # Errors
    /// [`UniverseError`] when there are none or too many, one comes twice, or one is white space, a control character, a quote,
    /// `?` or a backslash.
    pub fn new(symbols: impl IntoIterator<Item = char>) -> Result<Self, UniverseError> {
        let wrong = |message| Err(UniverseError::field("symbols", message));
        // One more than there may be is enough to see that there are too many.
        let symbols: Vec<char> = symbols.into_iter().take(MAX_SYMBOLS + 1).collect();
        match symbols.len() {
            0 => return wrong(format!("expected 1 to {MAX_SYMBOLS} symbols, found none")),
            1..=MAX_SYMBOLS => {}
            _ => return wrong(format!("expected 1 to {MAX_SYMBOLS} symbols, found more")),
        }
        for (index, symbol) in symbols.iter().enumerate() {
            if symbols[..index].contains(symbol) {
                return wrong(format!("symbol {symbol:?} comes twice"));
            }
            if matches!(symbol, '\'' | '"' | '?' | '\\')
                || symbol.is_whitespace()
                || symbol.is_control()
            {
                return wrong(format!(
                    "symbol {symbol:?} is white space, a control character, a quote, `?` or a backslash"
                ));
            }
        }
        Ok(Self(symbols))
    }

    /// An alphabet of this crate, which needs no check.
    pub(super) fn known<const K: usize>(symbols: [char; K]) -> Self {
        Self(symbols.into())
    }

    /// The symbol of a character in the field `field`.
    pub(super) fn known_symbol(&self, field: &str, char: char) -> Result<Symbol, UniverseError> {
        self.symbol(char).ok_or_else(|| {
            UniverseError::field(field, format!("symbol {char:?} is not one of `symbols`"))
        })
    }

    /// How many symbols there are.
    #[expect(clippy::len_without_is_empty, reason = "an alphabet is never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The symbols as characters, in order.
    pub fn chars(&self) -> &[char] {
        &self.0
    }

    /// The character of a symbol.
    pub fn char(&self, symbol: Symbol) -> char {
        self.0[usize::from(symbol)]
    }

    /// The symbol of a character.
    pub fn symbol(&self, char: char) -> Option<Symbol> {
        self.0
            .iter()
            .position(|&known| known == char)
            .map(|index| index as Symbol)
    }

    /// Reads a state such as `..><`.
    ///
    /// # Errors
    /// [`StateError`] when the text is empty or holds a foreign symbol.
    pub fn parse(&self, text: &str) -> Result<State, StateError> {
        if text.is_empty() {
            return Err(StateError::Empty);
        }
        let read = |(position, symbol)| {
            self.symbol(symbol)
                .ok_or_else(|| StateError::ForeignSymbol {
                    position,
                    symbol,
                    alphabet: self.0.iter().collect(),
                })
        };
        text.chars()
            .enumerate()
            .map(read)
            .collect::<Result<Vec<_>, _>>()
            .map(State)
    }

    /// Writes a state as text.
    pub fn text(&self, state: &[Symbol]) -> String {
        state.iter().map(|&symbol| self.char(symbol)).collect()
    }
}

/// The cells of a ring, each an index into the universe's alphabet. Never empty when it came from [`Alphabet::parse`].
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State(Vec<Symbol>);

impl Deref for State {
    type Target = [Symbol];

    fn deref(&self) -> &[Symbol] {
        &self.0
    }
}

impl From<Vec<Symbol>> for State {
    fn from(cells: Vec<Symbol>) -> Self {
        Self(cells)
    }
}

impl FromIterator<Symbol> for State {
    fn from_iter<I: IntoIterator<Item = Symbol>>(cells: I) -> Self {
        Self(cells.into_iter().collect())
    }
}
