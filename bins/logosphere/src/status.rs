//! The status of a run, which `run`, `resume` and `status` print.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use bin_support::{Failure, Session, escape};
use llm_client::Usd;
use logosphere_core::MindId;
use logosphere_core::experiment::{Experiment, ExperimentError};
use logosphere_core::format::Reason;
use logosphere_core::verify::state::{RunState, Step};
use serde::Serialize;

/// The status of a run.
#[derive(Serialize)]
pub struct RunStatus {
    schema_version: u32,
    run: String,
    status: RunPhase,
    offline: bool,
    provider: String,
    model: String,
    seed: u64,
    minds: u32,
    rounds: u32,
    max_rounds: u32,
    /// The calls of the round that has not ended.
    calls_of_open_round: u32,
    messages: u64,
    prompt_tokens: u64,
    answer_tokens: u64,
    cost_usd: Option<f64>,
    compliant: u64,
    tolerated: u64,
    lost: u64,
    calls_by_reason: BTreeMap<Reason, u64>,
    failed_calls: u64,
    journal: String,
    #[serde(skip)]
    protocol: String,
    #[serde(skip)]
    cost: Option<Usd>,
}

/// The phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunPhase {
    /// A process works on it.
    Running,
    /// The run can be resumed.
    Stopped,
    /// All its rounds are done, or a rule ended it.
    Ended,
}

/// The form of a printed status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusForm {
    /// A line for each number.
    Lines,
    /// A JSON document.
    Json,
    /// No output, also during the run.
    None,
}

impl StatusForm {
    /// Returns the form that the flag `--json` selects.
    pub fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Lines }
    }
}

/// Returns whether a process works on the experiment.
pub fn is_in_use(experiment: &Experiment) -> bool {
    let free = experiment.check_free();
    matches!(free, Err(ExperimentError::InUse { .. }))
}

impl RunPhase {
    /// Returns the phase of a run whose journal has this state. `is_in_use` is read before the journal: a run that ends
    /// in between has its end there.
    pub fn of(state: &RunState, is_in_use: bool) -> Self {
        match (state.next(), is_in_use) {
            (_, true) => Self::Running,
            (Step::Done, false) => Self::Ended,
            _ => Self::Stopped,
        }
    }
}

impl RunStatus {
    /// Returns the status of the run in this directory.
    pub fn new(directory: &Path, journal: &Path, state: &RunState, status: RunPhase) -> Self {
        let (settings, tokens, protocol) = (state.settings(), state.tokens(), state.protocol());
        let (round, MindId(calls)) = state.next_call();
        Self {
            schema_version: 1,
            run: directory.display().to_string(),
            status,
            offline: settings.is_offline(),
            provider: settings.provider.clone(),
            model: settings.model.clone(),
            seed: settings.seed,
            minds: settings.n_minds,
            rounds: round.before(),
            max_rounds: settings.max_rounds,
            calls_of_open_round: calls,
            messages: state.pool().len(),
            prompt_tokens: tokens.prompt,
            answer_tokens: tokens.completion,
            cost_usd: state.cost().map(|usd| usd.0 as f64 / 1e9),
            compliant: protocol.compliant,
            tolerated: protocol.tolerated,
            lost: protocol.lost,
            calls_by_reason: protocol.by_reason.clone(),
            failed_calls: state.errors(),
            journal: journal.display().to_string(),
            protocol: protocol.to_string(),
            cost: state.cost(),
        }
    }

    /// Returns the number of messages in the pool.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Prints the status.
    pub fn print(&self, form: StatusForm, session: &mut Session) -> Result<(), Failure> {
        let out = &mut session.results;
        match form {
            StatusForm::None => return Ok(()),
            StatusForm::Json => {
                return Ok(out.json(self)?);
            }
            StatusForm::Lines => {}
        }
        for (name, text) in self.rows() {
            writeln!(out, "{name:<10}{text}")?;
        }
        Ok(())
    }

    /// Returns the names and texts of the lines.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let part = if self.calls_of_open_round > 0 {
            " and a part of one"
        } else {
            ""
        };
        let (prompts, answers) = (self.prompt_tokens, self.answer_tokens);
        let mut rows = vec![
            ("rounds", format!("{}{part}", self.rounds)),
            ("pool", format!("{} messages", self.messages)),
            ("tokens", format!("{prompts} in, {answers} out")),
        ];
        rows.extend(self.cost.map(|usd| ("cost", usd.to_string())));
        rows.push(("protocol", self.protocol.clone()));
        if self.offline {
            rows.push(("offline", "no model was called".to_owned()));
        }
        rows.push(("journal", escape(&self.journal)));
        rows
    }
}
