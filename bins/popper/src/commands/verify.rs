//! `popper replay` and `popper verify`: evidence checked again, from its file alone.

use std::io::Write as _;
use std::path::PathBuf;

use bin_support::{Exit, Failure, Session};
use popper_harness::counterexample::{self, Counterexample};
use popper_harness::law::{Extensions, Law};
use popper_harness::proof::{Proof, verify_proof};
use popper_harness::universe::{KineticGrid, Tabulated};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;
use crate::input::Text;
use bin_support::{escape, shortened};

#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// File with the evidence, with a verdict, or with the output of `check --json` or `export`; `-` for stdin.
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
}

/// Evidence that a file or a verdict may contain and that can be checked again.
trait Verifiable: DeserializeOwned {
    /// The name of this evidence in messages.
    const NAME: &str;
    /// The place of this evidence in a verdict, as a JSON pointer.
    const POINTER: &str;

    /// Checks the evidence: returns the result in a few words, or the error.
    fn hold(&self) -> Result<String, String>;

    /// Returns the fingerprint of its law and the hash of its universe.
    fn subject(&self) -> Result<(String, String), String>;

    /// Returns its name if no verdict names the law.
    fn label(&self) -> String;
}

impl Verifiable for Counterexample {
    const NAME: &str = "counterexample";
    const POINTER: &str = "/counterexample";

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
    const NAME: &str = "proof";
    const POINTER: &str = "/evidence/proof";

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

pub fn replay(args: &VerifyArgs, session: &mut Session) -> Result<Exit, Failure> {
    check_all::<Counterexample>(args, session)
}

pub fn execute(args: &VerifyArgs, session: &mut Session) -> Result<Exit, Failure> {
    check_all::<Proof>(args, session)
}

/// Checks every piece of evidence in a file, one line each.
fn check_all<E: Verifiable>(args: &VerifyArgs, session: &mut Session) -> Result<Exit, Failure> {
    let file = Text::read(&args.file).map_err(Failure::usage)?;
    let value = file.value().map_err(Failure::usage)?;
    let (mut held, mut refused, mut broken) = (0_usize, 0_usize, 0_usize);
    for exhibit in exhibits(value, E::POINTER) {
        let verdict = exhibit.verdict.as_ref();
        if let Some(Claimed {
            law_id,
            contradiction: Some(contradiction),
            ..
        }) = verdict
        {
            refused += 1;
            let (name, contradiction) = (escape(law_id), escape(contradiction));
            writeln!(session.results, "{name}: {contradiction}")?;
            continue;
        }
        let evidence: E = match file.part(exhibit.value, &exhibit.path) {
            Ok(evidence) => evidence,
            Err(error) => {
                session.report(&error);
                broken += 1;
                continue;
            }
        };
        let name = verdict.map_or_else(|| evidence.label(), |verdict| verdict.law_id.clone());
        let matched = verdict.map_or(Ok(()), |verdict| verdict.matches(&evidence));
        let (holds, what) = match matched.and_then(|()| evidence.hold()) {
            Ok(what) => ("holds", what),
            Err(why) => ("does not hold", why),
        };
        if holds == "holds" {
            held += 1;
        } else {
            refused += 1;
        }
        writeln!(
            session.results,
            "{}: {holds}: {}",
            escape(&name),
            escape(&what)
        )?;
    }
    match (held, refused, broken) {
        (0, 0, 0) => Err(Failure::usage(Error::unfit(
            &file.name,
            format!("neither a {0} nor a verdict with one", E::NAME),
        ))),
        (0, 0, _) => Ok(Exit::Usage),
        (_, _, 1..) => Ok(Exit::SomeFailed),
        (_, 1.., 0) => Ok(Exit::CheckFailed),
        (_, 0, 0) => Ok(Exit::Done),
    }
}

/// A piece of evidence in a file, not read yet.
struct Exhibit {
    path: String,
    value: Value,
    verdict: Option<Claimed>,
}

/// The law and the universe that a verdict states for its evidence.
struct Claimed {
    law_id: String,
    law: Value,
    universe: Value,
    /// The contradiction within the verdict, if there is one.
    contradiction: Option<String>,
}

/// Returns the contradiction between a verdict's status and its evidence, if there is one.
fn contradiction(verdict: &Value) -> Option<String> {
    let carries = |pointer| verdict.pointer(pointer).is_some_and(|part| !part.is_null());
    let refuted = carries(Counterexample::POINTER);
    let status = verdict["status"].as_str().unwrap_or("no status");
    let carried = match (status, refuted) {
        ("PASS" | "UNKNOWN", true) => "a counterexample",
        ("FAIL", false) if carries(Proof::POINTER) => "a proof and no counterexample",
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

/// The evidence of a file: the file itself, or that of the verdicts in it, where `export` writes them too. A verdict without any is
/// passed over.
fn exhibits(mut value: Value, pointer: &str) -> Vec<Exhibit> {
    let exported = value.get_mut("evaluations").map(Value::take);
    let (list, path) = match (exported, value) {
        (Some(Value::Array(items)), _) => (items, "$.evaluations"),
        (_, Value::Array(items)) => (items, "$"),
        (_, other) => {
            let found = exhibit(other, "$".to_owned(), pointer);
            return found.into_iter().collect();
        }
    };
    list.into_iter()
        .enumerate()
        .filter_map(|(index, item)| exhibit(item, format!("{path}[{index}]"), pointer))
        .collect()
}

fn exhibit(mut value: Value, path: String, pointer: &str) -> Option<Exhibit> {
    if value.get("status").is_none() || value.get("evidence").is_none() {
        return Some(Exhibit {
            path,
            value,
            verdict: None,
        });
    }
    let contradiction = contradiction(&value);
    let carried = value.pointer_mut(pointer).map(Value::take);
    let carried = carried.unwrap_or_default();
    if carried.is_null() && contradiction.is_none() {
        return None;
    }
    let law_id = value.get("law_id").and_then(Value::as_str);
    let claimed = Claimed {
        law_id: law_id.unwrap_or("a law without a name").to_owned(),
        law: value["law_fingerprint"].take(),
        universe: value["sim_hash"].take(),
        contradiction,
    };
    Some(Exhibit {
        path: path + &pointer.replace('/', "."),
        value: carried,
        verdict: Some(claimed),
    })
}
