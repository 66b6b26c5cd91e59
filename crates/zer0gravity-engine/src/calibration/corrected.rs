use serde::{Deserialize, Serialize};

use crate::judge::number::rounded;
use crate::judge::score::MAX_SEMANTIC;
use crate::metrics::stats::{Interval, IntervalMethod, mean_and_variance, quantile};

/// The fewest labelled texts for a corrected mean.
pub const MIN_LABELS: usize = 20;

/// The mean of people - judge over labelled texts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Rectifier {
    /// The mean in points.
    #[serde(with = "crate::judge::number::plain")]
    pub mean: f64,
    /// The variance over texts in squared points.
    #[serde(with = "crate::judge::number::plain")]
    pub variance: f64,
    /// The number of labelled texts.
    pub n: usize,
}

/// A mean of the points for the meaning that is corrected by labels of people.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CorrectedMean {
    /// The mean, 0 to 40.
    #[serde(with = "crate::judge::number::plain")]
    pub mean: f64,
    /// The 95 % interval, by Student's t with one degree of freedom fewer than labelled texts.
    pub ci95: Interval,
    /// The number of labelled texts.
    pub labels: usize,
    /// The number of texts of the mean.
    pub texts: usize,
}

impl Rectifier {
    /// The rectifier of labelled texts, each with the judge's and the people's points; `None` below two.
    pub fn of(labelled: &[(f64, f64)]) -> Option<Self> {
        Self::weighted(labelled, 1.0)
    }

    /// The mean of people - `weight` * judge, and its variance.
    pub(super) fn weighted(labelled: &[(f64, f64)], weight: f64) -> Option<Self> {
        let differences = labelled.iter();
        let differences = differences.map(|(judge, people)| people - weight * judge);
        let (mean, variance) = mean_and_variance(&differences.collect::<Vec<_>>())?;
        Some(Self {
            mean: rounded(mean, 6),
            variance: rounded(variance, 6),
            n: labelled.len(),
        })
    }

    /// The judge's mean over texts of which none is labelled, plus the mean difference people - judge; `None` below two texts.
    pub fn corrected(self, texts: &[f64]) -> Option<CorrectedMean> {
        let (judge, variance) = mean_and_variance(texts)?;
        let variance = self.variance / self.n as f64 + variance / texts.len() as f64;
        CorrectedMean::of(self.mean + judge, variance, self.n, texts.len())
    }
}

impl CorrectedMean {
    /// The mean and its interval, of which no end leaves the scale.
    fn of(mean: f64, variance: f64, labels: usize, texts: usize) -> Option<Self> {
        let reach = quantile(labels as f64 - 1.0)? * variance.sqrt();
        let clipped = |points: f64| rounded(points.clamp(0.0, f64::from(MAX_SEMANTIC)), 6);
        Some(Self {
            mean: clipped(mean),
            ci95: Interval {
                low: clipped(mean - reach),
                high: clipped(mean + reach),
                method: IntervalMethod::T,
            },
            labels,
            texts,
        })
    }
}

/// The mean of people's points over all texts of a run. `labelled` has the points of the judge and of the people for a random part of the
/// texts, `others` the judge's points for the rest. `None` below two labelled texts.
///
/// With the share `w` of the others among all texts, it is the mean of `people - w * judge` over the labelled texts, plus `w` times the
/// judge's mean over the others. So the judge counts less where few texts are left to it, and nothing where all are labelled.
///
/// ```
/// use zer0gravity_engine::calibration::corrected_mean;
/// let labelled = [(36.0, 30.0), (30.0, 24.0), (34.0, 27.0), (38.0, 33.0)];
/// let corrected = corrected_mean(&labelled, &[36.0, 38.0, 31.0, 35.0]).unwrap();
/// assert_eq!((corrected.mean, corrected.labels, corrected.texts), (28.75, 4, 8));
/// ```
pub fn corrected_mean(labelled: &[(f64, f64)], others: &[f64]) -> Option<CorrectedMean> {
    let labelled = labelled.iter();
    let labelled: Vec<_> = labelled
        .map(|(judge, people)| (*judge, *people, 1.0))
        .collect();
    corrected_by_chance(&labelled, others)
}

/// [`corrected_mean`] of texts that were labelled by unequal chances, the third number of each: a text counts by the inverse of its chance.
pub(crate) fn corrected_by_chance(
    labelled: &[(f64, f64, f64)],
    others: &[f64],
) -> Option<CorrectedMean> {
    let judge = labelled.iter().map(|(judge, ..)| *judge);
    let all: Vec<f64> = judge.chain(others.iter().copied()).collect();
    let (mean_of_judge, variance_of_judge) = mean_and_variance(&all)?;
    let n = labelled.len() as f64;
    let share = others.len() as f64 / all.len() as f64;
    let total: f64 = labelled.iter().map(|(.., chance)| chance.recip()).sum();
    let weighted = |value: &dyn Fn(f64, f64) -> f64| -> f64 {
        let terms = labelled.iter();
        let terms = terms.map(|(judge, people, chance)| value(*judge, *people) / chance);
        terms.sum::<f64>() / total
    };
    let difference = weighted(&|judge, people| people - judge);
    let rest = weighted(&|judge, people| people - share * judge);
    let squares = labelled
        .iter()
        .map(|(judge, people, chance)| ((people - share * judge - rest) / chance / total).powi(2));
    let of_labels = squares.sum::<f64>() * n / (n - 1.0);
    let of_others = share.powi(2) * variance_of_judge / (others.len().max(1) as f64);
    let mean = mean_of_judge + difference;
    CorrectedMean::of(mean, of_labels + of_others, labelled.len(), all.len())
}
