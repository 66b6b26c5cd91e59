//! The verdicts and evidence that a file has.

use popper_harness::counterexample::Counterexample;
use popper_harness::decide::{Evidence, Status, UnknownReason};
use popper_harness::proof::Proof;
use serde::Deserialize;
use serde_json::Value;

use super::lines::wrapped;
use super::{proof, refutation};
use crate::error::Error;
use crate::expect::word;
use crate::input::Text;

/// A piece of evidence, or a verdict with or without one.
pub enum Explainable {
    Verdict(Box<StatedVerdict>),
    Counterexample(Box<Counterexample>),
    Proof(Box<Proof>),
}

/// The parts of a verdict that are explained.
#[derive(Deserialize)]
pub struct StatedVerdict {
    law_id: String,
    status: Status,
    reason_code: Option<UnknownReason>,
    evidence: Evidence,
    counterexample: Option<Counterexample>,
    #[serde(default)]
    notes: Vec<String>,
}

/// Reads a verdict, a counterexample, a proof, an array of them, or the output of `export`.
pub fn explainables(file: &Text) -> Result<Vec<Explainable>, Error> {
    let mut value = file.value()?;
    let exported = value.get_mut("evaluations").map(Value::take);
    let (items, path) = match (exported, value) {
        (Some(Value::Array(items)), _) => (items, "$.evaluations"),
        (_, Value::Array(items)) => (items, "$"),
        (_, other) => return Ok(vec![Explainable::read(file, other, "$")?]),
    };
    let read = |(index, item)| Explainable::read(file, item, &format!("{path}[{index}]"));
    items.into_iter().enumerate().map(read).collect()
}

impl Explainable {
    fn read(file: &Text, value: Value, path: &str) -> Result<Self, Error> {
        let has = |key| value.get(key).is_some();
        if has("status") && has("evidence") {
            file.part(value, path).map(Self::Verdict)
        } else if has("initial_state") {
            file.part(value, path).map(Self::Counterexample)
        } else if has("certificate") {
            file.part(value, path).map(Self::Proof)
        } else {
            let message = "neither a verdict, nor a counterexample, nor a proof; `popper check --json` writes verdicts";
            Err(Error::form(&file.name, path, message))
        }
    }

    /// The name of its law.
    pub fn law_id(&self) -> &str {
        match self {
            Self::Verdict(verdict) => &verdict.law_id,
            Self::Counterexample(found) => refutation::name(found),
            Self::Proof(proof) => &proof.law_fingerprint,
        }
    }

    /// The text, in lines of at most `width` columns.
    ///
    /// # Errors
    /// A counterexample that does not hold, or takes too long to be derived again.
    pub fn text(&self, width: usize) -> Result<String, String> {
        match self {
            Self::Verdict(verdict) => verdict.text(width),
            Self::Counterexample(found) => refutation::text(found, width),
            Self::Proof(proof) => Ok(wrapped(&proof::paragraphs(proof), width)),
        }
    }
}

impl StatedVerdict {
    fn text(&self, width: usize) -> Result<String, String> {
        if let Some(found) = &self.counterexample {
            return refutation::text(found, width);
        }
        let reason = self
            .reason_code
            .map(|reason| format!(", {}", word(&reason)));
        let (status, reason) = (word(&self.status), reason.unwrap_or_default());
        let first = format!("{}: {status}{reason}", self.law_id);
        let mut paragraphs = vec![first];
        if let Some(strength) = self.evidence.strength {
            let scope = &self.evidence.scope;
            paragraphs.push(format!("{}: {scope}", word(&strength)));
        }
        paragraphs.extend(self.notes.iter().map(|note| format!("note: {note}")));
        if let Some(proof) = &self.evidence.proof {
            paragraphs.extend(proof::paragraphs(proof).into_iter().skip(1));
        }
        Ok(wrapped(&paragraphs, width))
    }
}
