//! Counterexamples: each holds everything that is needed to derive its violation again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json::hash::json;
use crate::law::evaluate::{self, Case, EvalError, Horizon, Trajectory, holds, observe, step_of};
use crate::law::rings::{Rings, SimulationDepth};
use crate::law::syntax::{Op, Time};
use crate::law::{Claim, Extensions, Formula, Law, LawError, MAX_RING, Program, Term, Unfit};
use crate::universe::{KineticGrid, State, StateError, Symbol, Tabulated, Universe, UniverseError};

/// The version of the counterexample's JSON.
pub const COUNTEREXAMPLE_VERSION: &str = "1.0.0";

/// A reproduction of a violation: the violation can be derived again from it, without any other data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a database writes every field of the format"
)]
pub struct Counterexample {
    /// The version of the JSON format.
    pub schema_version: String,
    /// The start, as text.
    pub initial_state: String,
    /// The ring, the universe and the law.
    pub config: ReproContext,
    /// The seed of the evaluation that found the violation.
    pub seed: u64,
    /// The horizon of the law, in steps.
    #[serde(rename = "T")]
    pub t: u64,
    /// The first t at which the claim fails.
    pub t_fail: u64,
    /// The values of all observables at the failing step, and the comparison that fails.
    pub witness: Witness,
    /// The states from two steps before to two steps after.
    pub trajectory_excerpt: Vec<TraceStep>,
    /// Whether shrinking tried every candidate; `false` if a limit or the caller ended it.
    pub minimized: bool,
    /// Whether it is known that no smaller counterexample exists.
    pub minimal: bool,
}

/// The ring, the universe and the law of a counterexample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ReproContext {
    /// The number of cells.
    pub n: usize,
    /// The universe: the id of the built-in one, or a whole definition.
    pub universe: Value,
    /// The law as it was given.
    pub law: Value,
    /// Whether the law needs the `local_transition` extension.
    pub local_transition: bool,
}

/// A state of the excerpt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TraceStep {
    /// The step.
    pub t: u64,
    /// The state, as text.
    pub state: String,
}

/// The values of all observables where a claim fails, and the comparison that fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Witness {
    /// Every declared observable at `t_fail`: an integer, or the reason why it has no value.
    pub now: BTreeMap<String, Value>,
    /// The same values one step later.
    pub next: BTreeMap<String, Value>,
    /// The left side of the comparison that fails.
    pub left: String,
    /// The operator of that comparison.
    pub op: String,
    /// The right side of that comparison.
    pub right: String,
}

/// A reason why a counterexample does not hold.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RederiveError {
    /// The file has a version that this program does not read.
    #[error("schema_version is `{found}`, this program reads {COUNTEREXAMPLE_VERSION}")]
    Version {
        /// The version in the file.
        found: String,
    },
    /// The law cannot be read.
    #[error("config.law: {0}")]
    Law(#[from] LawError),
    /// The law cannot be run in this universe.
    #[error("config.law: {0}")]
    Unfit(#[from] Unfit),
    /// The universe cannot be read.
    #[error("config.universe: {0}")]
    Universe(#[from] UniverseError),
    /// The start has a symbol that may not start.
    #[error("initial_state: {0}")]
    State(#[from] StateError),
    /// The start does not meet the preconditions.
    #[error("the initial state does not meet the preconditions")]
    NotAdmitted,
    /// The claim or a precondition has no value in the run.
    #[error("the law has no value at t = {t}: {error}")]
    NoValue {
        /// The first such step.
        t: u64,
        /// The reason.
        error: EvalError,
    },
    /// The ring is larger than a law may ask for.
    #[error("the initial state has {cells} cells, the limit is {limit}")]
    TooLarge {
        /// The number of cells of the start.
        cells: u64,
        /// The number of cells of the largest ring.
        limit: u64,
    },
    /// The derivation takes more work than is allowed.
    #[error("replaying takes {updates} updates of a cell, the limit is {limit}")]
    TooLong {
        /// The updates of single cells that are needed; a step of a small ring counts as 64.
        updates: u64,
        /// The largest number of updates.
        limit: u64,
    },
    /// The window of `eventually` is longer than a derivation can remember.
    #[error("H is {window}, the limit of a replay is {limit}")]
    TooWide {
        /// The window, in steps.
        window: u64,
        /// The limit, in steps.
        limit: u64,
    },
    /// A field differs from the run.
    #[error("{field} is {stated}, the run gives {derived}")]
    Differs {
        /// The name of the field.
        field: &'static str,
        /// The value in the file.
        stated: String,
        /// The value that the run gives.
        derived: String,
    },
}

/// The limit of a derivation, in updates of single cells.
const MOST_UPDATES: u64 = 1_000_000_000;
/// The least cost of a step, in updates of single cells.
const LEAST_STEP: u64 = 64;
/// The longest window of `eventually` in a derivation, in steps, where no period shortens it.
const LONGEST_WINDOW: u64 = 1_000_000;

/// Returns a universe as a counterexample names it: the id of the built-in one, or a complete definition.
///
/// [`Tabulated::from_value`] reads both.
pub fn universe_value(universe: &Tabulated) -> Value {
    if universe.is_built_in() {
        return KineticGrid::ID.into();
    }
    crate::json::hash::value(&universe.definition())
}

/// Derives the violation again from `package` alone and compares every field.
///
/// # Errors
/// [`RederiveError`] for the first field that does not hold, or for a limit that is exceeded.
pub fn rederive(package: &Counterexample) -> Result<(), RederiveError> {
    if package.schema_version != COUNTEREXAMPLE_VERSION {
        return Err(RederiveError::Version {
            found: package.schema_version.clone(),
        });
    }
    let universe = &Tabulated::from_value(&package.config.universe)?;
    let extensions = Extensions {
        local_transition: package.config.local_transition,
    };
    let law = Law::from_value(package.config.law.clone(), "$.config.law", extensions)?;
    let start = &package.initial_state;
    let derived = replay(&law, universe, start, package.t_fail, package.seed)?;
    let differs = |field, stated: String, derived: String| {
        Err(RederiveError::Differs {
            field,
            stated,
            derived,
        })
    };
    let Some(derived) = derived else {
        return differs("t_fail", package.t_fail.to_string(), "no violation".into());
    };
    if derived.t_fail != package.t_fail {
        return differs(
            "t_fail",
            package.t_fail.to_string(),
            derived.t_fail.to_string(),
        );
    }
    if derived.t != package.t {
        return differs("T", package.t.to_string(), derived.t.to_string());
    }
    if derived.config.n != package.config.n {
        return differs(
            "config.n",
            package.config.n.to_string(),
            derived.config.n.to_string(),
        );
    }
    if derived.witness != package.witness {
        return differs("witness", json(&package.witness), json(&derived.witness));
    }
    if derived.trajectory_excerpt != package.trajectory_excerpt {
        return differs(
            "trajectory_excerpt",
            json(&package.trajectory_excerpt),
            json(&derived.trajectory_excerpt),
        );
    }
    Ok(())
}

/// Runs a law from one start, and returns its violation with the seed 0, neither minimized nor minimal, or `None` if it has none.
///
/// # Errors
/// [`RederiveError`] if the law cannot be run from this start within the limits of a derivation, or has no value.
pub fn violation_from(
    law: &Law,
    universe: &Tabulated,
    start: &str,
) -> Result<Option<Counterexample>, RederiveError> {
    replay(law, universe, start, u64::MAX, 0)
}

/// Returns the violation of a law from a start, if there is one up to step `until`.
fn replay(
    law: &Law,
    universe: &Tabulated,
    start: &str,
    until: u64,
    seed: u64,
) -> Result<Option<Counterexample>, RederiveError> {
    let program = Program::compile(law, universe)?;
    let start = &read_start(start, universe)?;
    let horizon = replay_horizon(&program, universe, start.len(), until)?;
    let case = Case::new(&program, universe, start, horizon);
    match (case.violation, case.error) {
        (Some(t_fail), _) => {
            let input = CounterexampleInput {
                seed,
                start,
                t_fail,
            };
            Ok(Some(input.build(law, &program, universe)))
        }
        (None, Some((t, error))) => Err(RederiveError::NoValue { t, error }),
        (None, None) if !case.admitted => Err(RederiveError::NotAdmitted),
        (None, None) => Ok(None),
    }
}

/// Returns the horizon up to which a run of `n` cells must be simulated to see whether it first fails at `t_fail`.
fn replay_horizon(
    program: &Program,
    universe: &Tabulated,
    n: usize,
    t_fail: u64,
) -> Result<Horizon, RederiveError> {
    let cells = n as u64;
    if cells > MAX_RING {
        return Err(RederiveError::TooLarge {
            cells,
            limit: MAX_RING,
        });
    }
    let depth = Rings::new(program, universe, u64::MAX).depth(n);
    let (SimulationDepth::Exact(horizon) | SimulationDepth::Beginning(horizon)) = depth else {
        return Err(RederiveError::NotAdmitted);
    };
    if horizon.window > LONGEST_WINDOW {
        return Err(RederiveError::TooWide {
            window: horizon.window,
            limit: LONGEST_WINDOW,
        });
    }
    let horizon = Horizon {
        t: horizon.t.min(t_fail.saturating_add(1)),
        ..horizon
    };
    let fixed = program.latest_fixed_step();
    let fixed = universe
        .period_bound(n)
        .map_or(fixed, |period| fixed.min(period));
    let runs = match &program.claim {
        Claim::Commutes(symmetry) => 2 * symmetry.each(n).len() as u64,
        _ => 1,
    };
    let steps = horizon.t.saturating_add(horizon.window).max(fixed);
    let updates = steps
        .saturating_mul(cells.max(LEAST_STEP))
        .saturating_mul(runs);
    if updates > MOST_UPDATES {
        return Err(RederiveError::TooLong {
            updates,
            limit: MOST_UPDATES,
        });
    }
    Ok(horizon)
}

/// Reads a state that is allowed at t = 0.
///
/// # Errors
/// [`StateError`] with the position of the symbol that is not allowed.
pub fn read_start(text: &str, universe: &Tabulated) -> Result<State, StateError> {
    let start = universe.alphabet().parse(text)?;
    match start.iter().position(|&symbol| !universe.may_start(symbol)) {
        None => Ok(start),
        Some(position) => Err(StateError::ForbiddenStart {
            position,
            symbol: universe.alphabet().char(start[position]),
        }),
    }
}

/// The facts from which a counterexample is built.
pub(crate) struct CounterexampleInput<'a> {
    pub seed: u64,
    pub start: &'a [Symbol],
    pub t_fail: u64,
}

impl CounterexampleInput<'_> {
    /// Computes the package from the start; `minimized` and `minimal` are `false`.
    pub fn build(&self, law: &Law, program: &Program, universe: &Tabulated) -> Counterexample {
        let alphabet = universe.alphabet();
        let mut run = Trajectory::new(universe, self.start);
        let first = self.t_fail.saturating_sub(2);
        let around: Vec<State> = (first..=self.t_fail + 2)
            .map(|t| run.state(t).clone())
            .collect();
        let excerpt = (first..)
            .zip(&around)
            .map(|(t, state)| TraceStep {
                t,
                state: alphabet.text(state),
            })
            .collect();
        let values = |t: u64| -> BTreeMap<String, Value> {
            let read = |(name, observable): &(String, _)| {
                let value = observe(observable, &around[(t - first) as usize], universe);
                (
                    name.clone(),
                    value.map_or_else(|error| error.to_string().into(), Value::from),
                )
            };
            program.named.iter().map(read).collect()
        };
        let (now, next) = (values(self.t_fail), values(self.t_fail + 1));
        let (left, op, right) = sides(program, universe, self.start, self.t_fail);
        Counterexample {
            schema_version: COUNTEREXAMPLE_VERSION.into(),
            initial_state: alphabet.text(self.start),
            config: ReproContext {
                n: self.start.len(),
                universe: universe_value(universe),
                law: law.source.clone(),
                local_transition: matches!(program.claim, Claim::Local { .. }),
            },
            seed: self.seed,
            t: program.horizon,
            t_fail: self.t_fail,
            witness: Witness {
                now,
                next,
                left,
                op,
                right,
            },
            trajectory_excerpt: excerpt,
            minimized: false,
            minimal: false,
        }
    }
}

/// Returns both sides of the comparison that fails at t, with its operator between them.
fn sides(
    program: &Program,
    universe: &Tabulated,
    start: &[Symbol],
    t: u64,
) -> (String, String, String) {
    let text = |state: &[Symbol]| universe.alphabet().text(state);
    let mut run = Trajectory::new(universe, start).keeping(&program.fixed_steps());
    match &program.claim {
        Claim::Commutes(symmetry) => {
            let after = universe.evolve(start, t);
            let pairs = symmetry.each(start.len()).into_iter().map(|single| {
                (
                    universe.evolve(&single.apply(start), t),
                    single.apply(&after),
                )
            });
            let (left, right) = pairs
                .into_iter()
                .find(|(left, right)| left != right)
                .unwrap_or_default();
            (text(&left), "==".into(), text(&right))
        }
        Claim::Local(claim) => {
            let (now, next) = (run.state(t).clone(), run.state(t + 1).clone());
            let breaks = |cell: &usize| claim.is_about(&now, *cell) && !claim.allows(next[*cell]);
            let cell = (0..now.len()).find(breaks).unwrap_or(0);
            let op = if claim.equal { "==" } else { "!=" };
            (
                format!("cell {cell}: {}", text(&next[cell..=cell])),
                op.into(),
                text(&[claim.result]),
            )
        }
        Claim::Always { consequent, .. } | Claim::Eventually { consequent, .. } => {
            let mut read = |index: usize, time| {
                observe(
                    &program.observables[index],
                    run.state(step_of(time, t)),
                    universe,
                )
            };
            let Some((left, op, right)) = failing(consequent, true, t, &mut read) else {
                return Default::default();
            };
            let mut value = |term: &Term| {
                evaluate::fraction(term, t, &mut read)
                    .map_or_else(|error| error.to_string(), |value| value.to_string())
            };
            (value(left), op.text().into(), value(right))
        }
    }
}

/// Returns the comparison that a violation at step `t` breaks: its sides, and the operator that the claim needs between them.
///
/// `None` if the claim has no formula.
pub fn broken_comparison<'a>(
    program: &'a Program,
    universe: &Tabulated,
    start: &[Symbol],
    t: u64,
) -> Option<(&'a Term, Op, &'a Term)> {
    let (Claim::Always { consequent, .. } | Claim::Eventually { consequent, .. }) = &program.claim
    else {
        return None;
    };
    let mut run = Trajectory::new(universe, start).keeping(&program.fixed_steps());
    failing(consequent, true, t, &mut |index, time| {
        let state = run.state(step_of(time, t));
        observe(&program.observables[index], state, universe)
    })
}

/// Finds the first comparison that keeps a formula from having the value `wanted`.
fn failing<'a>(
    formula: &'a Formula,
    wanted: bool,
    t: u64,
    read: &mut dyn FnMut(usize, Time) -> Result<i64, EvalError>,
) -> Option<(&'a Term, Op, &'a Term)> {
    if holds(formula, t, read) == Ok(wanted) {
        return None;
    }
    match formula {
        Formula::Cmp(op, left, right) => {
            Some((left, if wanted { *op } else { op.negated() }, right))
        }
        Formula::Not(inner) => failing(inner, !wanted, t, read),
        Formula::And(left, right) | Formula::Or(left, right) => {
            failing(left, wanted, t, read).or_else(|| failing(right, wanted, t, read))
        }
        Formula::Implies(left, right) => {
            failing(right, wanted, t, read).or_else(|| failing(left, !wanted, t, read))
        }
    }
}
