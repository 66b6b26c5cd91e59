//! The public part of a sealed universe.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::tier::LabTier;

/// The public file: all that a player may know before the first experiment, and the commitment to the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LabContract {
    /// The version of this form.
    pub schema_version: String,
    /// The tier.
    pub tier: LabTier,
    /// The symbols in order, the background first.
    pub symbols: String,
    /// The number of neighbours on either side that a cell reads.
    pub radius: usize,
    /// The part of each state that an experiment shows, and that predictions are about.
    pub visible: Visible,
    /// The transforms that symmetry laws may name. Every universe of the tier has these.
    pub transforms: Vec<LabTransform>,
    /// The limits of an episode.
    pub limits: LabLimits,
    /// The held-out starts and times.
    pub questions: LabQuestions,
    /// sha256 of the tier, the salt and the definition, 64 hex digits.
    pub commitment: String,
}

/// The part of a state that is visible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Visible {
    /// Every cell is visible.
    States {
        /// The probability in per cent that a cell is shown as another symbol.
        noise_percent: u8,
    },
    /// The values of these observables are visible.
    Observables(Vec<String>),
}

/// A transform of states: optionally reversed, then every symbol replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LabTransform {
    /// The name in laws: the digits are the images of the symbols by position.
    pub name: String,
    /// Whether the order of the cells is reversed.
    pub reverse: bool,
    /// The images of the symbols that change.
    pub map: BTreeMap<char, char>,
}

/// The limits of an episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LabLimits {
    /// The budget, in cells.
    pub budget_cells: u64,
    /// The most cells of a ring in an experiment.
    pub ring_cells: usize,
    /// The most laws.
    pub laws: usize,
    /// The longest line, in bytes.
    pub line_bytes: usize,
}

/// The held-out starts and times. The id of a question is the id of the start, a point and the time, such as `q07.4`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LabQuestions {
    /// The numbers of steps after which the state is asked for.
    pub times: Vec<u64>,
    /// The starts by id.
    pub starts: BTreeMap<String, String>,
}

impl LabQuestions {
    /// Returns the questions: id, start and time, ordered by start and time.
    pub fn each(&self) -> impl Iterator<Item = (String, &str, u64)> {
        self.starts.iter().flat_map(|(id, start)| {
            let times = self.times.iter();
            times.map(move |time| (format!("{id}.{time}"), start.as_str(), *time))
        })
    }
}

impl LabContract {
    /// Returns the contract as JSON on one line.
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
