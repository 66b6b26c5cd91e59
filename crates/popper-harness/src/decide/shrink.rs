//! Delta debugging: finds a violation with fewer movers, an earlier one, and the least of its rotations.

use super::budget::Budget;
use super::evaluator::{CompiledUniverse, Violation};
use crate::bitslice::{Batch, LANES, Scratch, smallest};
use crate::law::Program;
use crate::universe::{State, Symbol, Universe};

/// The limit of shrinking, in updates of single cells. A change of it needs a new semantics version of the configuration.
const MOST_UPDATES: u64 = 200_000_000;
/// The number of prefixes of the removable chunks that are emptied together.
const PREFIXES: usize = 8;
/// The latest step of the run that is tried as a new start.
const LATEST_START: u64 = 64;

/// A violation that is being shrunk on its ring.
pub struct Shrinker<'a> {
    compiled: &'a CompiledUniverse<'a>,
    program: &'a Program,
    budget: &'a Budget<'a>,
    background: Symbol,
    best: Violation,
    /// The number of updates that are left.
    left: u64,
    scratch: Scratch,
}

/// The signal that shrinking ended before everything was tried.
struct Ended;

impl<'a> Shrinker<'a> {
    pub fn new(
        compiled: &'a CompiledUniverse<'a>,
        program: &'a Program,
        budget: &'a Budget<'a>,
        found: Violation,
    ) -> Self {
        Self {
            compiled,
            program,
            budget,
            background: compiled.universe.start_symbols()[0],
            best: found,
            left: MOST_UPDATES,
            scratch: Scratch::default(),
        }
    }

    /// Returns the smallest violation within reach, and whether everything within reach was tried.
    pub fn run(mut self) -> (Violation, bool) {
        let minimized = self.shrink().is_ok();
        if self.program.is_rotation_invariant() {
            self.best.start = least_rotation(&self.best.start);
        }
        (self.best, minimized)
    }

    fn shrink(&mut self) -> Result<(), Ended> {
        loop {
            // First the candidates that fail no later than the best one: their runs are the shortest.
            self.thin(2, false)?;
            self.begin_later()?;
            let before = self.best.clone();
            self.thin(usize::MAX, true)?;
            if self.best == before {
                return Ok(());
            }
        }
    }

    /// Empties chunks of the movers: first `parts` chunks, then smaller ones, at last single movers.
    ///
    /// With `late`, a violation later than the best one is accepted, too.
    fn thin(&mut self, mut parts: usize, late: bool) -> Result<(), Ended> {
        loop {
            let base = self.best.start.clone();
            let movers: Vec<usize> = (0..base.len())
                .filter(|&cell| base[cell] != self.background)
                .collect();
            parts = parts.min(movers.len());
            let bound = |part: usize| part * movers.len() / parts;
            let background = self.background;
            let without = |chunks: &[usize]| -> State {
                let mut cells = base.to_vec();
                for &chunk in chunks {
                    for &cell in &movers[bound(chunk)..bound(chunk + 1)] {
                        cells[cell] = background;
                    }
                }
                cells.into()
            };
            let alone: Vec<State> = (0..parts).map(|chunk| without(&[chunk])).collect();
            let fails = self.try_all(&alone, late)?;
            let needless: Vec<usize> = (0..parts).filter(|&chunk| fails[chunk]).collect();
            // Chunks that can be emptied one by one can often be emptied together, at least some of them.
            let together: Vec<State> = (1..=PREFIXES)
                .map(|share| &needless[..needless.len() * share / PREFIXES])
                .filter(|chunks| chunks.len() > 1)
                .map(without)
                .collect();
            self.try_all(&together, late)?;
            if self.best.start == base {
                if parts == movers.len() {
                    return Ok(());
                }
                parts *= 2;
            }
        }
    }

    /// Tries later steps of the run as starts.
    fn begin_later(&mut self) -> Result<(), Ended> {
        let universe = self.compiled.universe;
        let may_start = |state: &State| state.iter().all(|&symbol| universe.may_start(symbol));
        let later: Vec<State> = (1..=self.best.t_fail.min(LATEST_START))
            .map(|t| universe.evolve(&self.best.start, t))
            .filter(may_start)
            .collect();
        self.try_all(&later, false).map(drop)
    }

    /// Runs candidates in one batch, keeps the smallest violation, and returns which of them fail.
    ///
    /// Failures at any step count if `late`, otherwise those no later than the best violation.
    fn try_all(&mut self, candidates: &[State], late: bool) -> Result<Vec<bool>, Ended> {
        let n = self.best.start.len();
        let last = if late { u64::MAX } else { self.best.t_fail };
        let evaluator = self
            .compiled
            .evaluator_until(self.program, n, last)
            .ok_or(Ended)?;
        let mut fails = Vec::with_capacity(candidates.len());
        for states in candidates.chunks(LANES) {
            let affordable = self.left / evaluator.updates(1).max(1);
            let states = &states[..states.len().min(affordable as usize)];
            if states.is_empty() || self.budget.is_spent() {
                return Err(Ended);
            }
            self.left -= evaluator.updates(states.len() as u64);
            let batch = Batch::of(states, n, evaluator.symbols());
            let outcome = evaluator.run(&batch, &mut self.scratch);
            fails.extend((0..states.len()).map(|lane| outcome.violated.get(lane)));
            if let Some(least) = smallest(&batch, &outcome) {
                self.best = self.best.clone().min(least.into());
            }
        }
        if fails.len() < candidates.len() {
            return Err(Ended);
        }
        Ok(fails)
    }
}

/// Returns the first of a state's rotations in symbol order, by comparing two candidates at a time.
fn least_rotation(state: &[Symbol]) -> State {
    let n = state.len();
    let (mut first, mut second, mut matched) = (0, 1, 0);
    while first < n && second < n && matched < n {
        let (left, right) = (state[(first + matched) % n], state[(second + matched) % n]);
        if left == right {
            matched += 1;
            continue;
        }
        // No skipped rotation can be the least.
        if left > right {
            first += matched + 1;
        } else {
            second += matched + 1;
        }
        second += usize::from(first == second);
        matched = 0;
    }
    let from = first.min(second);
    state[from..]
        .iter()
        .chain(&state[..from])
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::least_rotation;
    use crate::universe::windows;

    #[test]
    fn the_least_rotation_is_the_least_of_all() {
        for n in 1..=7 {
            for state in windows(3, n) {
                let all = (0..n).map(|k| [&state[k..], &state[..k]].concat());
                assert_eq!(
                    least_rotation(&state).to_vec(),
                    all.min().unwrap(),
                    "{state:?}"
                );
            }
        }
    }
}
