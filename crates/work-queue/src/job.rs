use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::QueueError;

/// The largest input and output of a job in bytes.
pub(crate) const MOST_BYTES: usize = 64 << 20;

/// The longest kind, semantics and name of a group in bytes.
const MOST_NAME: usize = 2000;

/// A kind of jobs: the function from input bytes to output bytes.
///
/// Equal inputs give equal output bytes, on every machine and at every time. What differs goes into [`Output::meta`].
pub trait Work: Send + Sync {
    /// The name of the kind, such as `primes`.
    fn kind(&self) -> &str;

    /// A text that names everything that can change an output. Only workers with equal texts take a job.
    fn semantics(&self) -> &str;

    /// Computes the output on a thread that may block. `stop` becomes `true` when the job should end without a result.
    ///
    /// # Errors
    /// [`WorkError`].
    fn run(&self, input: &[u8], stop: &(dyn Fn() -> bool + Sync)) -> Result<Output, WorkError>;

    /// The single pieces of an input, which have their own outputs. An input with fewer than two is not split.
    fn split(&self, input: &[u8]) -> Vec<Vec<u8>> {
        let _ = input;
        Vec::new()
    }
}

/// The result of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// The bytes that depend on the input alone.
    pub bytes: Vec<u8>,
    /// Times and versions, which are never compared.
    pub meta: String,
    /// Whether `bytes` are equal on every machine. Those of a job that was cut by a clock are not, and are never compared.
    pub comparable: bool,
}

impl Output {
    /// A result that every machine would give.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            meta: String::new(),
            comparable: true,
        }
    }
}

/// The reason why a job has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a worker does something else for each reason"
)]
pub enum WorkError {
    /// The input cannot be read. The job is quarantined with this problem.
    Input(String),
    /// The input is for another program. The worker gives the job back and ends.
    Refused {
        /// The identity that the input names.
        expected: String,
        /// The identity of this program.
        found: String,
    },
    /// `stop` was `true`.
    Stopped,
}

/// The jobs that belong together: their kind, their semantics and their name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Group {
    kind: String,
    semantics: String,
    id: String,
}

impl Group {
    /// Names a group of jobs of a kind.
    ///
    /// # Errors
    /// [`QueueError::Name`].
    pub fn new(kind: &str, semantics: &str, id: &str) -> Result<Self, QueueError> {
        for (field, text) in [("kind", kind), ("semantics", semantics), ("group", id)] {
            if text.is_empty() || text.len() > MOST_NAME || text.contains('\0') {
                return Err(QueueError::Name { field });
            }
        }
        let [kind, semantics, id] = [kind, semantics, id].map(str::to_owned);
        Ok(Self {
            kind,
            semantics,
            id,
        })
    }

    /// Names a group of jobs for `work`.
    ///
    /// # Errors
    /// [`QueueError::Name`].
    pub fn of(work: &dyn Work, id: &str) -> Result<Self, QueueError> {
        Self::new(work.kind(), work.semantics(), id)
    }

    /// The name of the kind.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The semantics that a worker must have.
    pub fn semantics(&self) -> &str {
        &self.semantics
    }

    /// The name of the group.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The key of the job with this input: SHA-256 of kind, semantics, group and input, in hexadecimal.
    pub fn key(&self, input: &[u8]) -> String {
        let mut hash = Sha256::new();
        for part in [&self.kind, &self.semantics, &self.id] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hash.update(input);
        hex::encode(hash.finalize())
    }

    /// The mark by which the engine finds the workers for the group's jobs.
    pub(crate) fn flag(&self) -> String {
        flag(&self.kind, &self.semantics)
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)
    }
}

/// The mark of a kind and its semantics.
pub(crate) fn flag(kind: &str, semantics: &str) -> String {
    format!("{kind}/{}", &digest(semantics.as_bytes())[..16])
}

/// SHA-256 in hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Whether a job is decided a second time when `percent` of all jobs are. The input alone chooses, so that each run and each
/// number of workers has the same ones.
pub fn is_audited(input: &[u8], percent: u8) -> bool {
    let hash = Sha256::digest(input);
    let first = hash
        .iter()
        .take(8)
        .fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
    first % 100 < u64::from(percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_holds_all_its_parts() {
        let group = |kind, semantics, id| Group::new(kind, semantics, id).unwrap();
        let keys = [
            group("k", "s", "g").key(b"i"),
            group("k2", "s", "g").key(b"i"),
            group("k", "s2", "g").key(b"i"),
            group("k", "s", "g2").key(b"i"),
            group("k", "s", "g").key(b"i2"),
            group("k", "s", "gi").key(b""),
        ];
        let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
        assert_eq!(keys[0], digest(b"k\0s\0g\0i"));
        assert!(matches!(
            Group::new("k", "s\0", "g"),
            Err(QueueError::Name { field: "semantics" })
        ));
    }

    #[test]
    fn audits_are_a_share_of_the_inputs() {
        let chosen = |percent| {
            (0..10_000_u32)
                .filter(|n| is_audited(&n.to_be_bytes(), percent))
                .count()
        };
        assert_eq!((chosen(0), chosen(100)), (0, 10_000));
        assert!((50..150).contains(&chosen(1)), "{}", chosen(1));
        // At one percent those whose number is a multiple of 100.
        for n in 0..1000_u32 {
            let hash = Sha256::digest(n.to_be_bytes());
            let number = u64::from_be_bytes(hash[..8].try_into().unwrap());
            assert_eq!(is_audited(&n.to_be_bytes(), 1), number.is_multiple_of(100));
        }
    }
}
