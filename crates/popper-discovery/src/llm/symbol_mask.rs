//! The mask of a blind model: it sees neutral symbols and names, and its replies are translated back.
//!
//! Every table swaps pairs, so translating twice changes nothing, in either direction. So a guess is
//! harmless: a physical name that a model guesses becomes the neutral name, which the universe does
//! not have, and the harness reports it as missing.

use std::collections::{BTreeMap, BTreeSet};

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;

use super::scan::{TextFragment, pieces};
use crate::snapshot::{Capabilities, UniverseContract};

/// The neutral symbols: twice as many as a universe may have, so that enough are left if it uses some of them.
const LETTERS: [char; 16] = [
    '_', 'A', 'B', 'K', 'M', 'P', 'Q', 'R', 'S', 'U', 'V', 'W', 'Y', 'Z', 'C', 'D',
];

/// Observables whose names reveal the universe, and their neutral names. The second entry is an alias that is never shown, but a
/// law of a database may contain it.
const OBSERVABLES: [(&str, &str); 2] = [
    ("incoming_collisions", "cue"),
    ("transition_indicator", "cue_alias"),
];

/// The translation tables of one universe and one seed.
#[derive(Debug, Clone, Default)]
pub struct SymbolMask {
    /// The universe's symbols; empty for a model that is not blind.
    hidden: BTreeSet<char>,
    /// The universe's names; empty for a model that is not blind.
    hidden_names: BTreeSet<String>,
    symbols: BTreeMap<char, char>,
    observables: BTreeMap<String, String>,
    transforms: BTreeMap<String, String>,
    families: BTreeMap<String, String>,
}

impl SymbolMask {
    /// Returns the mask that changes nothing.
    pub fn open() -> Self {
        Self::default()
    }

    /// Returns the mask of a universe. Its arguments must stay the same for the whole run.
    pub fn blind(contract: &UniverseContract, capabilities: &Capabilities, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let hidden: BTreeSet<char> = contract.symbols.iter().copied().collect();
        let mut letters: Vec<char> = LETTERS
            .into_iter()
            .filter(|letter| !hidden.contains(letter))
            .take(hidden.len())
            .collect();
        shuffle(&mut letters, &mut rng);
        let hidden_names: BTreeSet<String> = contract
            .transforms
            .iter()
            .chain(&capabilities.families)
            .cloned()
            .chain(OBSERVABLES.map(|(physical, _)| physical.to_owned()))
            .collect();
        let mut numbered = |prefix: char, names: &[String]| {
            let mut shown: Vec<String> = (1..)
                .map(|number| format!("{prefix}{number}"))
                .filter(|name| !hidden_names.contains(name))
                .take(names.len())
                .collect();
            shuffle(&mut shown, &mut rng);
            exchange(names.iter().cloned().zip(shown))
        };
        Self {
            symbols: exchange(contract.symbols.iter().copied().zip(letters)),
            transforms: numbered('T', &contract.transforms),
            families: numbered('F', &capabilities.families),
            observables: exchange(
                OBSERVABLES.map(|(physical, shown)| (physical.to_owned(), shown.to_owned())),
            ),
            hidden,
            hidden_names,
        }
    }

    /// Whether the mask changes nothing.
    pub fn is_open(&self) -> bool {
        self.hidden.is_empty()
    }

    /// The symbols that must not be shown.
    pub(super) fn hidden(&self) -> &BTreeSet<char> {
        &self.hidden
    }

    /// Whether a name must not be shown.
    pub(super) fn hides(&self, name: &str) -> bool {
        self.hidden_names.contains(name)
    }

    /// Translates a symbol.
    pub fn symbol(&self, symbol: char) -> char {
        self.symbols.get(&symbol).copied().unwrap_or(symbol)
    }

    /// Translates a state, or any other text that consists of symbols.
    pub fn state(&self, state: &str) -> String {
        state.chars().map(|symbol| self.symbol(symbol)).collect()
    }

    /// Translates the name of a transform.
    pub fn transform(&self, name: &str) -> String {
        renamed(&self.transforms, name)
    }

    /// Translates the name of a family of cases.
    pub fn family(&self, name: &str) -> String {
        renamed(&self.families, name)
    }

    /// Translates an expression or a claim, well-formed or not: symbols inside of quotes, and whole names.
    pub fn expression(&self, text: &str) -> String {
        pieces(text)
            .map(|piece| match piece {
                TextFragment::Quoted(text) => self.state(text),
                TextFragment::Word(word) => renamed(&self.observables, word),
                TextFragment::Other(text) => text.to_owned(),
            })
            .collect()
    }

    /// Translates the claim of a symmetry: `commutes(NAME)`. Any other text is a comment and stays.
    fn commutes(&self, text: &str) -> String {
        let inside = || {
            let opened = text.trim_start().strip_prefix("commutes")?.trim_start();
            let inside = opened.strip_prefix('(')?;
            let name = inside.trim_end().strip_suffix(')')?.trim();
            let start = name.as_ptr().addr() - text.as_ptr().addr();
            Some((start, name))
        };
        let Some((start, name)) = inside() else {
            return text.to_owned();
        };
        let (before, after) = (&text[..start], &text[start + name.len()..]);
        format!("{before}{}{after}", self.transform(name))
    }

    /// Translates a law in its JSON form, valid or not. Texts outside of the claim language stay as they are: the law's name, its
    /// `forbidden`, notes, unknown keys, values of another type than expected.
    pub fn law(&self, law: &Value) -> Value {
        let mut law = law.clone();
        let is_symmetry =
            law.get("template").and_then(Value::as_str) == Some("symmetry_commutation");
        let Value::Object(fields) = &mut law else {
            return law;
        };
        for (key, value) in fields {
            match key.as_str() {
                "preconditions" => each_field(value, &["lhs", "rhs"], |text| self.expression(text)),
                "observables" => each_field(value, &["name", "expr"], |text| self.expression(text)),
                "proposed_tests" => each_field(value, &["family"], |text| self.family(text)),
                "claim" if is_symmetry => edit(value, |text| self.commutes(text)),
                "claim" => edit(value, |text| self.expression(text)),
                "claim_ast" => self.tree(value),
                "transform" => edit(value, |text| self.transform(text)),
                "trigger_symbol" | "result_symbol" | "neighbor_pattern" => {
                    edit(value, |text| self.state(text));
                }
                "capability_requirements" => self.missing(value),
                _ => {}
            }
        }
        law
    }

    fn tree(&self, node: &mut Value) {
        match node {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match value {
                        Value::String(_) if key == "obs" => {
                            edit(value, |text| self.expression(text));
                        }
                        _ => self.tree(value),
                    }
                }
            }
            Value::Array(nodes) => nodes.iter_mut().for_each(|node| self.tree(node)),
            _ => {}
        }
    }

    fn missing(&self, requirements: &mut Value) {
        let Value::Object(fields) = requirements else {
            return;
        };
        for (key, names) in fields {
            let Value::Array(names) = names else {
                continue;
            };
            for name in names {
                match key.as_str() {
                    "missing_observables" => edit(name, |text| self.expression(text)),
                    "missing_transforms" => edit(name, |text| self.transform(text)),
                    "missing_generators" => edit(name, |text| self.family(text)),
                    _ => {}
                }
            }
        }
    }
}

/// A table of pairs in both directions.
fn exchange<T: Ord + Clone>(pairs: impl IntoIterator<Item = (T, T)>) -> BTreeMap<T, T> {
    pairs
        .into_iter()
        .flat_map(|(a, b)| [(a.clone(), b.clone()), (b, a)])
        .collect()
}

fn renamed(names: &BTreeMap<String, String>, name: &str) -> String {
    names.get(name).map_or(name, String::as_str).to_owned()
}

fn edit(value: &mut Value, change: impl FnOnce(&str) -> String) {
    if let Value::String(text) = value {
        *text = change(text);
    }
}

/// Edits the texts with these keys in a list of objects.
fn each_field(list: &mut Value, keys: &[&str], change: impl Fn(&str) -> String) {
    let Value::Array(items) = list else {
        return;
    };
    for item in items {
        for key in keys {
            if let Some(value) = item.get_mut(*key) {
                edit(value, &change);
            }
        }
    }
}

/// Shuffles a list by the method of Fisher and Yates.
fn shuffle<T>(items: &mut [T], rng: &mut ChaCha20Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, (rng.next_u64() % (last as u64 + 1)) as usize);
    }
}
