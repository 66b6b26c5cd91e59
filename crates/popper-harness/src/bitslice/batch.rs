//! A batch: many starts of one ring length, one in each lane.

use super::word::{BitSlice, LANES, WORDS, transpose};
use crate::universe::{State, Symbol};

/// Returns the number of bits of a symbol code; the code is the symbol's index.
pub(super) fn code_bits(symbols: usize) -> usize {
    symbols.max(1).next_power_of_two().trailing_zeros() as usize
}

/// Up to [`LANES`] states of one ring length, as bit planes of the symbol codes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Batch {
    /// The number of cells of each ring.
    pub n: usize,
    /// The bits of a symbol code: 0 for one symbol, up to 3 for eight.
    pub bits: usize,
    /// The `bits * n` bit planes: bit `b` of cell `c` is plane `b * n + c`.
    pub planes: Vec<BitSlice>,
    /// The lanes that hold a state; the content of the others is ignored.
    pub live: BitSlice,
}

impl Batch {
    /// Creates an empty batch of rings of `n` cells over `symbols` symbols.
    pub fn new(n: usize, symbols: usize) -> Self {
        let bits = code_bits(symbols);
        Self {
            n,
            bits,
            planes: vec![BitSlice::ZERO; bits * n],
            live: BitSlice::ZERO,
        }
    }

    /// Creates the batch of up to [`LANES`] states of `n` cells, each in the lane of its index.
    pub fn of(states: &[State], n: usize, symbols: usize) -> Self {
        let mut batch = Self::new(n, symbols);
        for (word, states) in states.chunks(64).take(WORDS).enumerate() {
            for bit in 0..batch.bits {
                let planes = &mut batch.planes[bit * n..(bit + 1) * n];
                for (part, planes) in planes.chunks_mut(64).enumerate() {
                    let mut rows = [0; 64];
                    for (row, state) in rows.iter_mut().zip(states) {
                        *row = bits_of(&state[64 * part..64 * part + planes.len()], bit);
                    }
                    transpose(&mut rows);
                    for (plane, row) in planes.iter_mut().zip(rows) {
                        plane.0[word] = row;
                    }
                }
            }
        }
        batch.live = BitSlice::first(states.len());
        batch
    }

    /// Empties every lane.
    pub fn clear(&mut self) {
        self.planes.fill(BitSlice::ZERO);
        self.live = BitSlice::ZERO;
    }

    /// Puts a state of `n` cells into a lane.
    pub fn set(&mut self, lane: usize, state: &[Symbol]) {
        for bit in 0..self.bits {
            for (plane, symbol) in self.planes[bit * self.n..].iter_mut().zip(state) {
                plane.set(lane, symbol >> bit & 1 == 1);
            }
        }
        self.live.set(lane, true);
    }

    /// Returns the state in a lane.
    pub fn get(&self, lane: usize) -> State {
        (0..self.n)
            .map(|cell| {
                (0..self.bits).fold(0, |code, bit| {
                    code | Symbol::from(self.planes[bit * self.n + cell].get(lane)) << bit
                })
            })
            .collect()
    }

    /// Returns a 64-bit key of the state in each of the [`LANES`] lanes, to count distinct states of one ring length.
    ///
    /// Equal states have equal keys on any machine. Unequal states of at most 64 bits have unequal keys; larger ones collide
    /// with negligible probability.
    pub fn keys(&self) -> Vec<u64> {
        let mut keys = vec![0u64; LANES];
        for chunk in self.planes.chunks(64) {
            for word in 0..WORDS {
                let mut rows = [0; 64];
                for (row, plane) in rows.iter_mut().zip(chunk) {
                    *row = plane.0[word];
                }
                transpose(&mut rows);
                for (key, row) in keys[64 * word..].iter_mut().zip(rows) {
                    *key = mix(*key ^ row);
                }
            }
        }
        keys
    }
}

/// Returns one bit of each of up to 64 symbols, the first one lowest.
fn bits_of(cells: &[Symbol], bit: usize) -> u64 {
    cells.chunks(8).rev().fold(0, |bits, cells| {
        let mut bytes = [0; 8];
        bytes[..cells.len()].copy_from_slice(cells);
        let lowest = u64::from_le_bytes(bytes) >> bit & 0x0101_0101_0101_0101;
        // The product has the lowest bits of the eight bytes next to each other, in its highest byte.
        bits << 8 | lowest.wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

/// Mixes the bits of a key with a bijection, the finaliser of splitmix64.
fn mix(key: u64) -> u64 {
    let key = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let key = (key ^ key >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ key >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ key >> 31
}
