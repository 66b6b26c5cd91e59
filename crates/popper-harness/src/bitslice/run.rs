//! The run of a program on a batch.

use pulp::Arch;

use super::batch::Batch;
use super::circuit::{Circuit, wrap};
use super::compile::{BitProgramSection, Truth};
use super::observe;
use super::program::{BatchOutcome, BatchQuery, BitProgram, RunPlanes, Scratch};
use super::simd::SimdTask;
use super::word::BitSlice;

/// A run in progress.
pub(super) struct Machine<'a> {
    pub plan: &'a BitProgram,
    arch: Arch,
    pub registers: &'a mut [BitSlice],
    buffer: &'a mut [BitSlice],
    own: &'a mut RunPlanes,
    image: &'a mut RunPlanes,
    pub history: &'a mut Vec<BitSlice>,
    /// Whether the next state of the run is already computed.
    ready: bool,
    pub live: BitSlice,
}

impl<'a> Machine<'a> {
    pub(super) fn new(plan: &'a BitProgram, batch: &Batch, scratch: &'a mut Scratch) -> Self {
        let stride = plan.n + 2 * plan.circuit.radius();
        let size = stride * plan.circuit.bits();
        let fit = |lanes: &mut Vec<BitSlice>, size: usize| {
            // Never smaller: what lies behind is not read.
            if lanes.len() < size {
                lanes.resize(size, BitSlice::ZERO);
            }
        };
        fit(&mut scratch.registers, plan.registers);
        scratch.buffer.resize(plan.n, BitSlice::ZERO);
        for planes in [&mut scratch.own, &mut scratch.image] {
            planes.now.resize(size, BitSlice::ZERO);
            planes.next.resize(size, BitSlice::ZERO);
            planes.room.resize(plan.circuit.room(), BitSlice::ZERO);
        }
        let mut machine = Self {
            plan,
            arch: Arch::new(),
            registers: &mut scratch.registers,
            buffer: &mut scratch.buffer,
            own: &mut scratch.own,
            image: &mut scratch.image,
            history: &mut scratch.history,
            ready: false,
            live: batch.live,
        };
        machine.load(batch);
        machine
    }

    /// Returns to the start.
    pub(super) fn load(&mut self, batch: &Batch) {
        let (n, halo) = (self.plan.n, self.plan.circuit.radius());
        for (plane, from) in self
            .own
            .now
            .chunks_mut(n + 2 * halo)
            .zip(batch.planes.chunks(n))
        {
            plane[halo..halo + n].copy_from_slice(from);
            wrap(plane, halo);
        }
        self.ready = false;
    }

    fn prepare(&mut self) {
        if !self.ready {
            step(self.arch, self.plan, self.own);
            self.ready = true;
        }
    }

    /// Advances by one step.
    pub(super) fn advance(&mut self) {
        self.prepare();
        std::mem::swap(&mut self.own.now, &mut self.own.next);
        self.ready = false;
    }

    /// Runs operations on the current state.
    pub(super) fn execute(&mut self, section: &BitProgramSection, t: u64) {
        if section.code.is_empty() {
            return;
        }
        if section.needs_next {
            self.prepare();
        }
        let (n, halo) = (self.plan.n, self.plan.circuit.radius());
        let planes = |data| observe::StatePlanes { data, n, halo };
        self.arch.dispatch(SimdTask::Execute {
            section,
            now: planes(&self.own.now),
            next: planes(&self.own.next),
            buffer: self.buffer,
            registers: self.registers,
            t,
        });
    }

    /// Returns the masks of the lanes where a formula is true, and of those where it has no value.
    pub(super) fn truth(&self, truth: Truth) -> (BitSlice, BitSlice) {
        let error = truth.error.map(|error| self.registers[error as usize]);
        (
            self.registers[truth.yes as usize],
            error.unwrap_or_default(),
        )
    }

    /// Computes constants, preconditions and the readings at fixed steps, then reads the start.
    ///
    /// Returns the admitted lanes and those whose preconditions have no value. The run is at its start afterwards.
    pub(super) fn begin(&mut self, batch: &Batch) -> (BitSlice, BitSlice) {
        let plan = self.plan;
        self.execute(&plan.setup, 0);
        self.execute(&plan.start, 0);
        let (admitted, error) = self.truth(plan.admitted);
        let mut at = 0;
        for (step, section) in &plan.at {
            while at < *step {
                self.advance();
                at += 1;
            }
            self.execute(section, 0);
        }
        if at > 0 {
            self.load(batch);
        }
        self.execute(&plan.observe, 0);
        (admitted & self.live, error & self.live)
    }

    /// Evaluates formulas at step `t`; the run must be at `t`, with its readings done.
    pub(super) fn ask(&mut self, t: u64, formulas: &BitProgramSection) {
        let plan = self.plan;
        if plan.ahead {
            self.execute(&plan.keep, t);
            self.advance();
            self.execute(&plan.observe, t);
        }
        self.execute(formulas, t);
    }

    /// Advances to the step after `t`, unless [`ask`](Self::ask) has done so.
    pub(super) fn go_on(&mut self, t: u64) {
        if !self.plan.ahead && t < self.plan.last {
            self.advance();
            self.execute(&self.plan.observe, t);
        }
    }

    fn cover(&self, outcome: &mut BatchOutcome) {
        let plan = self.plan;
        if !plan.coverage {
            return;
        }
        let (n, halo) = (plan.n, plan.circuit.radius());
        let planes = observe::StatePlanes {
            data: &self.own.now,
            n,
            halo,
        };
        self.arch.dispatch(SimdTask::Cover {
            forbidden: &plan.forbidden,
            bits: plan.circuit.bits() as u8,
            now: planes,
            unusual: &mut outcome.unusual,
            wrapped: &mut outcome.wrapped,
        });
    }

    /// Writes the image of the run's state into the next planes of the image.
    fn map(&mut self, map: Option<&Circuit>, reverse: bool, shift: usize) {
        let (n, halo) = (self.plan.n, self.plan.circuit.radius());
        match map {
            None => self.image.next.copy_from_slice(&self.own.now),
            Some(circuit) => {
                let room = circuit.room();
                if self.image.room.len() < room {
                    self.image.room.resize(room, BitSlice::ZERO);
                }
                self.arch.dispatch(SimdTask::Step {
                    circuit,
                    n,
                    halo,
                    now: &self.own.now,
                    next: &mut self.image.next,
                    room: &mut self.image.room,
                });
            }
        }
        for plane in self.image.next.chunks_mut(n + 2 * halo) {
            let cells = &mut plane[halo..halo + n];
            if reverse {
                cells.reverse();
            }
            cells.rotate_right(shift);
            wrap(plane, halo);
        }
    }
}

fn step(arch: Arch, plan: &BitProgram, planes: &mut RunPlanes) {
    arch.dispatch(SimdTask::Step {
        circuit: &plan.circuit,
        n: plan.n,
        halo: plan.circuit.radius(),
        now: &planes.now,
        next: &mut planes.next,
        room: &mut planes.room,
    });
}

impl BatchOutcome {
    fn violate(&mut self, t: u64, lanes: BitSlice) {
        let new = (lanes & self.admitted).andnot(self.violated);
        if new.any() {
            self.violated |= new;
            self.first.push((t, new));
        }
    }

    fn trigger(&mut self, lanes: BitSlice) {
        let lanes = lanes & self.admitted;
        self.triggered |= lanes;
        for (sum, more) in self.triggers.iter_mut().zip(lanes.counts()) {
            *sum += more;
        }
    }
}

impl BitProgram {
    /// Evaluates the law on every live lane of a batch of rings of this program's length and alphabet.
    pub fn run(&self, batch: &Batch, scratch: &mut Scratch) -> BatchOutcome {
        let mut machine = Machine::new(self, batch, scratch);
        let (admitted, error) = machine.begin(batch);
        let mut outcome = BatchOutcome {
            admitted,
            error,
            ..BatchOutcome::default()
        };
        if admitted.any() {
            machine.cover(&mut outcome);
            machine.watch(&mut outcome);
            outcome.unusual &= admitted;
            outcome.wrapped &= admitted;
        }
        outcome
    }
}

impl Machine<'_> {
    fn watch(&mut self, outcome: &mut BatchOutcome) {
        let plan = self.plan;
        match &plan.question {
            BatchQuery::Nothing => {}
            BatchQuery::Always {
                antecedent,
                consequent,
            } => {
                for t in 0..=plan.last {
                    self.ask(t, &plan.formula);
                    let (yes, error) = self.truth(*consequent);
                    match antecedent {
                        None => {
                            outcome.error |= error & outcome.admitted;
                            outcome.violate(t, !(yes | error));
                        }
                        Some(antecedent) => {
                            let (asked, unknown) = self.truth(*antecedent);
                            outcome.trigger(asked);
                            outcome.error |= (unknown | (asked & error)) & outcome.admitted;
                            outcome.violate(t, asked.andnot(yes | error));
                        }
                    }
                    self.go_on(t);
                    if plan.ahead || t < plan.last {
                        self.cover(outcome);
                    }
                }
            }
            BatchQuery::Eventually {
                antecedent,
                consequent,
                window,
            } => self.eventually(*antecedent, *consequent, *window, outcome),
            BatchQuery::Commutes {
                map,
                reverse,
                shift,
            } => self.commutes(map.as_ref(), *reverse, *shift, outcome),
            BatchQuery::Local(_) => self.local(outcome),
        }
    }

    fn eventually(
        &mut self,
        antecedent: Truth,
        consequent: Truth,
        window: u64,
        outcome: &mut BatchOutcome,
    ) {
        let plan = self.plan;
        let (last, window) = ((plan.last - window) as usize, window as usize);
        let steps = last + window + 1;
        let mut history = std::mem::take(self.history);
        history.clear();
        history.resize(4 * steps, BitSlice::ZERO);
        let (asked, rest) = history.split_at_mut(steps);
        let (unknown, rest) = rest.split_at_mut(steps);
        let (found, failed) = rest.split_at_mut(steps);
        for t in 0..steps {
            self.ask(t as u64, &plan.formula);
            (asked[t], unknown[t]) = self.truth(antecedent);
            (found[t], failed[t]) = self.truth(consequent);
            self.go_on(t as u64);
            if plan.ahead || t + 1 < steps {
                self.cover(outcome);
            }
        }
        sliding_or(found, window + 1);
        if consequent.error.is_some() {
            sliding_or(failed, window + 1);
        }
        for t in 0..=last {
            outcome.trigger(asked[t]);
            let missed = asked[t].andnot(found[t]);
            outcome.error |= (unknown[t] | (missed & failed[t])) & outcome.admitted;
            outcome.violate(t as u64, missed.andnot(failed[t]));
        }
        *self.history = history;
    }

    fn commutes(
        &mut self,
        map: Option<&Circuit>,
        reverse: bool,
        shift: usize,
        outcome: &mut BatchOutcome,
    ) {
        let plan = self.plan;
        self.map(map, reverse, shift);
        std::mem::swap(&mut self.image.now, &mut self.image.next);
        for t in 0..=plan.last {
            if t > 0 {
                self.advance();
                self.cover(outcome);
                step(self.arch, plan, self.image);
                std::mem::swap(&mut self.image.now, &mut self.image.next);
            }
            self.map(map, reverse, shift);
            let pairs = self.image.now.iter().zip(&self.image.next);
            let differ = pairs.fold(BitSlice::ZERO, |any, (now, image)| any | (*now ^ *image));
            outcome.violate(t, differ);
        }
    }

    fn local(&mut self, outcome: &mut BatchOutcome) {
        let plan = self.plan;
        let BatchQuery::Local(question) = &plan.question else {
            return;
        };
        let (n, halo) = (plan.n, plan.circuit.radius());
        let width = super::number::width(n as u64);
        let mut became = vec![BitSlice::ZERO; n];
        for t in 0..plan.last {
            self.prepare();
            let planes = |data| observe::StatePlanes { data, n, halo };
            let counter = &mut self.registers[question.counter as usize..][..width];
            let (mut asked, mut wrong) = (BitSlice::ZERO, BitSlice::ZERO);
            self.arch.dispatch(SimdTask::Local {
                question,
                now: planes(&self.own.now),
                next: planes(&self.own.next),
                buffer: self.buffer,
                became: &mut became,
                counter: &mut *counter,
                asked: &mut asked,
                wrong: &mut wrong,
            });
            for (bit, lanes) in counter.iter().enumerate() {
                let counts = (*lanes & outcome.admitted).counts();
                for (sum, count) in outcome.triggers.iter_mut().zip(counts) {
                    *sum += count << bit;
                }
            }
            outcome.triggered |= asked & outcome.admitted;
            outcome.violate(t, wrong);
            self.advance();
            self.cover(outcome);
        }
    }
}

/// Replaces every entry by the union of itself and the `width - 1` entries after it, as far as they exist.
pub(super) fn sliding_or(entries: &mut [BitSlice], width: usize) {
    let mut have = 1;
    while have < width {
        // Unions of `have` entries make those of up to twice as many.
        let by = have.min(width - have);
        for from in 0..entries.len().saturating_sub(by) {
            let more = entries[from + by];
            entries[from] |= more;
        }
        have += by;
    }
}

#[cfg(test)]
impl Machine<'_> {
    /// Returns the current state of the run.
    pub(super) fn state(&self) -> Batch {
        let (n, halo) = (self.plan.n, self.plan.circuit.radius());
        let mut batch = Batch::new(n, self.plan.circuit.symbols());
        let from = self.own.now.chunks(n + 2 * halo);
        for (plane, from) in batch.planes.chunks_mut(n).zip(from) {
            plane.copy_from_slice(&from[halo..halo + n]);
        }
        batch.live = self.live;
        batch
    }
}
