//! An episode: a value that takes a line and returns a line.

use std::collections::BTreeMap;

use popper_harness::law::{Law, measure};
use popper_harness::universe::{State, Universe as _};
use serde::Serialize;

use super::contract::{LabContract, Visible};
use super::limits::BUDGET;
use super::request::{self, LabRequest, LineProblem, Prediction};
use super::score::LabScore;
use super::sealed::SealedUniverse;
use super::{laws, predictions};

/// An answer to a line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LabAnswer {
    /// The answer: one JSON object on one line.
    pub line: String,
    /// Whether it is an error, so that nothing was charged and nothing has changed.
    pub is_error: bool,
}

/// The states or the observables of an experiment, from t = 1 on.
#[derive(Serialize)]
#[serde(untagged)]
enum SeenSteps {
    States(Vec<String>),
    Values(Vec<Vec<i64>>),
}

#[derive(Serialize)]
struct ExperimentAnswer {
    seen: SeenSteps,
    left: u64,
}

#[derive(Serialize)]
struct PredictAnswer {
    predicted: usize,
    abstained: usize,
}

#[derive(Serialize)]
struct LawsAnswer {
    laws: usize,
}

#[derive(Serialize)]
struct ErrorAnswer<'a> {
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

/// An episode in a sealed universe.
///
/// The answers to experiments are all that depends on the universe before the end. Predictions and laws are only counted when they come:
/// a verdict on a law would be an experiment without a price.
#[derive(Debug, Clone)]
pub struct Episode {
    sealed: SealedUniverse,
    contract: LabContract,
    left: u64,
    experiments: u64,
    rejected: u64,
    predictions: Option<BTreeMap<String, Prediction>>,
    laws: Option<Vec<Law>>,
    is_ended: bool,
}

impl Episode {
    /// Begins an episode.
    pub fn new(sealed: SealedUniverse) -> Self {
        Self {
            contract: sealed.contract(),
            sealed,
            left: BUDGET,
            experiments: 0,
            rejected: 0,
            predictions: None,
            laws: None,
            is_ended: false,
        }
    }

    /// Returns the public part of the universe. Its [`line`](LabContract::line) opens an episode and a log.
    pub fn contract(&self) -> &LabContract {
        &self.contract
    }

    /// Returns the cells that are left of the budget.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Returns the number of lines that were answered by an error before the end.
    pub fn rejected_lines(&self) -> u64 {
        self.rejected
    }

    /// Whether the player has ended the episode.
    pub fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Takes a line and returns the answer. A line that is not a request that is possible now gets an error, and changes nothing but the
    /// number of rejected lines.
    pub fn line(&mut self, line: impl AsRef<[u8]>) -> LabAnswer {
        let answer = if self.is_ended {
            Err(closed())
        } else {
            let alphabet = self.sealed.universe().alphabet();
            request::read(line.as_ref(), &self.contract, alphabet)
                .and_then(|request| self.answer(request))
        };
        match answer {
            Ok(line) => LabAnswer {
                line,
                is_error: false,
            },
            Err(problem) => {
                self.reject();
                let is_budget = problem.kind == BUDGET_KIND;
                let message = shortened(problem.message);
                let answer = ErrorAnswer {
                    error: problem.kind,
                    left: is_budget.then_some(self.left),
                    message: (!is_budget).then_some(message.as_str()),
                };
                LabAnswer {
                    line: json(&answer),
                    is_error: true,
                }
            }
        }
    }

    /// Counts a line that was rejected. Lines after the end do not count: the score is final.
    pub(super) fn reject(&mut self) {
        if !self.is_ended {
            self.rejected += 1;
        }
    }

    fn answer(&mut self, request: LabRequest) -> Result<String, LineProblem> {
        match request {
            LabRequest::Experiment { start, steps } => self.experiment(&start, steps),
            LabRequest::Predict(_) if self.predictions.is_some() => Err(once("predict")),
            LabRequest::Predict(predictions) => {
                let all = self.contract.questions.each().count();
                let abstains = |prediction: &&Prediction| **prediction == Prediction::Abstention;
                let predicted = predictions.len() - predictions.values().filter(abstains).count();
                self.predictions = Some(predictions);
                Ok(json(&PredictAnswer {
                    predicted,
                    abstained: all - predicted,
                }))
            }
            LabRequest::Laws(_) if self.laws.is_some() => Err(once("laws")),
            LabRequest::Laws(laws) => {
                let count = laws.len();
                self.laws = Some(laws);
                Ok(json(&LawsAnswer { laws: count }))
            }
            LabRequest::End => {
                self.is_ended = true;
                Ok(self.score().line())
            }
        }
    }

    fn experiment(&mut self, start: &State, steps: u64) -> Result<String, LineProblem> {
        let cost = (start.len() as u64).checked_mul(steps);
        let Some(left) = cost.and_then(|cost| self.left.checked_sub(cost)) else {
            return Err(LineProblem {
                kind: BUDGET_KIND,
                message: String::new(),
            });
        };
        let seen = self.seen(start, steps)?;
        self.left = left;
        self.experiments += 1;
        Ok(json(&ExperimentAnswer { seen, left }))
    }

    /// Returns what the tier shows of a run, from t = 1 on. The noise depends on the number of the experiment, so that a repeated
    /// experiment has other noise.
    fn seen(&self, start: &State, steps: u64) -> Result<SeenSteps, LineProblem> {
        let universe = self.sealed.universe();
        let symbols = universe.alphabet().len();
        let states = (0..steps).scan(start.clone(), |now, _| {
            *now = universe.step(now);
            Some(now.clone())
        });
        match &self.contract.visible {
            Visible::States { noise_percent } => {
                let mut noise = self.sealed.noise(self.experiments);
                let mut show = |cell: &u8| {
                    if noise.below(100) < usize::from(*noise_percent) {
                        ((usize::from(*cell) + 1 + noise.below(symbols - 1)) % symbols) as u8
                    } else {
                        *cell
                    }
                };
                let shown = states.map(|state| {
                    let cells: Vec<u8> = state.iter().map(&mut show).collect();
                    universe.alphabet().text(&cells)
                });
                Ok(SeenSteps::States(shown.collect()))
            }
            Visible::Observables(names) => {
                let values = |state: State| {
                    let value = |name: &String| measure(name, &state, universe);
                    names.iter().map(value).collect::<Result<Vec<_>, _>>()
                };
                let values: Result<Vec<_>, _> = states.map(values).collect();
                values.map(SeenSteps::Values).map_err(|error| LineProblem {
                    kind: "experiment",
                    message: error.to_string(),
                })
            }
        }
    }

    /// Scores the episode as it is now. [`LabScore::is_ended`] says whether it was ended.
    pub fn score(&self) -> LabScore {
        let universe = self.sealed.universe();
        let predictions = self.predictions.as_ref();
        LabScore::new(
            &self.contract,
            self.is_ended,
            self.left,
            self.experiments,
            self.rejected,
            predictions::score(universe, &self.contract, predictions),
            laws::score(universe, self.laws.as_deref().unwrap_or_default()),
        )
    }
}

/// The kind of error of an experiment that costs more than is left.
const BUDGET_KIND: &str = "budget";

/// The most characters of a message, which may repeat a part of the line.
const LONGEST_MESSAGE: usize = 600;

fn shortened(message: String) -> String {
    match message.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}..", &message[..end]),
        None => message,
    }
}

fn closed() -> LineProblem {
    LineProblem {
        kind: "closed",
        message: "the episode has ended; begin another one".to_owned(),
    }
}

fn once(kind: &'static str) -> LineProblem {
    let message = format!("{kind} is possible once in an episode, and was accepted before");
    LineProblem { kind, message }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
