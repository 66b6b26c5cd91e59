//! Sets of words of one length: the strings of consecutive cells that occur in some states.

use crate::universe::{Alphabet, Rule, Symbol};

/// A set of words of one length, one flag a word in symbol order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WordSet {
    symbols: usize,
    length: usize,
    has: Vec<bool>,
}

impl WordSet {
    /// Creates an empty set of words of a length, of which there are at most [`MAX_EDGES`](super::MAX_EDGES).
    pub fn new(symbols: usize, length: usize) -> Option<Self> {
        Some(Self {
            symbols,
            length,
            has: vec![false; super::strings(symbols, length)?],
        })
    }

    pub fn length(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        !self.has.contains(&true)
    }

    /// Whether every word is in the set, so that it tells nothing of a state.
    pub fn is_full(&self) -> bool {
        !self.has.contains(&false)
    }

    pub fn is_subset(&self, other: &Self) -> bool {
        (self.symbols, self.length) == (other.symbols, other.length)
            && self
                .has
                .iter()
                .zip(&other.has)
                .all(|(&mine, &its)| its || !mine)
    }

    /// Returns the numbers of the words in symbol order.
    pub fn codes(&self) -> impl Iterator<Item = usize> {
        (0..self.has.len()).filter(|&code| self.has[code])
    }

    pub fn insert(&mut self, code: usize) {
        self.has[code] = true;
    }

    /// Adds the words of another set of the same length.
    pub fn extend(&mut self, other: &Self) {
        for code in other.codes() {
            self.insert(code);
        }
    }

    /// Whether every word of this length inside a longer string is in the set.
    pub fn admits(&self, string: &[Symbol]) -> bool {
        string
            .windows(self.length)
            .all(|word| self.has[encode(word, self.symbols)])
    }

    /// Returns the words, each one step later, as words that are shorter by two radii.
    pub fn image(&self, rule: &Rule) -> Option<Self> {
        let mut image = Self::new(self.symbols, self.length.checked_sub(2 * rule.radius())?)?;
        for code in self.codes() {
            let next = step(rule, &decode(code, self.symbols, self.length));
            image.insert(encode(&next, self.symbols));
        }
        Some(image)
    }

    /// Returns the words of the next states of all states whose words are in the set.
    pub fn successors(&self, rule: &Rule) -> Option<Self> {
        let longer = self.length + 2 * rule.radius();
        let mut next = Self::new(self.symbols, self.length)?;
        for code in 0..super::strings(self.symbols, longer)? {
            let string = decode(code, self.symbols, longer);
            if self.admits(&string) {
                next.insert(encode(&step(rule, &string), self.symbols));
            }
        }
        Some(next)
    }

    /// Returns the least set with these words that holds the words of the next states of its states.
    pub fn closure(mut self, rule: &Rule) -> Option<Self> {
        loop {
            let next = self.successors(rule)?;
            if next.is_subset(&self) {
                return Some(self);
            }
            self.extend(&next);
        }
    }

    /// Writes the words in symbol order.
    pub fn write(&self, alphabet: &Alphabet) -> Vec<String> {
        self.codes()
            .map(|code| alphabet.text(&decode(code, self.symbols, self.length)))
            .collect()
    }

    /// Reads words of a length; `None` if they are not the output of [`write`](Self::write).
    pub fn read(words: &[String], length: usize, alphabet: &Alphabet) -> Option<Self> {
        let mut set = Self::new(alphabet.len(), length)?;
        for word in words {
            let cells: Vec<Symbol> = word
                .chars()
                .map(|char| alphabet.symbol(char))
                .collect::<Option<_>>()?;
            if cells.len() != length {
                return None;
            }
            set.insert(encode(&cells, alphabet.len()));
        }
        // Only one way of writing a set is accepted, so that no byte of a proof is free.
        (set.write(alphabet) == words).then_some(set)
    }
}

/// Returns the number of a string in symbol order.
pub(super) fn encode(string: &[Symbol], symbols: usize) -> usize {
    string
        .iter()
        .fold(0, |code, &symbol| code * symbols + usize::from(symbol))
}

/// Returns the string with a number.
pub(super) fn decode(mut code: usize, symbols: usize, length: usize) -> Vec<Symbol> {
    let mut string = vec![0; length];
    for cell in string.iter_mut().rev() {
        *cell = (code % symbols) as Symbol;
        code /= symbols;
    }
    string
}

/// Returns a string one step later, shorter by two radii.
pub(super) fn step(rule: &Rule, string: &[Symbol]) -> Vec<Symbol> {
    string
        .windows(2 * rule.radius() + 1)
        .map(|window| rule.next(window))
        .collect()
}
