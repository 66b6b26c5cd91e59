//! Sums of counts, rewritten so that as few cells as possible are counted.

use std::collections::BTreeMap;

use super::compile::{BoundedNumber, Compiler, ProgramSlot};
use super::observe::{Cube, Fact};
use crate::law::{Arith, Cells, Observable};
use crate::universe::Symbol;

/// Cells that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Group {
    /// All cells of the ring.
    Ring,
    /// The cells with an even (0) or odd (1) index.
    Parity(u8),
    /// All cells of the ring, one step later.
    Next,
}

impl Group {
    /// Returns the first cell and the distance to the next one.
    pub(super) fn stride(self) -> (usize, usize) {
        match self {
            Self::Ring | Self::Next => (0, 1),
            Self::Parity(parity) => (usize::from(parity), 2),
        }
    }

    /// Returns the number of cells of the group in a ring of `n`.
    pub(super) fn cells(self, n: usize) -> usize {
        let (first, by) = self.stride();
        n.saturating_sub(first).div_ceil(by)
    }
}

/// A constant, a weight for every symbol in each group of cells, and the rest.
#[derive(Default)]
pub(super) struct Linear {
    constant: i128,
    weights: BTreeMap<Group, [i128; 8]>,
    /// Values with their factors; their errors count whatever the factor.
    pub others: Vec<(BoundedNumber, i128)>,
}

impl Compiler<'_> {
    /// Adds `factor` times an observable to a sum. The caller has checked the observable's range.
    pub(super) fn linear(
        &mut self,
        place: ProgramSlot,
        observable: &Observable,
        factor: i128,
        sum: &mut Linear,
    ) -> Option<()> {
        if factor.abs() > 1 << 47 {
            return None;
        }
        let mut weigh = |group, symbol: Symbol| {
            sum.weights.entry(group).or_insert([0; 8])[usize::from(symbol)] += factor;
            Some(())
        };
        match observable {
            Observable::Int(number) => sum.constant += factor * i128::from(*number),
            Observable::GridLength => sum.constant += factor * self.n as i128,
            Observable::Incoming(symbol) => return weigh(Group::Next, *symbol),
            Observable::Count(pattern) if pattern.at.len() == 1 => {
                let (_, symbol) = pattern.at[0];
                let group = match pattern.cells {
                    Cells::Ring | Cells::Line => Group::Ring,
                    Cells::Parity(parity) => Group::Parity(parity),
                };
                return weigh(group, symbol);
            }
            Observable::Neg(inner) => return self.linear(place, inner, -factor, sum),
            Observable::Bin(op @ (Arith::Add | Arith::Sub), left, right) => {
                self.linear(place, left, factor, sum)?;
                let factor = if *op == Arith::Sub { -factor } else { factor };
                return self.linear(place, right, factor, sum);
            }
            Observable::Bin(Arith::Mul, left, right) => {
                for (constant, other) in [(left, right), (right, left)] {
                    let (low, high) = self.range(constant)?;
                    if low == high && !can_fail(constant) {
                        return self.linear(place, other, factor * low, sum);
                    }
                }
                let value = self.opaque(place, observable)?;
                sum.others.push((value, factor));
            }
            _ => {
                let value = self.opaque(place, observable)?;
                sum.others.push((value, factor));
            }
        }
        Some(())
    }
}

/// Whether an observable may have no value.
fn can_fail(observable: &Observable) -> bool {
    match observable {
        Observable::Bin(Arith::Mod, ..) => true,
        Observable::Bin(_, left, right) => can_fail(left) || can_fail(right),
        Observable::Neg(inner) => can_fail(inner),
        _ => false,
    }
}

impl Linear {
    /// The constant and the counts with their factors that make up the sum.
    pub(super) fn facts(
        &self,
        n: usize,
        symbols: usize,
        bits: usize,
    ) -> (i128, Vec<(Fact, Group, i128)>) {
        let mut weights = self.weights.clone();
        let parities = [Group::Parity(0), Group::Parity(1)];
        if let [Some(even), Some(odd)] = parities.map(|group| weights.get(&group).copied())
            && even == odd
        {
            weights.retain(|group, _| !parities.contains(group));
            let ring = weights.entry(Group::Ring).or_insert([0; 8]);
            for (sum, more) in ring.iter_mut().zip(even) {
                *sum += more;
            }
        }
        let mut constant = self.constant;
        let mut facts = Vec::new();
        for (group, weights) in weights {
            let cells = group.cells(n) as i128;
            let by_value = by_value(&weights, symbols, bits);
            let by_bits = by_bits(&weights, symbols, bits);
            let (base, terms) = if by_bits.1.len() < by_value.1.len() {
                by_bits
            } else {
                by_value
            };
            constant += base * cells;
            for (fact, not, factor) in terms {
                // What does not hold in a cell holds in the others.
                let factor = if not { -factor } else { factor };
                constant -= if not { factor * cells } else { 0 };
                facts.push((fact, group, factor));
            }
        }
        (constant, facts)
    }
}

type Terms = (i128, Vec<(Fact, bool, i128)>);

/// One count for each weight but the most frequent one.
fn by_value(weights: &[i128; 8], symbols: usize, bits: usize) -> Terms {
    let mut values: Vec<i128> = weights[..symbols].to_vec();
    values.sort_unstable();
    values.dedup();
    let often = |value: &i128| weights[..symbols].iter().filter(|w| *w == value).count();
    let base = values.iter().copied().max_by_key(often).unwrap_or(0);
    let terms = values
        .into_iter()
        .filter(|&value| value != base)
        .map(|value| {
            let set = weights.map(|weight| weight == value);
            let (fact, not) = fact(set, symbols, bits);
            (fact, not, value - base)
        })
        .collect();
    (base, terms)
}

/// One count for each product of code bits.
fn by_bits(weights: &[i128; 8], symbols: usize, bits: usize) -> Terms {
    let mut factors = *weights;
    for code in symbols..8 {
        // No cell has that code; like this it needs no product of its own.
        factors[code] = factors[code & !(1 << bits.saturating_sub(1))];
    }
    for bit in 0..bits {
        for code in (0..1 << bits).filter(|code| code >> bit & 1 == 1) {
            factors[code] -= factors[code ^ 1 << bit];
        }
    }
    let terms = (1..1usize << bits)
        .filter(|&code| factors[code] != 0)
        .map(|code| {
            let mask = code as u8;
            let chosen: Vec<u8> = (0..bits as u8).filter(|bit| mask >> bit & 1 == 1).collect();
            let fact = match chosen[..] {
                [bit] => Fact::Bit(bit),
                [left, right] => Fact::Both(left, false, right, false),
                _ => Fact::Any(vec![Cube { mask, value: mask }]),
            };
            (fact, false, factors[code])
        })
        .collect();
    (factors[0], terms)
}

/// The cheapest fact that holds for just these symbols, or (true) for just the others.
fn fact(set: [bool; 8], symbols: usize, bits: usize) -> (Fact, bool) {
    let bit = |code: usize, bit: u8| code >> bit & 1 == 1;
    let fits = |test: &dyn Fn(usize) -> bool| {
        let agree = (0..symbols).filter(|&code| test(code) == set[code]).count();
        match agree {
            _ if agree == symbols => Some(false),
            0 => Some(true),
            _ => None,
        }
    };
    let bits = bits as u8;
    for one in 0..bits {
        if let Some(not) = fits(&|code| bit(code, one)) {
            return (Fact::Bit(one), not);
        }
    }
    for left in 0..bits {
        for right in left + 1..bits {
            if let Some(not) = fits(&|code| bit(code, left) != bit(code, right)) {
                return (Fact::Differ(left, right), not);
            }
            for flips in 0..4 {
                let (flip_left, flip_right) = (flips & 1 == 1, flips & 2 == 2);
                let test =
                    |code| (bit(code, left) != flip_left) && (bit(code, right) != flip_right);
                if let Some(not) = fits(&test) {
                    return (Fact::Both(left, flip_left, right, flip_right), not);
                }
            }
        }
    }
    let cubes = (0..symbols)
        .filter(|&code| set[code])
        .map(|code| Cube::symbol(code as Symbol, symbols, usize::from(bits)))
        .collect();
    (Fact::Any(cubes), false)
}
