//! Symbols and the states made of them.

use std::ops::Deref;

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
    /// An alphabet of the given symbols; the caller has checked that they differ.
    pub(crate) fn new(symbols: Vec<char>) -> Self {
        Self(symbols)
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
