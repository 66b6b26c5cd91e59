//! The enumeration of all starts of a ring, block by block.

use super::batch::{Batch, code_bits};
use super::word::{BitSlice, LANES};
use crate::universe::Symbol;

/// The starts of a ring: all of them, or a subset with at least one state of each rotation class.
///
/// A block combines a few prefixes with every suffix of `suffix` cells, one combination per lane. The suffix planes are the
/// same in every block. Ascending (block, lane) is the lexicographic order of the states.
#[derive(Debug, Clone)]
pub struct InitialStates {
    n: usize,
    symbols: Vec<Symbol>,
    bits: usize,
    /// The number of cells of the suffix.
    suffix: usize,
    /// The number of suffixes, which is the number of lanes for a prefix.
    lanes: usize,
    /// The number of prefixes in a block.
    per_block: usize,
    /// The `bits * suffix` planes of the suffix cells, which are the same in every block.
    pattern: Vec<BitSlice>,
    prefixes: Prefixes,
}

#[derive(Debug, Clone)]
enum Prefixes {
    /// All words of the prefix length, by their number; the index is the word as a number to base `symbols`.
    All(u64),
    /// The words that can begin a least rotation, as numbers to base `symbols`.
    Listed(Vec<u32>),
}

impl Prefixes {
    fn len(&self) -> u64 {
        match self {
            Self::All(count) => *count,
            Self::Listed(list) => list.len() as u64,
        }
    }
}

impl InitialStates {
    /// Prepares the starts of rings of `n` cells over `symbols` (ascending), out of an alphabet of `total` symbols.
    ///
    /// With `rotations` only a subset is visited, which contains the lexicographically least rotation of every state.
    ///
    /// Returns `None` for more than 2^32 prefixes, which are too many to visit, for no symbol and for no cell.
    pub fn new(n: usize, symbols: &[Symbol], total: usize, rotations: bool) -> Option<Self> {
        let k = symbols.len();
        if k == 0 || n == 0 {
            return None;
        }
        let (mut suffix, mut lanes) = (0, 1);
        while suffix < n && lanes * k <= LANES {
            suffix += 1;
            lanes *= k;
        }
        let length = n - suffix;
        let count = (k as u64)
            .checked_pow(u32::try_from(length).ok()?)
            .filter(|&count| count <= 1 << 32)?;
        let prefixes = if rotations && length > 0 {
            Prefixes::Listed(prenecklaces(length, k as u32))
        } else {
            Prefixes::All(count)
        };
        let per_block = LANES / lanes;
        let bits = code_bits(total);
        let mut pattern = vec![BitSlice::ZERO; bits * suffix];
        for lane in 0..lanes * per_block {
            let mut rest = lane % lanes;
            for cell in (0..suffix).rev() {
                let symbol = symbols[rest % k];
                rest /= k;
                for bit in 0..bits {
                    pattern[bit * suffix + cell].set(lane, symbol >> bit & 1 == 1);
                }
            }
        }
        Some(Self {
            n,
            symbols: symbols.into(),
            bits,
            suffix,
            lanes,
            per_block,
            pattern,
            prefixes,
        })
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.prefixes.len().div_ceil(self.per_block as u64) as usize
    }

    /// Returns the number of states of all blocks.
    pub fn states(&self) -> u64 {
        self.prefixes.len() * self.lanes as u64
    }

    /// Puts block `index` into a batch, which is resized to fit.
    pub fn fill(&self, index: usize, batch: &mut Batch) {
        let (n, length) = (self.n, self.n - self.suffix);
        batch.n = n;
        batch.bits = self.bits;
        batch.planes.resize(n * self.bits, BitSlice::ZERO);
        let first = index as u64 * self.per_block as u64;
        let here = (self.prefixes.len() - first).min(self.per_block as u64) as usize;
        batch.live = BitSlice::first(here * self.lanes);
        for bit in 0..self.bits {
            let plane = &mut batch.planes[bit * n..(bit + 1) * n];
            plane[..length].fill(BitSlice::ZERO);
            plane[length..].copy_from_slice(&self.pattern[bit * self.suffix..][..self.suffix]);
        }
        let k = self.symbols.len() as u64;
        for place in 0..here {
            let mut word = match &self.prefixes {
                Prefixes::All(_) => first + place as u64,
                Prefixes::Listed(list) => u64::from(list[first as usize + place]),
            };
            let mask = if self.per_block == 1 {
                BitSlice::ALL
            } else {
                BitSlice::range(place * self.lanes, (place + 1) * self.lanes)
            };
            for cell in (0..length).rev() {
                let symbol = self.symbols[(word % k) as usize];
                word /= k;
                for bit in 0..self.bits {
                    if symbol >> bit & 1 == 1 {
                        batch.planes[bit * n + cell] |= mask;
                    }
                }
            }
        }
    }
}

/// Returns the prenecklaces of a length over `k` letters, ascending, as numbers to base `k`.
///
/// A prenecklace is the beginning of a word that is the least of its rotations (Fredricksen, Kessler and Maiorana).
fn prenecklaces(length: usize, k: u32) -> Vec<u32> {
    let mut list = Vec::new();
    // `word[i]` for i >= 1.
    let mut word = vec![0u32; length + 1];
    loop {
        let value = |sum: u32, &letter: &u32| sum.wrapping_mul(k).wrapping_add(letter);
        list.push(word[1..].iter().fold(0, value));
        let Some(place) = (1..=length).rev().find(|&place| word[place] + 1 < k) else {
            return list;
        };
        word[place] += 1;
        // The least continuation repeats the letters up to `place`.
        for next in place + 1..=length {
            word[next] = word[next - place];
        }
    }
}
