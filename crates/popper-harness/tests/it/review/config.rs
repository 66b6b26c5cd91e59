//! The hash of a configuration.

use popper_harness::decide::Config;
use serde_json::{Value, json};

fn hash(fields: Value) -> String {
    serde_json::from_value::<Config>(fields).unwrap().hash()
}

#[test]
fn p25_only_what_differs_from_the_default_enters_the_hash() {
    let default = hash(json!({}));
    // sha256 of "popper-harness/3\n{}": a field that is added later cannot change it.
    assert_eq!(
        default,
        "b61bfd3ad849c14a763a470f13d668b8f0417a1846a8c58b6bcffdef10edfef7"
    );
    let fields = serde_json::to_value(Config::default()).unwrap();
    assert_eq!(hash(fields), default);
    assert_eq!(hash(json!({"seed": 7})), default);
    assert_ne!(hash(json!({"rounds": 2})), default);
    assert_ne!(hash(json!({"rounds": 2})), hash(json!({"generations": 2})));
    // sha256 of "popper-harness/3\n{"exhaustive_n":8,"max_t":500}".
    assert_eq!(
        hash(json!({"max_t": 500, "exhaustive_n": 8})),
        "7dac569048a5f7d0f854af319f2e49aa737080d70497980cb4d466b7df1ba0f5"
    );
    let twice = json!({"extensions": ["local_transition", "local_transition"]});
    assert_eq!(
        hash(twice),
        hash(json!({"extensions": ["local_transition"]}))
    );
}
