//! Emission of operations: arithmetic with ranges, comparisons, masks.

use super::compile::{
    BitProgramBuilder, BoundedNumber, Compiler, EmitTarget, ProgramSlot, Truth, bounded,
};
use super::number::{Arithmetic, Num};
use crate::law::syntax::Op;
use crate::law::{Arith, Observable};

impl Compiler<'_> {
    pub(super) fn target(&mut self, target: EmitTarget) -> &mut BitProgramBuilder {
        match target {
            EmitTarget::Start => &mut self.start,
            EmitTarget::Formula => &mut self.formula,
            EmitTarget::At(place) => self.draft(place),
        }
    }

    /// Returns the bounds of an observable, if no part of it can overflow or leave the engine's range.
    pub(super) fn range(&self, observable: &Observable) -> Option<(i128, i128)> {
        let n = self.n as i128;
        match observable {
            Observable::Int(number) => bounded(i128::from(*number), i128::from(*number)),
            Observable::GridLength => Some((n, n)),
            Observable::Count(_) | Observable::MaxGap(_) | Observable::Incoming(_) => Some((0, n)),
            Observable::Leftmost(_) | Observable::Rightmost(_) => Some((-1, n - 1)),
            Observable::Spread(_) => Some((0, n - 1)),
            Observable::Neg(inner) => {
                let (low, high) = self.range(inner)?;
                Some((-high, -low))
            }
            Observable::Bin(op, left, right) => {
                let (left, right) = (self.range(left)?, self.range(right)?);
                let (low, high) = match op {
                    Arith::Add => (left.0 + right.0, left.1 + right.1),
                    Arith::Sub => (left.0 - right.1, left.1 - right.0),
                    Arith::Mul => product_range(left, right),
                    Arith::Mod => modulo_range(left, right),
                };
                bounded(low, high)
            }
        }
    }

    pub(super) fn add_scaled(
        &mut self,
        place: ProgramSlot,
        add: BoundedNumber,
        by: BoundedNumber,
        factor: i128,
    ) -> Option<BoundedNumber> {
        self.scaled(EmitTarget::At(place), add, by, factor)
    }

    pub(super) fn multiply(
        &mut self,
        place: ProgramSlot,
        left: BoundedNumber,
        right: BoundedNumber,
    ) -> Option<BoundedNumber> {
        self.product(EmitTarget::At(place), left, right)
    }

    pub(super) fn modulo(
        &mut self,
        place: ProgramSlot,
        left: BoundedNumber,
        right: BoundedNumber,
    ) -> Option<BoundedNumber> {
        self.rest(EmitTarget::At(place), left, right)
    }

    /// Returns the union of two masks.
    pub(super) fn either(
        &mut self,
        place: ProgramSlot,
        left: Option<u32>,
        right: Option<u32>,
    ) -> Option<u32> {
        self.any_error(EmitTarget::At(place), left, right)
    }

    pub(super) fn any_error(
        &mut self,
        target: EmitTarget,
        left: Option<u32>,
        right: Option<u32>,
    ) -> Option<u32> {
        match (left, right) {
            (Some(left), Some(right)) if left != right => {
                let out = self.take(1);
                self.target(target).push(Arithmetic::Or(out, left, right));
                Some(out)
            }
            (left, right) => left.or(right),
        }
    }

    /// Emits the number `add + by * factor`.
    pub(super) fn scaled(
        &mut self,
        target: EmitTarget,
        add: BoundedNumber,
        by: BoundedNumber,
        factor: i128,
    ) -> Option<BoundedNumber> {
        let (least, most) = product_range((by.low, by.high), (factor, factor));
        let (low, high) = bounded(add.low + least, add.high + most)?;
        let factor = i64::try_from(factor).ok()?;
        let out = self.number(low, high);
        let error = self.any_error(target, add.error, by.error);
        self.target(target).push(Arithmetic::AddScaled {
            out,
            add: add.num,
            by: by.num,
            factor,
        });
        Some(BoundedNumber {
            num: out,
            low,
            high,
            error,
        })
    }

    pub(super) fn product(
        &mut self,
        target: EmitTarget,
        left: BoundedNumber,
        right: BoundedNumber,
    ) -> Option<BoundedNumber> {
        // Each bit of the right factor costs an addition.
        let (left, right) = if left.num.width < right.num.width {
            (right, left)
        } else {
            (left, right)
        };
        let (low, high) = product_range((left.low, left.high), (right.low, right.high));
        let (low, high) = bounded(low, high)?;
        let out = self.number(low, high);
        let error = self.any_error(target, left.error, right.error);
        let (left, right) = (left.num, right.num);
        self.target(target)
            .push(Arithmetic::Mul { out, left, right });
        Some(BoundedNumber {
            num: out,
            low,
            high,
            error,
        })
    }

    /// Emits the floor modulo; lanes with the divisor 0 have no value.
    pub(super) fn rest(
        &mut self,
        target: EmitTarget,
        left: BoundedNumber,
        right: BoundedNumber,
    ) -> Option<BoundedNumber> {
        let mut error = self.any_error(target, left.error, right.error);
        if right.low <= 0 && right.high >= 0 {
            let zero = self.constant(0)?.num;
            let out = self.take(1);
            self.target(target).push(Arithmetic::Equal {
                out,
                left: right.num,
                right: zero,
                not: false,
            });
            error = self.any_error(target, error, Some(out));
        }
        let (low, high) = modulo_range((left.low, left.high), (right.low, right.high));
        let power = right.low == right.high && right.low > 0 && right.low & (right.low - 1) == 0;
        let num = if power {
            self.low_bits(target, left, right.low.trailing_zeros() as u8)
        } else {
            let out = self.number(low, high);
            let room =
                self.take(usize::from(left.num.width) + 2 * usize::from(right.num.width) + 1);
            self.target(target).push(Arithmetic::Mod {
                out,
                left: left.num,
                right: right.num,
                room,
            });
            out
        };
        Some(BoundedNumber {
            num,
            low,
            high,
            error,
        })
    }

    /// Emits the remainder modulo `2^bits`: the low bits of the two's complement.
    fn low_bits(&mut self, target: EmitTarget, from: BoundedNumber, bits: u8) -> Num {
        let from = from.num;
        if from.width >= bits {
            Num {
                width: bits,
                signed: false,
                ..from
            }
        } else if from.signed {
            let out = Num {
                base: self.take(usize::from(bits)),
                width: bits,
                signed: false,
            };
            self.target(target).push(Arithmetic::Move { out, from });
            out
        } else {
            from
        }
    }

    pub(super) fn compare(
        &mut self,
        target: EmitTarget,
        op: Op,
        left: BoundedNumber,
        right: BoundedNumber,
    ) -> Truth {
        let error = self.any_error(target, left.error, right.error);
        let out = self.take(1);
        let (left, right) = (left.num, right.num);
        let operation = match op {
            Op::Eq | Op::Ne => Arithmetic::Equal {
                out,
                left,
                right,
                not: op == Op::Ne,
            },
            Op::Lt | Op::Ge => Arithmetic::Less {
                out,
                left,
                right,
                not: op == Op::Ge,
            },
            _ => Arithmetic::Less {
                out,
                left: right,
                right: left,
                not: op == Op::Le,
            },
        };
        self.target(target).push(operation);
        let yes = match error {
            None => out,
            Some(error) => {
                let yes = self.take(1);
                self.target(target)
                    .push(Arithmetic::AndNot(yes, out, error));
                yes
            }
        };
        Truth { yes, error }
    }

    pub(super) fn not(&mut self, target: EmitTarget, truth: Truth) -> Truth {
        let yes = self.take(1);
        let error = truth.error.unwrap_or(truth.yes);
        self.target(target)
            .push(Arithmetic::Nor(yes, truth.yes, error));
        Truth {
            yes,
            error: truth.error,
        }
    }

    /// Emits `left and right`, where one false side decides even if the other has no value.
    pub(super) fn both_asked(&mut self, target: EmitTarget, left: Truth, right: Truth) -> Truth {
        let yes = self.take(1);
        self.target(target)
            .push(Arithmetic::And(yes, left.yes, right.yes));
        if left.error.is_none() && right.error.is_none() {
            return Truth { yes, error: None };
        }
        let left = self
            .any_error(target, Some(left.yes), left.error)
            .unwrap_or(left.yes);
        let right = self
            .any_error(target, Some(right.yes), right.error)
            .unwrap_or(right.yes);
        // Neither fails, and not both hold.
        let (standing, short, error) = (self.take(1), self.take(1), self.take(1));
        self.target(target)
            .push(Arithmetic::And(standing, left, right));
        self.target(target).push(Arithmetic::Nor(short, yes, yes));
        self.target(target)
            .push(Arithmetic::And(error, standing, short));
        Truth {
            yes,
            error: Some(error),
        }
    }

    /// Emits `left and right`, where the right side is ignored if the left one is false.
    pub(super) fn both(&mut self, target: EmitTarget, left: Truth, right: Truth) -> Truth {
        let yes = self.take(1);
        self.target(target)
            .push(Arithmetic::And(yes, left.yes, right.yes));
        let asked = right.error.map(|error| {
            let out = self.take(1);
            self.target(target)
                .push(Arithmetic::And(out, left.yes, error));
            out
        });
        let error = self.any_error(target, left.error, asked);
        Truth { yes, error }
    }
}

pub(super) fn product_range(left: (i128, i128), right: (i128, i128)) -> (i128, i128) {
    let corners = [
        left.0 * right.0,
        left.0 * right.1,
        left.1 * right.0,
        left.1 * right.1,
    ];
    corners
        .iter()
        .fold((corners[0], corners[0]), |(low, high), &corner| {
            (low.min(corner), high.max(corner))
        })
}

fn modulo_range(left: (i128, i128), right: (i128, i128)) -> (i128, i128) {
    if right.0 == right.1 && right.0 != 0 && left.0 == left.1 {
        let rest = left.0.rem_euclid(right.0);
        let rest = if right.0 < 0 && rest != 0 {
            rest + right.0
        } else {
            rest
        };
        return (rest, rest);
    }
    let (low, mut high) = ((right.0 + 1).min(0), (right.1 - 1).max(0));
    if left.0 >= 0 && right.0 >= 0 {
        high = high.min(left.1);
    }
    (low, high)
}
