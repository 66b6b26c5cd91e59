//! A law compiled for rings of one length, ready to run on batches.

use super::circuit::Circuit;
use super::compile::{BitProgramSection, Compiler, Truth};
use super::distance::Distance;
use super::observe::Cube;
use super::simd::LocalTransition;
use super::word::{BitSlice, WORDS};
use crate::law::evaluate::Horizon;
use crate::law::syntax::Time;
use crate::law::{Claim, Formula, Program, Symmetry, Term};
use crate::universe::{Shift, Symbol, Tabulated, Universe};

/// The result of a law on a batch, lane by lane; masks hold live lanes only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchOutcome {
    /// The lanes whose start meets the preconditions; the other lanes are not evaluated.
    pub admitted: BitSlice,
    /// The lanes where a part that matters has no value; a lane whose preconditions have none is not admitted.
    pub error: BitSlice,
    /// The lanes where the claim fails at some t.
    pub violated: BitSlice,
    /// The lanes where the claim first fails at that t, in ascending t, without empty entries.
    pub first: Vec<(u64, BitSlice)>,
    /// The number of (lane, t) at which the antecedent held, by word of the lane.
    ///
    /// For `local_transition` it is the number of (lane, t, cell); it is 0 if the law has no antecedent.
    pub triggers: [u64; WORDS],
    /// The lanes where the antecedent held at some t.
    pub triggered: BitSlice,
    /// The lanes that visited a symbol that may not start, in some state on which the claim was evaluated.
    pub unusual: BitSlice,
    /// The lanes where some such state had a symbol other than the first within `radius` cells of the seam.
    pub wrapped: BitSlice,
}

/// Memory that runs reuse; one for each thread.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    pub(super) registers: Vec<BitSlice>,
    pub(super) buffer: Vec<BitSlice>,
    pub(super) own: RunPlanes,
    pub(super) image: RunPlanes,
    pub(super) history: Vec<BitSlice>,
}

/// The state of a run in all lanes, and the next one.
#[derive(Debug, Clone, Default)]
pub(super) struct RunPlanes {
    pub now: Vec<BitSlice>,
    pub next: Vec<BitSlice>,
    pub room: Vec<BitSlice>,
}

/// The question that is evaluated at every step.
#[derive(Debug, Clone)]
pub(super) enum BatchQuery {
    Always {
        antecedent: Option<Truth>,
        consequent: Truth,
    },
    Eventually {
        antecedent: Truth,
        consequent: Truth,
        window: u64,
    },
    /// The transform of a symmetry: replaces symbols, reverses, and shifts by that many cells.
    Commutes {
        map: Option<Circuit>,
        reverse: bool,
        shift: usize,
    },
    /// The shifts of a ring of one cell, which change nothing.
    Nothing,
    Local(LocalTransition),
}

/// A law compiled for rings of one length, which runs [`LANES`](super::LANES) starts at once.
#[derive(Debug, Clone)]
pub struct BitProgram {
    pub(super) n: usize,
    pub(super) circuit: Circuit,
    pub(super) registers: usize,
    pub(super) setup: BitProgramSection,
    pub(super) start: BitProgramSection,
    pub(super) at: Vec<(u64, BitProgramSection)>,
    /// The readings at the running step that are not part of `formula`.
    pub(super) observe: BitProgramSection,
    pub(super) keep: BitProgramSection,
    pub(super) formula: BitProgramSection,
    pub(super) admitted: Truth,
    pub(super) question: BatchQuery,
    /// The last step at which formulas are evaluated.
    pub(super) last: u64,
    /// Whether formulas are evaluated after the next state is computed.
    pub(super) ahead: bool,
    /// The symbols that may not start.
    pub(super) forbidden: Vec<Cube>,
    pub(super) coverage: bool,
    pub(super) distance: Distance,
}

impl BitProgram {
    /// Compiles a law for rings of `n` cells up to a horizon that is already reduced by the period.
    ///
    /// `circuit` is the rule of `universe`.
    ///
    /// `None` where the engine cannot give the result of the reference evaluator: for a remainder of a fraction, a number that
    /// might not fit into 47 bits, and an empty ring.
    pub fn new(
        program: &Program,
        circuit: &Circuit,
        universe: &Tabulated,
        n: usize,
        horizon: Horizon,
    ) -> Option<Self> {
        if n == 0 {
            return None;
        }
        let program = &*super::clear::cleared(program)?;
        let symbols = circuit.symbols();
        let mut compiler = Compiler::new(program, n, symbols);
        compiler.period = universe.period_bound(n);
        compiler.ahead = program
            .formulas()
            .any(|formula| formula.any_term(&|term| matches!(term, Term::Obs(_, Time::Next))));
        compiler.last = match &program.claim {
            Claim::Always { steps: true, .. } => horizon.t.saturating_sub(1),
            Claim::Eventually { .. } => horizon.t.checked_add(horizon.window)?,
            Claim::Always { .. } | Claim::Commutes(_) | Claim::Local { .. } => horizon.t,
        };
        let admitted = compiler.conditions(&program.preconditions)?;
        let question = compiler.question(circuit, horizon)?;
        let distance = Distance::new(&mut compiler, &question)?;
        let bits = circuit.bits();
        let forbidden = (0..symbols as Symbol)
            .filter(|&symbol| !universe.may_start(symbol))
            .map(|symbol| Cube::symbol(symbol, symbols, bits))
            .collect();
        let at = std::mem::take(&mut compiler.at);
        if !compiler.ahead {
            // Nothing happens between reading a state and asking about it: one section is quicker than two.
            let formula = std::mem::take(&mut compiler.formula.section);
            let merged = &mut compiler.formula.section;
            *merged = std::mem::take(&mut compiler.observe.section);
            merged.needs_next |= formula.needs_next;
            merged.code.extend(formula.code);
        }
        Some(Self {
            n,
            circuit: circuit.clone(),
            registers: compiler.registers as usize,
            setup: compiler.setup.section,
            start: compiler.start.section,
            at: at
                .into_iter()
                .map(|(step, draft)| (step, draft.section))
                .collect(),
            observe: compiler.observe.section,
            keep: compiler.keep.section,
            formula: compiler.formula.section,
            admitted,
            question,
            last: compiler.last,
            ahead: compiler.ahead,
            forbidden,
            coverage: true,
            distance,
        })
    }

    /// Returns the same program without [`BatchOutcome::unusual`] and [`BatchOutcome::wrapped`], which saves their work.
    #[must_use]
    pub fn without_coverage(mut self) -> Self {
        self.coverage = false;
        self
    }

    /// Returns the number of cells of the rings.
    pub fn n(&self) -> usize {
        self.n
    }
}

impl Compiler<'_> {
    fn question(&mut self, circuit: &Circuit, horizon: Horizon) -> Option<BatchQuery> {
        let (n, symbols, bits) = (self.n, self.symbols, self.bits);
        let cube = |symbol| Cube::symbol(symbol, symbols, bits);
        Some(match &self.program.claim {
            Claim::Always {
                antecedent,
                consequent,
                ..
            } => BatchQuery::Always {
                antecedent: match antecedent {
                    None => None,
                    Some(antecedent) => Some(self.asked(antecedent)?),
                },
                consequent: self.asked(consequent)?,
            },
            Claim::Eventually {
                antecedent,
                consequent,
                ..
            } => BatchQuery::Eventually {
                antecedent: self.asked(antecedent)?,
                consequent: self.asked(consequent)?,
                window: horizon.window,
            },
            Claim::Commutes(Symmetry::Shift(Shift::Every)) if n == 1 => BatchQuery::Nothing,
            Claim::Commutes(Symmetry::Shift(shift)) => BatchQuery::Commutes {
                map: None,
                reverse: false,
                shift: match shift {
                    Shift::By(cells) => cells.rem_euclid(n as i64) as usize,
                    // The shifts are generated by the one by a single cell.
                    Shift::Every => 1,
                },
            },
            Claim::Commutes(Symmetry::Named(transform)) => {
                let map = |window: &[Symbol]| transform.map[usize::from(window[0])];
                let same = (0..symbols as Symbol).all(|symbol| map(&[symbol]) == symbol);
                BatchQuery::Commutes {
                    map: (!same).then(|| Circuit::compile(circuit.symbols(), 0, &map)),
                    reverse: transform.reverse,
                    shift: 0,
                }
            }
            Claim::Local(claim) => {
                let mut around = vec![(0, cube(claim.trigger))];
                for (place, symbol) in claim.pattern.iter().flatten().enumerate() {
                    around.push(((place + n - 1) % n, cube(*symbol)));
                }
                BatchQuery::Local(LocalTransition {
                    around,
                    parity: claim.parity,
                    equal: claim.equal,
                    result: cube(claim.result),
                    counter: self.take(super::number::width(n as u64)),
                })
            }
        })
    }

    fn asked(&mut self, formula: &Formula) -> Option<Truth> {
        self.truth(formula)
    }
}
