//! A universe as data, its hash, and its rule in a table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{KineticGrid, State, Symbol, TableUniverse, Universe};
use crate::json::JsonError;

/// What stands in front of the canonical JSON before hashing: it changes when the meaning of a definition does.
const SEMANTICS: &str = "popper-universe/1";

/// A definition that is not a universe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UniverseError {
    /// The text is not JSON, or not of the form.
    #[error("{message}")]
    Json {
        /// What the reader said, with line and column.
        message: String,
    },
    /// A field holds what it may not.
    #[error("{field}: {message}")]
    Field {
        /// The JSON path of the field.
        field: String,
        /// What is wrong and what was expected.
        message: String,
    },
    /// The rule does not say what becomes of a neighbourhood.
    #[error("rule.table: neighbourhood {missing:?} is missing ({count} of {expected} are missing)")]
    Incomplete {
        /// The first neighbourhood without an entry, in symbol order.
        missing: String,
        /// How many are missing.
        count: usize,
        /// How many a total table has.
        expected: usize,
    },
}

impl From<JsonError> for UniverseError {
    fn from(error: JsonError) -> Self {
        match error.path.strip_prefix("$.") {
            Some(field) => Self::Field {
                field: field.into(),
                message: error.message,
            },
            None => Self::Json {
                message: error.message,
            },
        }
    }
}

/// A universe as data: the JSON that [`TableUniverse::from_json`] reads, with the rule written out in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// The name of the universe.
    pub id: String,
    /// The symbols in order, as one string.
    pub symbols: String,
    /// How many neighbours on either side count.
    pub radius: usize,
    /// The next symbol for every neighbourhood.
    pub rule: TableRule,
    /// The symbols that may not occur at t = 0, as one string.
    pub initial_forbidden: String,
    /// The named transforms.
    pub transforms: Vec<TransformDefinition>,
}

/// A rule written out in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRule {
    /// Neighbourhood to next symbol.
    pub table: BTreeMap<String, char>,
}

/// A transform as data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransformDefinition {
    /// The name laws use.
    pub name: String,
    /// Whether the order of the cells is reversed.
    #[serde(default)]
    pub reverse: bool,
    /// The images of the symbols that change.
    #[serde(default)]
    pub map: BTreeMap<char, char>,
}

impl Definition {
    pub(super) fn of<U: Universe + ?Sized>(universe: &U) -> Self {
        let alphabet = universe.alphabet();
        let rule = Rule::of(universe);
        let changed = |map: &[Symbol]| {
            map.iter()
                .enumerate()
                .filter(|&(from, &to)| from != usize::from(to))
                .map(|(from, &to)| (alphabet.char(from as Symbol), alphabet.char(to)))
                .collect()
        };
        Self {
            id: universe.id().into(),
            symbols: alphabet.chars().iter().collect(),
            radius: universe.radius(),
            rule: TableRule {
                table: rule
                    .windows()
                    .map(|(window, next)| (alphabet.text(&window), alphabet.char(next)))
                    .collect(),
            },
            initial_forbidden: (0..alphabet.len() as Symbol)
                .filter(|&symbol| !universe.may_start(symbol))
                .map(|symbol| alphabet.char(symbol))
                .collect(),
            transforms: universe
                .transforms()
                .iter()
                .map(|transform| TransformDefinition {
                    name: transform.name.clone(),
                    reverse: transform.reverse,
                    map: changed(&transform.map),
                })
                .collect(),
        }
    }

    /// sha256 over the version of the semantics and the canonical JSON, 64 hex digits.
    pub fn hash(&self) -> String {
        // Field order is fixed by the type and maps are sorted, so this JSON is canonical.
        let json = crate::hash::json(self);
        crate::hash::hex(
            Sha256::new()
                .chain_update(SEMANTICS)
                .chain_update(b"\n")
                .chain_update(json),
        )
    }

    /// The universe that this defines; the built-in one when it is that.
    ///
    /// # Errors
    /// [`UniverseError`] when the definition is not total or not consistent.
    pub fn universe(&self) -> Result<Box<dyn Universe>, UniverseError> {
        if *self == KineticGrid.definition() {
            return Ok(Box::new(KineticGrid));
        }
        Ok(Box::new(TableUniverse::from_definition(self)?))
    }
}

/// A local rule, tabulated: the next symbol for every window, windows numbered in symbol order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    symbols: usize,
    radius: usize,
    next: Vec<Symbol>,
}

impl Rule {
    /// Tabulates the rule of a universe: at most 8^5 entries.
    pub fn of<U: Universe + ?Sized>(universe: &U) -> Self {
        let (symbols, radius) = (universe.alphabet().len(), universe.radius());
        let next = windows(symbols, 2 * radius + 1)
            .map(|window| universe.next_cell(&window))
            .collect();
        Self {
            symbols,
            radius,
            next,
        }
    }

    pub(super) fn from_table(symbols: usize, radius: usize, next: Vec<Symbol>) -> Self {
        Self {
            symbols,
            radius,
            next,
        }
    }

    /// How many symbols the alphabet has.
    pub fn symbols(&self) -> usize {
        self.symbols
    }

    /// How many neighbours on either side count.
    pub fn radius(&self) -> usize {
        self.radius
    }

    /// The next symbol for a window of `2 * radius + 1` cells.
    pub fn next(&self, window: &[Symbol]) -> Symbol {
        self.next[window
            .iter()
            .fold(0, |code, &symbol| code * self.symbols + usize::from(symbol))]
    }

    /// Every window with its next symbol, in symbol order.
    pub fn windows(&self) -> impl Iterator<Item = (State, Symbol)> {
        windows(self.symbols, 2 * self.radius + 1).zip(self.next.iter().copied())
    }
}

/// Every string of `width` symbols, in symbol order.
pub(crate) fn windows(symbols: usize, width: usize) -> impl Iterator<Item = State> {
    (0..symbols.pow(width as u32)).map(move |code| {
        let digit = |place| (code / symbols.pow(place as u32) % symbols) as Symbol;
        (0..width).rev().map(digit).collect()
    })
}
