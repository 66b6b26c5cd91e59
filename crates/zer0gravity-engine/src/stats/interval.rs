//! A mean and how far it may be off.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{mean, squares};

/// The share of intervals that hold the true value.
const CONFIDENCE: f64 = 0.95;

/// From `low` to `high`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Interval {
    /// The lower end.
    #[serde(with = "crate::number::plain")]
    pub low: f64,
    /// The upper end.
    #[serde(with = "crate::number::plain")]
    pub high: f64,
}

/// A mean of `n` values, in their unit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// How many values there are.
    pub n: usize,
    /// None of no values.
    #[serde(with = "crate::number::plain_option")]
    pub mean: Option<f64>,
    /// The 95 % interval; none below 2 values, as one value says nothing about its own spread.
    pub ci95: Option<Interval>,
}

/// The mean of `values` with its 95 % interval by Student's t, which takes them for independent draws. Values that are not
/// finite do not count.
///
/// ```
/// use zer0gravity_engine::stats::mean_with_interval;
/// let estimate = mean_with_interval(&[70.0, 80.0, 90.0]);
/// let interval = estimate.ci95.unwrap();
/// assert_eq!(estimate.mean, Some(80.0));
/// assert!((interval.low - 55.158).abs() < 1e-3 && (interval.high - 104.841).abs() < 1e-3);
/// assert_eq!(mean_with_interval(&[70.0]).ci95, None);
/// ```
pub fn mean_with_interval(values: &[f64]) -> Estimate {
    let values: Vec<f64> = (values.iter().copied())
        .filter(|value| value.is_finite())
        .collect();
    let (n, mean) = (values.len(), mean(&values));
    let ci95 = mean.filter(|_| n >= 2).and_then(|mean| {
        let freedom = (n - 1) as f64;
        let variance = squares(values, mean) / freedom;
        let reach = quantile(freedom)? * (variance / n as f64).sqrt();
        let interval = Interval {
            low: mean - reach,
            high: mean + reach,
        };
        (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
    });
    Estimate { n, mean, ci95 }
}

/// How many standard errors a 95 % interval reaches to each side; none below one degree of freedom.
fn quantile(freedom: f64) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    Some(student.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)))
}
