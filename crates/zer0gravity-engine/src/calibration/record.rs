use std::collections::{BTreeMap, BTreeSet};

use llm_types::Clock;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::{
    CanaryReport, JudgeBias, JudgeIdentity, Label, Labels, MIN_LABELS, PointsAgreement, Rectifier,
    TextPair, TextPoints, dataset_sha256, judged, pairs, texts,
};
use crate::ExperimentResult;
use crate::judge::number::rounded;
use crate::metrics::stats::{mean, mean_and_variance};
use crate::model::client::now;
use crate::plan::Config;
use crate::result::timestamp;
use crate::text::hash::sha256_hex;

const SCHEMA_VERSION: u32 = 1;
const KIND: &str = "zer0gravity.calibration";
/// The base rate above which kappa says little.
const HIGH_BASE_RATE: f64 = 0.8;

/// The time of day as labels and calibrations hold it: UTC with milliseconds.
pub fn time_of_day(clock: &dyn Clock) -> String {
    timestamp(now(clock))
}

/// A judge compared with people, with the fields and the order of `calibration.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Calibration {
    /// The version of this form, 1.
    #[serde(rename = "schema_version")]
    pub schema_version: u32,
    /// The kind of the file, `zer0gravity.calibration`.
    pub kind: String,
    /// The SHA-256 of [`Self::judge`] as canonical JSON in hex.
    pub judge_id: String,
    /// The judge that was compared.
    pub judge: JudgeIdentity,
    /// The SHA-256 of the distinct original texts of the run.
    pub dataset_sha256: String,
    /// The SHA-256 of the file of labels.
    pub labels_sha256: String,
    /// The number of labels with a score.
    pub n: usize,
    /// The number of labelled pairs.
    pub pairs: usize,
    /// The number of people.
    pub raters: usize,
    /// The agreement of the judge with the mean of the people, who are the second column.
    pub agreement: PointsAgreement,
    /// The agreement of the people, in the order of their names.
    pub raters_agreement: PointsAgreement,
    /// The difference judge - people.
    pub bias: JudgeBias,
    /// The standard deviation of the samples of a judge for one pair, in points; `None` for one sample each.
    #[serde(with = "crate::judge::number::plain_option")]
    pub judge_spread: Option<f64>,
    /// The mean of people - judge over the texts of [`Self::labelled`]; `None` below two. It corrects means from [`MIN_LABELS`] on.
    pub rectifier: Option<Rectifier>,
    /// The mean points of people by the ids of the random pairs.
    pub labelled: BTreeMap<String, f64>,
    /// The answers for pairs in a known order, if the judge was asked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canaries: Option<CanaryReport>,
    /// Sentences on what limits these numbers.
    pub warnings: Vec<String>,
    /// The time of the comparison, UTC.
    pub created_at: String,
}

/// The reason why a judge cannot be compared with people.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// The points of the results came with the texts, or no result has points.
    #[error("no result has the points of a judge")]
    NoJudge,
    /// Several judges scored the results.
    #[error("the results are of several judges, which differ in {}", keys.join(", "))]
    SeveralJudges {
        /// The keys that differ.
        keys: Vec<String>,
    },
    /// No label is of a judged pair.
    #[error("none of the labels is of a pair that a judge scored")]
    NoLabels,
    /// A text is not a calibration.
    #[error("{0}")]
    Form(String),
}

impl Calibration {
    /// Compares the judge of `results` with the `labels`, the lines of a file whose bytes are `file`. `created_at` is UTC.
    ///
    /// # Errors
    /// [`CalibrationError`]: there is nothing to compare, or several judges scored.
    pub fn of(
        results: &[ExperimentResult],
        config: Option<&Config>,
        labels: &[Label],
        file: &[u8],
        created_at: String,
    ) -> Result<Self, CalibrationError> {
        let judge = JudgeIdentity::of_results(results, config)?.ok_or(CalibrationError::NoJudge)?;
        let (pairs, labels) = (pairs(results), Labels::of(labels));
        let random = labels.random(&pairs);
        let mut raters = BTreeSet::new();
        let mut people: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let mut both = Vec::new();
        for pair in &pairs {
            let Some(judge) = pair.judge else { continue };
            let given = labels.scored(&pair.id);
            let (given, points): (Vec<&Label>, Vec<f64>) = given.unzip();
            let Some(mean) = mean(&points) else { continue };
            raters.extend(given.iter().map(|label| &*label.rater));
            both.push(vec![judge, mean]);
            people.insert(&pair.id, points);
        }
        if people.is_empty() {
            return Err(CalibrationError::NoLabels);
        }
        let mean_of = |pair: &TextPair| mean(people.get(&*pair.id)?);
        let is_random = |pair: &TextPair| random.contains(&*pair.id);
        let sampled = texts(&pairs, |pair| mean_of(pair).filter(|_| is_random(pair)));
        let sampled: Vec<_> = sampled.iter().filter_map(TextPoints::labelled).collect();
        let all = pairs.iter().filter(|pair| is_random(pair));
        let mut calibration = Self {
            schema_version: SCHEMA_VERSION,
            kind: KIND.to_owned(),
            judge_id: judge.id(),
            judge,
            dataset_sha256: dataset_sha256(results),
            labels_sha256: sha256_hex(file),
            n: people.values().map(Vec::len).sum(),
            pairs: people.len(),
            raters: raters.len(),
            agreement: PointsAgreement::of(&both),
            raters_agreement: PointsAgreement::of(&people.values().cloned().collect::<Vec<_>>()),
            bias: JudgeBias::of(&texts(&pairs, mean_of)),
            judge_spread: judge_spread(results),
            rectifier: Rectifier::of(&sampled),
            labelled: all
                .filter_map(|pair| Some((pair.id.clone(), rounded(mean_of(pair)?, 6))))
                .collect(),
            canaries: None,
            warnings: Vec::new(),
            created_at,
        };
        calibration.warnings = calibration.limits();
        Ok(calibration)
    }

    fn limits(&self) -> Vec<String> {
        let base_rate = self.agreement.base_rate.unwrap_or_default();
        let texts = self
            .rectifier
            .map_or(self.labelled.len(), |rectifier| rectifier.n);
        let warnings = [
            (self.raters_agreement.n == 0)
                .then(|| "one rater for each pair: the agreement of people is not known".to_owned()),
            (base_rate > HIGH_BASE_RATE).then(|| {
                let percent = 100.0 * base_rate;
                format!("{percent:.0} % of the points of people are in one band: kappa says little")
            }),
            (self.labelled.len() < self.pairs).then(|| {
                let others = self.pairs - self.labelled.len();
                format!("{others} of {} labelled pairs are not the first ones of a random order: they correct no mean", self.pairs)
            }),
            (texts < MIN_LABELS).then(|| {
                format!("texts with labels of random pairs: {texts}; means are corrected from {MIN_LABELS} texts on")
            }),
        ];
        warnings.into_iter().flatten().collect()
    }

    /// Reads `calibration.json`.
    ///
    /// # Errors
    /// [`CalibrationError::Form`]: the text has another form, kind or version, or was edited.
    pub fn read(json: &str) -> Result<Self, CalibrationError> {
        let failed = |error: serde_json::Error| CalibrationError::Form(error.to_string());
        let head: Value = serde_json::from_str(json).map_err(failed)?;
        if head["kind"] != KIND || head["schema_version"] != SCHEMA_VERSION {
            let message = format!("expected kind {KIND} and schema_version {SCHEMA_VERSION}");
            return Err(CalibrationError::Form(message));
        }
        let calibration: Self = serde_json::from_str(json).map_err(failed)?;
        if calibration.judge.id() != calibration.judge_id {
            let message = "judgeId is not the hash of judge: the file was edited; restore it";
            return Err(CalibrationError::Form(message.to_owned()));
        }
        Ok(calibration)
    }
}

/// The standard deviation of the samples of one judge for one decoded text, pooled; `None` without repeated samples.
fn judge_spread(results: &[ExperimentResult]) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0.0);
    for result in results.iter().filter(|result| judged(result).is_some()) {
        let mut by_model: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for sample in result
            .details
            .semantic_judge
            .iter()
            .flat_map(|one| &one.samples)
        {
            let points = by_model.entry(&sample.model).or_default();
            points.extend(sample.score.map(f64::from));
        }
        for points in by_model.values() {
            if let Some((_, variance)) = mean_and_variance(points) {
                squares += variance * (points.len() - 1) as f64;
                freedom += (points.len() - 1) as f64;
            }
        }
    }
    (freedom > 0.0).then(|| rounded((squares / freedom).sqrt(), 6))
}
