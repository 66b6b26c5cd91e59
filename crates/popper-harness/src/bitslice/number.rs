//! Integers in bit slices: bit `i` of a number of every lane is one register.

use pulp::Simd;

use super::wide::{Registers, Wide};

/// A number in registers: two's complement with a sign bit if it may be negative, plain binary if not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Num {
    /// The register of the lowest bit.
    pub base: u32,
    /// The number of registers; a number of width 0 is 0.
    pub width: u8,
    /// Whether the highest bit is a sign.
    pub signed: bool,
}

/// Returns the number of bits of an unsigned number.
pub(super) fn width(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()) as usize
}

impl Num {
    /// Returns the shape of a number between two bounds that begins at a register.
    pub(super) fn between(low: i128, high: i128, base: u32) -> Self {
        let bits = |number: i128| 128 - number.leading_zeros();
        let signed = low < 0;
        let width = if signed {
            bits(high.max(0)).max(bits(!low)) + 1
        } else {
            bits(high)
        };
        Self {
            base,
            width: width as u8,
            signed,
        }
    }

    #[inline(always)]
    pub(super) fn bit<S: Simd>(self, regs: &Registers<'_, S>, index: usize) -> Wide<S> {
        let width = usize::from(self.width);
        if index < width {
            regs.get(self.base as usize + index)
        } else {
            self.sign(regs)
        }
    }

    #[inline(always)]
    pub(super) fn sign<S: Simd>(self, regs: &Registers<'_, S>) -> Wide<S> {
        if self.signed {
            regs.get(self.base as usize + usize::from(self.width) - 1)
        } else {
            regs.column.zero()
        }
    }

    #[inline(always)]
    fn set<S: Simd>(self, regs: &mut Registers<'_, S>, index: usize, value: Wide<S>) {
        regs.put(self.base as usize + index, value);
    }
}

/// An operation on numbers and masks. Results go to registers that no operand uses, unless said otherwise.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arithmetic {
    /// Writes a constant.
    Const(Num, i64),
    /// Writes the running step.
    Step(Num),
    /// The sum `out = add + by * factor`.
    AddScaled {
        out: Num,
        add: Num,
        by: Num,
        factor: i64,
    },
    /// The product `out = left * right`.
    Mul { out: Num, left: Num, right: Num },
    /// Computes `out = left mod right` with the sign of `right`; the result is unspecified where `right` is 0.
    ///
    /// `room` are `left.width + 2 * right.width + 1` free registers.
    Mod {
        out: Num,
        left: Num,
        right: Num,
        room: u32,
    },
    /// The positive part `out = max(0, from)`.
    Positive { out: Num, from: Num },
    /// The absolute value `out = |from|`.
    Abs { out: Num, from: Num },
    /// Computes `out = min(left, right)` of unsigned numbers.
    Min { out: Num, left: Num, right: Num },
    /// Computes `out = min(from, 2^width - 1)` of an unsigned number, where `width` is that of `out`.
    ///
    /// The lanes of `mask` (if it is a register) get the largest number in any case.
    Saturate {
        out: Num,
        from: Num,
        mask: Option<u32>,
    },
    /// Computes `out = max(1, from)` of an unsigned number, and 0 in the lanes of a mask.
    Settle { out: Num, from: Num, mask: u32 },
    /// Computes `acc = min(acc, from)` in place, of unsigned numbers.
    MinInto { acc: Num, from: Num },
    /// Copies a number, extended by its sign.
    Move { out: Num, from: Num },
    /// Computes the mask `left == right`, or the opposite.
    Equal {
        out: u32,
        left: Num,
        right: Num,
        not: bool,
    },
    /// Computes the mask `left < right`, or the opposite.
    Less {
        out: u32,
        left: Num,
        right: Num,
        not: bool,
    },
    /// Writes a mask of all lanes or no lane.
    Mask(u32, bool),
    /// The conjunction `out = left & right`.
    And(u32, u32, u32),
    /// The difference `out = left & !right`.
    AndNot(u32, u32, u32),
    /// The disjunction `out = left | right`.
    Or(u32, u32, u32),
    /// The joint denial `out = !(left | right)`.
    Nor(u32, u32, u32),
}

/// Runs one operation at step `t`.
#[inline(always)]
pub(super) fn execute<S: Simd>(operation: &Arithmetic, regs: &mut Registers<'_, S>, t: u64) {
    match *operation {
        Arithmetic::Const(out, number) => constant(regs, out, number),
        Arithmetic::Step(out) => constant(regs, out, t as i64),
        Arithmetic::AddScaled {
            out,
            add,
            by,
            factor,
        } => {
            copy(regs, out, add);
            let all = regs.column.splat(true);
            let (size, width) = (factor.unsigned_abs(), usize::from(out.width));
            for place in (0..width.min(64)).filter(|&place| size >> place & 1 == 1) {
                accumulate(regs, out, by, place, all, factor < 0);
            }
        }
        Arithmetic::Mul { out, left, right } => {
            constant(regs, out, 0);
            for place in 0..usize::from(right.width).min(usize::from(out.width)) {
                let mask = right.bit(regs, place);
                // The highest bit of a signed number counts negative.
                let minus = right.signed && place + 1 == usize::from(right.width);
                accumulate(regs, out, left, place, mask, minus);
            }
        }
        Arithmetic::Mod {
            out,
            left,
            right,
            room,
        } => modulo(regs, out, left, right, room),
        Arithmetic::Positive { out, from } => {
            let sign = from.sign(regs);
            for index in 0..usize::from(out.width) {
                let bit = from.bit(regs, index).andnot(sign);
                out.set(regs, index, bit);
            }
        }
        Arithmetic::Abs { out, from } => absolute(regs, out, from),
        Arithmetic::Min { out, left, right } => {
            let less = less(regs, left, right);
            for index in 0..usize::from(out.width) {
                let bit = less.mux(left.bit(regs, index), right.bit(regs, index));
                out.set(regs, index, bit);
            }
        }
        Arithmetic::Saturate { out, from, mask } => {
            let mut over = mask.map_or(regs.column.zero(), |mask| regs.get(mask as usize));
            for index in usize::from(out.width)..usize::from(from.width) {
                over = over | (from.bit(regs, index));
            }
            for index in 0..usize::from(out.width) {
                let bit = from.bit(regs, index) | over;
                out.set(regs, index, bit);
            }
        }
        Arithmetic::Settle { out, from, mask } => {
            let mask = regs.get(mask as usize);
            let mut any = mask;
            for index in 0..usize::from(out.width) {
                let bit = from.bit(regs, index).andnot(mask);
                any = any | bit;
                out.set(regs, index, bit);
            }
            let lowest = out.bit(regs, 0) | !any;
            out.set(regs, 0, lowest);
        }
        Arithmetic::MinInto { acc, from } => {
            let less = less(regs, from, acc);
            for index in 0..usize::from(acc.width) {
                let bit = less.mux(from.bit(regs, index), acc.bit(regs, index));
                acc.set(regs, index, bit);
            }
        }
        Arithmetic::Move { out, from } => copy(regs, out, from),
        _ => execute_on_masks(operation, regs),
    }
}

/// Runs one operation whose result is a mask.
#[inline(always)]
fn execute_on_masks<S: Simd>(operation: &Arithmetic, regs: &mut Registers<'_, S>) {
    match *operation {
        Arithmetic::Equal {
            out,
            left,
            right,
            not,
        } => {
            let mut differ = regs.column.zero();
            for index in 0..common(left, right) {
                differ = differ | (left.bit(regs, index) ^ right.bit(regs, index));
            }
            regs.put(out as usize, if not { differ } else { !differ });
        }
        Arithmetic::Less {
            out,
            left,
            right,
            not,
        } => {
            let less = less(regs, left, right);
            regs.put(out as usize, if not { !less } else { less });
        }
        Arithmetic::Mask(out, all) => regs.put(out as usize, regs.column.splat(all)),
        Arithmetic::And(out, left, right) => {
            regs.put(
                out as usize,
                regs.get(left as usize) & regs.get(right as usize),
            );
        }
        Arithmetic::AndNot(out, left, right) => {
            regs.put(
                out as usize,
                regs.get(left as usize).andnot(regs.get(right as usize)),
            );
        }
        Arithmetic::Or(out, left, right) => {
            regs.put(
                out as usize,
                regs.get(left as usize) | regs.get(right as usize),
            );
        }
        Arithmetic::Nor(out, left, right) => {
            regs.put(
                out as usize,
                !(regs.get(left as usize) | regs.get(right as usize)),
            );
        }
        _ => {}
    }
}

/// Returns a width at which both numbers can be compared: the sign of the wider one, extended once more.
#[inline(always)]
fn common(left: Num, right: Num) -> usize {
    usize::from(left.width.max(right.width)) + usize::from(left.signed != right.signed)
}

#[inline(always)]
fn constant<S: Simd>(regs: &mut Registers<'_, S>, out: Num, number: i64) {
    for index in 0..usize::from(out.width) {
        out.set(
            regs,
            index,
            regs.column.splat(number >> index.min(63) & 1 == 1),
        );
    }
}

#[inline(always)]
fn copy<S: Simd>(regs: &mut Registers<'_, S>, out: Num, from: Num) {
    for index in 0..usize::from(out.width) {
        let bit = from.bit(regs, index);
        out.set(regs, index, bit);
    }
}

/// Adds `(by << place) & mask` to `out`, or subtracts it, within the width of `out`.
#[inline(always)]
fn accumulate<S: Simd>(
    regs: &mut Registers<'_, S>,
    out: Num,
    by: Num,
    place: usize,
    mask: Wide<S>,
    minus: bool,
) {
    let mut carry = regs.column.zero();
    for index in place..usize::from(out.width) {
        let (old, add) = (out.bit(regs, index), by.bit(regs, index - place) & mask);
        let half = old ^ add;
        out.set(regs, index, half ^ carry);
        carry = if minus {
            add.andnot(old) | carry.andnot(half)
        } else {
            (old & add) | (carry & half)
        };
    }
}

#[inline(always)]
fn absolute<S: Simd>(regs: &mut Registers<'_, S>, out: Num, from: Num) {
    let sign = from.sign(regs);
    let mut carry = sign;
    for index in 0..usize::from(out.width) {
        let flipped = from.bit(regs, index) ^ sign;
        out.set(regs, index, flipped ^ carry);
        carry = carry & flipped;
    }
}

#[inline(always)]
fn less<S: Simd>(regs: &Registers<'_, S>, left: Num, right: Num) -> Wide<S> {
    let width = common(left, right);
    let mut less = regs.column.zero();
    for index in 0..width {
        let (mut a, mut b) = (left.bit(regs, index), right.bit(regs, index));
        if index + 1 == width && (left.signed || right.signed) {
            // Sign bits weigh the other way.
            (a, b) = (b, a);
        }
        less = b.andnot(a) | less.andnot(a ^ b);
    }
    less
}

/// Divides the absolute values by long division and gives the remainder the sign of the divisor.
#[inline(always)]
fn modulo<S: Simd>(regs: &mut Registers<'_, S>, out: Num, left: Num, right: Num, room: u32) {
    let part = |base: u32, width: u8| Num {
        base,
        width,
        signed: false,
    };
    let size = part(room, left.width);
    let divisor = part(size.base + u32::from(size.width), right.width);
    let rest = part(divisor.base + u32::from(divisor.width), right.width + 1);
    absolute(regs, size, left);
    absolute(regs, divisor, right);
    constant(regs, rest, 0);
    let width = usize::from(rest.width);
    for digit in (0..usize::from(size.width)).rev() {
        for index in (1..width).rev() {
            let bit = rest.bit(regs, index - 1);
            rest.set(regs, index, bit);
        }
        let bit = size.bit(regs, digit);
        rest.set(regs, 0, bit);
        let enough = !less(regs, rest, divisor);
        accumulate(regs, rest, divisor, 0, enough, true);
    }
    let any = (0..width).fold(regs.column.zero(), |any, index| any | rest.bit(regs, index));
    let minus = right.sign(regs);
    // Unlike signs: what is missing up to the divisor.
    let flip = (left.sign(regs) ^ minus) & any;
    let (mut borrow, mut carry) = (regs.column.zero(), minus);
    for index in 0..usize::from(out.width) {
        let (have, all) = (rest.bit(regs, index), divisor.bit(regs, index));
        let half = all ^ have;
        let missing = half ^ borrow;
        borrow = have.andnot(all) | borrow.andnot(half);
        let value = flip.mux(missing, have) ^ minus;
        out.set(regs, index, value ^ carry);
        carry = carry & value;
    }
}
