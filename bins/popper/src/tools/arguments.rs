//! The universe and the limits among the arguments of several tools.

use popper_harness::universe::{KineticGrid, Tabulated};
use serde_json::{Map, Value};

/// An object of JSON, which the harness reads.
pub type Object = Map<String, Value>;

/// The name of the built-in universe, which a call may leave out.
pub fn built_in() -> Value {
    crate::universe::BUILT_IN.into()
}

/// Reads the universe of a call: the name of the built-in one, or a definition.
pub fn universe(value: &Value) -> Result<Tabulated, String> {
    if value.as_str() == Some(crate::universe::BUILT_IN) {
        return Ok(Tabulated::clone(&KineticGrid));
    }
    Tabulated::from_value(value).map_err(|error| format!("universe: {error}"))
}

/// Refuses a number over its limit.
pub fn at_most(name: &str, found: u64, limit: u64) -> Result<(), String> {
    if found > limit {
        return Err(format!("{name}: is {found}, expected at most {limit}"));
    }
    Ok(())
}
