//! Means of the points for the meaning, corrected by labels of people, and the comparison as lines.

use std::collections::{HashMap, HashSet};

use super::{RunReport, probability};
use crate::calibration::{
    Calibration, LabelPlan, MIN_LABELS, PointsAgreement, TextPoints, corrected_by_chance,
    dataset_sha256, label_plan, pairs, texts,
};
use crate::metrics::stats::{Interval, MeanEstimate};

impl RunReport {
    /// Sets the corrected means of the encoding systems, and keeps the calibration for the page. No score and no total changes.
    ///
    /// In the run that was labelled, an encoding system with labels of [`MIN_LABELS`] of its texts or more is corrected by these. In another
    /// run of the same texts, every system is corrected by the labels of all. Points that came with the texts are never corrected.
    pub fn calibrate(&mut self, calibration: Calibration) {
        let is_same_dataset = dataset_sha256(&self.results) == calibration.dataset_sha256;
        let labelled = &calibration.labelled;
        let is_own = !labelled.is_empty() && self.labelled_pairs(&calibration) == labelled.len();
        let rectifier = calibration.rectifier.filter(|it| it.n >= MIN_LABELS);
        let all = pairs(&self.results);
        // The pairs of each text, and those with labels.
        let mut drawn: HashMap<&str, [usize; 2]> = HashMap::new();
        for pair in &all {
            let [count, chosen] = drawn.entry(&pair.original).or_default();
            *count += 1;
            *chosen += usize::from(labelled.contains_key(&pair.id));
        }
        for encoding in &mut self.statistics.per_encoding {
            let results = self.results.iter();
            let own = results.filter(|result| result.encoding_id == encoding.encoding_id);
            let people = |id: &String| labelled.get(id).copied().filter(|_| is_own);
            let own = pairs(own);
            let texts = texts(&own, |pair| people(&pair.id));
            let labelled = texts.iter().filter_map(|text| {
                let (judge, people) = text.labelled()?;
                let [count, chosen] = drawn.get(text.text).copied().unwrap_or_default();
                Some((judge, people, chance(count, chosen, text.pairs)))
            });
            let labelled: Vec<_> = labelled.collect();
            let others = texts.iter().filter(|text| text.people.is_none());
            let others: Vec<f64> = others.map(|text| text.judge).collect();
            encoding.semantic_corrected = match rectifier {
                _ if is_own && labelled.len() >= MIN_LABELS => {
                    corrected_by_chance(&labelled, &others)
                }
                Some(rectifier) if !is_own && is_same_dataset => rectifier.corrected(&others),
                _ => None,
            };
        }
        self.calibration = Some(Box::new(calibration));
    }

    /// The number of random pairs of the calibration that are pairs of this run.
    pub(super) fn labelled_pairs(&self, calibration: &Calibration) -> usize {
        let ids: HashSet<String> = pairs(&self.results)
            .into_iter()
            .map(|pair| pair.id)
            .collect();
        let labelled = calibration.labelled.keys();
        labelled.filter(|id| ids.contains(*id)).count()
    }

    /// Plans the labels for a corrected mean of the encoding system whose texts differ most in the judge's points; `None` for too few texts
    /// with points of a judge. The spread of judge - people is that of the `pilot`'s labels of this run.
    pub fn label_plan(&self, pilot: Option<&Calibration>, half_width: f64) -> Option<LabelPlan> {
        let all = pairs(&self.results);
        let pilot = texts(&all, |pair| pilot?.labelled.get(&pair.id).copied());
        let pilot: Vec<_> = pilot.iter().filter_map(TextPoints::labelled).collect();
        let plans = self.statistics.per_encoding.iter().filter_map(|encoding| {
            let results = self.results.iter();
            let own = pairs(results.filter(|result| result.encoding_id == encoding.encoding_id));
            let judge: Vec<f64> = texts(&own, |_| None)
                .iter()
                .map(|text| text.judge)
                .collect();
            label_plan(&judge, &pilot, half_width)
        });
        plans.max_by(|a, b| a.judge_deviation.total_cmp(&b.judge_deviation))
    }
}

/// The chance that `chosen` of the `all` pairs of a text contain one of an encoding system's `own` ones. Pairs that several systems share are
/// a larger part of their text, and would be labelled more often than others.
fn chance(all: usize, chosen: usize, own: usize) -> f64 {
    let missed = (0..chosen).map(|drawn| {
        let left = all.saturating_sub(drawn).max(1);
        all.saturating_sub(own + drawn) as f64 / left as f64
    });
    1.0 - missed.product::<f64>()
}

/// The comparison of a judge with people for the terminal and the page: a name and its value for each thing that was compared.
pub fn calibration_lines(calibration: &Calibration) -> Vec<(String, String)> {
    let line = |name: &str, value: String| (name.to_owned(), value);
    let (judge, bias) = (&calibration.judge, &calibration.bias);
    let people = &calibration.raters_agreement;
    let mut lines = vec![
        line(
            "judge",
            format!("{}, {}", judge.models.join(" and "), judge.provider),
        ),
        line(
            "labels",
            format!(
                "{}, pairs: {}, raters: {}, pairs with two raters: {}",
                calibration.n, calibration.pairs, calibration.raters, people.n
            ),
        ),
        line("judge and people", agreement(&calibration.agreement)),
    ];
    lines.extend((people.n > 0).then(|| line("people", agreement(people))));
    let points = |estimate: &MeanEstimate| estimate.mean.unwrap_or_default();
    let all = in_brackets(points(&bias.difference), bias.difference.ci95);
    lines.push(line("bias", format!("{all} (judge - people)")));
    lines.extend(bias.by.iter().map(|by| {
        let ends = [by.groups.first(), by.groups.last()].map(|end| end.map_or(0.0, points));
        let p = by
            .p_holm
            .map_or_else(String::new, |p| format!(", {}", probability(p)));
        let difference = in_brackets(by.difference, by.ci95);
        line(
            &format!("{} bias", by.property),
            format!("{difference}{p}, from {:+.1} to {:+.1}", ends[0], ends[1]),
        )
    }));
    let spread = calibration.judge_spread;
    lines.extend(spread.map(|spread| {
        line(
            "spread of the judge's samples",
            format!("{spread:.1} points"),
        )
    }));
    lines.extend(calibration.canaries.as_ref().map(|canaries| {
        let (all, wrong) = (canaries.points.len(), canaries.wrong.len());
        line("canaries", format!("{all}, wrong orders: {wrong}"))
    }));
    lines
}

fn agreement(agreement: &PointsAgreement) -> String {
    let number =
        |value: Option<f64>| value.map_or_else(|| "none".to_owned(), |v| format!("{v:.2}"));
    let percent = |value: Option<f64>| 100.0 * value.unwrap_or_default();
    format!(
        "kappa {}, alpha {}; equal bands {:.0} % (by chance {:.0} %), most frequent band {:.0} %",
        number(agreement.kappa),
        number(agreement.alpha),
        percent(agreement.observed),
        percent(agreement.expected),
        percent(agreement.base_rate),
    )
}

/// A difference with its interval, such as `+4.2 [1.0, 7.4]`.
fn in_brackets(difference: f64, interval: Option<Interval>) -> String {
    let interval = interval.map_or_else(String::new, |interval| {
        format!(" [{:.1}, {:.1}]", interval.low, interval.high)
    });
    format!("{difference:+.1}{interval}")
}
