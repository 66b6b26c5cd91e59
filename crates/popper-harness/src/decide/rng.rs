//! Random numbers that are the same on every machine.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// A separate stream of random numbers, so that the draws of one stage do not change those of another.
pub struct RngStream(ChaCha20Rng);

impl RngStream {
    /// Creates the stream of a seed, a law, a purpose and a number.
    pub fn new(seed: u64, fingerprint: &str, purpose: &str, n: usize) -> Self {
        let hash = Sha256::new()
            .chain_update(seed.to_le_bytes())
            .chain_update(fingerprint)
            .chain_update(purpose)
            .chain_update((n as u64).to_le_bytes())
            .finalize();
        Self(ChaCha20Rng::from_seed(hash.into()))
    }

    /// Draws a number from `0..bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high half of a product of 32-bit numbers: no division, and no bias that a test of this size could see.
        ((u64::from(self.0.next_u32()) * bound as u64) >> 32) as usize
    }

    /// Draws one of the items.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}
