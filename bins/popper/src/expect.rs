//! Expected verdicts, and the differences of real ones from them.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use popper_harness::decide::{Status, Strength, UnknownReason, Verdict};
use popper_harness::universe::Alphabet;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::input::Text;
use bin_support::escape;

/// The form of a file of expectations, for a file of something else.
const EXPECTED: &str = "no expectations: expected {\"schema_version\": \"1.0.0\", \"expected\": [{\"law_id\": \"...\", \"status\": \"PASS\"}]}";

/// The expectations by `law_id`.
pub struct Expectations(HashMap<String, Expectation>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema_version: String,
    expected: Vec<Value>,
}

/// The expectation of one law; an absent key is not compared.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectation {
    law_id: String,
    status: Status,
    reason_code: Option<UnknownReason>,
    /// The weakest strength that is accepted.
    strength: Option<Strength>,
    /// The number of cells of the counterexample.
    smallest_n: Option<usize>,
    /// The number of its cells that are not the first symbol.
    fewest_movers_at_smallest_n: Option<usize>,
    /// A comment for the reader of the file.
    #[serde(rename = "note")]
    _note: Option<String>,
}

/// A key in which a verdict is not as expected.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("law {}: {key}: expected {expected}, found {found}", escape(law))]
pub struct Difference {
    pub law: String,
    pub key: &'static str,
    pub expected: String,
    pub found: String,
}

impl Expectations {
    /// Reads an expectations file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = Text::read(path)?;
        let file: File = text.json().map_err(|error| match text.value() {
            Ok(Value::Object(file)) if file.contains_key("expected") => error,
            Ok(_) => Error::unfit(&text.name, EXPECTED),
            Err(_) => error,
        })?;
        if file.schema_version.split('.').next() != Some("1") {
            let message = format!("is `{}`, this program reads 1.x", file.schema_version);
            return Err(Error::form(&text.name, "$.schema_version", message));
        }
        let mut expectations = HashMap::new();
        for (index, value) in file.expected.into_iter().enumerate() {
            let path = format!("$.expected[{index}]");
            let expectation: Expectation = text.part(value, &path)?;
            let law_id = expectation.law_id.clone();
            if expectations.insert(law_id.clone(), expectation).is_some() {
                let message = format!("`{law_id}` is expected twice");
                let path = format!("{path}.law_id");
                return Err(Error::form(&text.name, &path, message));
            }
        }
        Ok(Self(expectations))
    }

    /// Every key in which a verdict is not as expected.
    pub fn differences(&self, verdict: &Verdict, alphabet: &Alphabet) -> Vec<Difference> {
        let mut differences = Vec::new();
        let mut differs = |key, expected: String, found: String| {
            differences.push(Difference {
                law: verdict.law_id.clone(),
                key,
                expected,
                found,
            });
        };
        let Some(expected) = self.0.get(&verdict.law_id) else {
            differs("law_id", "an expectation".into(), "none".into());
            return differences;
        };
        if expected.status != verdict.status {
            differs("status", word(&expected.status), word(&verdict.status));
        }
        if let Some(reason) = expected.reason_code
            && verdict.reason_code != Some(reason)
        {
            differs(
                "reason_code",
                word(&reason),
                or_none(verdict.reason_code.as_ref()),
            );
        }
        // Strengths are ordered, weakest first, and none is below all.
        if let Some(strength) = expected.strength
            && verdict.evidence.strength < Some(strength)
        {
            let floor = format!("at least {}", word(&strength));
            differs(
                "strength",
                floor,
                or_none(verdict.evidence.strength.as_ref()),
            );
        }
        let found = verdict.counterexample.as_ref();
        let n = found.map(|counterexample| counterexample.config.n);
        if expected.smallest_n.is_some() && expected.smallest_n != n {
            differs(
                "smallest_n",
                or_none(expected.smallest_n.as_ref()),
                or_none(n.as_ref()),
            );
        }
        let movers = found.map(|counterexample| {
            let background = alphabet.char(0);
            let cells = counterexample.initial_state.chars();
            cells.filter(|&cell| cell != background).count()
        });
        let fewest = expected.fewest_movers_at_smallest_n;
        if fewest.is_some() && fewest != movers {
            let key = "fewest_movers_at_smallest_n";
            differs(key, or_none(fewest.as_ref()), or_none(movers.as_ref()));
        }
        differences
    }
}

/// Returns the word for a value in JSON.
pub fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

fn or_none<T: Serialize + fmt::Debug>(value: Option<&T>) -> String {
    value.map_or_else(|| "none".to_owned(), word)
}
