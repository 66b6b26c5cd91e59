use std::collections::{BTreeMap, BTreeSet, HashSet};

use durable::lines;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{TextPair, draw};
use crate::judge::score::MAX_SEMANTIC;

/// The version of a line of labels.
pub const LABEL_SCHEMA_VERSION: u32 = 1;
/// The start of every line.
const START: &[u8] = br#"{"schema_version":"#;
/// The number of random orders that are compared with the labels of a file.
const MAX_ORDERS: usize = 100;

/// The answer of a person for one pair, as a line of the file holds it. Either a score or a skip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of a line of a file")]
pub struct Label {
    /// The version of the line.
    #[serde(rename = "schema_version")]
    pub schema_version: u32,
    /// The pair's id.
    pub pair_id: String,
    /// The name of the person.
    pub rater: String,
    /// The points for the meaning, 0 to 40; `None` for a skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u8>,
    /// Whether the person gave no points.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// The seed of the random order.
    pub seed: u64,
    /// The place of the pair in the random order, from 1.
    pub ordinal: usize,
    /// The time of the answer, UTC.
    pub at: String,
}

/// The reason why a line of labels or of a sheet cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {message}")]
#[non_exhaustive]
pub struct LabelError {
    /// The line, from 1.
    pub line: usize,
    /// The expected and the found value.
    pub message: String,
}

/// Reads the lines of a file of labels, and the length in bytes of an incomplete last line, which is left out.
///
/// # Errors
/// [`LabelError`]: a line is not a label, or an incomplete last one is not the start of a label.
///
/// ```
/// use zer0gravity_engine::calibration::read_labels;
/// let line = r#"{"schema_version":1,"pairId":"2a94797484e16d88","rater":"ada","score":41,"seed":0,"ordinal":1,"at":""}"#;
/// let error = read_labels(format!("{line}\n").as_bytes()).unwrap_err();
/// assert_eq!(error.to_string(), "line 1: expected a score from 0 to 40, found 41; correct or delete the line, or name a file of labels");
/// ```
pub fn read_labels(bytes: &[u8]) -> Result<(Vec<Label>, usize), LabelError> {
    let mut labels = Vec::new();
    // Memory gives every line.
    for line in lines(bytes).map_while(Result::ok) {
        let text = line.text();
        let is_torn = !line.is_whole() && (text.starts_with(START) || START.starts_with(text));
        if is_torn {
            return Ok((labels, text.len()));
        }
        let label = if line.is_whole() {
            parse(text)
        } else {
            Err("expected the start of a label".to_owned())
        };
        labels.push(label.map_err(|message| LabelError {
            line: line.number,
            message: format!("{message}; correct or delete the line, or name a file of labels"),
        })?);
    }
    Ok((labels, 0))
}

fn parse(json: &[u8]) -> Result<Label, String> {
    let failed =
        |error: serde_json::Error| error.to_string().replace(" at line 1 column", " at column");
    let version = |value: &serde_json::Value| value["schema_version"].as_u64();
    let value = serde_json::from_slice(json).map_err(failed)?;
    if version(&value).is_some_and(|found| found != u64::from(LABEL_SCHEMA_VERSION)) {
        let found = &value["schema_version"];
        return Err(format!(
            "expected schema_version {LABEL_SCHEMA_VERSION}, found {found}"
        ));
    }
    let label: Label = serde_json::from_slice(json).map_err(failed)?;
    match label.score {
        Some(score) if score > MAX_SEMANTIC => Err(format!(
            "expected a score from 0 to {MAX_SEMANTIC}, found {score}"
        )),
        score if score.is_some() == label.skipped => Err("expected a score or a skip".to_owned()),
        _ => Ok(label),
    }
}

/// The labels that count: the last line of each rater for each pair.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Labels<'a> {
    by_pair: BTreeMap<&'a str, BTreeMap<&'a str, &'a Label>>,
    seeds: BTreeSet<u64>,
}

impl<'a> Labels<'a> {
    /// The last line of each rater for each pair.
    pub fn of(lines: &'a [Label]) -> Self {
        let mut labels = Self::default();
        for line in lines {
            let raters = labels.by_pair.entry(&line.pair_id).or_default();
            raters.insert(&line.rater, line);
            labels.seeds.insert(line.seed);
        }
        labels
    }

    /// The answer of a rater for a pair, a skip too.
    pub fn answer(&self, pair: &str, rater: &str) -> Option<&'a Label> {
        self.by_pair.get(pair)?.get(rater).copied()
    }

    /// The labels of a pair that have a score, by the names of the raters.
    pub fn scored(&self, pair: &str) -> impl Iterator<Item = (&'a Label, f64)> {
        let raters = self.by_pair.get(pair).into_iter().flatten();
        raters.filter_map(|(_, label)| Some((*label, f64::from(label.score?))))
    }

    /// The ids of `pairs` that are a random sample of them: those that come before the first pair without an answer in the random order
    /// of a seed of the labels. A pair that a rater chose, or that is from another run, is seldom among them.
    pub fn random<'p>(&self, pairs: &'p [TextPair]) -> HashSet<&'p str> {
        let orders = self.seeds.iter().take(MAX_ORDERS);
        let ids = orders.flat_map(|seed| {
            let ids = draw(pairs, *seed)
                .into_iter()
                .map(|place| &*pairs[place].id);
            ids.take_while(|id| self.by_pair.contains_key(id))
        });
        ids.collect()
    }
}
