//! The cells of a plan: their keys, settings and seeds.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::plan::SweepPlan;
use crate::config::Layer;

/// The longest value that a key shows; longer ones are shown by their index.
const SHOWN: usize = 32;

/// A setting with the values that a plan tries.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Axis {
    /// The key of `config.json`, such as `k_samples` or `options.temperature`.
    pub name: String,
    /// The values, each different.
    pub values: Vec<AxisValue>,
}

/// A value of an axis.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AxisValue {
    /// The value as the plan has it.
    pub value: Value,
    /// The setting with this value.
    pub layer: Layer,
}

/// A combination of values, one of each axis.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Cell {
    /// The name of its folder, such as `k_samples=3,mind=1`: numbers, words and flags as they are, all other values by their
    /// index on the axis. `all` in a plan without axes.
    pub key: String,
    /// The index of the value on each axis.
    pub indices: Vec<usize>,
    /// The settings of its runs, without the seed.
    pub layer: Layer,
}

impl Cell {
    /// Returns the cell with another value.
    pub(super) fn with(&self, axis: &Axis, value: &AxisValue) -> Self {
        let index = axis.values.iter().position(|other| other == value);
        let index = index.unwrap_or_default();
        let part = format!("{}={}", axis.name, axis.shown(index));
        let mut indices = self.indices.clone();
        indices.push(index);
        Self {
            key: match self.key.as_str() {
                "" => part,
                key => format!("{key},{part}"),
            },
            indices,
            layer: value.layer.clone().over(self.layer.clone()),
        }
    }

    /// Returns the seed of a run: the first 8 bytes (little-endian) of the SHA-256 of `logosphere/sweep/v1`, the seed of the
    /// plan, the key of the cell and the index of the repeat, separated by line feeds. With common seeds the key is empty.
    pub fn seed(&self, plan: &SweepPlan, repeat: u32) -> u64 {
        let key = if plan.common_seeds { "" } else { &self.key };
        let text = format!("logosphere/sweep/v1\n{}\n{key}\n{repeat}", plan.seed);
        let digest = Sha256::digest(text);
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        u64::from_le_bytes(first)
    }
}

impl Axis {
    /// Returns a value as keys and tables show it.
    pub fn shown(&self, index: usize) -> String {
        match self.values.get(index).map(|value| &value.value) {
            Some(Value::Bool(flag)) => flag.to_string(),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::String(word)) if is_word(word) => word.clone(),
            _ => index.to_string(),
        }
    }
}

/// Whether a text is a word that no file system and no key takes for anything else, and no number.
fn is_word(text: &str) -> bool {
    let is_plain = |char: char| matches!(char, 'a'..='z' | '0'..='9' | '_' | '-');
    (1..=SHOWN).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(is_plain)
}
