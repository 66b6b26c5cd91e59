//! Which messages a mind reads: uniform, without replacement, from a random stream of its own for each call.

use std::collections::HashMap;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};

use super::number::{MindId, Round};

/// The name of the way samples are drawn, for results.
pub const ALGORITHM: &str = "chacha20/1";

/// The random numbers of one call.
#[derive(Debug, Clone)]
pub struct SampleRng(ChaCha20Rng);

/// The random numbers of mind `mind` (from 0) in round `round` (from 1): `ChaCha20` keyed with the SHA-256 of
/// `logosphere/sample/v1`, a line feed and the seed as a decimal; the stream's number is `round * 2^32 + mind`. So no
/// state is carried from call to call, and the order of calls cannot matter.
pub fn sample_rng(seed: u64, round: Round, mind: MindId) -> SampleRng {
    let key = Sha256::digest(format!("logosphere/sample/v1\n{seed}"));
    let mut rng = ChaCha20Rng::from_seed(key.into());
    rng.set_stream(u64::from(round) << 32 | u64::from(mind.0));
    SampleRng(rng)
}

impl SampleRng {
    /// Random numbers of any other stream, for programs that play minds and for simulations.
    pub fn keyed(key: [u8; 32]) -> Self {
        Self(ChaCha20Rng::from_seed(key))
    }

    /// The next 64 bits: two words of the key stream, the low one first.
    pub fn next_u64(&mut self) -> u64 {
        let low = u64::from(self.0.next_u32());
        low | u64::from(self.0.next_u32()) << 32
    }

    /// A number below `n`, all equally likely. `n` is at least 1.
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

    /// A number from 0 to below 1, of 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// `min(k, n)` different places of `0..n` in the order drawn: the beginning of a Fisher-Yates shuffle whose moved slots
/// are remembered in a map, so that it costs no more than `k` steps.
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
