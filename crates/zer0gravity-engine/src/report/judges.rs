//! Statistics of the judges of a run: mean points, agreement, and the sources of their variance.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::grouped::{Group, IMPLEMENTABILITY, SEMANTIC, figure, is_scored, over_texts};
use crate::ExperimentResult;
use crate::metrics::stats::{
    Components, MeanEstimate, krippendorff_alpha, pooled_variance_components, sample_median,
    variance_components,
};
use crate::result::JudgeRecord;

/// Statistics of the judges of a run, over its scored experiments.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Judges {
    /// The points for the meaning, 0 to 40.
    pub semantic: JudgePanel,
    /// The points for the rules, 0 to 5.
    pub implementability: JudgePanel,
}

/// The judges of the meaning, or those of the rules.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct JudgePanel {
    /// Krippendorff's alpha (interval data) over the medians of each judge's samples; `None` for one judge, and if all values are equal.
    #[serde(with = "crate::judge::number::plain_option")]
    pub alpha: Option<f64>,
    /// The number of decoded texts that two or more judges scored.
    pub units: usize,
    /// The judges, in the order of their first score.
    pub per_judge: Vec<JudgeStatistics>,
}

/// The statistics of one judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct JudgeStatistics {
    /// The model of the judge.
    pub model: String,
    /// The number of replies with a score.
    pub samples: usize,
    /// The judge's mean points. The interval is over texts, or over trials if there is one text with one encoding.
    pub points: MeanEstimate,
    /// The sources of the variance of repeats; `None` without repeats, and for judges of the rules, which do not change.
    pub components: Option<Components>,
    /// The number of pairs of encoding and case that the components are pooled over.
    pub component_cases: usize,
    /// The number of such pairs that lack repeats and are left out.
    pub incomplete_cases: usize,
}

/// A function that returns a judge's record in a result.
type RecordOf = fn(&ExperimentResult) -> Option<&JudgeRecord>;

impl Judges {
    pub(super) fn of(groups: &[Group<'_>]) -> Self {
        let rules: RecordOf = |result| result.details.implementability_judge.as_ref();
        let meaning: RecordOf = |result| result.details.semantic_judge.as_ref();
        let mut implementability = JudgePanel::of(groups, rules, IMPLEMENTABILITY);
        for judge in &mut implementability.per_judge {
            judge.components = None;
            (judge.component_cases, judge.incomplete_cases) = (0, 0);
        }
        Self {
            semantic: JudgePanel::of(groups, meaning, SEMANTIC),
            implementability,
        }
    }
}

impl JudgePanel {
    fn of(groups: &[Group<'_>], record: RecordOf, scale: (f64, f64)) -> Self {
        let items = || {
            let all = groups.iter().flat_map(|group| group.items.iter().copied());
            all.filter(|item| is_scored(item))
        };
        let mut models: Vec<&str> = Vec::new();
        for sample in items().filter_map(record).flat_map(|r| &r.samples) {
            if !models.contains(&&*sample.model) {
                models.push(&sample.model);
            }
        }
        let units: Vec<Vec<f64>> = items()
            .map(|item| {
                let medians = models.iter().map(|model| samples(item, record, model));
                medians.filter_map(|s| sample_median(&s)).collect()
            })
            .collect();
        let per_judge = (models.iter())
            .map(|model| JudgeStatistics::of(model, groups, record, scale))
            .collect();
        Self {
            alpha: krippendorff_alpha(&units).map(figure),
            units: units.iter().filter(|unit| unit.len() >= 2).count(),
            per_judge,
        }
    }
}

/// Returns the points of one judge for one decoded text.
fn samples(item: &ExperimentResult, record: RecordOf, model: &str) -> Vec<f64> {
    let samples = record(item).into_iter().flat_map(|record| &record.samples);
    samples
        .filter(|sample| *sample.model == *model)
        .filter_map(|sample| sample.score)
        .map(f64::from)
        .collect()
}

impl JudgeStatistics {
    fn of(model: &str, groups: &[Group<'_>], record: RecordOf, scale: (f64, f64)) -> Self {
        let mut count = 0;
        let mut tables = Vec::new();
        let mut judged = 0;
        for group in groups {
            let mut trials: BTreeMap<u32, Vec<Vec<f64>>> = BTreeMap::new();
            for item in group.items.iter().filter(|item| is_scored(item)) {
                let points = samples(item, record, model);
                count += points.len();
                trials.entry(item.trial).or_default().push(points);
            }
            let table: Vec<Vec<Vec<f64>>> = trials.into_values().collect();
            judged += usize::from(!table.is_empty());
            if let Ok(components) = variance_components(&table) {
                let shape = [components.encodes, components.decodes, components.samples];
                tables.push((shape, table));
            }
        }
        let median = |item: &ExperimentResult| {
            let points = samples(item, record, model);
            sample_median(&points).filter(|_| is_scored(item))
        };
        // Failed experiments leave smaller balanced tables. Only complete tables can be pooled.
        let whole = tables.iter().map(|(shape, _)| *shape).max();
        tables.retain(|(shape, _)| Some(*shape) == whole);
        let repeated = whole.is_some_and(|shape| shape != [1; 3]);
        let tables: Vec<_> = tables.into_iter().map(|(_, table)| table).collect();
        let components = repeated
            .then(|| pooled_variance_components(&tables).ok())
            .flatten();
        Self {
            model: model.to_owned(),
            samples: count,
            points: over_texts(&groups.iter().collect::<Vec<_>>(), median, scale),
            components: components.map(|components| Components {
                encode: components.encode.map(figure),
                decode: components.decode.map(figure),
                judge: components.judge.map(figure),
                ..components
            }),
            component_cases: if repeated { tables.len() } else { 0 },
            incomplete_cases: if repeated { judged - tables.len() } else { 0 },
        }
    }
}
