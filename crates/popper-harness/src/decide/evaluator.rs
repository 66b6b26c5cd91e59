//! Evaluation of programs on batches of starts.

use std::sync::Arc;

use super::generators::CaseFamily;
use crate::bitslice::{
    Batch, BatchOutcome, BitProgram, BitSlice, Circuit, MinimalViolation, Scratch, smallest,
};
use crate::law::Program;
use crate::law::evaluate::{Case, Horizon, Trajectory};
use crate::law::rings::{Rings, SimulationDepth};
use crate::universe::{State, Symbol, Tabulated, Universe};

/// A universe prepared for batches.
pub struct CompiledUniverse<'a> {
    pub universe: &'a Tabulated,
    pub circuit: &'a Arc<Circuit>,
    pub max_t: u64,
}

/// The cost of the reference evaluator for a node of an expression and a cell, in operations of the bit-parallel engine.
const REFERENCE_COST: u64 = 300;

/// A program on rings of one size.
pub struct RingEvaluator<'a> {
    compiled: &'a CompiledUniverse<'a>,
    program: &'a Program,
    pub n: usize,
    pub horizon: Horizon,
    /// Whether the horizon covers every step of the law.
    pub exact: bool,
    /// The bit-parallel program; `None` if only the reference evaluator covers the law.
    pub plan: Option<BitProgram>,
}

impl<'a> CompiledUniverse<'a> {
    /// Prepares a program for rings of `n` cells; `None` if the preconditions exclude them or a window would have to be cut.
    pub fn evaluator(&'a self, program: &'a Program, n: usize) -> Option<RingEvaluator<'a>> {
        self.evaluator_until(program, n, u64::MAX)
    }

    /// Prepares a program in the same way, but without violations after step `last`.
    pub fn evaluator_until(
        &'a self,
        program: &'a Program,
        n: usize,
        last: u64,
    ) -> Option<RingEvaluator<'a>> {
        let rings = Rings::new(program, self.universe, self.max_t);
        let (horizon, exact) = match rings.depth(n) {
            SimulationDepth::Exact(horizon) => (horizon, true),
            SimulationDepth::Beginning(horizon) => (horizon, false),
            SimulationDepth::Nothing => return None,
        };
        if !rings.admits(n) {
            return None;
        }
        // Templates that look one step ahead end one step before T.
        let horizon = Horizon {
            t: horizon.t.min(last.saturating_add(1)),
            ..horizon
        };
        let plan = BitProgram::new(program, self.circuit, self.universe, n, horizon);
        Some(RingEvaluator {
            compiled: self,
            program,
            n,
            horizon,
            exact,
            plan,
        })
    }
}

impl RingEvaluator<'_> {
    /// Returns the number of updates of single cells for this number of starts.
    pub fn updates(&self, starts: u64) -> u64 {
        let steps = self
            .horizon
            .t
            .saturating_add(self.horizon.window)
            .saturating_add(1);
        starts.saturating_mul(steps).saturating_mul(self.n as u64)
    }

    /// Returns the cost of this number of starts: operations on single cells, for the engine that will run them.
    pub fn cost(&self, starts: u64) -> u64 {
        let each = match &self.plan {
            Some(_) => 1 + (self.compiled.circuit.gates() + self.program.size()) as u64 / 8,
            None => REFERENCE_COST * self.program.size() as u64,
        };
        self.updates(starts).saturating_mul(each)
    }

    /// Returns the number of symbols of the universe.
    pub fn symbols(&self) -> usize {
        self.compiled.universe.alphabet().len()
    }

    /// Runs a batch.
    pub fn run(&self, batch: &Batch, scratch: &mut Scratch) -> BatchOutcome {
        match &self.plan {
            Some(plan) => plan.run(batch, scratch),
            None => self.run_each(batch),
        }
    }

    /// Runs a batch one start at a time.
    fn run_each(&self, batch: &Batch) -> BatchOutcome {
        let mut outcome = BatchOutcome::default();
        let mut violations: Vec<(u64, usize)> = Vec::new();
        for lane in batch.live.iter() {
            let start = batch.get(lane);
            let case = Case::new(self.program, self.compiled.universe, &start, self.horizon);
            if case.error.is_some() {
                outcome.error.set(lane, true);
            }
            if !case.admitted {
                continue;
            }
            outcome.admitted.set(lane, true);
            outcome.triggers[lane / 64] += case.triggers;
            if case.triggers > 0 {
                outcome.triggered.set(lane, true);
            }
            if let Some(t) = case.violation {
                outcome.violated.set(lane, true);
                violations.push((t, lane));
            }
            let (unusual, wrapped) = self.visits(&start);
            if unusual {
                outcome.unusual.set(lane, true);
            }
            if wrapped {
                outcome.wrapped.set(lane, true);
            }
        }
        violations.sort_unstable();
        for (t, lane) in violations {
            match outcome.first.last_mut() {
                Some((last, lanes)) if *last == t => lanes.set(lane, true),
                _ => outcome.first.push((t, BitSlice::one(lane))),
            }
        }
        outcome
    }

    /// Whether a run visits a symbol that may not start, and whether it has a mover at the seam.
    fn visits(&self, start: &[Symbol]) -> (bool, bool) {
        let mut run = Trajectory::new(self.compiled.universe, start);
        let (mut unusual, mut wrapped) = (false, false);
        let radius = self.compiled.universe.radius().min(self.n);
        for t in 0..=self.horizon.t {
            let state = run.state(t);
            unusual |= state
                .iter()
                .any(|&symbol| !self.compiled.universe.may_start(symbol));
            wrapped |= state[..radius]
                .iter()
                .chain(&state[self.n - radius..])
                .any(|&symbol| symbol != 0);
        }
        (unusual, wrapped)
    }
}

/// The ring size up to which the densities of an exhausted ring are counted.
const DENSITY_N: usize = 14;

/// A violation, ordered by smallness on rings of one size.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The number of cells that are not the first symbol.
    pub movers: usize,
    /// The first t at which the claim fails.
    pub t_fail: u64,
    /// The start.
    pub start: State,
}

impl From<MinimalViolation> for Violation {
    fn from(least: MinimalViolation) -> Self {
        Self {
            movers: least.movers as usize,
            t_fail: least.t_fail,
            start: least.state,
        }
    }
}

/// The statistics of the cases on one ring.
#[derive(Debug, Clone, Default)]
pub struct RingStats {
    pub n: usize,
    pub exhausted: bool,
    pub attempted: u64,
    pub used: u64,
    pub distinct: u64,
    pub unusual: u64,
    pub wrapped: u64,
    pub errors: u64,
    pub densities: [u64; 10],
    /// The used cases and triggers by family.
    pub families: Vec<(CaseFamily, u64, u64)>,
    pub best: Option<Violation>,
    /// The smallest start on which an expression has no value; its `t_fail` is 0.
    pub failing: Option<Violation>,
}

impl RingStats {
    pub fn new(n: usize) -> Self {
        Self {
            n,
            ..Self::default()
        }
    }

    /// Enters a batch; `families` names the origin of each word of 64 lanes.
    pub fn enter(&mut self, batch: &Batch, outcome: &BatchOutcome, families: [CaseFamily; 8]) {
        self.attempted += batch.live.count();
        self.used += outcome.admitted.count();
        self.unusual += (outcome.unusual & outcome.admitted).count();
        self.wrapped += (outcome.wrapped & outcome.admitted).count();
        self.errors += outcome.error.count();
        for (word, family) in families.into_iter().enumerate() {
            let (used, triggers) = (
                u64::from(outcome.admitted.0[word].count_ones()),
                outcome.triggers[word],
            );
            match self
                .families
                .iter_mut()
                .find(|(known, ..)| *known == family)
            {
                Some(entry) => (entry.1, entry.2) = (entry.1 + used, entry.2 + triggers),
                None => self.families.push((family, used, triggers)),
            }
        }
        if self.n <= DENSITY_N || families[0] != CaseFamily::Exhaustive {
            self.enter_densities(batch, outcome.admitted);
        }
        self.best = better(
            self.best.take(),
            smallest(batch, outcome).map(Violation::from),
        );
        if outcome.error.any() {
            let failing = BatchOutcome {
                violated: outcome.error,
                first: vec![(0, outcome.error)],
                ..BatchOutcome::default()
            };
            let failing = smallest(batch, &failing).map(Violation::from);
            self.failing = better(self.failing.take(), failing);
        }
    }

    /// Merges the statistics of the same ring.
    pub fn merge(mut self, other: Self) -> Self {
        self.attempted += other.attempted;
        self.used += other.used;
        self.distinct += other.distinct;
        self.unusual += other.unusual;
        self.wrapped += other.wrapped;
        self.errors += other.errors;
        for (mine, theirs) in self.densities.iter_mut().zip(other.densities) {
            *mine += theirs;
        }
        for (family, used, triggers) in other.families {
            match self
                .families
                .iter_mut()
                .find(|(known, ..)| *known == family)
            {
                Some(entry) => (entry.1, entry.2) = (entry.1 + used, entry.2 + triggers),
                None => self.families.push((family, used, triggers)),
            }
        }
        self.best = better(self.best, other.best);
        self.failing = better(self.failing, other.failing);
        self
    }

    /// Counts the densities of the admitted starts of a batch.
    fn enter_densities(&mut self, batch: &Batch, admitted: BitSlice) {
        let (n, densities) = (self.n, &mut self.densities);
        by_number(&movers(batch), admitted, 0, &mut |movers, lanes| {
            densities[(movers * 10 / n).min(9)] += lanes;
        });
    }
}

/// Returns the number of cells that are not the first symbol of each lane, as bit columns.
fn movers(batch: &Batch) -> Vec<BitSlice> {
    let mut columns: Vec<BitSlice> = Vec::new();
    for cell in 0..batch.n {
        let mut carry = (0..batch.bits).fold(BitSlice::ZERO, |any, bit| {
            any | batch.planes[bit * batch.n + cell]
        });
        for column in &mut columns {
            (*column, carry) = (*column ^ carry, *column & carry);
        }
        if carry.any() {
            columns.push(carry);
        }
    }
    columns
}

/// Enters each number that some of the lanes hold in their bit columns, added to `above`, with the count of these lanes.
fn by_number(
    columns: &[BitSlice],
    lanes: BitSlice,
    above: usize,
    enter: &mut impl FnMut(usize, u64),
) {
    match columns.split_last() {
        _ if !lanes.any() => {}
        None => enter(above, lanes.count()),
        Some((column, rest)) => {
            by_number(rest, lanes & *column, above + (1 << rest.len()), enter);
            by_number(rest, lanes.andnot(*column), above, enter);
        }
    }
}

fn better(left: Option<Violation>, right: Option<Violation>) -> Option<Violation> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (left, right) => left.or(right),
    }
}
