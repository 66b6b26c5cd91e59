//! The subject of a proof: the law and the universe as data, and the digest that seals them.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::certificate::Proof;
use crate::law::{Law, NormalLaw};
use crate::universe::{KineticGrid, Tabulated};

/// The hash of the built-in universe, which does not change while the program runs.
static KINETIC_HASH: LazyLock<String> = LazyLock::new(|| KineticGrid.definition_hash());

/// Returns a universe as data, with its hash.
pub(super) fn universe(universe: &Tabulated) -> (Value, String) {
    if universe.is_built_in() {
        return (json!(KineticGrid::ID), KINETIC_HASH.clone());
    }
    let definition = universe.definition();
    (crate::json::hash::value(&definition), definition.hash())
}

/// Whether a hash is that of a universe. Proofs about the built-in one from before its definition named `incoming` still hold.
pub(super) fn is_hash_of(hash: &str, universe: &Tabulated) -> bool {
    if universe.is_built_in() {
        return hash == *KINETIC_HASH || hash == KineticGrid::FORMER_HASH;
    }
    hash == universe.definition_hash()
}

/// Returns the sha256 of everything but the digest, with sorted keys.
pub(super) fn digest(proof: &Proof) -> Option<String> {
    let mut value = serde_json::to_value(proof).ok()?;
    value.as_object_mut()?.remove("digest");
    Some(crate::json::hash::of(&value.to_string()))
}

impl Proof {
    /// Returns this proof as that of a law with the same claim, another T, and an H that is not smaller. `None` for any other law.
    pub fn for_law(&self, law: &Law) -> Option<Self> {
        let proved = NormalLaw::from_value(self.law.clone(), "law").ok()?;
        let normal = law.normal();
        if proved.claim_fingerprint() != normal.claim_fingerprint() || normal.window < proved.window
        {
            return None;
        }
        let mut proof = Self {
            law: crate::json::hash::value(normal),
            law_fingerprint: normal.fingerprint(),
            ..self.clone()
        };
        proof.digest = digest(&proof)?;
        Some(proof)
    }
}
