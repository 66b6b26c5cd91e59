//! Results by encoding and case, in the order they first occur.

use std::collections::HashMap;

use crate::number::rounded;
use crate::report::ReportedEncoding;
use crate::stats::{Estimate, Interval, mean_with_interval};
use crate::{ExperimentResult, StageStatus};

/// The results of one text with one encoding.
pub(super) struct Group<'a> {
    pub(super) encoding: &'a str,
    pub(super) case: &'a str,
    pub(super) items: Vec<&'a ExperimentResult>,
}

/// One group for each pair of encoding and case.
pub(super) fn groups(results: &[ExperimentResult]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places = HashMap::new();
    for result in results {
        let (encoding, case) = (result.encoding_id.as_str(), result.test_case_id.as_str());
        let place = *places.entry((encoding, case)).or_insert_with(|| {
            groups.push(Group {
                encoding,
                case,
                items: Vec::new(),
            });
            groups.len() - 1
        });
        groups[place].items.push(result);
    }
    groups
}

/// The ids of all encodings: those of the plan, then those that occur in results only.
pub(super) fn encoding_ids<'a>(
    encodings: &'a [ReportedEncoding],
    results: &'a [ExperimentResult],
) -> Vec<&'a str> {
    let mut seen = std::collections::HashSet::new();
    let planned = encodings.iter().map(|encoding| encoding.id.as_str());
    let occurring = results.iter().map(|result| result.encoding_id.as_str());
    planned
        .chain(occurring)
        .filter(|id| seen.insert(*id))
        .collect()
}

/// A number of a result, if it has it.
pub(super) type Value = fn(&ExperimentResult) -> Option<f64>;

/// 0 to 100, of a result that is scored.
pub(super) fn total(result: &ExperimentResult) -> Option<f64> {
    scored(result, result.total.map(|points| points.0))
}

/// 0 to 40.
pub(super) fn semantic(result: &ExperimentResult) -> Option<f64> {
    scored(
        result,
        result.scores.map(|scores| scores.semantic_preservation.0),
    )
}

/// 0 to 5.
pub(super) fn implementability(result: &ExperimentResult) -> Option<f64> {
    scored(
        result,
        result.scores.map(|scores| scores.implementability.0),
    )
}

/// Signed percent.
pub(super) fn compression(result: &ExperimentResult) -> Option<f64> {
    scored(result, result.details.compression_percent)
}

/// chrF++, 0 to 100.
pub(super) fn chrf(result: &ExperimentResult) -> Option<f64> {
    scored(result, result.metrics.map(|metrics| metrics.chrf_pp))
}

/// Only what is scored counts in a mean: a total that a judge did not give (NaN) is none.
fn scored(result: &ExperimentResult, value: Option<f64>) -> Option<f64> {
    let total = result.total.filter(|total| total.0.is_finite());
    (result.outcome.is_ok() && total.is_some())
        .then_some(value)
        .flatten()
        .filter(|value| value.is_finite())
}

/// How many ended as they should, did not, and were refused.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) items: usize,
    pub(super) scored: usize,
    pub(super) failed: usize,
    pub(super) refused: usize,
}

impl Tally {
    pub(super) fn of<'a>(results: impl IntoIterator<Item = &'a ExperimentResult>) -> Self {
        let mut tally = Self::default();
        for result in results {
            tally.items += 1;
            tally.scored += usize::from(total(result).is_some());
            tally.failed += usize::from(!result.outcome.is_ok());
            tally.refused += usize::from(result.outcome.status == StageStatus::Refused);
        }
        tally
    }

    /// The share of `count` in all items; 0 of none.
    pub(super) fn rate(self, count: usize) -> f64 {
        figure(count as f64 / self.items.max(1) as f64)
    }
}

impl Group<'_> {
    /// The mean of each trial over its decodes, for trials that have a scored one.
    pub(super) fn trials(&self, value: Value) -> Vec<f64> {
        let mut trials: Vec<(u32, Vec<f64>)> = Vec::new();
        for item in &self.items {
            let Some(value) = value(item) else { continue };
            match trials.iter_mut().find(|(trial, _)| *trial == item.trial) {
                Some((_, values)) => values.push(value),
                None => trials.push((item.trial, vec![value])),
            }
        }
        (trials.iter())
            .map(|(_, values)| values.iter().sum::<f64>() / values.len() as f64)
            .collect()
    }

    /// The mean over trials, if any is scored.
    pub(super) fn mean(&self, value: Value) -> Option<f64> {
        mean_with_interval(&self.trials(value)).mean
    }
}

/// A derived number as reports hold it.
pub(super) fn figure(value: f64) -> f64 {
    rounded(value, 6)
}

/// An interval as reports hold it.
pub(super) fn figures(interval: Interval) -> Interval {
    Interval {
        low: figure(interval.low),
        high: figure(interval.high),
    }
}

/// The mean of `values` with its interval, as reports hold them.
pub(super) fn estimate(values: &[f64]) -> Estimate {
    let estimate = mean_with_interval(values);
    Estimate {
        n: estimate.n,
        mean: estimate.mean.map(figure),
        ci95: estimate.ci95.map(figures),
    }
}
