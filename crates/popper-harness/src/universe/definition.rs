//! A universe as data, and its hash.

use std::collections::BTreeMap;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::Universe;
use super::state::Symbol;
use super::tabulated::Tabulated;

/// The semantics version, which is hashed before the canonical JSON; it changes when the meaning of a definition does.
pub(crate) const SEMANTICS: &str = "popper-universe/1";

/// A universe as data: the JSON that [`Tabulated::from_json`] reads, with the rule written out in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Definition {
    /// The name of the universe.
    pub id: String,
    /// The symbols in order, as one string.
    pub symbols: String,
    /// The number of neighbours on either side that the rule reads.
    pub radius: usize,
    /// The next symbol for every neighbourhood.
    pub rule: TableRule,
    /// The symbols that may not occur at t = 0, as one string.
    pub initial_forbidden: String,
    /// The symbol that `incoming_collisions` counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incoming: Option<char>,
    /// The named transforms.
    pub transforms: Vec<TransformDefinition>,
}

/// A rule written out in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TableRule {
    /// The next symbol by neighbourhood.
    pub table: BTreeMap<String, char>,
}

/// A transform as data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TransformDefinition {
    /// The name laws use.
    pub name: String,
    /// Whether the order of the cells is reversed.
    pub reverse: bool,
    /// The images of the symbols that change.
    pub map: BTreeMap<char, char>,
}

impl Definition {
    pub(super) fn of(universe: &Tabulated) -> Self {
        let alphabet = universe.alphabet();
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
                table: universe
                    .rule()
                    .windows()
                    .map(|(window, next)| (alphabet.text(&window), alphabet.char(next)))
                    .collect(),
            },
            initial_forbidden: (0..alphabet.len() as Symbol)
                .filter(|&symbol| !universe.may_start(symbol))
                .map(|symbol| alphabet.char(symbol))
                .collect(),
            incoming: universe.incoming().map(|symbol| alphabet.char(symbol)),
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

    /// Returns the sha256 of the semantics version and the canonical JSON, 64 hex digits.
    pub fn hash(&self) -> String {
        // Field order is fixed by the type and maps are sorted, so this JSON is canonical.
        let json = crate::json::hash::json(self);
        crate::json::hash::hex(
            Sha256::new()
                .chain_update(SEMANTICS)
                .chain_update(b"\n")
                .chain_update(json),
        )
    }
}
