//! Exhaustion: every admissible start of a ring.

use std::cmp::Ordering;

use num_integer::gcd;
use rayon::prelude::*;

use super::budget::Budget;
use super::evaluator::{CompiledUniverse, RingEvaluator, RingStats};
use super::generators::CaseFamily;
use crate::bitslice::{Batch, InitialStates, Scratch};
use crate::law::Program;
use crate::universe::{Symbol, Universe};

/// The ring size beyond which the number of different starts is only bounded.
const COUNTED_N: usize = 14;

/// The exhaustion of one ring size, ready to run.
pub struct ExhaustiveRing<'a> {
    evaluator: RingEvaluator<'a>,
    starts: InitialStates,
    symbols: usize,
    start_symbols: usize,
    rotations: bool,
    /// Whether the different starts are counted one by one.
    ///
    /// The blocks hold rotations of some starts, and preconditions admit an unknown part of them.
    counted: bool,
}

impl<'a> ExhaustiveRing<'a> {
    /// Prepares rings of `n` cells; `None` if the law excludes them.
    pub fn new(compiled: &'a CompiledUniverse<'a>, program: &'a Program, n: usize) -> Option<Self> {
        let evaluator = compiled.evaluator(program, n)?;
        let starts = compiled.universe.start_symbols();
        let symbols = compiled.universe.alphabet().len();
        let rotations = program.is_rotation_invariant();
        let start_symbols = starts.len();
        let counted = n <= COUNTED_N
            && program
                .preconditions
                .iter()
                .any(|condition| !condition.is_static());
        let blocks = InitialStates::new(n, &starts, symbols, rotations)?;
        Some(Self {
            evaluator,
            starts: blocks,
            symbols,
            start_symbols,
            rotations,
            counted,
        })
    }

    /// Returns the cost of exhausting rings of `n` cells.
    pub fn cost(compiled: &CompiledUniverse<'_>, program: &Program, n: usize) -> u64 {
        let Some(evaluator) = compiled.evaluator(program, n) else {
            return 0;
        };
        let starts = (compiled.universe.start_symbols().len() as u64).saturating_pow(n as u32);
        let starts = if program.is_rotation_invariant() {
            starts / n as u64 * 2 + 1
        } else {
            starts
        };
        evaluator.cost(starts)
    }

    /// Whether the horizon covers all that the law speaks of.
    pub fn exact(&self) -> bool {
        self.evaluator.exact
    }

    /// Runs every start; if the budget ends before, the statistics are not marked as exhausted.
    ///
    /// A complete result does not depend on the distribution of blocks over threads.
    pub fn run(&self, budget: &Budget<'_>) -> RingStats {
        let fresh = || {
            (
                Batch::new(self.evaluator.n, self.symbols),
                Scratch::default(),
                RingStats::new(self.evaluator.n),
            )
        };
        let step = |(mut batch, mut scratch, mut tally): (Batch, Scratch, RingStats),
                    block: usize| {
            if budget.is_spent() {
                return (batch, scratch, tally);
            }
            self.starts.fill(block, &mut batch);
            let outcome = self.evaluator.run(&batch, &mut scratch);
            tally.enter(&batch, &outcome, [CaseFamily::Exhaustive; 8]);
            if self.rotations && self.counted {
                tally.distinct += outcome
                    .admitted
                    .iter()
                    .filter(|&lane| is_necklace(&batch.get(lane)))
                    .count() as u64;
            }
            (batch, scratch, tally)
        };
        let blocks = self.starts.blocks();
        let tally = (0..blocks)
            .into_par_iter()
            .with_min_len(8)
            .fold(fresh, step)
            .map(|(.., tally)| tally)
            .reduce(|| RingStats::new(self.evaluator.n), RingStats::merge);
        let distinct = match (self.rotations, self.counted) {
            (false, _) => tally.used,
            (true, true) => tally.distinct,
            (true, false) => necklaces(self.start_symbols, self.evaluator.n).min(tally.used),
        };
        RingStats {
            exhausted: !budget.was_cut(),
            distinct,
            ..tally
        }
    }
}

/// Returns the number of starts of `n` cells that differ after rotation, by Burnside's formula.
fn necklaces(symbols: usize, n: usize) -> u64 {
    let fixed = |shift: usize| (symbols as u64).saturating_pow(gcd(shift, n) as u32);
    (1..=n).map(fixed).fold(0_u64, u64::saturating_add) / n as u64
}

/// Whether a state is the least of its rotations (Duval's walk).
fn is_necklace(state: &[Symbol]) -> bool {
    let mut period = 1;
    for cell in 1..state.len() {
        match state[cell].cmp(&state[cell - period]) {
            Ordering::Less => return false,
            Ordering::Equal => {}
            Ordering::Greater => period = cell + 1,
        }
    }
    state.len().is_multiple_of(period)
}
