//! A mean and how far it may be off.

use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta, ContinuousCDF, StudentsT};

use super::{mean, squares};
use crate::judge::number::rounded;

/// The share of intervals that hold the true value.
const CONFIDENCE: f64 = 0.95;
/// Values that differ by no more are equal: means of equal values may differ in their last bits.
const EQUAL: f64 = 1e-9;

/// The scale of values that have no ends, such as differences.
pub const UNBOUNDED: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// The method of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IntervalMethod {
    /// Student's t, clipped to the ends of the scale.
    #[default]
    T,
    /// Clopper and Pearson's exact interval of a share, for values that are all equal.
    Beta,
}

/// An interval from `low` to `high`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Interval {
    /// The lower end.
    #[serde(with = "crate::judge::number::plain")]
    pub low: f64,
    /// The upper end.
    #[serde(with = "crate::judge::number::plain")]
    pub high: f64,
    /// The method by which it was computed.
    #[serde(default)]
    pub method: IntervalMethod,
}

/// A mean of `n` values, in their unit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MeanEstimate {
    /// The number of independent values: texts, or trials of one text.
    pub n: usize,
    /// The number of single numbers that these are the means of.
    #[serde(default)]
    pub values: usize,
    /// `None` of no values.
    #[serde(with = "crate::judge::number::plain_option")]
    pub mean: Option<f64>,
    /// The 95 % interval; `None` below 2 values, as one value says nothing about its own spread.
    pub ci95: Option<Interval>,
}

impl Interval {
    /// The interval as reports hold it, with six decimals.
    pub(crate) fn rounded(self) -> Self {
        Self {
            low: rounded(self.low, 6),
            high: rounded(self.high, 6),
            ..self
        }
    }
}

impl MeanEstimate {
    /// The estimate as reports hold it, with six decimals.
    pub(crate) fn rounded(self) -> Self {
        Self {
            mean: self.mean.map(|mean| rounded(mean, 6)),
            ci95: self.ci95.map(Interval::rounded),
            ..self
        }
    }
}

/// The mean of `values`, numbers on a scale from `low` to `high`, with its 95 % interval, which takes them for independent
/// draws. Values that are not finite do not count.
///
/// The interval is Student's t, clipped to the scale. Equal values have no spread to compute it from, and yet the next may differ:
/// they get the exact interval of a share (beta), scaled; without ends of the scale ([`UNBOUNDED`]) that does not exist,
/// and t gives one without width.
///
/// ```
/// use zer0gravity_engine::metrics::stats::{IntervalMethod, mean_with_interval};
/// let estimate = mean_with_interval(&[70.0, 80.0, 90.0], (0.0, 100.0));
/// let interval = estimate.ci95.unwrap();
/// assert_eq!((estimate.mean, interval.method), (Some(80.0), IntervalMethod::T));
/// assert!((interval.low - 55.158).abs() < 1e-3 && interval.high == 100.0);
/// let equal = mean_with_interval(&[40.0; 4], (0.0, 40.0)).ci95.unwrap();
/// assert!((equal.low - 15.905).abs() < 1e-3 && equal.high == 40.0);
/// assert_eq!(mean_with_interval(&[70.0], (0.0, 100.0)).ci95, None);
/// ```
pub fn mean_with_interval(values: &[f64], scale: (f64, f64)) -> MeanEstimate {
    let values: Vec<f64> = (values.iter().copied())
        .filter(|value| value.is_finite())
        .collect();
    let (n, mean) = (values.len(), mean(&values));
    let ci95 = mean.filter(|_| n >= 2).and_then(|mean| {
        let equal = values.iter().all(|value| (value - mean).abs() <= EQUAL);
        let width = scale.1 - scale.0;
        if equal && width > 0.0 && width.is_finite() {
            exact(n as f64, mean, scale)
        } else {
            student(&values, mean, scale)
        }
    });
    MeanEstimate {
        n,
        values: n,
        mean,
        ci95,
    }
}

fn student(values: &[f64], mean: f64, (low, high): (f64, f64)) -> Option<Interval> {
    let n = values.len() as f64;
    let variance = squares(values.iter().copied(), mean) / (n - 1.0);
    let reach = quantile(n - 1.0)? * (variance / n).sqrt();
    let interval = Interval {
        low: (mean - reach).max(low),
        high: (mean + reach).min(high),
        method: IntervalMethod::T,
    };
    (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
}

/// Clopper and Pearson's interval of the share that `mean` is of the scale, for `n` equal values.
fn exact(n: f64, mean: f64, (low, high): (f64, f64)) -> Option<Interval> {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let successes = (n * (mean - low) / (high - low)).clamp(0.0, n);
    let quantile = |a: f64, b: f64, p: f64| Some(Beta::new(a, b).ok()?.inverse_cdf(p));
    let lower = match successes {
        none if none <= 0.0 => 0.0,
        some => quantile(some, n - some + 1.0, tail)?,
    };
    let upper = match n - successes {
        none if none <= 0.0 => 1.0,
        failures => quantile(successes + 1.0, failures, 1.0 - tail)?,
    };
    Some(Interval {
        low: low + lower * (high - low),
        high: low + upper * (high - low),
        method: IntervalMethod::Beta,
    })
}

/// The number of standard errors that a 95 % interval reaches to each side; `None` below one degree of freedom.
pub(crate) fn quantile(freedom: f64) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    Some(student.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)))
}
