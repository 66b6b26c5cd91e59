//! A local rule as a straight line of operations on bit planes.

use std::sync::Arc;

use pulp::Simd;

use super::batch::code_bits;
use super::diagram::{Diagram, Edge, FALSE, TRUE};
use super::wide::{Column, Wide};
use super::word::BitSlice;
use crate::universe::{Rule, Symbol};

/// The number of cells that one operation runs over before the next one starts, so that operands stay in the L1 cache.
const CHUNK: usize = 32;

/// An operand of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operand {
    /// A bit of the cell `place` cells to the right of the window's left end.
    Input { bit: u8, place: u8 },
    /// An intermediate result.
    Slot(u16),
}

/// An operation on two or three operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GateOp {
    /// The conjunction `a & b`.
    And,
    /// The difference `a & !b`.
    AndNot,
    /// The disjunction `a | b`.
    Or,
    /// The exclusive disjunction `a ^ b`.
    Xor,
    /// The selection `a ? b : c`.
    Mux,
    /// The selection `a ? !b : c`.
    MuxNot,
}

#[derive(Debug, Clone, Copy)]
struct Gate {
    op: GateOp,
    a: Operand,
    b: Operand,
    /// The third operand, which only the multiplexers read.
    c: Operand,
    to: u16,
}

/// The source of an output bit.
#[derive(Debug, Clone, Copy)]
enum Output {
    Constant(bool),
    From { operand: Operand, not: bool },
}

/// A compiled rule: computes the next symbol of all cells of all lanes in a few operations a cell.
///
/// Cheap to clone. Compile it once for a universe and use it for every ring length.
#[derive(Debug, Clone)]
pub struct Circuit {
    symbols: usize,
    radius: usize,
    bits: usize,
    gates: Arc<[Gate]>,
    outputs: Arc<[Output]>,
    slots: usize,
}

impl Circuit {
    /// Compiles a rule.
    pub fn new(rule: &Rule) -> Self {
        Self::compile(rule.symbols(), rule.radius(), &|window| rule.next(window))
    }

    /// Compiles any function of a window of `2 * radius + 1` symbols to a symbol.
    pub(super) fn compile(
        symbols: usize,
        radius: usize,
        next: &dyn Fn(&[Symbol]) -> Symbol,
    ) -> Self {
        let (bits, window) = (code_bits(symbols), 2 * radius + 1);
        // No state holds an unused code, so it may act like any other: like the one without its highest bit, or its lowest.
        let high = |code: usize| code & !(1 << bits.saturating_sub(1));
        let low = |code: usize| match code & (code - 1) {
            fewer if fewer < symbols => fewer,
            _ => high(code),
        };
        let aliases: &[&dyn Fn(usize) -> usize] = if symbols.is_power_of_two() {
            &[&high]
        } else {
            &[&high, &low]
        };
        aliases
            .iter()
            .map(|alias| {
                let mut cells = vec![0; window];
                let table: Vec<u8> = (0..1usize << (bits * window))
                    .map(|code| {
                        for (place, cell) in cells.iter_mut().enumerate() {
                            let code = code >> (place * bits) & ((1 << bits) - 1);
                            *cell = if code < symbols { code } else { alias(code) } as Symbol;
                        }
                        next(&cells)
                    })
                    .collect();
                let diagram = Diagram::best(&table, bits, bits * window);
                Self::emit(symbols, radius, &diagram)
            })
            .min_by_key(|circuit| circuit.gates.len())
            .unwrap_or(Self {
                symbols,
                radius,
                bits,
                gates: Arc::default(),
                outputs: Arc::default(),
                slots: 0,
            })
    }

    fn emit(symbols: usize, radius: usize, diagram: &Diagram) -> Self {
        let bits = code_bits(symbols);
        let mut emitter = Emitter {
            diagram,
            bits,
            gates: Vec::new(),
            values: vec![None; diagram.nodes.len()],
        };
        let outputs: Vec<Output> = diagram
            .roots
            .iter()
            .map(|&root| match root {
                FALSE | TRUE => Output::Constant(root == TRUE),
                _ => Output::From {
                    operand: emitter.value(root >> 1),
                    not: root & 1 == 1,
                },
            })
            .collect();
        let mut circuit = Self {
            symbols,
            radius,
            bits,
            gates: emitter.gates.into(),
            outputs: outputs.into(),
            slots: 0,
        };
        circuit.share_slots();
        circuit
    }

    /// Reuses the slots of results that are no longer read.
    fn share_slots(&mut self) {
        let mut last = vec![0; self.gates.len()];
        for (index, gate) in self.gates.iter().enumerate() {
            for operand in [gate.a, gate.b, gate.c] {
                if let Operand::Slot(slot) = operand {
                    last[usize::from(slot)] = index;
                }
            }
        }
        for output in &*self.outputs {
            if let Output::From {
                operand: Operand::Slot(slot),
                ..
            } = output
            {
                last[usize::from(*slot)] = usize::MAX;
            }
        }
        let mut place = vec![0u16; self.gates.len()];
        let mut free: Vec<u16> = Vec::new();
        let mut slots = 0;
        let moved = |operand: Operand, place: &[u16]| match operand {
            Operand::Slot(slot) => Operand::Slot(place[usize::from(slot)]),
            input @ Operand::Input { .. } => input,
        };
        let mut gates = self.gates.to_vec();
        for (index, gate) in gates.iter_mut().enumerate() {
            // The result takes its place before the operands give up theirs, so that it never overwrites one.
            place[index] = free.pop().unwrap_or_else(|| {
                slots += 1;
                slots - 1
            });
            let read = [gate.a, gate.b, gate.c];
            for (position, operand) in read.iter().enumerate() {
                if let Operand::Slot(slot) = operand {
                    let seen = read[..position].contains(operand);
                    if last[usize::from(*slot)] == index && !seen {
                        free.push(place[usize::from(*slot)]);
                    }
                }
            }
            gate.a = moved(gate.a, &place);
            gate.b = moved(gate.b, &place);
            gate.c = moved(gate.c, &place);
            gate.to = place[index];
        }
        let outputs: Vec<Output> = self
            .outputs
            .iter()
            .map(|output| match *output {
                Output::From { operand, not } => Output::From {
                    operand: moved(operand, &place),
                    not,
                },
                constant @ Output::Constant(_) => constant,
            })
            .collect();
        self.gates = gates.into();
        self.outputs = outputs.into();
        self.slots = usize::from(slots);
    }

    /// Returns the number of symbols of the alphabet.
    pub fn symbols(&self) -> usize {
        self.symbols
    }

    /// Returns the number of bits of a symbol code.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Returns the number of neighbours on either side that the rule reads.
    pub fn radius(&self) -> usize {
        self.radius
    }

    /// Returns the number of operations for the next symbol of one cell, plain copies not counted.
    pub fn gates(&self) -> usize {
        self.gates.len()
    }

    /// Returns the number of registers that [`step`](Self::step) needs for intermediate results.
    pub(super) fn room(&self) -> usize {
        self.slots * CHUNK
    }

    /// Computes the next state of rings of `n` cells.
    ///
    /// Planes have `n + 2 * halo` cells. The halo is at least the radius wide and repeats the cells at the other end; that of
    /// `now` is read, that of `next` is written.
    #[inline(always)]
    pub(super) fn step<S: Simd>(
        &self,
        simd: S,
        n: usize,
        halo: usize,
        now: &[BitSlice],
        next: &mut [BitSlice],
        room: &mut [BitSlice],
    ) {
        let stride = n + 2 * halo;
        let inputs = |start: usize, length: usize| Source {
            now,
            stride,
            start: start + halo - self.radius,
            length,
            before: &[],
            after: &[],
        };
        let mut start = 0;
        while start < n && !self.gates.is_empty() {
            let length = CHUNK.min(n - start);
            for gate in &*self.gates {
                let to = usize::from(gate.to) * CHUNK;
                let (before, rest) = room.split_at_mut(to);
                let (to, after) = rest.split_at_mut(CHUNK);
                let source = Source {
                    before,
                    after,
                    ..inputs(start, length)
                };
                for column in Column::all(simd) {
                    gate.run(column, &source, &mut to[..length]);
                }
            }
            for (bit, output) in self.outputs.iter().enumerate() {
                if let Output::From {
                    operand: operand @ Operand::Slot(_),
                    not,
                } = *output
                {
                    let to = &mut next[bit * stride + halo + start..][..length];
                    let source = Source {
                        before: room,
                        ..inputs(start, length)
                    };
                    copy(simd, source.get(operand), not, to);
                }
            }
            start += length;
        }
        for (bit, output) in self.outputs.iter().enumerate() {
            let plane = &mut next[bit * stride..(bit + 1) * stride];
            let to = &mut plane[halo..halo + n];
            match *output {
                Output::Constant(value) => to.fill(BitSlice::splat(value)),
                Output::From {
                    operand: operand @ Operand::Input { .. },
                    not,
                } => copy(simd, inputs(0, n).get(operand), not, to),
                Output::From { .. } => {}
            }
            wrap(plane, halo);
        }
    }
}

#[inline(always)]
fn copy<S: Simd>(simd: S, from: &[BitSlice], not: bool, to: &mut [BitSlice]) {
    for column in Column::all(simd) {
        let flip = column.splat(not);
        for (to, from) in to.iter_mut().zip(from) {
            column.put(to, column.get(from) ^ flip);
        }
    }
}

/// Fills the halo of a plane.
#[inline(always)]
pub(super) fn wrap(plane: &mut [BitSlice], halo: usize) {
    let n = plane.len() - 2 * halo;
    for away in 0..halo {
        plane[halo - 1 - away] = plane[halo + (n - 1 - away % n)];
        plane[halo + n + away] = plane[halo + away % n];
    }
}

/// The planes that the operations of one chunk read: inputs from `start`, and the slots before and after the output slot.
struct Source<'a> {
    now: &'a [BitSlice],
    stride: usize,
    start: usize,
    length: usize,
    before: &'a [BitSlice],
    after: &'a [BitSlice],
}

impl<'a> Source<'a> {
    #[inline(always)]
    fn get(&self, operand: Operand) -> &'a [BitSlice] {
        match operand {
            Operand::Input { bit, place } => {
                let from = usize::from(bit) * self.stride + usize::from(place) + self.start;
                &self.now[from..][..self.length]
            }
            Operand::Slot(slot) => {
                let from = usize::from(slot) * CHUNK;
                match from.checked_sub(self.before.len()) {
                    None => &self.before[from..][..self.length],
                    // The slot between is the one that is written.
                    Some(after) => &self.after[after - CHUNK..][..self.length],
                }
            }
        }
    }
}

impl Gate {
    #[inline(always)]
    fn run<S: Simd>(&self, column: Column<S>, source: &Source<'_>, to: &mut [BitSlice]) {
        let (a, b) = (source.get(self.a), source.get(self.b));
        match self.op {
            GateOp::And => two(column, to, a, b, |a, b| a & b),
            GateOp::AndNot => two(column, to, a, b, Wide::andnot),
            GateOp::Or => two(column, to, a, b, |a, b| a | b),
            GateOp::Xor => two(column, to, a, b, |a, b| a ^ b),
            GateOp::Mux => {
                let c = source.get(self.c);
                for (((to, a), b), c) in to.iter_mut().zip(a).zip(b).zip(c) {
                    let (a, b, c) = (column.get(a), column.get(b), column.get(c));
                    column.put(to, a.mux(b, c));
                }
            }
            GateOp::MuxNot => {
                let c = source.get(self.c);
                for (((to, a), b), c) in to.iter_mut().zip(a).zip(b).zip(c) {
                    let (a, b, c) = (column.get(a), column.get(b), column.get(c));
                    column.put(to, a.mux(!b, c));
                }
            }
        }
    }
}

#[inline(always)]
fn two<S: Simd>(
    column: Column<S>,
    to: &mut [BitSlice],
    a: &[BitSlice],
    b: &[BitSlice],
    op: impl Fn(Wide<S>, Wide<S>) -> Wide<S>,
) {
    for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
        column.put(to, op(column.get(a), column.get(b)));
    }
}

struct Emitter<'a> {
    diagram: &'a Diagram,
    bits: usize,
    gates: Vec<Gate>,
    /// The operand that holds each node's value, once it is computed.
    values: Vec<Option<Operand>>,
}

impl Emitter<'_> {
    /// Returns the operand that holds a node and emits the operations that compute it.
    fn value(&mut self, node: Edge) -> Operand {
        if let Some(known) = self.values[node as usize] {
            return known;
        }
        let here = self.diagram.nodes[node as usize];
        let asked = Operand::Input {
            bit: here.variable % self.bits as u8,
            place: here.variable / self.bits as u8,
        };
        let not = here.high & 1 == 1;
        let operand = match (here.high, here.low) {
            (TRUE, FALSE) => asked,
            (high, FALSE) => {
                let high = self.value(high >> 1);
                self.push(
                    if not { GateOp::AndNot } else { GateOp::And },
                    asked,
                    high,
                    asked,
                )
            }
            (FALSE, low) => {
                let low = self.value(low >> 1);
                self.push(GateOp::AndNot, low, asked, asked)
            }
            (TRUE, low) => {
                let low = self.value(low >> 1);
                self.push(GateOp::Or, asked, low, asked)
            }
            (high, low) if high == low ^ 1 => {
                let low = self.value(low >> 1);
                self.push(GateOp::Xor, asked, low, asked)
            }
            (high, low) => {
                let (high, low) = (self.value(high >> 1), self.value(low >> 1));
                self.push(
                    if not { GateOp::MuxNot } else { GateOp::Mux },
                    asked,
                    high,
                    low,
                )
            }
        };
        self.values[node as usize] = Some(operand);
        operand
    }

    fn push(&mut self, op: GateOp, a: Operand, b: Operand, c: Operand) -> Operand {
        let to = self.gates.len() as u16;
        self.gates.push(Gate { op, a, b, c, to });
        Operand::Slot(to)
    }
}
