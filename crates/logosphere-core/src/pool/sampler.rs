//! The sampler: draws messages uniformly without replacement, with a separate random stream for each call.

use std::collections::HashMap;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};

use super::number::{MindId, Round};

/// The name of the sampling algorithm, for results.
pub const ALGORITHM: &str = "chacha20/1";

/// The random numbers of one call.
#[derive(Debug, Clone)]
pub struct SampleRng(ChaCha20Rng);

/// Returns the random numbers of mind `mind` (from 0) in round `round` (from 1).
///
/// The generator is `ChaCha20`. Its key is the SHA-256 of `logosphere/sample/v1`, a line feed and the seed as a
/// decimal. Its stream number is `round * 2^32 + mind`. No state is carried from call to call, so the order of calls
/// does not matter.
pub fn sample_rng(seed: u64, round: Round, mind: MindId) -> SampleRng {
    let key = Sha256::digest(format!("logosphere/sample/v1\n{seed}"));
    let mut rng = ChaCha20Rng::from_seed(key.into());
    rng.set_stream(u64::from(round) << 32 | u64::from(mind.0));
    SampleRng(rng)
}

impl SampleRng {
    /// Returns the random numbers of another stream, for scripted minds and simulations.
    pub fn keyed(key: [u8; 32]) -> Self {
        Self(ChaCha20Rng::from_seed(key))
    }

    /// Returns the next 64 bits: two words of the key stream, the low one first.
    pub fn next_u64(&mut self) -> u64 {
        let low = u64::from(self.0.next_u32());
        low | u64::from(self.0.next_u32()) << 32
    }

    /// Returns a number below `n`; all are equally likely. `n` is at least 1.
    pub fn below(&mut self, n: u64) -> u64 {
        // 2^64 mod n: as many of the highest numbers would make the first ones likelier.
        let excess = n.wrapping_neg() % n;
        loop {
            let drawn = self.next_u64();
            if drawn <= u64::MAX - excess {
                return drawn % n;
            }
        }
    }

    /// Returns a number from 0 to below 1, with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Draws `min(k, n)` different indexes of `0..n` in random order.
///
/// It is the start of a Fisher-Yates shuffle that keeps the moved slots in a map, so it takes at most `k` steps.
pub(crate) fn draw(k: usize, n: usize, rng: &mut SampleRng) -> Vec<usize> {
    let mut moved = HashMap::new();
    (0..k.min(n))
        .map(|i| {
            let j = i + rng.below((n - i) as u64) as usize;
            let at_i = moved.remove(&i).unwrap_or(i);
            if j == i {
                return at_i;
            }
            moved.insert(j, at_i).unwrap_or(j)
        })
        .collect()
}
