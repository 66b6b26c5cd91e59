//! The observations in a snapshot: parts of trajectories. A law that one of them refutes is not proposed.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use popper_harness::law::syntax::{Op, Time};
use popper_harness::law::{Claim, Formula, Observable, Program};
use popper_harness::law::{EvalError, holds, observe};
use popper_harness::universe::{State, Tabulated, Universe as _};
use serde_json::json;

use super::draft::{LawDraft, read};
use crate::snapshot::{FailureExample, Snapshot, UniverseContract};

/// A part of a trajectory: the observed state of some steps. Step 0 is always included.
#[derive(Debug)]
struct Trajectory {
    seen: BTreeMap<u64, usize>,
    /// Whether another part has the same states, so that its steps are not counted twice.
    repeats: bool,
}

/// All parts of trajectories that a snapshot contains.
pub(super) struct ObservationMatrix {
    /// A universe with the same symbols whose states never change: it reads states without knowing the rule.
    still: Option<Tabulated>,
    states: Vec<State>,
    pieces: Vec<Trajectory>,
    /// The values of observables on every state, by observable; looked up only, never listed.
    values: Mutex<HashMap<Observable, ObservationColumn>>,
}

/// The values of an observable on every state, `None` where it has no value.
type ObservationColumn = Arc<Vec<Option<i64>>>;

impl ObservationMatrix {
    /// Reads a snapshot. A text that is not a state of the universe is skipped.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let still = still(&snapshot.contract);
        let mut evidence = Self {
            states: Vec::new(),
            pieces: Vec::new(),
            values: Mutex::default(),
            still,
        };
        let mut index = BTreeMap::new();
        let specimens = snapshot
            .falsified
            .iter()
            .map(|falsified| &falsified.counterexample)
            .chain(&snapshot.gallery);
        for specimen in specimens {
            evidence.add(specimen, &snapshot.contract, &mut index);
        }
        evidence
    }

    fn add(
        &mut self,
        specimen: &FailureExample,
        contract: &UniverseContract,
        index: &mut BTreeMap<State, usize>,
    ) {
        let Some(still) = &self.still else {
            return;
        };
        let Ok(start) = still.alphabet().parse(&specimen.initial_state) else {
            return;
        };
        let mut seen = BTreeMap::from([(0, start.clone())]);
        for moment in &specimen.excerpt {
            match still.alphabet().parse(&moment.state) {
                Ok(state) if state.len() == start.len() => {
                    seen.entry(moment.t).or_insert(state);
                }
                _ => return,
            }
        }
        let seen: BTreeMap<u64, usize> = seen
            .into_iter()
            .map(|(t, state)| {
                let place = *index.entry(state).or_insert_with_key(|state| {
                    self.states.push(state.clone());
                    self.states.len() - 1
                });
                (t, place)
            })
            .collect();
        let known = |seen: &BTreeMap<u64, usize>| self.pieces.iter().any(|p| p.seen == *seen);
        if known(&seen) {
            return;
        }
        // What follows a state that may start is a run of its own.
        let may_start = |place: usize| {
            let text = still.alphabet().text(&self.states[place]);
            !text.contains(contract.initial_forbidden.as_slice())
        };
        let later: Vec<BTreeMap<u64, usize>> = seen
            .iter()
            .filter(|&(&t, &place)| t > 0 && may_start(place))
            .map(|(&first, _)| {
                let rest = seen.range(first..);
                rest.map(|(t, place)| (t - first, *place)).collect()
            })
            .filter(|seen: &BTreeMap<_, _>| seen.len() > 1 && !known(seen))
            .collect();
        self.pieces.push(Trajectory {
            seen,
            repeats: false,
        });
        self.pieces.extend(later.into_iter().map(|seen| Trajectory {
            seen,
            repeats: true,
        }));
    }

    /// The observed states, each once.
    pub(super) fn states(&self) -> &[State] {
        &self.states
    }

    /// Every observed step: the state before and the state after, as indices of [`states`](Self::states).
    pub(super) fn steps(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let pieces = self.pieces.iter().filter(|piece| !piece.repeats);
        pieces.flat_map(|piece| {
            piece.seen.iter().filter_map(|(t, before)| {
                let after = piece.seen.get(&t.checked_add(1)?)?;
                Some((*before, *after))
            })
        })
    }

    /// Compiles a law. `None` if it cannot be read without the rule and the transforms.
    pub(super) fn compile(&self, law: &popper_harness::law::Law) -> Option<Program> {
        Program::compile(law, self.still.as_ref()?).ok()
    }

    /// Whether an observation refutes a law. An observable without a value refutes nothing.
    pub(super) fn refutes(&self, program: &Program) -> bool {
        let columns: Vec<ObservationColumn> = program
            .observables
            .iter()
            .map(|observable| self.column(observable))
            .collect();
        let conditions: Vec<(ObservationColumn, Op, ObservationColumn)> = program
            .preconditions
            .iter()
            .map(|condition| {
                let (left, right) = (&condition.left, &condition.right);
                (self.column(left), condition.op, self.column(right))
            })
            .collect();
        self.pieces.iter().any(|piece| {
            let admitted = piece.seen.get(&0).is_some_and(|&start| {
                conditions.iter().all(|(left, op, right)| {
                    matches!((left[start], right[start]), (Some(left), Some(right)) if op.compares(&left, &right))
                })
            });
            admitted && piece.breaks(program, &columns)
        })
    }

    /// Whether an observed step changes the value of an expression, or no step was observed.
    pub(super) fn moves(&self, expr: &str) -> bool {
        let mut steps = self.steps().peekable();
        if steps.peek().is_none() {
            return true;
        }
        let column = self.column_of(expr);
        column.is_some_and(|column| steps.any(|(before, after)| column[before] != column[after]))
    }

    /// The least and the greatest value of an expression on all observed states.
    pub(super) fn extremes(&self, expr: &str) -> Option<(i64, i64)> {
        let column = self.column_of(expr)?;
        let values = || column.iter().copied().flatten();
        Some((values().min()?, values().max()?))
    }

    fn column_of(&self, expr: &str) -> Option<ObservationColumn> {
        let asking = LawDraft::invariant(expr, 1);
        let program = self.compile(&read(asking.law(&[]))?)?;
        Some(self.column(program.observables.first()?))
    }

    fn column(&self, observable: &Observable) -> ObservationColumn {
        // The map is whole whatever happened to who held it.
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(column) = values.get(observable) {
            return Arc::clone(column);
        }
        let value = |state: &State| observe(observable, state, self.still.as_ref()?).ok();
        let column = Arc::new(self.states.iter().map(value).collect());
        values.insert(observable.clone(), Arc::clone(&column));
        column
    }
}

impl Trajectory {
    fn breaks(&self, program: &Program, columns: &[ObservationColumn]) -> bool {
        let holds_at = |formula: &Formula, t: u64| {
            holds(formula, t, &mut |index, time| {
                let step = match time {
                    Time::At(step) => Some(step),
                    Time::Now => Some(t),
                    Time::Next => t.checked_add(1),
                    _ => None,
                };
                // A state that was not seen has no value, like one on which the expression has none: both leave the law open.
                step.and_then(|step| self.seen.get(&step))
                    .and_then(|&place| columns.get(index)?[place])
                    .ok_or(EvalError::Overflow)
            })
            .ok()
        };
        match &program.claim {
            Claim::Always {
                antecedent,
                consequent,
                steps,
            } => {
                let end = program.horizon.saturating_add(u64::from(!*steps));
                let met = |p: &Option<Formula>, t| match p {
                    Some(p) => holds_at(p, t) == Some(true),
                    None => true,
                };
                let mut times = self.seen.range(..end);
                times.any(|(&t, _)| met(antecedent, t) && holds_at(consequent, t) == Some(false))
            }
            Claim::Eventually {
                antecedent,
                consequent,
                window,
            } => self.seen.range(..=program.horizon).any(|(&first, _)| {
                let last = first.saturating_add(*window);
                // The whole window must have been seen, which bounds it.
                let whole =
                    self.seen.range(first..=last).count() as u64 == window.saturating_add(1);
                whole
                    && holds_at(antecedent, first) == Some(true)
                    && (first..=last).all(|t| holds_at(consequent, t) == Some(false))
            }),
            _ => false,
        }
    }
}

fn still(contract: &UniverseContract) -> Option<Tabulated> {
    let table: serde_json::Map<String, serde_json::Value> = contract
        .symbols
        .iter()
        .map(|symbol| (symbol.to_string(), json!(symbol)))
        .collect();
    let definition = json!({
        "id": "still", "symbols": contract.symbols, "radius": 0, "rule": {"table": table},
    });
    Tabulated::from_json(&definition.to_string()).ok()
}
