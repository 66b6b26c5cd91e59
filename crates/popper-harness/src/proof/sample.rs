//! Short runs of small rings, which stop the search for a proof of a false claim early.

use super::linear::{Form, TimeIndex, Var};
use crate::universe::{Rule, Symbol};

/// The number of states of a run that are kept and on which forms are evaluated.
const STATES: usize = 8;
const STEPS: usize = 3;
/// The most starts of such runs.
const MAX_STARTS: usize = 100;

/// The runs from the smallest admissible starts.
pub(super) struct Samples {
    runs: Vec<Vec<Vec<Symbol>>>,
}

impl Samples {
    pub fn new(rule: &Rule, starting: &[Symbol]) -> Self {
        let mut runs = Vec::new();
        let mut rings: Vec<Vec<Symbol>> = vec![Vec::new()];
        while runs.len() + rings.len() * starting.len() <= MAX_STARTS && rings[0].len() < 5 {
            rings = rings
                .iter()
                .flat_map(|ring| {
                    starting
                        .iter()
                        .map(|&symbol| ring.iter().copied().chain([symbol]).collect())
                })
                .collect();
            runs.extend(rings.iter().map(|ring| run(rule, ring)));
        }
        Self { runs }
    }

    /// Whether a run meets all of `form <= 0` at some step, so that they cannot be refuted.
    pub fn satisfy(&self, conjunction: &[Form]) -> bool {
        self.any(|run, step| {
            conjunction
                .iter()
                .all(|form| value(form, run, step).is_some_and(|value| value <= 0))
        })
    }

    /// Whether a form is positive somewhere in a run.
    pub fn contradict(&self, form: &Form) -> bool {
        self.any(|run, step| value(form, run, step).is_some_and(|value| value > 0))
    }

    fn any(&self, test: impl Fn(&[Vec<Symbol>], usize) -> bool) -> bool {
        self.runs
            .iter()
            .any(|run| (0..STEPS).any(|step| test(run, step)))
    }
}

fn run(rule: &Rule, start: &[Symbol]) -> Vec<Vec<Symbol>> {
    let (n, radius) = (start.len(), rule.radius());
    let mut states = vec![start.to_vec()];
    let mut window = vec![0; 2 * radius + 1];
    while states.len() < STATES {
        let last = &states[states.len() - 1];
        let next = (0..n)
            .map(|cell| {
                for (offset, seen) in window.iter_mut().enumerate() {
                    // `n * radius` keeps the difference positive on rings shorter than the window.
                    *seen = last[(cell + offset + n * radius - radius) % n];
                }
                rule.next(&window)
            })
            .collect();
        states.push(next);
    }
    states
}

/// Returns the value of a local form; `None` for other forms, and for steps beyond the sample.
fn value(form: &Form, run: &[Vec<Symbol>], step: usize) -> Option<i64> {
    let n = run[0].len();
    let mut sum = form.constant;
    for (var, &coefficient) in &form.terms {
        let count = match var {
            Var::Length => n,
            Var::Cells {
                moment: TimeIndex { start, delay },
                at,
            } => {
                let state = run.get(*delay as usize + if *start { 0 } else { step })?;
                (0..n)
                    .filter(|cell| {
                        at.iter()
                            .all(|(offset, symbol)| state[(cell + offset) % n] == *symbol)
                    })
                    .count()
            }
            _ => return None,
        };
        sum = sum.checked_add(coefficient.checked_mul(count as i64)?)?;
    }
    Some(sum)
}
