//! Compilation of observables and formulas to operations on registers.

use std::collections::{BTreeMap, HashMap};

use super::linear::{Group, Linear};
use super::number::{Arithmetic, Num};
use super::observe::{Cube, Fact, Reading, counter};
use crate::law::syntax::Time;
use crate::law::{Arith, Observable, Program};

/// The largest magnitude of a number, 2^47. Within it the 64-bit reference evaluator does not overflow either.
const LIMIT: i128 = 1 << 47;

/// An operation of a program: arithmetic or a reading of the state.
#[derive(Debug, Clone)]
pub(super) enum Instr {
    Compute(Arithmetic),
    Reading(Reading),
}

/// A sequence of operations that runs on one state.
#[derive(Debug, Clone, Default)]
pub(super) struct BitProgramSection {
    pub code: Vec<Instr>,
    /// Whether the operations read the next state, too.
    pub needs_next: bool,
}

/// A section under construction, with the values that it has computed already.
#[derive(Default)]
pub(super) struct BitProgramBuilder {
    pub section: BitProgramSection,
    values: HashMap<Observable, BoundedNumber>,
    counts: HashMap<(Fact, Group), Num>,
}

impl BitProgramBuilder {
    pub(super) fn push(&mut self, operation: Arithmetic) {
        self.section.code.push(Instr::Compute(operation));
    }
}

/// A number in registers, with its bounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoundedNumber {
    pub num: Num,
    pub low: i128,
    pub high: i128,
    /// The mask of the lanes without a value; `None` if every lane has one.
    pub error: Option<u32>,
}

/// A truth value: the mask of the lanes where it is true, and the disjoint mask of the lanes without a value, if any.
#[derive(Debug, Clone, Copy)]
pub(super) struct Truth {
    pub yes: u32,
    pub error: Option<u32>,
}

/// The compiler of a law for rings of one length.
pub(super) struct Compiler<'a> {
    pub program: &'a Program,
    pub n: usize,
    pub symbols: usize,
    pub bits: usize,
    /// The number of steps after which every run returns to its start, if known.
    pub period: Option<u64>,
    /// The last step at which formulas are evaluated.
    pub last: u64,
    /// Whether formulas are evaluated after the next state is computed.
    pub ahead: bool,
    pub registers: u32,
    /// The constants, computed once.
    pub setup: BitProgramBuilder,
    /// The preconditions, read on the start.
    pub start: BitProgramBuilder,
    /// The readings at fixed steps.
    pub at: BTreeMap<u64, BitProgramBuilder>,
    /// The readings at the current step.
    pub observe: BitProgramBuilder,
    /// The copies of the current step's readings that are kept while the next step is read (with `ahead`).
    pub keep: BitProgramBuilder,
    /// The formulas.
    pub formula: BitProgramBuilder,
    constants: HashMap<i64, Num>,
    readings: HashMap<(Observable, Time), BoundedNumber>,
    step: Option<BoundedNumber>,
}

/// The section that a reading belongs to.
#[derive(Clone, Copy)]
pub(super) enum ProgramSlot {
    Start,
    At(u64),
    Observe,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(program: &'a Program, n: usize, symbols: usize) -> Self {
        Self {
            program,
            n,
            symbols,
            bits: super::batch::code_bits(symbols),
            period: None,
            last: 0,
            ahead: false,
            registers: 0,
            setup: BitProgramBuilder::default(),
            start: BitProgramBuilder::default(),
            at: BTreeMap::new(),
            observe: BitProgramBuilder::default(),
            keep: BitProgramBuilder::default(),
            formula: BitProgramBuilder::default(),
            constants: HashMap::new(),
            readings: HashMap::new(),
            step: None,
        }
    }

    /// Allocates consecutive registers and returns the first one.
    pub(super) fn take(&mut self, registers: usize) -> u32 {
        let base = self.registers;
        self.registers += registers as u32;
        base
    }

    /// Allocates registers for a number between two bounds.
    pub(super) fn number(&mut self, low: i128, high: i128) -> Num {
        let num = Num::between(low, high, self.registers);
        self.take(usize::from(num.width));
        num
    }

    pub(super) fn constant(&mut self, number: i128) -> Option<BoundedNumber> {
        let number = i64::try_from(number).ok().filter(|n| within(*n))?;
        let exact = i128::from(number);
        let num = if let Some(num) = self.constants.get(&number) {
            *num
        } else {
            let num = self.number(exact, exact);
            self.setup.push(Arithmetic::Const(num, number));
            self.constants.insert(number, num);
            num
        };
        Some(BoundedNumber {
            num,
            low: exact,
            high: exact,
            error: None,
        })
    }

    /// Returns the builder of a section.
    pub(super) fn draft(&mut self, place: ProgramSlot) -> &mut BitProgramBuilder {
        match place {
            ProgramSlot::Start => &mut self.start,
            ProgramSlot::At(step) => self.at.entry(step).or_default(),
            ProgramSlot::Observe => &mut self.observe,
        }
    }

    /// Compiles an observable, read on the state of a section.
    pub(super) fn value(
        &mut self,
        place: ProgramSlot,
        observable: &Observable,
    ) -> Option<BoundedNumber> {
        if let Some(known) = self.draft(place).values.get(observable) {
            return Some(*known);
        }
        let mut linear = Linear::default();
        self.linear(place, observable, 1, &mut linear)?;
        let value = self.realise(place, &linear)?;
        self.draft(place).values.insert(observable.clone(), value);
        Some(value)
    }

    fn realise(&mut self, place: ProgramSlot, linear: &Linear) -> Option<BoundedNumber> {
        let (constant, facts) = linear.facts(self.n, self.symbols, self.bits);
        let mut terms: Vec<(BoundedNumber, i128)> = Vec::new();
        for (fact, group, factor) in facts {
            let cells = group.cells(self.n);
            let num = self.counted(place, fact, group);
            let value = BoundedNumber {
                num,
                low: 0,
                high: cells as i128,
                error: None,
            };
            terms.push((value, factor));
        }
        let others = linear.others.iter().filter(|(_, factor)| *factor != 0);
        terms.extend(others.map(|(value, factor)| {
            let error = None;
            (BoundedNumber { error, ..*value }, *factor)
        }));
        // A term with factor 1 at the start of a sum is used without a copy.
        terms.sort_by_key(|(_, factor)| *factor != 1);
        let plain = constant == 0 && terms.first().is_some_and(|(_, factor)| *factor == 1);
        let mut sum = if plain {
            terms.remove(0).0
        } else {
            self.constant(constant)?
        };
        for (term, factor) in terms {
            sum = self.add_scaled(place, sum, term, factor)?;
        }
        for (value, _) in &linear.others {
            sum.error = self.either(place, sum.error, value.error);
        }
        Some(sum)
    }

    fn counted(&mut self, place: ProgramSlot, fact: Fact, group: Group) -> Num {
        let key = (fact, group);
        if let Some(known) = self.draft(place).counts.get(&key) {
            return *known;
        }
        let out = counter(group.cells(self.n), self.registers);
        self.take(usize::from(out.width));
        let (first, by) = group.stride();
        let draft = self.draft(place);
        let next = group == Group::Next;
        draft.section.needs_next |= next;
        draft.section.code.push(Instr::Reading(Reading::Count {
            out,
            fact: key.0.clone(),
            next,
            first,
            by,
        }));
        draft.counts.insert(key, out);
        out
    }

    /// Compiles an observable that is not a sum.
    pub(super) fn opaque(
        &mut self,
        place: ProgramSlot,
        observable: &Observable,
    ) -> Option<BoundedNumber> {
        if let Some(known) = self.draft(place).values.get(observable) {
            return Some(*known);
        }
        let (low, high) = self.range(observable)?;
        let cube = |symbol| Cube::symbol(symbol, self.symbols, self.bits);
        let value = match observable {
            Observable::Count(pattern) => {
                let at = pattern
                    .at
                    .iter()
                    .map(|(offset, symbol)| (*offset, cube(*symbol)))
                    .collect();
                let cells = pattern.cells;
                let out = self.number(low, high);
                self.read(place, Reading::Pattern { out, at, cells });
                BoundedNumber {
                    num: out,
                    low,
                    high,
                    error: None,
                }
            }
            Observable::Leftmost(symbol) | Observable::Rightmost(symbol) => {
                let (cube, last) = (
                    cube(*symbol),
                    matches!(observable, Observable::Rightmost(_)),
                );
                let out = self.number(low, high);
                self.read(place, Reading::First { out, cube, last });
                BoundedNumber {
                    num: out,
                    low,
                    high,
                    error: None,
                }
            }
            Observable::Spread(symbol) => {
                let last = self.opaque(place, &Observable::Rightmost(*symbol))?;
                let first = self.opaque(place, &Observable::Leftmost(*symbol))?;
                let num = self.number(low, high);
                self.draft(place).push(Arithmetic::AddScaled {
                    out: num,
                    add: last.num,
                    by: first.num,
                    factor: -1,
                });
                BoundedNumber {
                    num,
                    low,
                    high,
                    error: None,
                }
            }
            Observable::MaxGap(symbol) => {
                let cube = cube(*symbol);
                let out = self.number(low, high);
                let room = self.take(usize::from(out.width));
                self.read(place, Reading::MaxGap { out, cube, room });
                BoundedNumber {
                    num: out,
                    low,
                    high,
                    error: None,
                }
            }
            Observable::Bin(op, left, right) => {
                let left = self.value(place, left)?;
                let right = self.value(place, right)?;
                match op {
                    Arith::Mul => self.multiply(place, left, right)?,
                    Arith::Mod => self.modulo(place, left, right)?,
                    Arith::Add | Arith::Sub => return None,
                }
            }
            _ => return None,
        };
        self.draft(place).values.insert(observable.clone(), value);
        Some(value)
    }

    fn read(&mut self, place: ProgramSlot, reading: Reading) {
        self.draft(place).section.code.push(Instr::Reading(reading));
    }

    /// Returns the value that a claim reads for an observable at a time.
    pub(super) fn reading(&mut self, observable: &Observable, time: Time) -> Option<BoundedNumber> {
        let key = (observable.clone(), time);
        if let Some(known) = self.readings.get(&key) {
            return Some(*known);
        }
        self.range(observable)?;
        let value = match time {
            Time::At(step) => {
                let step = self.period.map_or(step, |period| step % period);
                self.value(ProgramSlot::At(step), observable)?
            }
            Time::Next => self.value(ProgramSlot::Observe, observable)?,
            Time::Now => {
                let value = self.value(ProgramSlot::Observe, observable)?;
                if self.ahead { self.kept(value) } else { value }
            }
        };
        self.readings.insert(key, value);
        Some(value)
    }

    /// Copies a value of the current step, so that it stays available while the next step is read.
    fn kept(&mut self, value: BoundedNumber) -> BoundedNumber {
        let num = Num {
            base: self.take(usize::from(value.num.width)),
            ..value.num
        };
        let from = value.num;
        self.keep.push(Arithmetic::Move { out: num, from });
        let error = value.error.map(|error| {
            let out = self.take(1);
            self.keep.push(Arithmetic::Or(out, error, error));
            out
        });
        BoundedNumber {
            num,
            error,
            ..value
        }
    }

    /// Returns the current step as a number.
    pub(super) fn step(&mut self) -> Option<BoundedNumber> {
        if self.step.is_none() {
            let high = i128::from(self.last);
            let num = self.number(0, high);
            self.formula.push(Arithmetic::Step(num));
            self.step = Some(BoundedNumber {
                num,
                low: 0,
                high,
                error: None,
            });
        }
        self.step
    }
}

/// The section that an operation is emitted into.
#[derive(Clone, Copy)]
pub(super) enum EmitTarget {
    Start,
    Formula,
    At(ProgramSlot),
}

/// Whether a number is within the engine's bound.
fn within(number: i64) -> bool {
    i128::from(number).abs() <= LIMIT
}

/// Returns the bounds if they are within the engine's bound.
pub(super) fn bounded(low: i128, high: i128) -> Option<(i128, i128)> {
    (low >= -LIMIT && high <= LIMIT).then_some((low, high))
}
