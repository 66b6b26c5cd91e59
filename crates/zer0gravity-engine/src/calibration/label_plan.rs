use serde::Serialize;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::corrected::{MIN_LABELS, Rectifier};
use crate::judge::number::rounded;
use crate::metrics::stats::{mean_and_variance, quantile};

/// The standard deviation of the differences judge - people in points where no label tells it.
const ASSUMED: f64 = 6.0;
/// The degrees of freedom of an assumed standard deviation.
const CERTAIN: f64 = 10_000.0;
/// The share of samples whose interval is as narrow as planned.
const ASSURANCE: f64 = 0.9;

/// The number of labelled texts for an interval of a given width.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LabelPlan {
    /// The half-width of the 95 % interval that is asked for, in points.
    pub half_width: f64,
    /// The number of texts of an encoding system.
    pub texts: usize,
    /// The standard deviation of the judge's points over texts.
    pub judge_deviation: f64,
    /// The standard deviation of the differences judge - people.
    pub deviation: f64,
    /// The number of labelled texts that `deviation` is from; 0 if it is assumed.
    pub pilot_labels: usize,
    /// Whether any number of labels gives `half_width`.
    pub is_reached: bool,
    /// The smallest number of labelled texts that gives `half_width`, or else the number that gives the smallest half-width.
    pub labels: usize,
    /// The half-width that these labels give.
    pub reached: f64,
}

/// Plans the labels of texts with these points of the judge, one for each text. The planned width is kept in 90 % of samples, because the
/// spread of new labels may exceed that of the `pilot`, texts with the points of the judge and of people. At least [`MIN_LABELS`] texts are
/// labelled; `None` for fewer texts.
///
/// ```
/// use zer0gravity_engine::calibration::label_plan;
/// let points: Vec<f64> = (0..400).map(|text| f64::from(text % 20) + 20.0).collect();
/// let plan = label_plan(&points, &[], 2.0).unwrap();
/// assert_eq!((plan.is_reached, plan.labels), (true, 51));
/// assert!(!label_plan(&points, &[], 0.1).unwrap().is_reached);
/// ```
pub fn label_plan(judge: &[f64], pilot: &[(f64, f64)], half_width: f64) -> Option<LabelPlan> {
    let (_, of_judge) = mean_and_variance(judge)?;
    let rectifier = Rectifier::of(pilot).filter(|rectifier| rectifier.variance > 0.0);
    let variance = rectifier.map_or(ASSUMED.powi(2), |rectifier| rectifier.variance);
    let known = rectifier.map_or(CERTAIN, |rectifier| rectifier.n as f64 - 1.0);
    // The variance of people - weight * judge. An assumed difference is taken for independent of the judge.
    let of_people = |weight: f64| match rectifier {
        Some(_) => Rectifier::weighted(pilot, weight).map(|rectifier| rectifier.variance),
        None => Some(variance + (1.0 - weight).powi(2) * of_judge),
    };
    let width = |labels: usize| {
        let (freedom, others) = (labels as f64 - 1.0, judge.len() - labels);
        let weight = others as f64 / judge.len() as f64;
        let growth = FisherSnedecor::new(freedom, known)
            .ok()?
            .inverse_cdf(ASSURANCE);
        let error =
            weight * of_judge / judge.len() as f64 + growth * of_people(weight)? / labels as f64;
        Some((quantile(freedom)? * error.sqrt(), labels))
    };
    let widths: Vec<(f64, usize)> = (MIN_LABELS..=judge.len()).filter_map(width).collect();
    let enough = widths.iter().find(|(width, _)| *width <= half_width);
    let best = widths.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let &(reached, labels) = enough.or(best)?;
    Some(LabelPlan {
        half_width,
        texts: judge.len(),
        judge_deviation: rounded(of_judge.sqrt(), 6),
        deviation: rounded(variance.sqrt(), 6),
        pilot_labels: rectifier.map_or(0, |rectifier| rectifier.n),
        is_reached: enough.is_some(),
        labels,
        reached: rounded(reached, 6),
    })
}
