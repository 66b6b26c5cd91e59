//! What a proof is about: the law and the universe as data, and the digest that seals them.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::certificate::Proof;
use crate::law::{Extensions, Law, LawError};
use crate::universe::{KineticGrid, Rule, Universe};

/// The hash of the built-in universe, which does not change while the program runs.
static KINETIC_HASH: LazyLock<String> = LazyLock::new(|| KineticGrid.definition_hash());
static KINETIC_RULE: LazyLock<Rule> = LazyLock::new(|| Rule::of(&KineticGrid));

/// The law that a normal form is.
pub(crate) fn law(normal: &Value) -> Result<Law, LawError> {
    let mut value = normal.clone();
    if let Value::Object(map) = &mut value {
        map.insert("law_id".into(), json!("proved"));
        // In a normal form the fields are the claim, and this text carries no meaning.
        map.insert("forbidden".into(), json!("anything else"));
    }
    let extensions = Extensions {
        local_transition: true,
    };
    Law::from_value(value, "$.law", extensions)
}

/// Whether a universe is the built-in one in everything that counts.
pub(super) fn is_kinetic(universe: &dyn Universe) -> bool {
    let symbols = KineticGrid.alphabet().len() as u8;
    universe.id() == KineticGrid::ID
        && universe.radius() == KineticGrid.radius()
        && universe.alphabet() == KineticGrid.alphabet()
        && universe.transforms() == KineticGrid.transforms()
        && universe.collision_symbol() == KineticGrid.collision_symbol()
        && (0..symbols).all(|symbol| universe.may_start(symbol) == KineticGrid.may_start(symbol))
        && Rule::of(universe) == *KINETIC_RULE
}

/// The hash of the built-in universe.
pub(super) fn kinetic_hash() -> &'static str {
    &KINETIC_HASH
}

/// A universe as data, with its hash.
pub(super) fn universe(universe: &dyn Universe) -> Option<(Value, String)> {
    if is_kinetic(universe) {
        return Some((json!(KineticGrid::ID), kinetic_hash().into()));
    }
    let definition = universe.definition();
    let hash = definition.hash();
    Some((serde_json::to_value(definition).ok()?, hash))
}

/// sha256 over everything but the digest, with sorted keys.
pub(super) fn digest(proof: &Proof) -> Option<String> {
    let mut value = serde_json::to_value(proof).ok()?;
    value.as_object_mut()?.remove("digest");
    Some(crate::hash::of(&value.to_string()))
}
