//! A whole run in the form of `report.json`.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::ExperimentResult;
use crate::calibration::Calibration;
use crate::dataset::Case;
use crate::plan::{Config, PlannedCase};
use crate::result::shared::SharedParts;
use crate::result::{Randomness, SCHEMA_VERSION, is_readable};
use crate::store::CallsFile;

use super::grouped::{self, encoding_ids};
use super::{Outcomes, ReportedEncodingSystem, RunCost, Statistics};

/// The `kind` of a report's JSON.
pub const KIND: &str = "zer0gravity.report";

/// The report of a run, with the fields and the order of `report.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunReport {
    /// The version of this form.
    #[serde(rename = "schema_version")]
    pub schema_version: u32,
    /// The text of [`KIND`].
    pub kind: String,
    /// The version of this crate.
    pub engine_version: String,
    /// The time at which the run's plan was frozen, UTC with milliseconds.
    pub created_at: String,
    /// Whether no model was asked.
    pub offline: bool,
    /// Whether the replies came from a recording and nothing was sent. Results equal the recorded ones, so the caller that replays
    /// sets this field. It is written only if it is `true`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// The file of calls, for a run in a directory; the caller sets this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls_file: Option<CallsFile>,
    /// The settings of the run; `None` for results that came without a plan.
    pub config: Option<Config>,
    /// The encoding systems.
    pub encodings: Vec<ReportedEncodingSystem>,
    /// The encoding systems of the run that are not selected.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub encodings_left_out: usize,
    /// The texts.
    pub cases: Vec<PlannedCase>,
    /// The results, one for each experiment, in plan order.
    pub results: Vec<ExperimentResult>,
    /// The ends of the experiments.
    pub outcomes: Outcomes,
    /// The statistics of the scores.
    pub statistics: Statistics,
    /// The comparison of the judge with people that the corrected means are from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Box<Calibration>>,
    /// The tokens and the cost of the run.
    pub cost: RunCost,
    /// The source of random choices.
    pub randomness: Randomness,
}

/// The reason why a file is not a report.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The file is not JSON, or does not have the fields of a report.
    #[error("not a report and not an array of results: {source}")]
    Json {
        /// The cause, with its place.
        #[from]
        source: serde_json::Error,
    },
    /// The file is JSON of another kind.
    #[error("kind {found:?} where {KIND:?} is needed")]
    Kind {
        /// The value in the file.
        found: String,
    },
    /// A result has another total than its parts give.
    #[error(
        "result {case} of {encoding}: total {total} is not the sum of its parts, {sum}; restore the file"
    )]
    Total {
        /// The id of the case.
        case: String,
        /// The id of the encoding.
        encoding: String,
        /// The total in the file.
        total: u8,
        /// The sum of the parts in the file.
        sum: u16,
    },
    /// The file has a version that this program does not read.
    #[error("schema_version {found} where 1 or {SCHEMA_VERSION} is needed")]
    Version {
        /// The value in the file.
        found: u32,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form serde asks for")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl RunReport {
    /// Creates the report of `results`, which are in plan order. `created_at` is UTC with milliseconds. `seed` is the seed of the
    /// random sign flips in tests over many cases.
    pub fn new(
        config: Option<Config>,
        encodings: Vec<ReportedEncodingSystem>,
        cases: Vec<PlannedCase>,
        results: Vec<ExperimentResult>,
        created_at: String,
        seed: u64,
    ) -> Self {
        let offline = match &config {
            Some(config) => config.label.offline,
            None => !results.is_empty() && results.iter().all(|result| result.offline),
        };
        Self {
            schema_version: SCHEMA_VERSION,
            kind: KIND.to_owned(),
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            created_at,
            offline,
            replayed: false,
            calls_file: None,
            outcomes: Outcomes::of(&results),
            statistics: Statistics::of(&encodings, &results, seed, grouped::total),
            calibration: None,
            cost: RunCost::of(&encodings, &results),
            config,
            encodings,
            encodings_left_out: 0,
            cases,
            results,
            randomness: Randomness::chacha20(seed),
        }
    }

    /// Creates the report of results without a plan. Encodings and cases are those in the results, in the order of their first
    /// occurrence. Rules are neither counted nor linted. The time is that of the earliest result, the seed that of the first one.
    pub fn of_results(results: Vec<ExperimentResult>) -> Self {
        let mut seen = HashSet::new();
        let encodings = (results.iter())
            .filter(|result| seen.insert(&result.encoding_id))
            .map(|result| {
                ReportedEncodingSystem::new(&result.encoding_id, &*result.metadata.rules_sha256)
            })
            .collect();
        let mut seen = HashSet::new();
        let cases = (results.iter())
            .filter(|result| seen.insert(&result.test_case_id))
            .map(|result| PlannedCase {
                level: result.level,
                case: Case {
                    id: result.test_case_id.clone(),
                    text: result.original_text.clone(),
                    expected_output: result.procedural.expected.clone(),
                    ..Case::default()
                },
            })
            .collect();
        let times = results.iter().map(|result| &result.metadata.timestamp);
        let created_at = times.min().cloned().unwrap_or_default();
        let seed = results.first().map_or(0, |r| r.metadata.randomness.seed);
        Self::new(None, encodings, cases, results, created_at, seed)
    }

    /// Keeps the encoding systems whose id, or the id of whose rules, is to be kept, with their results, and computes the rest again. The cost of a part is
    /// that of its results; corrected means stay.
    pub fn retain_encodings(&mut self, keep: impl Fn(&str) -> bool) {
        let before = (self.encodings.len(), self.results.len());
        let rules = self.encodings.iter().filter_map(|encoding| {
            let crossed = encoding.crossed.as_ref()?;
            Some((encoding.id.clone(), crossed.encoding.clone()))
        });
        let rules: HashMap<_, _> = rules.collect();
        let keep = |id: &str| keep(id) || rules.get(id).is_some_and(|rules| keep(rules));
        let ids = encoding_ids(&self.encodings, &self.results);
        self.encodings_left_out += ids.into_iter().filter(|id| !keep(id)).count();
        self.encodings.retain(|encoding| keep(&encoding.id));
        self.results.retain(|result| keep(&result.encoding_id));
        if before != (self.encodings.len(), self.results.len()) {
            let (encodings, results) = (&self.encodings, &self.results);
            self.outcomes = Outcomes::of(results);
            let corrected = std::mem::take(&mut self.statistics.per_encoding).into_iter();
            let mut corrected: HashMap<_, _> = corrected
                .map(|encoding| (encoding.encoding_id, encoding.semantic_corrected))
                .collect();
            self.statistics =
                Statistics::of(encodings, results, self.randomness.seed, grouped::total);
            for encoding in &mut self.statistics.per_encoding {
                let earlier = corrected.remove(&encoding.encoding_id);
                encoding.semantic_corrected = earlier.flatten();
            }
            self.cost = RunCost::of(encodings, results);
        }
    }

    /// Reads `report.json`, or the array of results that `run` writes.
    ///
    /// # Errors
    /// [`ReportError`]: the text is not JSON, has another form, kind or version, or a total is not the sum of its parts.
    ///
    /// ```
    /// use zer0gravity_engine::report::RunReport;
    /// let report = RunReport::read("[]").unwrap();
    /// assert_eq!(report.outcomes.items, 0);
    /// assert!(RunReport::read("{}").is_err());
    /// ```
    pub fn read(json: &str) -> Result<Self, ReportError> {
        /// The fields that show whether the rest can be read.
        #[derive(Deserialize)]
        struct Head {
            schema_version: u32,
            kind: String,
        }
        let json = json.trim_start_matches('\u{feff}');
        if json.trim_start().starts_with('[') {
            let results: Vec<ExperimentResult> = serde_json::from_str(json)?;
            let other = results.iter().find(|r| !is_readable(r.schema_version));
            return match other {
                Some(other) => Err(ReportError::Version {
                    found: other.schema_version,
                }),
                None => Ok(Self::of_results(checked(results)?)),
            };
        }
        let head: Head = serde_json::from_str(json)?;
        if head.kind != KIND {
            return Err(ReportError::Kind { found: head.kind });
        }
        if !is_readable(head.schema_version) {
            return Err(ReportError::Version {
                found: head.schema_version,
            });
        }
        let mut report: Self = serde_json::from_str(json)?;
        report.results = checked(report.results)?;
        Ok(report)
    }
}

/// Refuses results of which a total is not the sum of its parts, and lets the others share what they have in common.
fn checked(mut results: Vec<ExperimentResult>) -> Result<Vec<ExperimentResult>, ReportError> {
    let mut parts = SharedParts::default();
    for result in &mut results {
        parts.share(result);
        let partial = result.partial_total.map(|partial| partial.points);
        if let (Some(scores), Some(total)) = (result.scores, result.total.or(partial))
            && scores.sum() != u16::from(total)
        {
            return Err(ReportError::Total {
                case: result.test_case_id.clone(),
                encoding: result.encoding_id.clone(),
                total,
                sum: scores.sum(),
            });
        }
    }
    Ok(results)
}
