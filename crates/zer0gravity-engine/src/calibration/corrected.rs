use serde::{Deserialize, Serialize};

use crate::judge::number::rounded;
use crate::judge::score::MAX_SEMANTIC;
use crate::metrics::stats::{Interval, IntervalMethod, mean, mean_and_variance, quantile};

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
        self.added_to(texts, texts, 1.0)
    }

    /// The mean of `weight` * judge over the `others`, plus that of the rectifier. The spread of the judge is that over `all` texts.
    fn added_to(self, others: &[f64], all: &[f64], weight: f64) -> Option<CorrectedMean> {
        let (_, variance) = mean_and_variance(all)?;
        let of_judge = weight.powi(2) * variance / others.len().max(1) as f64;
        let reach = quantile(self.n as f64 - 1.0)?;
        let reach = reach * (self.variance / self.n as f64 + of_judge).sqrt();
        let mean = self.mean + weight * mean(others).unwrap_or_default();
        let clipped = |points: f64| rounded(points.clamp(0.0, f64::from(MAX_SEMANTIC)), 6);
        Some(CorrectedMean {
            mean: clipped(mean),
            ci95: Interval {
                low: clipped(mean - reach),
                high: clipped(mean + reach),
                method: IntervalMethod::T,
            },
            labels: self.n,
            texts: all.len(),
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
    let judge = labelled.iter().map(|(judge, _)| *judge);
    let all: Vec<f64> = judge.chain(others.iter().copied()).collect();
    let weight = others.len() as f64 / all.len().max(1) as f64;
    Rectifier::weighted(labelled, weight)?.added_to(others, &all, weight)
}
