//! Reading numbers off the planes of a state.

use super::number::{Num, width};
use super::word::Lanes;
use crate::law::Cells;
use crate::universe::Symbol;

/// The planes of one state of all lanes, with a halo.
#[derive(Clone, Copy)]
pub(super) struct Planes<'a> {
    pub data: &'a [Lanes],
    pub n: usize,
    pub halo: usize,
}

impl<'a> Planes<'a> {
    /// The cells of a bit plane, without the halo.
    #[inline(always)]
    pub(super) fn plane(&self, bit: u8) -> &'a [Lanes] {
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
    /// The fewest bits that tell a symbol from all others of the alphabet.
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
    pub(super) fn literals(self) -> impl Iterator<Item = (u8, Lanes)> {
        (0..3)
            .filter(move |bit| self.mask >> bit & 1 == 1)
            .map(move |bit| (bit, Lanes::splat(self.value >> bit & 1 == 0)))
    }

    /// `to[i] &= ` whether cell `(i + offset) % n` is of the set; `=` where `first`.
    #[inline(always)]
    pub(super) fn narrow(self, planes: &Planes<'_>, offset: usize, first: bool, to: &mut [Lanes]) {
        if first {
            to.fill(Lanes::ALL);
        }
        for (bit, flip) in self.literals() {
            let plane = planes.plane(bit);
            let offset = offset % plane.len();
            let (left, right) = to.split_at_mut(plane.len() - offset);
            for (to, cell) in left.iter_mut().zip(&plane[offset..]) {
                *to &= *cell ^ flip;
            }
            for (to, cell) in right.iter_mut().zip(plane) {
                *to &= *cell ^ flip;
            }
        }
    }
}

/// A truth value of each cell, to be counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Fact {
    /// A bit of the code.
    Bit(u8),
    /// Two bits, each complemented or not, are both set.
    Both(u8, bool, u8, bool),
    /// Two bits differ.
    Differ(u8, u8),
    /// The code is of one of the sets.
    Any(Vec<Cube>),
}

/// Reads one number.
#[derive(Debug, Clone)]
pub(super) enum Look {
    /// Counts the cells `first, first + by, ..` where a fact holds, now or one step on.
    Count {
        out: Num,
        fact: Fact,
        next: bool,
        first: usize,
        by: usize,
    },
    /// Counts the cells where each cube holds at its distance.
    Pattern {
        out: Num,
        at: Vec<(usize, Cube)>,
        cells: Cells,
    },
    /// The first cell, or the last, where a cube holds; -1 if none.
    First { out: Num, cube: Cube, last: bool },
    /// The longest run of a cube, without wrapping; `room` are `2 * out.width` free registers.
    MaxGap { out: Num, cube: Cube, room: u32 },
}

/// Runs one of them; `buffer` has n cells.
#[inline(always)]
pub(super) fn look(
    look: &Look,
    now: &Planes<'_>,
    next: &Planes<'_>,
    buffer: &mut [Lanes],
    regs: &mut [Lanes],
) {
    let (Look::Count { out, .. }
    | Look::Pattern { out, .. }
    | Look::First { out, .. }
    | Look::MaxGap { out, .. }) = look;
    let base = out.base as usize;
    let bits = base..base + usize::from(out.width);
    match look {
        Look::Count {
            fact,
            next: ahead,
            first,
            by,
            ..
        } => {
            let planes = if *ahead { next } else { now };
            count_fact(fact, planes, *first, *by, buffer, &mut regs[bits]);
        }
        Look::Pattern { at, cells, .. } => {
            let reach = at.last().map_or(0, |(offset, _)| *offset);
            for (index, (offset, cube)) in at.iter().enumerate() {
                cube.narrow(now, *offset, index == 0, buffer);
            }
            let (first, by, end) = match cells {
                Cells::Ring => (0, 1, now.n),
                Cells::Parity(parity) => (usize::from(*parity), 2, now.n),
                Cells::Line => (0, 1, now.n.saturating_sub(reach)),
            };
            let cells = end.saturating_sub(first).div_ceil(by);
            count(cells, |cell| buffer[first + by * cell], &mut regs[bits]);
        }
        Look::First { cube, last, .. } => {
            cube.narrow(now, 0, true, buffer);
            let out = &mut regs[bits];
            out.fill(Lanes::ZERO);
            let mut seen = Lanes::ZERO;
            for step in 0..now.n {
                let cell = if *last { now.n - 1 - step } else { step };
                let here = buffer[cell].andnot(seen);
                seen |= here;
                for (bit, out) in out.iter_mut().enumerate() {
                    if cell >> bit & 1 == 1 {
                        *out |= here;
                    }
                }
            }
            // -1 is all ones.
            for out in out {
                *out |= !seen;
            }
        }
        Look::MaxGap { cube, room, .. } => {
            cube.narrow(now, 0, true, buffer);
            max_gap(buffer, bits.start, bits.len(), *room as usize, regs);
        }
    }
}

#[inline(always)]
fn count_fact(
    fact: &Fact,
    planes: &Planes<'_>,
    first: usize,
    by: usize,
    buffer: &mut [Lanes],
    out: &mut [Lanes],
) {
    let cells = planes.n.saturating_sub(first).div_ceil(by);
    match fact {
        Fact::Bit(bit) => {
            let plane = planes.plane(*bit);
            if by == 1 {
                let plane = &plane[first..];
                count(cells, |cell| plane[cell], out);
            } else {
                count(cells, |cell| plane[first + by * cell], out);
            }
        }
        Fact::Both(left, not_left, right, not_right) => {
            let (left, right) = (planes.plane(*left), planes.plane(*right));
            let (flip_left, flip_right) = (Lanes::splat(*not_left), Lanes::splat(*not_right));
            let get = |cell: usize| {
                let cell = first + by * cell;
                (left[cell] ^ flip_left) & (right[cell] ^ flip_right)
            };
            count(cells, get, out);
        }
        Fact::Differ(left, right) => {
            let (left, right) = (planes.plane(*left), planes.plane(*right));
            count(
                cells,
                |cell| left[first + by * cell] ^ right[first + by * cell],
                out,
            );
        }
        Fact::Any(cubes) => {
            buffer.fill(Lanes::ZERO);
            for cube in cubes {
                for (cell, to) in buffer.iter_mut().enumerate() {
                    let mut here = Lanes::ALL;
                    for (bit, flip) in cube.literals() {
                        here &= planes.plane(bit)[cell] ^ flip;
                    }
                    *to |= here;
                }
            }
            count(cells, |cell| buffer[first + by * cell], out);
        }
    }
}

#[inline(always)]
fn add3(a: Lanes, b: Lanes, c: Lanes) -> (Lanes, Lanes) {
    let half = a ^ b;
    ((a & b) | (half & c), half ^ c)
}

/// How many of `cells` truth values hold in each lane, as a number of `out.len()` bits; `out` is wide enough for `cells`.
///
/// Eight cells at a time go through a tree of carry-save adders in registers, about five operations a cell.
#[inline(always)]
pub(super) fn count(cells: usize, get: impl Fn(usize) -> Lanes, out: &mut [Lanes]) {
    let zero = Lanes::ZERO;
    let (mut ones, mut twos, mut fours) = (zero, zero, zero);
    if out.len() > 3 {
        out[3..].fill(zero);
    }
    let mut start = 0;
    while start < cells {
        let block: [Lanes; 8] = if start + 8 <= cells {
            std::array::from_fn(|index| get(start + index))
        } else {
            std::array::from_fn(|index| {
                if start + index < cells {
                    get(start + index)
                } else {
                    zero
                }
            })
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
            let old = *bit;
            *bit = old ^ carry;
            carry &= old;
        }
    }
    for (bit, low) in out.iter_mut().zip([ones, twos, fours]) {
        *bit = low;
    }
}

/// The longest run: a counter that starts again at every gap, and the largest value it ever had.
#[inline(always)]
fn max_gap(cells: &[Lanes], out: usize, bits: usize, room: usize, regs: &mut [Lanes]) {
    for bit in 0..bits {
        regs[out + bit] = Lanes::ZERO;
        regs[room + bit] = Lanes::ZERO;
    }
    for &here in cells {
        let mut carry = here;
        let mut more = Lanes::ZERO;
        for bit in 0..bits {
            let (run, most) = (regs[room + bit], regs[out + bit]);
            let next = (run ^ carry) & here;
            carry &= run;
            regs[room + bit] = next;
            more = next.andnot(most) | more.andnot(next ^ most);
        }
        for bit in 0..bits {
            regs[out + bit] = more.mux(regs[room + bit], regs[out + bit]);
        }
    }
}

/// The shape of a count of at most `cells`, at a register.
pub(super) fn counter(cells: usize, base: u32) -> Num {
    Num {
        base,
        width: width(cells as u64) as u8,
        signed: false,
    }
}
