//! The lines of a player, read strictly: a line that is not exactly a request is an error, and changes nothing.

use std::collections::BTreeMap;

use popper_harness::json;
use popper_harness::law::{Extensions, Law};
use popper_harness::universe::{Alphabet, State};
use serde_json::{Map, Value};

use super::contract::{LabContract, Visible};
use super::limits::{LONGEST_LINE, MOST_CELLS, MOST_LAWS};

/// The most characters of a player's text that an error repeats.
const QUOTED: usize = 40;

/// A request.
pub(super) enum LabRequest {
    /// Run a ring for a number of steps.
    Experiment { start: State, steps: u64 },
    /// Predict the held-out questions, by id.
    Predict(BTreeMap<String, Prediction>),
    /// State a list of laws.
    Laws(Vec<Law>),
    /// End the episode.
    End,
}

/// A prediction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Prediction {
    /// The player abstains.
    Abstention,
    /// The state.
    Cells(State),
    /// The values of the observables, `None` to abstain from one.
    Values(Vec<Option<i64>>),
}

/// The problem of a line: a word for programs and a sentence for people.
pub(super) struct LineProblem {
    pub kind: &'static str,
    pub message: String,
}

type Read<T> = Result<T, LineProblem>;

fn wrong<T>(kind: &'static str, message: impl Into<String>) -> Read<T> {
    let message = message.into();
    Err(LineProblem { kind, message })
}

/// A value as it is repeated in an error.
fn quoted(value: &Value) -> String {
    let text = value.to_string();
    let short: String = text.chars().take(QUOTED).collect();
    if short.len() < text.len() {
        format!("{short}..")
    } else {
        short
    }
}

const FORMS: &str = r#"expected one of {"experiment": {"start": "..", "steps": k}}, {"predict": [..]}, {"laws": [..]}, {"end": true}"#;

/// Reads a line.
pub(super) fn read(line: &[u8], contract: &LabContract, alphabet: &Alphabet) -> Read<LabRequest> {
    if line.len() > LONGEST_LINE {
        let message = format!("the line is longer than {LONGEST_LINE} bytes");
        return wrong("line", message);
    }
    let Ok(text) = std::str::from_utf8(line) else {
        return wrong("line", "the line is not UTF-8");
    };
    let value = match json::parse(text, "$") {
        Ok(value) => value,
        Err(error) => return wrong("line", format!("{error}; {FORMS}")),
    };
    let Value::Object(map) = value else {
        return wrong(
            "line",
            format!(
                "$: found {}, which is not an object; {FORMS}",
                quoted(&value)
            ),
        );
    };
    let mut entries = map.into_iter();
    let (Some((key, value)), None) = (entries.next(), entries.next()) else {
        return wrong(
            "line",
            format!("$: found another number of keys than 1; {FORMS}"),
        );
    };
    match (key.as_str(), value) {
        ("experiment", value) => experiment(&value, alphabet),
        ("predict", value) => predict(value, contract, alphabet),
        ("laws", value) => laws(value),
        ("end", Value::Bool(true)) => Ok(LabRequest::End),
        ("end", value) => wrong(
            "line",
            format!("$.end: expected true, found {}", quoted(&value)),
        ),
        (key, _) => wrong(
            "line",
            format!("$: unknown key {}; {FORMS}", quoted(&Value::from(key))),
        ),
    }
}

/// Checks that an object has known keys only.
fn only(map: &Map<String, Value>, known: &[&str], path: &str, kind: &'static str) -> Read<()> {
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let key = quoted(&Value::from(key.as_str()));
            let known = known.join(", ");
            wrong(
                kind,
                format!("{path}: unknown key {key}; the keys are {known}"),
            )
        }
    }
}

fn experiment(value: &Value, alphabet: &Alphabet) -> Read<LabRequest> {
    const KIND: &str = "experiment";
    let Value::Object(map) = value else {
        let found = quoted(value);
        return wrong(
            KIND,
            format!("$.experiment: expected {{\"start\": \"..\", \"steps\": k}}, found {found}"),
        );
    };
    only(map, &["start", "steps"], "$.experiment", KIND)?;
    let start = map.get("start").unwrap_or(&Value::Null);
    let Some(text) = start.as_str() else {
        let found = quoted(start);
        return wrong(
            KIND,
            format!("$.experiment.start: expected a state, found {found}"),
        );
    };
    let cells = text.chars().count();
    if !(1..=MOST_CELLS).contains(&cells) {
        let message = format!("$.experiment.start: has {cells} cells, expected 1 to {MOST_CELLS}");
        return wrong(KIND, message);
    }
    let start = match alphabet.parse(text) {
        Ok(start) => start,
        Err(error) => return wrong(KIND, format!("$.experiment.start: {error}")),
    };
    let steps = map.get("steps").unwrap_or(&Value::Null);
    match steps.as_u64() {
        Some(steps @ 1..) => Ok(LabRequest::Experiment { start, steps }),
        _ => wrong(
            KIND,
            format!(
                "$.experiment.steps: expected a whole number from 1, found {}",
                quoted(steps)
            ),
        ),
    }
}

fn predict(value: Value, contract: &LabContract, alphabet: &Alphabet) -> Read<LabRequest> {
    const KIND: &str = "predict";
    let Value::Array(items) = value else {
        let found = quoted(&value);
        return wrong(KIND, format!("$.predict: expected an array, found {found}"));
    };
    let open: BTreeMap<String, &str> = (contract.questions.each())
        .map(|(id, start, _)| (id, start))
        .collect();
    let mut found = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("$.predict[{index}]");
        let key = match contract.visible {
            Visible::States { .. } => "state",
            Visible::Observables(_) => "values",
        };
        let Value::Object(map) = item else {
            let item = quoted(item);
            return wrong(
                KIND,
                format!("{path}: expected {{\"id\": \"q01.1\", \"{key}\": ..}}, found {item}"),
            );
        };
        only(map, &["id", key], &path, KIND)?;
        let id = map.get("id").unwrap_or(&Value::Null);
        let question = id.as_str().and_then(|id| open.get_key_value(id));
        let Some((id, start)) = question else {
            let id = quoted(id);
            return wrong(
                KIND,
                format!("{path}.id: expected the id of a question such as \"q01.1\", found {id}"),
            );
        };
        let Some(value) = map.get(key) else {
            let message = format!("{path}.{key}: is missing; null abstains");
            return wrong(KIND, message);
        };
        let path = format!("{path}.{key}");
        let prediction = match (&contract.visible, value) {
            (_, Value::Null) => Prediction::Abstention,
            (Visible::States { .. }, value) => {
                cells(value, start.chars().count(), &path, alphabet)?
            }
            (Visible::Observables(seen), value) => values(value, seen.len(), &path)?,
        };
        if found.insert(id.clone(), prediction).is_some() {
            return wrong(KIND, format!("{path}: {id} is predicted twice"));
        }
    }
    Ok(LabRequest::Predict(found))
}

fn cells(value: &Value, expected: usize, path: &str, alphabet: &Alphabet) -> Read<Prediction> {
    let Some(text) = value.as_str() else {
        let found = quoted(value);
        return wrong(
            "predict",
            format!("{path}: expected a state or null, found {found}"),
        );
    };
    let found = text.chars().count();
    if found != expected {
        let message = format!("{path}: has {found} cells, expected {expected}");
        return wrong("predict", message);
    }
    match alphabet.parse(text) {
        Ok(state) => Ok(Prediction::Cells(state)),
        Err(error) => wrong("predict", format!("{path}: {error}")),
    }
}

fn values(value: &Value, expected: usize, path: &str) -> Read<Prediction> {
    let read = |value: &Value| match value {
        Value::Null => Some(None),
        value => value.as_i64().map(Some),
    };
    let items = value.as_array().filter(|items| items.len() == expected);
    let values = items.and_then(|items| items.iter().map(read).collect());
    match values {
        Some(values) => Ok(Prediction::Values(values)),
        None => wrong(
            "predict",
            format!(
                "{path}: expected null or {expected} whole numbers or null, found {}",
                quoted(value)
            ),
        ),
    }
}

fn laws(value: Value) -> Read<LabRequest> {
    const KIND: &str = "laws";
    let Value::Array(items) = value else {
        let found = quoted(&value);
        return wrong(
            KIND,
            format!("$.laws: expected an array of laws, found {found}"),
        );
    };
    let found = items.len();
    if found > MOST_LAWS {
        let message = format!("$.laws: has {found} laws, expected at most {MOST_LAWS}");
        return wrong(KIND, message);
    }
    let mut laws = Vec::with_capacity(found);
    for (index, item) in items.into_iter().enumerate() {
        let path = format!("$.laws[{index}]");
        let law = match Law::from_value(item, &path, Extensions::default()) {
            Ok(law) => law,
            Err(error) => return wrong(KIND, error.to_string()),
        };
        if let Err(ambiguity) = law.resolve() {
            return wrong(KIND, format!("{path}: {ambiguity}"));
        }
        laws.push(law);
    }
    Ok(LabRequest::Laws(laws))
}
