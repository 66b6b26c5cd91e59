use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};

/// The number in the delimiters of the profile `guarded`: drawn from the seed and from what the call is for, so that a
/// contestant cannot know it and the order of the calls does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Nonce(u64);

impl Nonce {
    /// The nonce of the call that `coordinates` name (role, trial, texts and so on).
    pub fn drawn(seed: u64, coordinates: &[u8]) -> Self {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        hash.update(coordinates);
        Self(ChaCha20Rng::from_seed(hash.finalize().into()).next_u64())
    }

    /// `text` between two lines that carry the nonce.
    pub(crate) fn around(self, name: &str, text: &str) -> String {
        let Self(number) = self;
        format!("[{name} {number:016x}]\n{text}\n[END OF {name} {number:016x}]")
    }
}
