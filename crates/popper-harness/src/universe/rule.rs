//! Local rules, as tables.

use super::error::UniverseError;
use super::state::{Alphabet, State, Symbol};

/// The largest radius of a universe: the number of neighbours on either side that a cell reads.
pub const MAX_RADIUS: usize = 2;

/// A local rule as a table: the next symbol for every window, with windows numbered in symbol order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    symbols: usize,
    radius: usize,
    next: Vec<Symbol>,
}

impl Rule {
    /// Creates a rule from the next symbols in the order of the windows, without a check.
    pub(super) fn from_table(symbols: usize, radius: usize, next: Vec<Symbol>) -> Self {
        Self {
            symbols,
            radius,
            next,
        }
    }

    /// Tabulates a function of windows, which is called twice for each of at most 8^5 windows.
    ///
    /// `next` checks the range of its symbols itself.
    pub(super) fn tabulate(
        alphabet: &Alphabet,
        radius: usize,
        next: impl Fn(&[Symbol]) -> Result<Symbol, UniverseError>,
    ) -> Result<Self, UniverseError> {
        if radius > MAX_RADIUS {
            return Err(UniverseError::Radius { found: radius });
        }
        let entry = |window: State| {
            let (first, second) = (next(&window)?, next(&window)?);
            if first == second {
                return Ok(first);
            }
            Err(UniverseError::Impure {
                window: alphabet.text(&window),
                first: alphabet.char(first),
                second: alphabet.char(second),
            })
        };
        let next = windows(alphabet.len(), 2 * radius + 1).map(entry);
        Ok(Self::from_table(
            alphabet.len(),
            radius,
            next.collect::<Result<_, _>>()?,
        ))
    }

    /// Returns the number of symbols of the alphabet.
    pub fn symbols(&self) -> usize {
        self.symbols
    }

    /// Returns the number of neighbours on either side that the rule reads.
    pub fn radius(&self) -> usize {
        self.radius
    }

    /// Returns the next symbol for a window of `2 * radius + 1` cells.
    pub fn next(&self, window: &[Symbol]) -> Symbol {
        self.next[window
            .iter()
            .fold(0, |code, &symbol| code * self.symbols + usize::from(symbol))]
    }

    /// Returns every window with its next symbol, in symbol order.
    pub fn windows(&self) -> impl Iterator<Item = (State, Symbol)> {
        windows(self.symbols, 2 * self.radius + 1).zip(self.next.iter().copied())
    }
}

/// Returns every string of `width` symbols, in symbol order.
pub(crate) fn windows(symbols: usize, width: usize) -> impl Iterator<Item = State> {
    (0..symbols.pow(width as u32)).map(move |code| {
        let digit = |place| (code / symbols.pow(place as u32) % symbols) as Symbol;
        (0..width).rev().map(digit).collect()
    })
}
