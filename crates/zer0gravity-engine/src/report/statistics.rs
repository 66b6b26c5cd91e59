//! The statistics of a run's scores.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::grouped::{
    self, COMPRESSION, Group, IMPLEMENTABILITY, OutcomeCounts, SEMANTIC, TOTAL, Value, average,
    figure, groups, over_texts, within,
};
use super::own::OwnStatistics;
use super::{Judges, ReportedEncodingSystem};
use crate::ExperimentResult;
use crate::calibration::CorrectedMean;
use crate::metrics::stats::{
    Interval, MeanEstimate, PairedResult, RANDOM_FLIPS, holm, paired_test,
};

/// Random sign flips for each pair: the smallest p that Holm's method then gives is 0.005.
const FLIPS_OF_A_PAIR: usize = 200;
/// The most random sign flips of a test: up to 300 encoding systems they give an adjusted p below 0.05.
const MOST_FLIPS: u32 = 1_000_000;

/// The statistics of a run's scores.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Statistics {
    /// One for each encoding, in plan order.
    pub per_encoding: Vec<EncodingSystemStatistics>,
    /// One for each encoding and case, in plan order.
    pub per_case: Vec<CaseStatistics>,
    /// One for each pair of encodings.
    pub pairwise: Vec<Pairwise>,
    /// The statistics of the judges.
    pub judges: Judges,
}

/// An encoding over all of its cases. Every case weighs the same; only scored items count in a mean, and the rates say how
/// many do not. Intervals are over texts, or over trials if there is one text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EncodingSystemStatistics {
    /// The encoding.
    pub encoding_id: String,
    /// The number of experiments.
    pub items: usize,
    /// Experiments with a total.
    pub scored: usize,
    /// Experiments that did not end `ok`, refused ones included.
    pub failed: usize,
    /// Experiments that a model refused.
    pub refused: usize,
    /// `failed` of `items`, 0 to 1.
    #[serde(with = "crate::judge::number::plain")]
    pub failure_rate: f64,
    /// `refused` of `items`, 0 to 1.
    #[serde(with = "crate::judge::number::plain")]
    pub refusal_rate: f64,
    /// The number of cases.
    pub cases: usize,
    /// Cases with a scored item.
    pub scored_cases: usize,
    /// The total, 0 to 100.
    pub total: MeanEstimate,
    /// The points for meaning, 0 to 40.
    pub semantic_preservation: MeanEstimate,
    /// The points for meaning, corrected by labels of people; set by [`RunReport::calibrate`](super::RunReport::calibrate).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semantic_corrected: Option<CorrectedMean>,
    /// The points for the rules, 0 to 5.
    pub implementability: MeanEstimate,
    /// Percent, negative for an expansion.
    pub compression_percent: MeanEstimate,
    /// chrF++ of decode and original, 0 to 100.
    pub chrf_pp: MeanEstimate,
    /// The scores by the user's rubric.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_scores: Vec<OwnStatistics>,
}

/// A case with one encoding. Intervals are over trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CaseStatistics {
    /// The encoding.
    pub encoding_id: String,
    /// The case.
    pub test_case_id: String,
    /// The number of experiments.
    pub items: usize,
    /// Experiments with a total.
    pub scored: usize,
    /// Experiments that did not end `ok`.
    pub failed: usize,
    /// Tokens of the text, the mean if counts differ.
    #[serde(with = "crate::judge::number::plain_option")]
    pub original_tokens: Option<f64>,
    /// The total, 0 to 100.
    pub total: MeanEstimate,
    /// The points for meaning, 0 to 40.
    pub semantic_preservation: MeanEstimate,
    /// Percent, negative for an expansion.
    pub compression_percent: MeanEstimate,
}

/// Two encoding systems on their common scored cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Pairwise {
    /// The id of the first system.
    pub a: String,
    /// The id of the second system.
    pub b: String,
    /// The number of common cases.
    pub cases: usize,
    /// Total of `a` minus total of `b`.
    #[serde(with = "crate::judge::number::plain_option")]
    pub mean_difference: Option<f64>,
    /// The 95 % interval of the difference.
    pub ci95: Option<Interval>,
    /// The p value of the sign-flip test.
    #[serde(with = "crate::judge::number::plain_option")]
    pub p: Option<f64>,
    /// The p value, adjusted after Holm over all pairs of the run.
    #[serde(with = "crate::judge::number::plain_option")]
    pub p_holm: Option<f64>,
}

impl Statistics {
    /// Computes the statistics with this total of a result.
    pub(super) fn of(
        encodings: &[ReportedEncodingSystem],
        results: &[ExperimentResult],
        seed: u64,
        total: Value,
    ) -> Self {
        let groups = groups(results);
        let ids = grouped::encoding_ids(encodings, results);
        let of_encoding: Vec<(&str, Vec<&Group<'_>>)> = (ids.into_iter())
            .map(|id| (id, groups.iter().filter(|g| g.encoding == id).collect()))
            .collect();
        Self {
            per_encoding: (of_encoding.iter())
                .map(|(id, groups)| EncodingSystemStatistics::of(id, groups, total))
                .collect(),
            per_case: (groups.iter())
                .map(|group| CaseStatistics::of(group, total))
                .collect(),
            pairwise: pairwise(&of_encoding, seed, total),
            judges: Judges::of(&groups),
        }
    }
}

impl EncodingSystemStatistics {
    fn of(id: &str, groups: &[&Group<'_>], total: Value) -> Self {
        let tally = OutcomeCounts::of(groups.iter().flat_map(|group| group.items.iter().copied()));
        let mean = |value: Value, scale| over_texts(groups, value, scale);
        let scored_cases = (groups.iter()).filter(|group| group.mean(total).is_some());
        Self {
            encoding_id: id.to_owned(),
            items: tally.items,
            scored: tally.scored,
            failed: tally.failed,
            refused: tally.refused,
            failure_rate: tally.rate(tally.failed),
            refusal_rate: tally.rate(tally.refused),
            cases: groups.len(),
            scored_cases: scored_cases.count(),
            total: mean(total, TOTAL),
            semantic_preservation: mean(grouped::semantic, SEMANTIC),
            semantic_corrected: None,
            implementability: mean(grouped::implementability, IMPLEMENTABILITY),
            compression_percent: mean(grouped::compression, COMPRESSION),
            chrf_pp: mean(grouped::chrf, TOTAL),
            own_scores: OwnStatistics::of(groups),
        }
    }
}

impl CaseStatistics {
    fn of(group: &Group<'_>, total: Value) -> Self {
        let tally = OutcomeCounts::of(group.items.iter().copied());
        let mean = |value: Value, scale| group.over_trials(value, scale);
        let tokens: Vec<f64> = (group.items.iter())
            .filter_map(|item| item.original_tokens)
            .map(|tokens| tokens as f64)
            .collect();
        Self {
            encoding_id: group.encoding.to_owned(),
            test_case_id: group.case.to_owned(),
            items: tally.items,
            scored: tally.scored,
            failed: tally.failed,
            original_tokens: average(&tokens).map(figure),
            total: mean(total, TOTAL),
            semantic_preservation: mean(grouped::semantic, SEMANTIC),
            compression_percent: mean(grouped::compression, COMPRESSION),
        }
    }
}

fn pairwise(encodings: &[(&str, Vec<&Group<'_>>)], seed: u64, total: Value) -> Vec<Pairwise> {
    let pairs = encodings.len() * encodings.len().saturating_sub(1) / 2;
    let flips = u32::try_from(FLIPS_OF_A_PAIR * pairs).unwrap_or(MOST_FLIPS);
    let flips = flips.clamp(RANDOM_FLIPS, MOST_FLIPS);
    let totals: Vec<Vec<(&str, f64)>> = (encodings.iter())
        .map(|(_, groups)| {
            let scored = groups.iter();
            scored
                .filter_map(|group| Some((group.case, group.mean(total)?)))
                .collect()
        })
        .collect();
    let mut tests = Vec::new();
    for (first, (a, _)) in encodings.iter().enumerate() {
        let own: std::collections::HashMap<&str, f64> = totals[first].iter().copied().collect();
        for (second, (b, _)) in encodings.iter().enumerate().skip(first + 1) {
            let (of_a, of_b): (Vec<f64>, Vec<f64>) = (totals[second].iter())
                .filter_map(|(case, total)| Some((*own.get(case)?, *total)))
                .unzip();
            // In one order of the names: who stands first in the plan decides nothing.
            let mut rng = random(seed, &[a.min(b), a.max(b)]);
            let PairedResult {
                n,
                mean_difference,
                ci95,
                p,
            } = paired_test(&of_a, &of_b, flips, &mut rng);
            tests.push(Pairwise {
                a: (*a).to_owned(),
                b: (*b).to_owned(),
                cases: n,
                mean_difference: mean_difference.map(figure),
                ci95: ci95.map(|interval| within(interval, TOTAL.1)),
                p,
                p_holm: None,
            });
        }
    }
    let tested: Vec<f64> = tests.iter().filter_map(|test| test.p).collect();
    let mut adjusted = holm(&tested).into_iter();
    for test in tests.iter_mut().filter(|test| test.p.is_some()) {
        test.p_holm = adjusted.next().map(figure);
        test.p = test.p.map(figure);
    }
    tests
}

/// The generator of one test: from the seed and from what is tested, so that a further encoding changes no other test.
pub(super) fn random(seed: u64, names: &[&str]) -> ChaCha20Rng {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    for name in names {
        // The length keeps ["ab", "c"] apart from ["a", "bc"].
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name);
    }
    ChaCha20Rng::from_seed(hash.finalize().into())
}
