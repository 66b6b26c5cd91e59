use crate::program::RandomNumbers;

/// Pseudo-random numbers that are determined by a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digest(RandomNumbers);

const WORDS: [&str; 64] = [
    "river", "lantern", "mirror", "seed", "orbit", "silence", "thread", "stone", "echo", "garden",
    "harbour", "cloud", "engine", "pattern", "letter", "bridge", "window", "island", "signal",
    "border", "winter", "copper", "feather", "market", "needle", "ocean", "paper", "quarry",
    "ribbon", "shadow", "timber", "valley", "carries", "answers", "forgets", "repeats", "follows",
    "opens", "keeps", "breaks", "counts", "sings", "turns", "gathers", "slow", "bright", "hidden",
    "common", "small", "patient", "strange", "old", "the", "a", "every", "no", "our", "this",
    "before", "under", "between", "without", "toward", "against",
];

impl Digest {
    /// FNV-1a of the text and a number.
    pub fn new(text: &[u8], salt: u64) -> Self {
        let bytes = text.iter().copied().chain(salt.to_le_bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(RandomNumbers(hash))
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0.number()
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0.below(end)
    }

    /// The next number in 0 to 1, without 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A sentence of six to thirteen words.
    pub fn sentence(&mut self) -> String {
        let words = 6 + self.below(8);
        let words: Vec<_> = (0..words).map(|_| WORDS[self.below(WORDS.len())]).collect();
        words.join(" ")
    }
}
