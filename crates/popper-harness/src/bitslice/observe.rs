//! Readings: numbers computed from the planes of a state.

use pulp::Simd;

use super::number::{Num, width};
use super::wide::{Column, Registers, Wide};
use super::word::BitSlice;
use crate::law::Cells;
use crate::universe::Symbol;

/// The planes of one state of all lanes, with `halo` extra cells on each side of the ring.
#[derive(Clone, Copy)]
pub(super) struct StatePlanes<'a> {
    pub data: &'a [BitSlice],
    pub n: usize,
    pub halo: usize,
}

impl<'a> StatePlanes<'a> {
    /// Returns the cells of a bit plane, without the halo.
    #[inline(always)]
    pub(super) fn plane(&self, bit: u8) -> &'a [BitSlice] {
        let stride = self.n + 2 * self.halo;
        &self.data[usize::from(bit) * stride + self.halo..][..self.n]
    }
}

/// A set of symbol codes: those whose bits agree with `value` where `mask` is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Cube {
    pub mask: u8,
    pub value: u8,
}

impl Cube {
    /// Returns the set of one symbol, with the fewest bits that distinguish it from all others of the alphabet.
    pub(super) fn symbol(symbol: Symbol, symbols: usize, bits: usize) -> Self {
        let mut cube = Self {
            mask: (1 << bits) - 1,
            value: symbol,
        };
        for bit in (0..bits).rev() {
            let mask = cube.mask & !(1 << bit);
            if (0..symbols as u8).all(|other| other == symbol || (other ^ symbol) & mask != 0) {
                cube.mask = mask;
            }
        }
        cube.value &= cube.mask;
        cube
    }

    #[inline(always)]
    fn literals<S: Simd>(self, column: Column<S>) -> impl Iterator<Item = (u8, Wide<S>)> {
        (0..3)
            .filter(move |bit| self.mask >> bit & 1 == 1)
            .map(move |bit| (bit, column.splat(self.value >> bit & 1 == 0)))
    }

    /// Computes `to[i] &= in_set(cell (i + offset) % n)`, or `=` instead of `&=` if `first`.
    #[inline(always)]
    pub(super) fn narrow<S: Simd>(
        self,
        column: Column<S>,
        planes: &StatePlanes<'_>,
        offset: usize,
        first: bool,
        to: &mut [BitSlice],
    ) {
        if first {
            for to in &mut *to {
                column.put(to, column.splat(true));
            }
        }
        for (bit, flip) in self.literals(column) {
            let plane = planes.plane(bit);
            let offset = offset % plane.len();
            let (left, right) = to.split_at_mut(plane.len() - offset);
            let pairs = left.iter_mut().zip(&plane[offset..]);
            for (to, cell) in pairs.chain(right.iter_mut().zip(plane)) {
                let here = column.get(cell) ^ flip;
                column.put(to, column.get(to) & here);
            }
        }
    }

    /// Returns the lanes where some cell is in the set.
    #[inline(always)]
    pub(super) fn anywhere<S: Simd>(self, column: Column<S>, planes: &StatePlanes<'_>) -> Wide<S> {
        let mut literals = self.literals(column);
        let mut any = column.zero();
        let first = literals.next();
        let second = literals.next();
        let third = literals.next();
        match (first, second, third) {
            (None, ..) => any = column.splat(planes.n > 0),
            (Some((bit, flip)), None, _) => {
                for cell in planes.plane(bit) {
                    any = any | (column.get(cell) ^ flip);
                }
            }
            (Some((one, flip_one)), Some((two, flip_two)), None) => {
                for (one, two) in planes.plane(one).iter().zip(planes.plane(two)) {
                    any = any | ((column.get(one) ^ flip_one) & (column.get(two) ^ flip_two));
                }
            }
            (Some((one, flip_one)), Some((two, flip_two)), Some((three, flip_three))) => {
                let pairs = planes.plane(one).iter().zip(planes.plane(two));
                for ((one, two), three) in pairs.zip(planes.plane(three)) {
                    any = any
                        | ((column.get(one) ^ flip_one)
                            & (column.get(two) ^ flip_two)
                            & (column.get(three) ^ flip_three));
                }
            }
        }
        any
    }
}

/// A property of a cell that can be counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Fact {
    /// A bit of the code is set.
    Bit(u8),
    /// Two bits, each complemented or not, are both set.
    Both(u8, bool, u8, bool),
    /// Two bits differ.
    Differ(u8, u8),
    /// The code is in one of the sets.
    Any(Vec<Cube>),
}

/// A reading of one number.
#[derive(Debug, Clone)]
pub(super) enum Reading {
    /// Counts the cells `first, first + by, ..` where a fact holds, now or one step later.
    Count {
        out: Num,
        fact: Fact,
        next: bool,
        first: usize,
        by: usize,
    },
    /// Counts the cells from which each cube holds at its offset.
    Pattern {
        out: Num,
        at: Vec<(usize, Cube)>,
        cells: Cells,
    },
    /// Finds the first cell, or the last, where a cube holds; -1 if there is none.
    First { out: Num, cube: Cube, last: bool },
    /// Measures the longest run of a cube, without wrapping; `room` are `2 * out.width` free registers.
    MaxGap { out: Num, cube: Cube, room: u32 },
}

/// Runs one reading; `buffer` has n cells.
#[inline(always)]
pub(super) fn read<S: Simd>(
    reading: &Reading,
    now: &StatePlanes<'_>,
    next: &StatePlanes<'_>,
    buffer: &mut [BitSlice],
    regs: &mut Registers<'_, S>,
) {
    let column = regs.column;
    let (Reading::Count { out, .. }
    | Reading::Pattern { out, .. }
    | Reading::First { out, .. }
    | Reading::MaxGap { out, .. }) = reading;
    let (base, bits) = (out.base as usize, usize::from(out.width));
    match reading {
        Reading::Count {
            fact,
            next: ahead,
            first,
            by,
            ..
        } => {
            let planes = if *ahead { next } else { now };
            let out = regs.slice(base, bits);
            count_fact(column, fact, planes, (*first, *by), buffer, out);
        }
        Reading::Pattern { at, cells, .. } => {
            let reach = at.last().map_or(0, |(offset, _)| *offset);
            for (index, (offset, cube)) in at.iter().enumerate() {
                cube.narrow(column, now, *offset, index == 0, buffer);
            }
            let (first, by, end) = match cells {
                Cells::Ring => (0, 1, now.n),
                Cells::Parity(parity) => (usize::from(*parity), 2, now.n),
                Cells::Line => (0, 1, now.n.saturating_sub(reach)),
            };
            let cells = end.saturating_sub(first).div_ceil(by);
            count(
                column,
                cells,
                #[inline(always)]
                |cell: usize| column.get(&buffer[first + by * cell]),
                regs.slice(base, bits),
            );
        }
        Reading::First { cube, last, .. } => {
            cube.narrow(column, now, 0, true, buffer);
            let mut seen = column.zero();
            for bit in 0..bits {
                regs.put(base + bit, seen);
            }
            for step in 0..now.n {
                let cell = if *last { now.n - 1 - step } else { step };
                let here = column.get(&buffer[cell]).andnot(seen);
                seen = seen | here;
                for bit in (0..bits).filter(|bit| cell >> bit & 1 == 1) {
                    regs.put(base + bit, regs.get(base + bit) | here);
                }
            }
            // -1 is all ones.
            for bit in 0..bits {
                regs.put(base + bit, regs.get(base + bit) | !seen);
            }
        }
        Reading::MaxGap { cube, room, .. } => {
            cube.narrow(column, now, 0, true, buffer);
            max_gap(buffer, base, bits, *room as usize, regs);
        }
    }
}

#[inline(always)]
fn count_fact<S: Simd>(
    column: Column<S>,
    fact: &Fact,
    planes: &StatePlanes<'_>,
    (first, by): (usize, usize),
    buffer: &mut [BitSlice],
    out: &mut [BitSlice],
) {
    let cells = planes.n.saturating_sub(first).div_ceil(by);
    match fact {
        Fact::Bit(bit) if by == 1 => {
            let plane = &planes.plane(*bit)[first..][..cells];
            count(
                column,
                cells,
                #[inline(always)]
                |cell| column.get(&plane[cell]),
                out,
            );
        }
        Fact::Bit(bit) => {
            let plane = planes.plane(*bit);
            count(
                column,
                cells,
                #[inline(always)]
                |cell: usize| column.get(&plane[first + by * cell]),
                out,
            );
        }
        Fact::Both(left, not_left, right, not_right) => {
            let (left, right) = (planes.plane(*left), planes.plane(*right));
            let (flip_left, flip_right) = (column.splat(*not_left), column.splat(*not_right));
            count(
                column,
                cells,
                #[inline(always)]
                |cell: usize| {
                    let cell = first + by * cell;
                    (column.get(&left[cell]) ^ flip_left) & (column.get(&right[cell]) ^ flip_right)
                },
                out,
            );
        }
        Fact::Differ(left, right) => {
            let (left, right) = (planes.plane(*left), planes.plane(*right));
            count(
                column,
                cells,
                #[inline(always)]
                |cell: usize| {
                    let cell = first + by * cell;
                    column.get(&left[cell]) ^ column.get(&right[cell])
                },
                out,
            );
        }
        Fact::Any(cubes) => {
            for to in &mut *buffer {
                column.put(to, column.zero());
            }
            for cube in cubes {
                for (cell, to) in buffer.iter_mut().enumerate() {
                    let mut here = column.splat(true);
                    for (bit, flip) in cube.literals(column) {
                        here = here & (column.get(&planes.plane(bit)[cell]) ^ flip);
                    }
                    column.put(to, column.get(to) | here);
                }
            }
            count(
                column,
                cells,
                #[inline(always)]
                |cell: usize| column.get(&buffer[first + by * cell]),
                out,
            );
        }
    }
}

#[inline(always)]
fn add3<S: Simd>(a: Wide<S>, b: Wide<S>, c: Wide<S>) -> (Wide<S>, Wide<S>) {
    let half = a ^ b;
    ((a & b) | (half & c), half ^ c)
}

/// Counts the truth values among `cells` in each lane, as a number of `out.len()` bits, which must suffice.
///
/// `get` must be inlined, because a call would spill the vector registers. A tree of carry-save adders in registers adds
/// eight cells at a time, with about five operations per cell.
#[inline(always)]
pub(super) fn count<S: Simd>(
    column: Column<S>,
    cells: usize,
    get: impl Fn(usize) -> Wide<S>,
    out: &mut [BitSlice],
) {
    let zero = column.zero();
    let (mut ones, mut twos, mut fours) = (zero, zero, zero);
    for bit in out.iter_mut().skip(3) {
        column.put(bit, zero);
    }
    let mut start = 0;
    while start < cells {
        let block: [Wide<S>; 8] = if start + 8 <= cells {
            // Written out, because a closure in `array::from_fn` is not always inlined, and then does not use vector registers.
            [
                get(start),
                get(start + 1),
                get(start + 2),
                get(start + 3),
                get(start + 4),
                get(start + 5),
                get(start + 6),
                get(start + 7),
            ]
        } else {
            let mut block = [zero; 8];
            for (index, wide) in block.iter_mut().enumerate().take(cells - start) {
                *wide = get(start + index);
            }
            block
        };
        start += 8;
        let (two_a, one) = add3(ones, block[0], block[1]);
        let (two_b, one) = add3(one, block[2], block[3]);
        let (four_a, two) = add3(twos, two_a, two_b);
        let (two_a, one) = add3(one, block[4], block[5]);
        let (two_b, one) = add3(one, block[6], block[7]);
        let (four_b, two) = add3(two, two_a, two_b);
        let (mut carry, four) = add3(fours, four_a, four_b);
        (ones, twos, fours) = (one, two, four);
        for bit in out.iter_mut().skip(3) {
            let old = column.get(bit);
            column.put(bit, old ^ carry);
            carry = carry & old;
        }
    }
    for (bit, low) in out.iter_mut().zip([ones, twos, fours]) {
        column.put(bit, low);
    }
}

/// Measures the longest run with a counter that restarts at every cell outside the set, and keeps its maximum.
#[inline(always)]
fn max_gap<S: Simd>(
    cells: &[BitSlice],
    out: usize,
    bits: usize,
    room: usize,
    regs: &mut Registers<'_, S>,
) {
    let zero = regs.column.zero();
    for bit in 0..bits {
        regs.put(out + bit, zero);
        regs.put(room + bit, zero);
    }
    for here in cells {
        let here = regs.column.get(here);
        let mut carry = here;
        let mut more = zero;
        for bit in 0..bits {
            let (run, most) = (regs.get(room + bit), regs.get(out + bit));
            let next = (run ^ carry) & here;
            carry = carry & run;
            regs.put(room + bit, next);
            more = next.andnot(most) | more.andnot(next ^ most);
        }
        for bit in 0..bits {
            let most = more.mux(regs.get(room + bit), regs.get(out + bit));
            regs.put(out + bit, most);
        }
    }
}

/// Returns the registers, from `base` on, for a count of at most `cells`.
pub(super) fn counter(cells: usize, base: u32) -> Num {
    Num {
        base,
        width: width(cells as u64) as u8,
        signed: false,
    }
}
