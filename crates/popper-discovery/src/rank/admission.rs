//! Validation of proposals: the text of a proposer is parsed, checked and brought into normal form.

use popper_harness::law::{Extensions, Law, Problem};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::store::{LawRow, LawStatus};

/// The most characters of a text that is copied from an invalid proposal.
const NAME_LIMIT: usize = 200;

/// A proposal as the proposer wrote it.
#[derive(Debug, Clone)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a text, and the law in it or why there is none"
)]
pub struct Candidate {
    /// The text of the proposer.
    pub raw: String,
    /// The law's JSON in the terms of the universe, or the error of reading it.
    pub law: Result<Value, String>,
}

impl Candidate {
    /// Returns the proposal of a law that needs no translation.
    pub fn new(law: Value) -> Self {
        Self {
            raw: law.to_string(),
            law: Ok(law),
        }
    }
}

/// sha256 of a text, 64 hex digits.
pub(crate) fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

/// Returns the row for a proposal: `proposed` if it is a law of the language, else `rejected_schema` with every problem.
pub(crate) fn validate_proposal(candidate: &Candidate, language: Extensions) -> LawRow {
    let law = match &candidate.law {
        Err(message) => Err(vec![problem(message)]),
        Ok(value) => Law::from_value(value.clone(), "$", language)
            .map_err(|error| error.problems)
            .and_then(|law| match unreadable(&law) {
                Some(problem) => Err(vec![problem]),
                None => Ok(law),
            }),
    };
    let row = law.and_then(|law| {
        let row = accepted(&law, &candidate.raw);
        // What is stored must be read again by every later iteration.
        match row.law() {
            Ok(stored) if stored.fingerprint() == row.law_fingerprint => Ok(row),
            Ok(_) => Err(vec![problem("its normal form reads as another law")]),
            Err(error) => Err(vec![problem(&error)]),
        }
    });
    row.unwrap_or_else(|problems| rejected(candidate, &problems))
}

/// A problem of a law as a whole.
fn problem(message: &(impl ToString + ?Sized)) -> Problem {
    Problem::new("$", message.to_string())
}

/// The first expression or claim that does not parse. The harness judges unknown names and contradictions.
fn unreadable(law: &Law) -> Option<Problem> {
    let ambiguity = law.resolve().err()?;
    ambiguity.unread.as_ref()?;
    let path = format!("$.{}", ambiguity.field);
    Some(Problem::new(path, ambiguity.error.to_string()))
}

/// Folds the white space of a text.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn accepted(law: &Law, raw: &str) -> LawRow {
    let normal = law.normal();
    let written = json!(normal);
    // What was absent in the law is an empty list or object in its column.
    let column = |key: &str, absent: &str| match law.source().get(key) {
        None | Some(Value::Null) => absent.to_owned(),
        Some(value) => value.to_string(),
    };
    LawRow {
        id: 0,
        run_id: 0,
        law_id: law.law_id().to_owned(),
        law_fingerprint: normal.fingerprint(),
        schema_version: text(&written, "schema_version"),
        template: law.template().name().to_owned(),
        quantifiers_json: written["quantifiers"].to_string(),
        preconditions_json: written["preconditions"].to_string(),
        observables_json: column("observables", "[]"),
        claim_text: folded(law.claim()),
        forbidden_text: folded(law.forbidden()),
        proposed_tests_json: column("proposed_tests", "[]"),
        capability_requirements_json: column("capability_requirements", "{}"),
        created_iteration_id: 0,
        raw_llm_json: raw.to_owned(),
        normalized_json: written.to_string(),
        status: LawStatus::Proposed,
    }
}

fn rejected(candidate: &Candidate, problems: &[Problem]) -> LawRow {
    let source = candidate.law.as_ref().ok();
    let field = |key: &str| {
        let text = source.and_then(|law| law.get(key)).and_then(Value::as_str);
        let text = folded(text.unwrap_or_default());
        text.chars().take(NAME_LIMIT).collect::<String>()
    };
    let problems: Vec<Value> = problems
        .iter()
        .map(|problem| json!({"path": problem.path, "message": problem.message}))
        .collect();
    LawRow {
        id: 0,
        run_id: 0,
        law_id: field("law_id"),
        law_fingerprint: sha256(&format!("rejected\n{}", candidate.raw)),
        schema_version: String::new(),
        template: String::new(),
        quantifiers_json: "{}".into(),
        preconditions_json: "[]".into(),
        observables_json: "[]".into(),
        claim_text: field("claim"),
        forbidden_text: field("forbidden"),
        proposed_tests_json: "[]".into(),
        capability_requirements_json: "{}".into(),
        created_iteration_id: 0,
        raw_llm_json: candidate.raw.clone(),
        normalized_json: json!({ "problems": problems }).to_string(),
        status: LawStatus::RejectedSchema,
    }
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

impl LawRow {
    /// Returns the problems of an invalid proposal: the stored ones, else the error of reading it. Empty for a law.
    ///
    /// # Errors
    /// [`Error::Row`] if the stored problems are not what this program writes.
    pub fn problems(&self) -> Result<Vec<Problem>, Error> {
        #[derive(Deserialize)]
        struct Reason {
            path: String,
            message: String,
        }
        let normal: Option<Value> = serde_json::from_str(&self.normalized_json).ok();
        let Some(stored) = normal.and_then(|mut normal| Some(normal.get_mut("problems")?.take()))
        else {
            let error = self.law().err();
            return Ok(error.iter().map(problem).collect());
        };
        let stored: Vec<Reason> = serde_json::from_value(stored)
            .map_err(|error| Error::row("laws", self.id, "normalized_json", error))?;
        let given = |Reason { path, message }| Problem::new(path, message);
        Ok(stored.into_iter().map(given).collect())
    }

    /// The law, built from the row alone: its normal form with the proposer's name, words and tests.
    ///
    /// # Errors
    /// [`Error::Row`] if the row is not a valid proposal.
    pub fn law(&self) -> Result<Law, Error> {
        // The extension was on when the law was taken in.
        Law::from_value(self.document()?, "$", Extensions::ALL)
            .map_err(|error| Error::row("laws", self.id, "normalized_json", error))
    }

    /// The JSON document of the law.
    pub(crate) fn document(&self) -> Result<Value, Error> {
        let mut law: Map<String, Value> =
            Error::json("laws", self.id, "normalized_json", &self.normalized_json)?;
        let tests: Value = Error::json(
            "laws",
            self.id,
            "proposed_tests_json",
            &self.proposed_tests_json,
        )?;
        law.insert("law_id".into(), json!(self.law_id));
        law.insert("claim".into(), json!(self.claim_text));
        law.insert("forbidden".into(), json!(self.forbidden_text));
        law.insert("proposed_tests".into(), tests);
        Ok(Value::Object(law))
    }
}
