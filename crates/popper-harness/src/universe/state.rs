//! Symbols, alphabets and states.

use std::ops::Deref;

use super::error::UniverseError;

/// The largest number of symbols a universe may have.
pub const MAX_SYMBOLS: usize = 8;
/// A symbol, as its index in the alphabet of its universe.
pub type Symbol = u8;

/// A reason why a text is not a state of a universe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The text is empty; a ring has at least one cell.
    #[error("the state is empty: a ring has at least one cell")]
    Empty,
    /// The text has a symbol that the universe does not have.
    #[error("symbol {symbol:?} at cell {position} is not one of the universe's {alphabet:?}")]
    ForeignSymbol {
        /// The cell, counted from 0.
        position: usize,
        /// The symbol of the cell.
        symbol: char,
        /// The symbols of the universe.
        alphabet: String,
    },
    /// The text has a symbol that the universe forbids at t = 0.
    #[error("symbol {symbol:?} at cell {position} may not occur at t = 0")]
    ForbiddenStart {
        /// The cell, counted from 0.
        position: usize,
        /// The symbol of the cell.
        symbol: char,
    },
}

/// The symbols of a universe, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alphabet(Vec<char>);

impl Alphabet {
    /// Creates an alphabet of 1 to 8 different symbols, the background first.
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
    /// [`UniverseError`] for no symbol, more than 8 symbols or a repeated one, and for white space, a control character, a
    /// quote, `?` or a backslash.
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

    /// Creates an alphabet of this crate, which needs no check.
    pub(super) fn known<const K: usize>(symbols: [char; K]) -> Self {
        Self(symbols.into())
    }

    /// Returns the symbol of a character in the field `field`.
    pub(super) fn known_symbol(&self, field: &str, char: char) -> Result<Symbol, UniverseError> {
        self.symbol(char).ok_or_else(|| {
            UniverseError::field(field, format!("symbol {char:?} is not one of `symbols`"))
        })
    }

    /// Returns the number of symbols.
    #[expect(clippy::len_without_is_empty, reason = "an alphabet is never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the symbols as characters, in order.
    pub fn chars(&self) -> &[char] {
        &self.0
    }

    /// Returns the character of a symbol.
    pub fn char(&self, symbol: Symbol) -> char {
        self.0[usize::from(symbol)]
    }

    /// Returns the symbol of a character.
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

/// The cells of a ring, each an index into the universe's alphabet. A state from [`Alphabet::parse`] is never empty.
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
