//! Random numbers, the same on every machine.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// Numbers drawn from a stream of their own, so that what one stage draws never moves another.
pub struct RngStream(ChaCha20Rng);

impl RngStream {
    /// The stream of a seed, a law and a purpose.
    pub fn new(seed: u64, fingerprint: &str, purpose: &str, n: usize) -> Self {
        let hash = Sha256::new()
            .chain_update(seed.to_le_bytes())
            .chain_update(fingerprint)
            .chain_update(purpose)
            .chain_update((n as u64).to_le_bytes())
            .finalize();
        Self(ChaCha20Rng::from_seed(hash.into()))
    }

    /// A number from `0..bound`; 0 where `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high half of a product of 32-bit numbers: no division, and no bias that a test of this size could see.
        ((u64::from(self.0.next_u32()) * bound as u64) >> 32) as usize
    }

    /// One of the items.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}
