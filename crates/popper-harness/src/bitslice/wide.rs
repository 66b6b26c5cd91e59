//! Vector registers, as wide as the running machine has them.

use std::ops::{BitAnd, BitOr, BitXor, Not};

use pulp::Simd;

use super::word::{BitSlice, WORDS};

/// The lanes that fit into one vector register.
///
/// The type makes the compiler vectorise along the lanes. Without it the compiler vectorises along the cells, with gathers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wide<S: Simd> {
    simd: S,
    bits: S::u64s,
}

/// The part of each [`BitSlice`] that one vector register holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column<S> {
    simd: S,
    part: usize,
}

impl<S: Simd> Column<S> {
    /// Returns all parts in turn.
    #[inline(always)]
    pub(super) fn all(simd: S) -> impl Iterator<Item = Self> {
        (0..WORDS / S::U64_LANES).map(move |part| Self { simd, part })
    }

    #[inline(always)]
    pub(super) fn get(self, lanes: &BitSlice) -> Wide<S> {
        Wide {
            simd: self.simd,
            bits: S::as_simd_u64s(&lanes.0).0[self.part],
        }
    }

    #[inline(always)]
    pub(super) fn put(self, lanes: &mut BitSlice, wide: Wide<S>) {
        S::as_mut_simd_u64s(&mut lanes.0).0[self.part] = wide.bits;
    }

    #[inline(always)]
    pub(super) fn splat(self, bit: bool) -> Wide<S> {
        Wide {
            simd: self.simd,
            bits: self.simd.splat_u64s(0u64.wrapping_sub(u64::from(bit))),
        }
    }

    #[inline(always)]
    pub(super) fn zero(self) -> Wide<S> {
        self.splat(false)
    }
}

impl<S: Simd> Wide<S> {
    /// Returns `self & !other`.
    #[inline(always)]
    pub(super) fn andnot(self, other: Self) -> Self {
        self & !other
    }

    /// Selects, in each lane, `yes` where `self` is set and `no` elsewhere.
    #[inline(always)]
    pub(super) fn mux(self, yes: Self, no: Self) -> Self {
        (self & yes) | (!self & no)
    }
}

impl<S: Simd> BitAnd for Wide<S> {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self {
            bits: self.simd.and_u64s(self.bits, other.bits),
            ..self
        }
    }
}

impl<S: Simd> BitOr for Wide<S> {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self {
            bits: self.simd.or_u64s(self.bits, other.bits),
            ..self
        }
    }
}

impl<S: Simd> BitXor for Wide<S> {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self {
            bits: self.simd.xor_u64s(self.bits, other.bits),
            ..self
        }
    }
}

impl<S: Simd> Not for Wide<S> {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self {
            bits: self.simd.not_u64s(self.bits),
            ..self
        }
    }
}

/// One column of the registers of a program.
pub(super) struct Registers<'a, S> {
    lanes: &'a mut [BitSlice],
    pub column: Column<S>,
}

impl<'a, S: Simd> Registers<'a, S> {
    #[inline(always)]
    pub(super) fn new(lanes: &'a mut [BitSlice], column: Column<S>) -> Self {
        Self { lanes, column }
    }

    #[inline(always)]
    pub(super) fn get(&self, index: usize) -> Wide<S> {
        self.column.get(&self.lanes[index])
    }

    #[inline(always)]
    pub(super) fn put(&mut self, index: usize, wide: Wide<S>) {
        self.column.put(&mut self.lanes[index], wide);
    }

    /// Returns `count` registers from `from` on, for a caller that writes all of them.
    #[inline(always)]
    pub(super) fn slice(&mut self, from: usize, count: usize) -> &mut [BitSlice] {
        &mut self.lanes[from..from + count]
    }
}
