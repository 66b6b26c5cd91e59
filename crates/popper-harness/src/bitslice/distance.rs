//! The distance of each start of a batch from a violation of a law.

use super::batch::Batch;
use super::compile::{
    BitProgramBuilder, BitProgramSection, BoundedNumber, Compiler, EmitTarget, Truth,
};
use super::number::{Arithmetic, Num, width};
use super::program::{BatchQuery, BitProgram, Scratch};
use super::run::Machine;
use super::word::{BitSlice, LANES, WORDS, transpose};
use crate::law::syntax::Op;
use crate::law::{Claim, Formula};

/// The bits of a distance; sums saturate at the largest such number.
const BITS: usize = 20;
/// The largest distance of an admitted start, also the distance of a part without a value.
pub const FAR: u32 = (1 << BITS) - 1;
/// The penalty of a start that misses the preconditions, so that it is farther than any admitted one.
pub const NOT_ADMITTED: u32 = 1 << BITS;

/// The operations that compute distances, run after those that decide.
#[derive(Debug, Clone, Default)]
pub(super) struct Distance {
    /// The operations on the start, after the preconditions.
    start: BitProgramSection,
    /// The operations at every step, after the formulas.
    formula: BitProgramSection,
    /// The operations at every t0 after the run, for `eventually`.
    finish: BitProgramSection,
    /// The distance of the preconditions from true.
    conditions: Option<Num>,
    /// The distance of the antecedent from true at the running step.
    antecedent: Option<Num>,
    /// The least distance so far.
    best: Option<Num>,
    /// The least distance of the antecedent so far.
    best_antecedent: Option<Num>,
    /// The count of the consequent in the window and the mask of the lanes where the claim fails, for `eventually`.
    window: Option<(Num, u32)>,
}

impl Distance {
    /// Compiles the operations that compute distances.
    pub(super) fn new(compiler: &mut Compiler<'_>, question: &BatchQuery) -> Option<Self> {
        let mut distance = Self::default();
        let program = compiler.program;
        let deciding = (
            std::mem::take(&mut compiler.start.section),
            std::mem::take(&mut compiler.formula.section),
        );
        let mut sum = compiler.constant(0)?;
        for condition in &program.preconditions {
            let left = compiler.value(super::compile::ProgramSlot::Start, &condition.left)?;
            let right = compiler.value(super::compile::ProgramSlot::Start, &condition.right)?;
            let gap = compiler.gap(EmitTarget::Start, condition.op, left, right)?;
            sum = compiler.total(EmitTarget::Start, sum, gap)?;
        }
        distance.conditions = Some(sum.num);
        let target = EmitTarget::Formula;
        match (&program.claim, question) {
            (
                Claim::Always {
                    antecedent,
                    consequent,
                    ..
                },
                BatchQuery::Always {
                    antecedent: asked,
                    consequent: held,
                },
            ) => {
                let mut sum = compiler.far(consequent, false)?;
                let mut violated = compiler.fails(*held);
                if let (Some(antecedent), Some(asked)) = (antecedent, asked) {
                    let away = compiler.far(antecedent, true)?;
                    distance.keep_antecedent(compiler, away);
                    sum = compiler.total(target, away, sum)?;
                    let both = compiler.take(1);
                    compiler
                        .formula
                        .push(Arithmetic::And(both, violated, asked.yes));
                    violated = both;
                }
                distance.keep(compiler, sum, violated);
            }
            (Claim::Eventually { antecedent, .. }, BatchQuery::Eventually { window, .. }) => {
                let away = compiler.far(antecedent, true)?;
                distance.antecedent = Some(away.num);
                let deciding = std::mem::take(&mut compiler.formula.section);
                let bits = width(window + 1);
                let num = Num {
                    base: compiler.take(bits),
                    width: bits as u8,
                    signed: false,
                };
                let count = BoundedNumber {
                    num,
                    low: 0,
                    high: i128::from(window + 1),
                    error: None,
                };
                let violated = compiler.take(1);
                distance.window = Some((num, violated));
                distance.keep_antecedent(compiler, away);
                let sum = compiler.total(target, away, count)?;
                distance.keep(compiler, sum, violated);
                distance.finish = std::mem::replace(&mut compiler.formula.section, deciding);
            }
            _ => {}
        }
        distance.start = std::mem::replace(&mut compiler.start.section, deciding.0);
        distance.formula = std::mem::replace(&mut compiler.formula.section, deciding.1);
        Some(distance)
    }

    fn keep(&mut self, compiler: &mut Compiler<'_>, sum: BoundedNumber, violated: u32) {
        let acc = compiler.accumulator();
        let out = compiler.number(0, i128::from(FAR));
        compiler.formula.push(Arithmetic::Settle {
            out,
            from: sum.num,
            mask: violated,
        });
        compiler
            .formula
            .push(Arithmetic::MinInto { acc, from: out });
        self.best = Some(acc);
    }

    fn keep_antecedent(&mut self, compiler: &mut Compiler<'_>, away: BoundedNumber) {
        let acc = compiler.accumulator();
        let from = away.num;
        compiler.formula.push(Arithmetic::MinInto { acc, from });
        self.best_antecedent = Some(acc);
    }
}

impl Compiler<'_> {
    fn accumulator(&mut self) -> Num {
        self.number(0, i128::from(FAR))
    }

    /// Returns the mask of the lanes where a truth value is false.
    fn fails(&mut self, truth: Truth) -> u32 {
        let out = self.take(1);
        let error = truth.error.unwrap_or(truth.yes);
        self.formula.push(Arithmetic::Nor(out, truth.yes, error));
        out
    }

    fn operate(&mut self, target: EmitTarget, operation: Arithmetic) {
        let draft: &mut BitProgramBuilder = self.target(target);
        draft.push(operation);
    }

    /// Returns the sum of two distances.
    fn total(
        &mut self,
        target: EmitTarget,
        left: BoundedNumber,
        right: BoundedNumber,
    ) -> Option<BoundedNumber> {
        let sum = self.scaled(target, left, right, 1)?;
        Some(self.saturate(target, sum))
    }

    /// Limits a number to [`FAR`], which lanes without a value get, too.
    fn saturate(&mut self, target: EmitTarget, from: BoundedNumber) -> BoundedNumber {
        let high = i128::from(FAR);
        if from.high <= high && from.error.is_none() {
            return from;
        }
        let out = self.number(0, high);
        let (num, mask) = (from.num, from.error);
        let saturate = Arithmetic::Saturate {
            out,
            from: num,
            mask,
        };
        self.operate(target, saturate);
        BoundedNumber {
            num: out,
            low: 0,
            high,
            error: None,
        }
    }

    /// Returns the distance of a comparison from true.
    fn gap(
        &mut self,
        target: EmitTarget,
        op: Op,
        left: BoundedNumber,
        right: BoundedNumber,
    ) -> Option<BoundedNumber> {
        let one = self.constant(1)?;
        let value = match op {
            Op::Eq => {
                let difference = self.scaled(target, left, right, -1)?;
                let (low, high) = (
                    difference.low.unsigned_abs(),
                    difference.high.unsigned_abs(),
                );
                let high = low.max(high) as i128;
                let out = self.number(0, high);
                let from = difference.num;
                self.operate(target, Arithmetic::Abs { out, from });
                BoundedNumber {
                    num: out,
                    low: 0,
                    high,
                    error: difference.error,
                }
            }
            Op::Ne => {
                let truth = self.compare(target, Op::Eq, left, right);
                BoundedNumber {
                    num: Num {
                        base: truth.yes,
                        width: 1,
                        signed: false,
                    },
                    low: 0,
                    high: 1,
                    error: truth.error,
                }
            }
            _ => {
                let (more, less) = match op {
                    Op::Lt | Op::Le => (left, right),
                    _ => (right, left),
                };
                let mut difference = self.scaled(target, more, less, -1)?;
                if matches!(op, Op::Lt | Op::Gt) {
                    difference = self.scaled(target, difference, one, 1)?;
                }
                let high = difference.high.max(0);
                let out = self.number(0, high);
                let from = difference.num;
                self.operate(target, Arithmetic::Positive { out, from });
                BoundedNumber {
                    num: out,
                    low: 0,
                    high,
                    error: difference.error,
                }
            }
        };
        Some(self.saturate(target, value))
    }

    /// Returns the distance of a formula from `wanted`.
    fn far(&mut self, formula: &Formula, wanted: bool) -> Option<BoundedNumber> {
        let target = EmitTarget::Formula;
        let (left, right, all) = match formula {
            Formula::Cmp(op, left, right) => {
                let (left, right) = (self.term(left)?, self.term(right)?);
                let op = if wanted { *op } else { op.negated() };
                return self.gap(target, op, left, right);
            }
            Formula::Not(inner) => return self.far(inner, !wanted),
            Formula::And(left, right) => {
                (self.far(left, wanted)?, self.far(right, wanted)?, wanted)
            }
            Formula::Or(left, right) => {
                (self.far(left, wanted)?, self.far(right, wanted)?, !wanted)
            }
            Formula::Implies(left, right) => {
                (self.far(left, !wanted)?, self.far(right, wanted)?, !wanted)
            }
        };
        if all {
            return self.total(target, left, right);
        }
        let high = left.high.min(right.high);
        let out = self.number(0, high);
        let (left, right) = (left.num, right.num);
        self.operate(target, Arithmetic::Min { out, left, right });
        Some(BoundedNumber {
            num: out,
            low: 0,
            high,
            error: None,
        })
    }
}

impl BitProgram {
    /// Returns the distance of each of the [`LANES`] lanes from a violation of the law.
    ///
    /// It is 0 for a violation, [`NOT_ADMITTED`] or more where the preconditions fail, and `u32::MAX` in dead lanes.
    ///
    /// The distance of a comparison from true is the distance of its sides: for `<=` the excess of the left one, for `==` the
    /// difference, for `!=` 1. `and` adds, `or` takes the smaller one, `not` exchanges true and false. All distances are at
    /// most [`FAR`], which is also that of an expression without a value.
    ///
    /// The distance of a claim is the least over t of a sum: the distance of the antecedent from true plus that of the
    /// consequent from false. For `eventually` the second part is the number of t in the window at which the consequent
    /// holds. An admitted lane without a violation has a distance of at least 1. For symmetries and local transitions the
    /// distance is 0 or 1.
    pub fn distance(&self, batch: &Batch, scratch: &mut Scratch) -> Vec<u32> {
        self.measure(batch, scratch, false)
    }

    /// Returns the distance of each lane from a state that meets the antecedent, as [`distance`](Self::distance) without the
    /// consequent.
    ///
    /// Without an antecedent it is the distance from the preconditions alone.
    pub fn antecedent_distance(&self, batch: &Batch, scratch: &mut Scratch) -> Vec<u32> {
        self.measure(batch, scratch, true)
    }

    fn measure(&self, batch: &Batch, scratch: &mut Scratch, antecedent: bool) -> Vec<u32> {
        let measures = &self.distance;
        let outcome = match self.question {
            BatchQuery::Always { .. } | BatchQuery::Eventually { .. } => None,
            _ => Some(self.run(batch, scratch)),
        };
        let mut machine = Machine::new(self, batch, scratch);
        // The start must be there: the readings of fixed steps come later.
        machine.execute(&self.setup, 0);
        machine.execute(&self.start, 0);
        machine.execute(&measures.start, 0);
        let conditions = measures.conditions.map(|num| machine.read(num));
        let (admitted, _) = machine.truth(self.admitted);
        let mut distances = match &outcome {
            Some(_) if antecedent && !matches!(self.question, BatchQuery::Local(_)) => {
                vec![0; LANES]
            }
            Some(outcome) => {
                let met = if antecedent {
                    outcome.triggered
                } else {
                    outcome.violated
                };
                (0..LANES).map(|lane| u32::from(!met.get(lane))).collect()
            }
            None => {
                for best in [measures.best, measures.best_antecedent].iter().flatten() {
                    machine.fill(*best, BitSlice::ALL);
                }
                machine.begin(batch);
                machine.walk(antecedent);
                let best = if antecedent {
                    measures.best_antecedent
                } else {
                    measures.best
                };
                best.map_or_else(|| vec![0; LANES], |best| machine.read(best))
            }
        };
        for (lane, distance) in distances.iter_mut().enumerate() {
            if !batch.live.get(lane) {
                *distance = u32::MAX;
            } else if !admitted.get(lane) {
                *distance = NOT_ADMITTED + conditions.as_ref().map_or(0, |sums| sums[lane]);
            }
        }
        distances
    }
}

impl Machine<'_> {
    fn fill(&mut self, num: Num, lanes: BitSlice) {
        self.registers[num.base as usize..][..usize::from(num.width)].fill(lanes);
    }

    /// Reads an unsigned number of every lane.
    fn read(&self, num: Num) -> Vec<u32> {
        let bits = &self.registers[num.base as usize..][..usize::from(num.width)];
        let mut numbers = Vec::with_capacity(LANES);
        for word in 0..WORDS {
            let mut rows = [0; 64];
            for (row, bit) in rows.iter_mut().zip(bits) {
                *row = bit.0[word];
            }
            transpose(&mut rows);
            numbers.extend(rows.map(|row| row as u32));
        }
        numbers
    }

    /// Runs to the end and keeps the least distances.
    fn walk(&mut self, antecedent_alone: bool) {
        let plan = self.plan;
        let measures = &plan.distance;
        let BatchQuery::Eventually {
            antecedent,
            consequent,
            window,
        } = plan.question
        else {
            for t in 0..=plan.last {
                self.ask(t, &plan.formula);
                self.execute(&measures.formula, t);
                self.go_on(t);
            }
            return;
        };
        let (Some(away), Some((count, violated))) = (measures.antecedent, measures.window) else {
            return;
        };
        let last = plan.last - window;
        let steps = plan.last as usize + 1;
        let size = usize::from(away.width);
        let mut history = std::mem::take(self.history);
        history.clear();
        history.resize((3 + size) * steps, BitSlice::ZERO);
        let (asked, rest) = history.split_at_mut(steps);
        let (found, rest) = rest.split_at_mut(steps);
        let (failed, distances) = rest.split_at_mut(steps);
        for t in 0..steps {
            self.ask(t as u64, &plan.formula);
            self.execute(&measures.formula, t as u64);
            asked[t] = self.truth(antecedent).0;
            (found[t], failed[t]) = self.truth(consequent);
            distances[t * size..][..size]
                .copy_from_slice(&self.registers[away.base as usize..][..size]);
            self.go_on(t as u64);
            if antecedent_alone && t as u64 == last {
                break;
            }
        }
        let mut missing = failed.to_vec();
        super::run::sliding_or(&mut missing, window as usize + 1);
        self.fill(count, BitSlice::ZERO);
        for now in &found[..window as usize] {
            self.add(count, *now, false);
        }
        for t in 0..=last as usize {
            self.add(count, found[t + window as usize], false);
            let counted = &self.registers[count.base as usize..][..usize::from(count.width)];
            let any = counted.iter().fold(BitSlice::ZERO, |any, bit| any | *bit);
            self.registers[violated as usize] = asked[t].andnot(any | missing[t]);
            self.registers[away.base as usize..][..size]
                .copy_from_slice(&distances[t * size..][..size]);
            self.execute(&measures.finish, t as u64);
            self.add(count, found[t], true);
        }
        *self.history = history;
    }

    /// Adds 1 to the count of each lane in `lanes`, or subtracts 1.
    fn add(&mut self, count: Num, lanes: BitSlice, down: bool) {
        let mut carry = lanes;
        for bit in &mut self.registers[count.base as usize..][..usize::from(count.width)] {
            let old = *bit;
            *bit = old ^ carry;
            carry = if down { carry.andnot(old) } else { carry & old };
        }
    }
}
