//! Limits of the mean of a measure, such as `--gate 'obligations>=7'`.

use zer0gravity_engine::ExperimentResult;
use zer0gravity_engine::plan::rubric::Rubric;
use zer0gravity_engine::result::{OwnScore, OwnStatus};

/// Sums of equal numbers differ in their last bits.
const SLACK: f64 = 1e-9;
/// The built-in measures that have a gate.
const BUILT_IN: [&str; 3] = ["total", "semantic", "critical_recall"];

/// A limit of the mean of a measure over the results.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureGate {
    /// The text of the flag.
    text: String,
    id: String,
    is_least: bool,
    limit: f64,
}

/// Reads `ID>=X` or `ID<=X`.
pub fn gate(text: &str) -> Result<MeasureGate, String> {
    let expected = || "expected ID>=X or ID<=X, such as total>=80".to_owned();
    let (place, is_least) = match (text.find(">="), text.find("<=")) {
        (Some(place), None) => (place, true),
        (None, Some(place)) => (place, false),
        _ => return Err(expected()),
    };
    let (id, limit) = (text[..place].trim(), text[place + 2..].trim());
    let limit = limit.parse().ok().filter(|limit: &f64| limit.is_finite());
    match limit {
        Some(limit) if !id.is_empty() => Ok(MeasureGate {
            text: format!("--gate {id}{}{limit}", if is_least { ">=" } else { "<=" }),
            id: id.to_owned(),
            is_least,
            limit,
        }),
        _ => Err(expected()),
    }
}

impl MeasureGate {
    /// The flag, as text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the fault of a gate whose measure nothing has.
    pub fn unknown(&self, rubric: Option<&Rubric>) -> Option<String> {
        let own = rubric.into_iter().flat_map(|rubric| &rubric.scorers);
        let known: Vec<&str> = BUILT_IN
            .into_iter()
            .chain(own.map(|one| &*one.id))
            .collect();
        let is_known = known.contains(&self.id.as_str());
        (!is_known).then(|| format!("{}: measures are {}", self.text, known.join(", ")))
    }

    /// Returns a sentence if the gate does not hold.
    pub fn failed(&self, results: &[ExperimentResult]) -> Option<String> {
        let text = &self.text;
        let silent = results
            .iter()
            .filter(|result| self.is_silent(result))
            .count();
        if silent > 0 {
            let all = results.len();
            return Some(format!(
                "{text}: the scorer failed for {silent} of {all} results"
            ));
        }
        let values: Vec<f64> = results.iter().filter_map(|it| self.value(it)).collect();
        if values.is_empty() {
            return Some(format!("{text}: no result has this measure"));
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let beyond = if self.is_least {
            self.limit - mean
        } else {
            mean - self.limit
        };
        let shown = (mean * 1e6).round() / 1e6;
        (beyond > SLACK).then(|| format!("{text}: the mean is {shown}"))
    }

    fn value(&self, result: &ExperimentResult) -> Option<f64> {
        match self.id.as_str() {
            "total" => result.total.map(f64::from),
            "semantic" => result.scores.map(|it| f64::from(it.semantic_preservation)),
            "critical_recall" => {
                let atoms = result.metrics.as_ref()?.atoms.as_ref()?;
                atoms.critical_recall
            }
            _ => self.own(result)?.score,
        }
    }

    fn own<'a>(&self, result: &'a ExperimentResult) -> Option<&'a OwnScore> {
        result.own_scores.iter().find(|score| score.id == self.id)
    }

    /// A scorer that gave no score: what it is silent on must not raise the mean of the rest.
    fn is_silent(&self, result: &ExperimentResult) -> bool {
        let own = self.own(result);
        own.is_some_and(|own| own.status == OwnStatus::ScorerFailed)
    }
}
