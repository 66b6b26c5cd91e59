//! Random numbers that are the same on every machine.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// A stream of random numbers. Each purpose has a separate one, so that the draws for one do not change those for another.
pub(super) struct LabRandom(ChaCha20Rng);

impl LabRandom {
    /// Creates the stream of a salt or seed, a purpose and a number.
    pub fn new(seed: &[u8], purpose: &str, number: u64) -> Self {
        let hash = Sha256::new()
            .chain_update("popper-lab/1\n")
            .chain_update(seed)
            .chain_update(purpose)
            .chain_update(number.to_le_bytes())
            .finalize();
        Self(ChaCha20Rng::from_seed(hash.into()))
    }

    /// Draws a number from `0..bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high half of a product of 32-bit numbers has a bias below 2^-20 for the bounds of the lab.
        ((u64::from(self.0.next_u32()) * bound as u64) >> 32) as usize
    }

    /// Draws a ring of cells.
    pub fn ring(&mut self, cells: usize, symbols: usize) -> Vec<u8> {
        (0..cells).map(|_| self.below(symbols) as u8).collect()
    }
}
