//! Every admissible start of a ring.

use rayon::prelude::*;

use super::generators::{Family, start_symbols};
use super::lab::{Bench, Lab, Tally};
use crate::lanes::{Batch, Scratch, Starts};
use crate::law::Program;

/// What one cell update costs the reference evaluator, in cell updates of the bit-parallel engine.
const REFERENCE_COST: u64 = 500;

/// What exhausting a ring would take.
pub struct Exhaustion<'a> {
    bench: Bench<'a>,
    starts: Starts,
    symbols: usize,
    start_symbols: usize,
    rotations: bool,
}

impl<'a> Exhaustion<'a> {
    /// Prepares rings of `n` cells; none where the law excludes them.
    pub fn new(lab: &'a Lab<'a>, program: &'a Program, n: usize) -> Option<Self> {
        let bench = lab.bench(program, n)?;
        let starts = start_symbols(lab.universe);
        let symbols = lab.universe.alphabet().len();
        let rotations = program.is_rotation_invariant();
        let start_symbols = starts.len();
        Some(Self { bench, starts: Starts::new(n, &starts, symbols, rotations), symbols, start_symbols, rotations })
    }

    /// Cell updates, counted for the engine that will do them.
    pub fn cost(lab: &Lab<'_>, program: &Program, n: usize) -> u64 {
        let Some(bench) = lab.bench(program, n) else { return 0 };
        let starts = (start_symbols(lab.universe).len() as u64).saturating_pow(n as u32);
        let starts = if program.is_rotation_invariant() { starts / n as u64 * 2 + 1 } else { starts };
        let steps = (bench.horizon.t + bench.horizon.window + 1).saturating_mul(n as u64);
        let each = if bench.plan.is_some() { 1 } else { REFERENCE_COST };
        starts.saturating_mul(steps).saturating_mul(each)
    }

    /// Whether the horizon covers all that the law speaks of.
    pub fn exact(&self) -> bool {
        self.bench.exact
    }

    /// Runs every start. The result does not depend on how the blocks are spread over threads.
    pub fn run(&self) -> Tally {
        let fresh = || (Batch::new(self.bench.n, self.symbols), Scratch::default(), Tally::new(self.bench.n));
        let step = |(mut batch, mut scratch, mut tally): (Batch, Scratch, Tally), block: usize| {
            self.starts.fill(block, &mut batch);
            let outcome = self.bench.run(&batch, &mut scratch);
            tally.enter(&batch, &outcome, &[Family::Exhaustive; 8]);
            (batch, scratch, tally)
        };
        let blocks = self.starts.blocks();
        let tally = (0..blocks)
            .into_par_iter()
            .with_min_len(8)
            .fold(fresh, step)
            .map(|(.., tally)| tally)
            .reduce(|| Tally::new(self.bench.n), Tally::merge);
        // The blocks hold some starts more than once (as rotations), so what was tried is counted, not added up.
        let classes = if self.rotations { necklaces(self.start_symbols, self.bench.n) } else { tally.attempted };
        Tally { exhausted: true, distinct: classes.min(tally.used), ..tally }
    }
}

/// How many starts of `n` cells differ after rotation, by Burnside's count.
fn necklaces(symbols: usize, n: usize) -> u64 {
    let fixed = |shift: usize| (symbols as u64).saturating_pow(gcd(shift, n) as u32);
    (1..=n).map(fixed).fold(0_u64, u64::saturating_add) / n as u64
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
