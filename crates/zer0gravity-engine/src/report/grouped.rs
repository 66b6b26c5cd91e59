//! Results by encoding and case, in the order they first occur.

use std::collections::HashMap;

use crate::judge::number::rounded;
use crate::metrics::stats::{Interval, MeanEstimate, UNBOUNDED, mean_with_interval};
use crate::report::ReportedEncodingSystem;
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
    encodings: &'a [ReportedEncodingSystem],
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

/// The ends of a total.
pub(super) const TOTAL: (f64, f64) = (0.0, 100.0);
/// The ends of the points for the meaning.
pub(super) const SEMANTIC: (f64, f64) = (0.0, 40.0);
/// The ends of the points for the rules.
pub(super) const IMPLEMENTABILITY: (f64, f64) = (0.0, 5.0);
/// The ends of a saved share in percent: an expansion has none.
pub(super) const COMPRESSION: (f64, f64) = (f64::NEG_INFINITY, 100.0);

/// The total of a scored result, 0 to 100.
pub(super) fn total(result: &ExperimentResult) -> Option<f64> {
    scored(result, result.total.map(f64::from))
}

/// The points for meaning of a scored result, 0 to 40.
pub(super) fn semantic(result: &ExperimentResult) -> Option<f64> {
    scored(
        result,
        (result.scores).map(|scores| f64::from(scores.semantic_preservation)),
    )
}

/// The points for the rules of a scored result, 0 to 5.
pub(super) fn implementability(result: &ExperimentResult) -> Option<f64> {
    scored(
        result,
        result
            .scores
            .and_then(|scores| scores.implementability)
            .map(f64::from),
    )
}

/// The points for saved tokens of a scored result, 0 to 40.
pub(super) fn token_efficiency(result: &ExperimentResult) -> Option<f64> {
    let points = result.scores.map(|scores| scores.token_efficiency);
    scored(result, points.map(f64::from))
}

/// The saved percent, negative for an expansion.
pub(super) fn compression(result: &ExperimentResult) -> Option<f64> {
    scored(result, result.details.compression_percent)
}

/// chrF++, 0 to 100.
pub(super) fn chrf(result: &ExperimentResult) -> Option<f64> {
    scored(
        result,
        result.metrics.as_ref().map(|metrics| metrics.chrf_pp),
    )
}

/// Whether a result has its points, with rules or without.
pub(super) fn is_scored(result: &ExperimentResult) -> bool {
    result.outcome.is_ok() && (result.total.is_some() || result.partial_total.is_some())
}

/// The value if the result is scored, for a mean.
fn scored(result: &ExperimentResult, value: Option<f64>) -> Option<f64> {
    is_scored(result)
        .then_some(value)
        .flatten()
        .filter(|value| value.is_finite())
}

/// The numbers of experiments that were scored, failed and were refused.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OutcomeCounts {
    pub(super) items: usize,
    pub(super) scored: usize,
    pub(super) partial: usize,
    pub(super) failed: usize,
    pub(super) refused: usize,
}

impl OutcomeCounts {
    pub(super) fn of<'a>(results: impl IntoIterator<Item = &'a ExperimentResult>) -> Self {
        let mut tally = Self::default();
        for result in results {
            tally.items += 1;
            tally.scored += usize::from(total(result).is_some());
            tally.partial += usize::from(result.partial_total.is_some());
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
    /// The mean of each trial over its decodes, for trials that have a value.
    pub(super) fn trials(&self, value: impl Fn(&ExperimentResult) -> Option<f64>) -> Vec<f64> {
        let mut trials: Vec<(u32, Vec<f64>)> = Vec::new();
        for item in &self.items {
            let Some(value) = value(item) else { continue };
            match trials.iter_mut().find(|(trial, _)| *trial == item.trial) {
                Some((_, values)) => values.push(value),
                None => trials.push((item.trial, vec![value])),
            }
        }
        (trials.iter())
            .filter_map(|(_, values)| average(values))
            .collect()
    }

    /// The mean over trials, if any has a value.
    pub(super) fn mean(&self, value: impl Fn(&ExperimentResult) -> Option<f64>) -> Option<f64> {
        average(&self.trials(value))
    }

    /// The estimate over trials.
    pub(super) fn over_trials(
        &self,
        value: impl Fn(&ExperimentResult) -> Option<f64>,
        scale: (f64, f64),
    ) -> MeanEstimate {
        over_texts(&[self], value, scale)
    }
}

/// The mean of a value with its interval. The text is the unit: repeats and encodings of one text are averaged first, and the
/// interval is over texts. One text with one encoding is the exception: there it is over trials.
pub(super) fn over_texts(
    groups: &[&Group<'_>],
    value: impl Fn(&ExperimentResult) -> Option<f64>,
    scale: (f64, f64),
) -> MeanEstimate {
    let means = if let [only] = groups {
        only.trials(&value)
    } else {
        let mut texts: Vec<(&str, Vec<f64>)> = Vec::new();
        for group in groups {
            let Some(mean) = group.mean(&value) else {
                continue;
            };
            match texts.iter_mut().find(|(case, _)| *case == group.case) {
                Some((_, means)) => means.push(mean),
                None => texts.push((group.case, vec![mean])),
            }
        }
        (texts.iter())
            .filter_map(|(_, means)| average(means))
            .collect()
    };
    let items = groups.iter().flat_map(|group| &group.items);
    MeanEstimate {
        values: items.filter_map(|item| value(item)).count(),
        ..mean_with_interval(&means, scale).rounded()
    }
}

/// The mean; `None` of nothing.
pub(super) fn average(values: &[f64]) -> Option<f64> {
    mean_with_interval(values, UNBOUNDED).mean
}

/// A derived number as reports hold it.
pub(super) fn figure(value: f64) -> f64 {
    rounded(value, 6)
}

/// The interval of a difference of two numbers, which is at most the `width` of their scale.
pub(super) fn within(interval: Interval, width: f64) -> Interval {
    let clipped = Interval {
        low: interval.low.max(-width),
        high: interval.high.min(width),
        ..interval
    };
    clipped.rounded()
}
