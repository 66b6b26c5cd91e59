//! A metric over the rounds of a run.

use serde::Serialize;

use super::metric::Metric;
use crate::pool::Round;
use crate::verify::Transcript;

/// A metric at the end of each round.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Series {
    /// The metric.
    pub metric: Metric,
    /// The window of a value: `active` or `rounds:R`; `round` for the messages of one round.
    pub window: String,
    /// Whether it was computed from samples of equal number and length.
    pub matched: bool,
    /// A value for each round.
    pub points: Vec<Point>,
}

impl Series {
    /// Returns the existing values in the order of the rounds.
    pub fn values(&self) -> Vec<f64> {
        self.points.iter().filter_map(|point| point.value).collect()
    }

    /// Returns the mean of the existing values.
    pub fn mean(&self) -> Option<f64> {
        let values = self.values();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}

/// A value at the end of a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Point {
    /// The round, from 1.
    pub round: Round,
    /// The number of texts that it was computed from; messages for `messages`, answers for `lost_share`.
    pub n: usize,
    /// The value; `None` if there is too little text.
    pub value: Option<f64>,
}

impl Point {
    /// Returns a value of `n` texts; its round is set later.
    pub(crate) fn of(n: usize, value: Option<f64>) -> Self {
        Self {
            round: Round::default(),
            n,
            // An empty sum is -0, which nobody wants to read.
            value: value.map(|value| value + 0.0),
        }
    }

    /// Sets the rounds of values of which the first is before round 1 and is left out.
    pub(crate) fn after_start(run: &Transcript, points: Vec<Self>) -> Vec<Self> {
        let rounds = run.rounds.iter().map(|round| round.round);
        (rounds.zip(points.into_iter().skip(1)))
            .map(|(round, point)| Self { round, ..point })
            .collect()
    }
}
