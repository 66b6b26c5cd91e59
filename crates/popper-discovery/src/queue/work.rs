//! The kind of jobs `popper.evaluate`: laws of one universe and configuration in, their verdicts out.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use llm_types::Clock;
use lru::LruCache;
use popper_harness::counterexample::rederive;
use popper_harness::decide::{Config, EVALUATION_SEMANTICS, Harness, Status, Verdict};
use popper_harness::law::{Extensions, Law};
use popper_harness::proof::verify_proof;
use popper_harness::universe::Tabulated;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use work_queue::{Output, Work, WorkError};

use crate::discovery::status_text;
use crate::error::Error;
use crate::evaluator::{BatchLaw, Outcome, Task};
use crate::rank::sha256;
use popper_harness::counterexample::universe_value;

/// The harnesses that a worker keeps.
const KEPT_HARNESSES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(15);

/// The input of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JobInput {
    /// The id of the built-in universe, or a whole definition.
    universe: Value,
    sim_hash: String,
    /// The configuration of the harness without the seed.
    config: Value,
    harness_config_hash: String,
    wall_limit_ms: Option<u64>,
    pub(super) laws: Vec<JobLaw>,
}

/// A law of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JobLaw {
    law: Value,
    pub(super) law_fingerprint: String,
    pub(super) seed: u64,
}

impl JobLaw {
    /// The law of a row.
    pub(super) fn of_row(law: &BatchLaw<'_>) -> Result<Self, Error> {
        Ok(Self {
            law: law.row.document()?,
            law_fingerprint: law.row.law_fingerprint.clone(),
            seed: law.seed,
        })
    }

    /// A law as it was written.
    pub(super) fn of_source(law: &Law, seed: u64) -> Self {
        Self {
            law: law.source().clone(),
            law_fingerprint: law.fingerprint(),
            seed,
        }
    }

    /// A text that differs for each law and seed.
    pub(super) fn key(&self) -> String {
        sha256(&serde_json::to_string(self).unwrap_or_default())
    }
}

/// The times of a job, which are not part of its output.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct JobTimes {
    /// The version of the program.
    version: String,
    /// The times of the evaluations in milliseconds.
    runtime_ms: Vec<u64>,
    /// Whether the limit on time cut the evaluation.
    cut: Vec<bool>,
}

impl JobInput {
    /// The input for laws of a harness.
    pub(super) fn new(harness: &Harness, wall_limit_ms: Option<u64>, laws: Vec<JobLaw>) -> Self {
        let mut config = serde_json::to_value(harness.config()).unwrap_or_default();
        if let Some(fields) = config.as_object_mut() {
            fields.remove("seed");
        }
        Self {
            universe: universe_value(harness.universe()),
            sim_hash: harness.sim_hash().to_owned(),
            config,
            harness_config_hash: harness.config_hash().to_owned(),
            wall_limit_ms,
            laws,
        }
    }

    /// The same with other laws.
    pub(super) fn with_laws(&self, laws: &[&JobLaw]) -> Self {
        Self {
            universe: self.universe.clone(),
            sim_hash: self.sim_hash.clone(),
            config: self.config.clone(),
            harness_config_hash: self.harness_config_hash.clone(),
            wall_limit_ms: self.wall_limit_ms,
            laws: laws.iter().map(|&law| law.clone()).collect(),
        }
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Reads the output of a job: the outcome of each law. No output is trusted, so each verdict is checked: it must be for its law and
/// seed, its counterexample must replay, and its proof must hold. The error is the problem with the output.
pub(super) fn read_outcomes(
    input: &JobInput,
    output: &[u8],
    meta: &str,
) -> Result<Vec<Outcome>, String> {
    let verdicts: Vec<Verdict> =
        serde_json::from_slice(output).map_err(|error| error.to_string())?;
    let times: JobTimes = serde_json::from_str(meta).map_err(|error| error.to_string())?;
    let count = input.laws.len();
    if [verdicts.len(), times.runtime_ms.len(), times.cut.len()] != [count; 3] {
        return Err(format!("{} verdicts for {count} laws", verdicts.len()));
    }
    let times = times.runtime_ms.into_iter().zip(times.cut);
    let outcomes = input.laws.iter().zip(verdicts).zip(times);
    let outcome = |((law, verdict), (runtime_ms, cut))| {
        check(input, law, &verdict)
            .map_err(|problem| format!("law {}: {problem}", law.law_fingerprint))?;
        Ok(Outcome::Decided {
            verdict: Box::new(verdict),
            runtime_ms,
            cut,
        })
    };
    outcomes.map(outcome).collect()
}

/// Checks that a verdict is for a law, and that its evidence holds.
fn check(input: &JobInput, law: &JobLaw, verdict: &Verdict) -> Result<(), String> {
    let expected = (
        law.law_fingerprint.as_str(),
        law.seed,
        input.sim_hash.as_str(),
        input.harness_config_hash.as_str(),
    );
    let found = (
        verdict.law_fingerprint.as_str(),
        verdict.seed,
        verdict.sim_hash.as_str(),
        verdict.harness_config_hash.as_str(),
    );
    if found != expected {
        return Err(format!("the verdict is for {found:?}"));
    }
    let refuted = verdict.counterexample.is_some();
    if refuted != (verdict.status == Status::Fail) {
        let carries = if refuted { "a" } else { "no" };
        let status = status_text(verdict.status);
        return Err(format!(
            "the verdict says {status} and carries {carries} counterexample"
        ));
    }
    if let Some(package) = &verdict.counterexample {
        let given = Law::from_value(package.config.law.clone(), "config.law", Extensions::ALL);
        let given = given.map_err(|error| error.to_string())?;
        let universe = Tabulated::from_value(&package.config.universe);
        let universe = universe.map_err(|error| error.to_string())?;
        if given.fingerprint() != law.law_fingerprint
            || universe.definition_hash() != input.sim_hash
        {
            return Err("the counterexample is for another law or universe".to_owned());
        }
        rederive(package).map_err(|error| error.to_string())?;
    }
    if let Some(proof) = &verdict.evidence.proof {
        if proof.law_fingerprint != law.law_fingerprint || proof.sim_hash != input.sim_hash {
            return Err("the proof is for another law or universe".to_owned());
        }
        verify_proof(proof).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Decides laws: the kind `popper.evaluate`.
pub struct EvaluationWork {
    semantics: String,
    clock: Arc<dyn Clock>,
    /// The harnesses by universe and configuration.
    harnesses: Mutex<LruCache<(String, String), Arc<Harness>>>,
}

impl EvaluationWork {
    /// The work, with the clock that measures evaluations.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            semantics: format!("popper.evaluate/1;{EVALUATION_SEMANTICS}"),
            clock,
            harnesses: Mutex::new(LruCache::new(KEPT_HARNESSES)),
        }
    }

    /// The harness for an input, derived from its definitions.
    fn harness(&self, input: &JobInput) -> Result<Arc<Harness>, WorkError> {
        let key = (input.sim_hash.clone(), input.harness_config_hash.clone());
        let lock = || {
            let harnesses = self.harnesses.lock();
            harnesses.unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(kept) = lock().get(&key) {
            return Ok(Arc::clone(kept));
        }
        let fault = |error: String| WorkError::Input(error);
        let universe =
            Tabulated::from_value(&input.universe).map_err(|error| fault(error.to_string()))?;
        let mut config = input.config.clone();
        if let Some(fields) = config.as_object_mut() {
            fields.insert("seed".to_owned(), 0.into());
        }
        let config: Config =
            serde_json::from_value(config).map_err(|error| fault(error.to_string()))?;
        let harness = Harness::new(universe, config).map_err(|error| fault(error.to_string()))?;
        let name =
            |universe: &str, config: &str| format!("universe {universe}, configuration {config}");
        if (harness.sim_hash(), harness.config_hash()) != (&key.0, &key.1) {
            return Err(WorkError::Refused {
                expected: name(&key.0, &key.1),
                found: name(harness.sim_hash(), harness.config_hash()),
            });
        }
        let harness = Arc::new(harness);
        lock().put(key, Arc::clone(&harness));
        Ok(harness)
    }
}

impl Work for EvaluationWork {
    fn kind(&self) -> &'static str {
        "popper.evaluate"
    }

    fn semantics(&self) -> &str {
        &self.semantics
    }

    fn run(&self, input: &[u8], stop: &(dyn Fn() -> bool + Sync)) -> Result<Output, WorkError> {
        let input = JobInput::read(input).map_err(WorkError::Input)?;
        let harness = self.harness(&input)?;
        // The threads within an evaluation are off: each processor has a job of its own.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|error| WorkError::Input(error.to_string()))?;
        let mut verdicts = Vec::new();
        let mut times = JobTimes {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            runtime_ms: Vec::new(),
            cut: Vec::new(),
        };
        for law in &input.laws {
            let fault =
                |problem| WorkError::Input(format!("law {}: {problem}", law.law_fingerprint));
            let read = Law::from_value(law.law.clone(), "$", Extensions::ALL);
            let read = read.map_err(|error| fault(error.to_string()))?;
            if read.fingerprint() != law.law_fingerprint {
                return Err(fault(format!("its fingerprint is {}", read.fingerprint())));
            }
            let task = Task {
                harness: harness.with_seed(law.seed),
                law: read,
                clock: Arc::clone(&self.clock),
                limit: input.wall_limit_ms.map(Duration::from_millis),
            };
            let outcome = pool.install(|| task.decide(stop));
            if stop() {
                return Err(WorkError::Stopped);
            }
            let Outcome::Decided {
                mut verdict,
                runtime_ms,
                cut,
            } = outcome
            else {
                continue;
            };
            verdict.runtime_ms = 0;
            verdicts.push(*verdict);
            times.runtime_ms.push(runtime_ms);
            times.cut.push(cut);
        }
        let bytes =
            serde_json::to_vec(&verdicts).map_err(|error| WorkError::Input(error.to_string()))?;
        let mut output = Output::new(bytes);
        output.comparable = !times.cut.contains(&true);
        output.meta = serde_json::to_string(&times).unwrap_or_default();
        Ok(output)
    }

    fn split(&self, input: &[u8]) -> Vec<Vec<u8>> {
        let Ok(input) = JobInput::read(input) else {
            return Vec::new();
        };
        let piece = |law: &JobLaw| input.with_laws(&[law]).bytes();
        input.laws.iter().map(piece).collect()
    }
}
