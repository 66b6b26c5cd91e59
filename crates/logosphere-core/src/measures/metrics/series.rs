//! A metric over the rounds of a run.

use serde::Serialize;

use super::metric::Metric;
use crate::pool::Round;

/// A metric at the end of each round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// What is measured.
    pub metric: Metric,
    /// On what: `active` or `rounds:R` for windows, `round` for what a round added.
    pub window: String,
    /// Whether the texts are of equal number and length.
    pub matched: bool,
    /// A value for each round.
    pub points: Vec<Point>,
}

impl Series {
    /// The values that there are, in the order of the rounds.
    pub fn values(&self) -> Vec<f64> {
        self.points.iter().filter_map(|point| point.value).collect()
    }

    /// The mean of the values that there are.
    pub fn mean(&self) -> Option<f64> {
        let values = self.values();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}

/// A value at the end of a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// Which round, from 1.
    pub round: Round,
    /// How many texts it was measured on; messages of `messages`, answers of `lost_share`.
    pub n: usize,
    /// The value; none where there is too little to measure.
    pub value: Option<f64>,
}

impl Point {
    /// A value of some texts; its round is set later.
    pub(crate) fn of(n: usize, value: Option<f64>) -> Self {
        Self {
            round: Round::default(),
            n,
            // An empty sum is -0, which nobody wants to read.
            value: value.map(|value| value + 0.0),
        }
    }
}
