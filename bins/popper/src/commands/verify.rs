//! The command `popper verify`, which checks evidence again from its file alone.

use std::io::Write as _;
use std::path::PathBuf;

use bin_support::{Exit, Failure, Session, escape, shortened};
use popper_harness::counterexample::{self, Counterexample};
use popper_harness::decide::Strength;
use popper_harness::law::{Extensions, Law};
use popper_harness::proof::{Proof, verify_proof};
use popper_harness::universe::{KineticGrid, Tabulated};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::error::Error;
use crate::input::Text;
use crate::json;

const NO_EVIDENCE: &str = "neither a proof, nor a counterexample, nor a verdict with one";

#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// File with a proof, a counterexample, a verdict, or the output of `check --json` or `export`; - for stdin.
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
    /// Print one object with the result of each piece of evidence.
    #[arg(long)]
    pub json: bool,
}

/// Evidence that a file or a verdict may contain and that can be checked again.
trait Verifiable: DeserializeOwned {
    /// Checks the evidence: returns the result in a few words, or the error.
    fn hold(&self) -> Result<String, String>;

    /// Returns the fingerprint of its law and the hash of its universe.
    fn subject(&self) -> Result<(String, String), String>;

    /// Returns its name if no verdict names the law.
    fn label(&self) -> String;
}

impl Verifiable for Counterexample {
    fn hold(&self) -> Result<String, String> {
        counterexample::rederive(self).map_err(|error| error.to_string())?;
        let (state, n) = (shortened(&self.initial_state, 60), self.config.n);
        Ok(format!(
            "violated at t = {} from {state} (N = {n})",
            self.t_fail
        ))
    }

    fn subject(&self) -> Result<(String, String), String> {
        let mut extensions = Extensions::default();
        extensions.local_transition = self.config.local_transition;
        let law = Law::from_value(self.config.law.clone(), "config.law", extensions);
        let law = law.map_err(|error| error.to_string())?;
        let universe = Tabulated::from_value(&self.config.universe);
        let universe = universe.map_err(|error| error.to_string())?;
        Ok((law.fingerprint(), universe.definition_hash()))
    }

    fn label(&self) -> String {
        let name = self.config.law.get("law_id").and_then(Value::as_str);
        name.unwrap_or("a law without a name").to_owned()
    }
}

impl Verifiable for Proof {
    fn hold(&self) -> Result<String, String> {
        verify_proof(self).map_err(|error| error.to_string())?;
        Ok(format!(
            "proved by {}: {}",
            crate::expect::word(&self.method),
            self.scope
        ))
    }

    fn subject(&self) -> Result<(String, String), String> {
        Ok((self.law_fingerprint.clone(), self.sim_hash.clone()))
    }

    fn label(&self) -> String {
        format!("law {}", self.law_fingerprint)
    }
}

pub fn execute(args: &VerifyArgs, session: &mut Session) -> Result<Exit, Failure> {
    let file = Text::read(&args.file).map_err(Failure::usage)?;
    let value = file.value().map_err(Failure::usage)?;
    let (mut results, mut broken) = (Vec::new(), 0_usize);
    let Exhibits {
        exhibits,
        unchecked,
    } = Exhibits::of(value);
    for exhibit in exhibits {
        match exhibit.check(&file) {
            Ok(result) => results.push(result),
            Err(error) => {
                session.report(&error);
                broken += 1;
            }
        }
    }
    if results.is_empty() && broken == 0 {
        return Err(Failure::usage(Error::unfit(&file.name, NO_EVIDENCE)));
    }
    let out = &mut session.results;
    if args.json {
        json::print(&json!({"evidence": results, "unchecked": unchecked}), out)?;
    } else {
        for result in &results {
            writeln!(
                out,
                "{}: {}",
                escape(&result.law_id),
                escape(&result.words())
            )?;
        }
        for Unchecked { law_id, verdict } in &unchecked {
            let (law_id, verdict) = (escape(law_id), escape(verdict));
            writeln!(out, "{law_id}: not checked: {verdict}, without a proof")?;
        }
    }
    let is_refused = results.iter().any(|result| !result.holds);
    Ok(match (results.len(), broken) {
        (0, _) => Exit::Usage,
        (_, 1..) => Exit::SomeFailed,
        (_, 0) if is_refused => Exit::CheckFailed,
        (_, 0) => Exit::Done,
    })
}

/// The result of checking a piece of evidence.
#[derive(Serialize)]
struct Checked {
    law_id: String,
    kind: Kind,
    holds: bool,
    /// The violation or the proof, or the reason why it does not hold.
    detail: String,
}

impl Checked {
    fn words(&self) -> String {
        let holds = if self.holds { "holds" } else { "does not hold" };
        format!("{holds}: {}", self.detail)
    }
}

/// A verdict without evidence that could be checked: `check` decides its law again.
#[derive(Serialize)]
struct Unchecked {
    law_id: String,
    /// The status, and how a PASS was found.
    verdict: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Counterexample,
    Proof,
}

impl Kind {
    /// The kind of evidence that stands alone; a field that only this kind has decides.
    fn of(value: &Value) -> Option<Self> {
        let has = |key| value.get(key).is_some();
        match (has("initial_state"), has("law_fingerprint")) {
            (true, _) => Some(Self::Counterexample),
            (false, true) => Some(Self::Proof),
            (false, false) => None,
        }
    }

    /// The place of this evidence in a verdict, as a JSON pointer.
    fn pointer(self) -> &'static str {
        match self {
            Self::Counterexample => "/counterexample",
            Self::Proof => "/evidence/proof",
        }
    }

    fn is_in(self, verdict: &Value) -> bool {
        let part = verdict.pointer(self.pointer());
        part.is_some_and(|part| !part.is_null())
    }
}

/// A piece of evidence in a file, not read yet.
struct Exhibit {
    path: String,
    /// `None` if it is neither.
    kind: Option<Kind>,
    value: Value,
    verdict: Option<Claimed>,
}

impl Exhibit {
    fn check(self, file: &Text) -> Result<Checked, Error> {
        match self.kind {
            Some(kind @ Kind::Counterexample) => self.check_as::<Counterexample>(kind, file),
            Some(kind @ Kind::Proof) => self.check_as::<Proof>(kind, file),
            None => Err(Error::form(&file.name, &self.path, NO_EVIDENCE)),
        }
    }

    fn check_as<E: Verifiable>(self, kind: Kind, file: &Text) -> Result<Checked, Error> {
        if let Some(Claimed {
            law_id,
            contradiction: Some(contradiction),
            ..
        }) = self.verdict
        {
            return Ok(Checked {
                law_id,
                kind,
                holds: false,
                detail: contradiction,
            });
        }
        let evidence: E = file.part(self.value, &self.path)?;
        let verdict = self.verdict.as_ref();
        let matched = verdict.map_or(Ok(()), |verdict| verdict.matches(&evidence));
        let outcome = matched.and_then(|()| evidence.hold());
        Ok(Checked {
            law_id: verdict.map_or_else(|| evidence.label(), |verdict| verdict.law_id.clone()),
            kind,
            holds: outcome.is_ok(),
            detail: outcome.unwrap_or_else(|why| why),
        })
    }
}

/// The law and the universe that a verdict states for its evidence.
#[derive(Clone)]
struct Claimed {
    law_id: String,
    law: Value,
    universe: Value,
    /// The contradiction within the verdict, if there is one.
    contradiction: Option<String>,
}

/// Returns the contradiction between a verdict's status and its evidence, if there is one.
fn contradiction(verdict: &Value) -> Option<String> {
    let refuted = Kind::Counterexample.is_in(verdict);
    let status = verdict["status"].as_str().unwrap_or("no status");
    let strength = serde_json::from_value::<Strength>(verdict["evidence"]["strength"].clone());
    let carried = match (status, refuted) {
        ("PASS" | "UNKNOWN", true) => "a counterexample",
        ("PASS", false) if strength.is_err() => "no strength of its evidence",
        ("PASS", false)
            if strength.is_ok_and(|it| it == Strength::Proved) && !Kind::Proof.is_in(verdict) =>
        {
            "no proof, though it says proved"
        }
        ("FAIL", false) if Kind::Proof.is_in(verdict) => "a proof and no counterexample",
        ("FAIL", false) => "no counterexample",
        ("PASS" | "UNKNOWN" | "FAIL", _) => return None,
        _ => {
            return Some(format!(
                "the verdict says {status}, expected PASS, FAIL or UNKNOWN"
            ));
        }
    };
    Some(format!("the verdict says {status} and carries {carried}"))
}

/// Whether a hash is or was that of the built-in universe: evidence from before its definition named `incoming` still holds.
fn is_built_in(hash: &str) -> bool {
    hash == KineticGrid::FORMER_HASH || hash == KineticGrid.definition_hash()
}

impl Claimed {
    /// Checks that the evidence is about the law and the universe of the verdict.
    fn matches(&self, evidence: &impl Verifiable) -> Result<(), String> {
        let (law, universe) = evidence.subject()?;
        for (field, stated, derived) in [
            ("law_fingerprint", &self.law, law),
            ("sim_hash", &self.universe, universe),
        ] {
            let both = [stated.as_str(), Some(&derived)];
            if *stated != derived && !both.into_iter().all(|hash| hash.is_some_and(is_built_in)) {
                return Err(format!(
                    "{field} of the verdict is {stated}, its evidence is about \"{derived}\""
                ));
            }
        }
        Ok(())
    }
}

/// The evidence of a file, and the verdicts in it that carry none.
#[derive(Default)]
struct Exhibits {
    exhibits: Vec<Exhibit>,
    unchecked: Vec<Unchecked>,
}

impl Exhibits {
    /// The evidence of a file: the file itself, or that of the verdicts in it, where `export` writes them too.
    fn of(mut value: Value) -> Self {
        let mut found = Self::default();
        let exported = value.get_mut("evaluations").map(Value::take);
        let (list, path) = match (exported, value) {
            (Some(Value::Array(items)), _) => (items, "$.evaluations"),
            (_, Value::Array(items)) => (items, "$"),
            (_, other) => {
                found.add(other, "$");
                return found;
            }
        };
        for (index, item) in list.into_iter().enumerate() {
            found.add(item, &format!("{path}[{index}]"));
        }
        found
    }

    /// Adds one element: evidence, or a verdict.
    fn add(&mut self, mut value: Value, path: &str) {
        if value.get("status").is_none() || value.get("evidence").is_none() {
            self.exhibits.push(Exhibit {
                path: path.to_owned(),
                kind: Kind::of(&value),
                value,
                verdict: None,
            });
            return;
        }
        let contradiction = contradiction(&value);
        let law_id = value.get("law_id").and_then(Value::as_str);
        let law_id = law_id.unwrap_or("a law without a name").to_owned();
        let claimed = Claimed {
            law_id,
            law: value["law_fingerprint"].take(),
            universe: value["sim_hash"].take(),
            contradiction,
        };
        let kinds = [Kind::Counterexample, Kind::Proof];
        let mut carried: Vec<Kind> = kinds
            .into_iter()
            .filter(|kind| kind.is_in(&value))
            .collect();
        if claimed.contradiction.is_some() {
            carried = vec![Kind::Counterexample];
        }
        if carried.is_empty() {
            let status = value["status"].as_str().unwrap_or_default();
            let strength = value["evidence"]["strength"].as_str();
            self.unchecked.push(Unchecked {
                law_id: claimed.law_id,
                verdict: strength
                    .map_or_else(|| status.to_owned(), |found| format!("{status} ({found})")),
            });
            return;
        }
        let mut take = |kind: Kind| value.pointer_mut(kind.pointer()).map(Value::take);
        let exhibits = carried.into_iter().map(|kind| Exhibit {
            path: path.to_owned() + &kind.pointer().replace('/', "."),
            kind: Some(kind),
            value: take(kind).unwrap_or_default(),
            verdict: Some(claimed.clone()),
        });
        self.exhibits.extend(exhibits);
    }
}
