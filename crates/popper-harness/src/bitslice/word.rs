//! Bit slices: one bit for each of many universes.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

/// The number of machine words of a [`BitSlice`].
pub const WORDS: usize = 8;
/// The number of universes that run side by side, one bit lane each.
pub const LANES: usize = 64 * WORDS;

/// One bit for each of [`LANES`] universes; lane `k` is bit `k % 64` of word `k / 64`.
///
/// One value fills an AVX-512 register or two of AVX2; the engine's inner loops work on
/// registers of the machine's own width.
#[repr(align(64))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "the bits of a word")]
pub struct BitSlice(pub [u64; WORDS]);

impl BitSlice {
    /// The empty slice: no lane is set.
    pub const ZERO: Self = Self([0; WORDS]);
    /// The full slice: every lane is set.
    pub const ALL: Self = Self([u64::MAX; WORDS]);

    /// Returns a slice with every lane set to `bit`.
    #[inline]
    pub fn splat(bit: bool) -> Self {
        Self([0u64.wrapping_sub(u64::from(bit)); WORDS])
    }

    /// Returns the first `k` lanes; all of them from [`LANES`] on.
    pub fn first(k: usize) -> Self {
        Self(std::array::from_fn(|word| {
            match k.saturating_sub(64 * word) {
                0 => 0,
                bits @ 1..64 => (1 << bits) - 1,
                _ => u64::MAX,
            }
        }))
    }

    /// Returns the lanes `from..to`.
    pub fn range(from: usize, to: usize) -> Self {
        Self::first(to).andnot(Self::first(from))
    }

    /// Returns a single lane.
    #[inline]
    pub fn one(lane: usize) -> Self {
        let mut lanes = Self::ZERO;
        lanes.0[lane / 64] = 1 << (lane % 64);
        lanes
    }

    /// Whether a lane is set.
    #[inline]
    pub fn get(&self, lane: usize) -> bool {
        self.0[lane / 64] >> (lane % 64) & 1 == 1
    }

    /// Sets or clears a lane.
    #[inline]
    pub fn set(&mut self, lane: usize, bit: bool) {
        let word = &mut self.0[lane / 64];
        *word = *word & !(1 << (lane % 64)) | u64::from(bit) << (lane % 64);
    }

    /// Returns `self & !other`.
    #[must_use]
    #[inline]
    pub fn andnot(self, other: Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    /// Selects, in each lane, `yes` where this one is set and `no` elsewhere.
    #[must_use]
    #[inline]
    pub fn mux(self, yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|word| {
            (self.0[word] & yes.0[word]) | (!self.0[word] & no.0[word])
        }))
    }

    /// Whether any lane is set.
    #[inline]
    pub fn any(self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) != 0
    }

    /// Returns the number of lanes that are set.
    #[inline]
    pub fn count(self) -> u64 {
        self.counts().iter().sum()
    }

    /// Returns the number of lanes that are set in each word.
    #[inline]
    pub fn counts(self) -> [u64; WORDS] {
        self.0.map(|word| u64::from(word.count_ones()))
    }

    /// Returns the lowest lane that is set.
    pub fn lowest(self) -> Option<usize> {
        self.iter().next()
    }

    /// Returns the lanes that are set, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(index, word)| {
            std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)))
                .take_while(|&rest| rest != 0)
                .map(move |rest| 64 * index + rest.trailing_zeros() as usize)
        })
    }

    #[inline]
    fn zip(self, other: Self, op: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|word| op(self.0[word], other.0[word])))
    }
}

impl Default for BitSlice {
    fn default() -> Self {
        Self::ZERO
    }
}

impl BitAnd for BitSlice {
    type Output = Self;

    #[inline]
    fn bitand(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
}

impl BitOr for BitSlice {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
}

impl BitXor for BitSlice {
    type Output = Self;

    #[inline]
    fn bitxor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }
}

impl Not for BitSlice {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}

impl BitAndAssign for BitSlice {
    #[inline]
    fn bitand_assign(&mut self, other: Self) {
        *self = *self & other;
    }
}

impl BitOrAssign for BitSlice {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl BitXorAssign for BitSlice {
    #[inline]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

/// Transposes a 64 x 64 bit matrix in place: bit `c` of row `r` becomes bit `r` of row `c`.
pub(super) fn transpose(rows: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = u64::from(u32::MAX);
    while width != 0 {
        let mut row = 0;
        while row < 64 {
            for low in row..row + width {
                let swap = (rows[low] >> width ^ rows[low + width]) & mask;
                rows[low] ^= swap << width;
                rows[low + width] ^= swap;
            }
            row += 2 * width;
        }
        width /= 2;
        mask ^= mask << width;
    }
}
