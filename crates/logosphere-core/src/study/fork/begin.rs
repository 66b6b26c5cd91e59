//! The events with which a run begins as a fork.

use std::io::BufRead;

use serde_json::{Value, json};

use super::plan::ForkPlan;
use crate::journal::ForkArm;

/// The events of a journal after the part that it shares with its parent: the first ones, as far as they can be read.
pub(super) struct ForkEvents {
    /// Whether the journal has a complete line.
    has_begun: bool,
    /// Whether a line could not be parsed as JSON.
    is_damaged: bool,
    /// The event of the fork, and the changes after it.
    events: Vec<Value>,
}

impl ForkEvents {
    /// Reads the events after the line `seq`, from 0, of a journal.
    pub(super) fn read(journal: impl BufRead, seq: u64) -> Self {
        let mut read = Self {
            has_begun: false,
            is_damaged: false,
            events: Vec::new(),
        };
        for line in durable::lines(journal) {
            let Some(line) = line.ok().filter(durable::Line::is_whole) else {
                break;
            };
            read.has_begun = true;
            if (line.number as u64) <= seq.saturating_add(1) {
                continue;
            }
            let Ok(event) = serde_json::from_slice::<Value>(line.text()) else {
                read.is_damaged = true;
                break;
            };
            if !read.events.is_empty() && event["type"] != "intervention" {
                break;
            }
            read.events.push(event);
        }
        read
    }

    /// Returns the difference from the events of an arm and a replicate; `None` if there is none, or none can be seen.
    pub(super) fn difference(
        &self,
        plan: &ForkPlan,
        arm: ForkArm,
        replicate: u32,
        seed: u64,
    ) -> Option<String> {
        let Some((forked, changes)) = self.events.split_first() else {
            let is_other = self.has_begun && !self.is_damaged;
            return is_other.then(|| "it has no event of a fork".to_owned());
        };
        let expected = [
            ("type", json!("forked")),
            ("arm", json!(arm.as_str())),
            ("replicate", json!(replicate)),
            ("seed", json!(seed)),
            ("max_rounds", json!(plan.max_rounds)),
            ("parent_run_id", json!(plan.parent_run_id)),
            ("parent_seq", json!(plan.parent_seq)),
            ("parent_chain", json!(plan.parent_chain)),
        ];
        for (key, expected) in expected {
            let found = &forked[key];
            if *found != expected {
                return Some(format!("its {key} is {found}, expected {expected}"));
            }
        }
        let expected = match arm {
            ForkArm::Unchanged => &[][..],
            ForkArm::Treated => &plan.changes,
        };
        if self.is_damaged && changes.len() < expected.len() {
            return None;
        }
        if changes.len() != expected.len() {
            let (found, expected) = (changes.len(), expected.len());
            return Some(format!("it has {found} changes, expected {expected}"));
        }
        for (number, (found, expected)) in changes.iter().zip(expected).enumerate() {
            // As it is read from a journal, so that numbers are rounded as there.
            let expected = serde_json::to_vec(expected).ok();
            let expected = expected.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
            let mut fields = expected.iter().filter_map(Value::as_object).flatten();
            if let Some((key, _)) = fields.find(|(key, value)| found[key.as_str()] != **value) {
                let number = number + 1;
                return Some(format!("{key} of its change {number} is another"));
            }
        }
        None
    }
}
