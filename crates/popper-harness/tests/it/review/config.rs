//! The hash of a configuration.

use popper_harness::decide::Config;
use serde_json::{Value, json};

fn hash(fields: Value) -> String {
    serde_json::from_value::<Config>(fields).unwrap().hash()
}

#[test]
fn p25_only_what_differs_from_the_default_enters_the_hash() {
    let default = hash(json!({}));
    // sha256 of "popper-harness/2\n{}": a field that is added later cannot change it.
    assert_eq!(
        default,
        "eb7489e5fce29ae81d96876420d48f566527850fda63cb4f1066075176471173"
    );
    let fields = serde_json::to_value(Config::default()).unwrap();
    assert_eq!(hash(fields), default);
    assert_eq!(hash(json!({"seed": 7})), default);
    assert_ne!(hash(json!({"rounds": 2})), default);
    assert_ne!(hash(json!({"rounds": 2})), hash(json!({"generations": 2})));
    // sha256 of "popper-harness/2\n{"exhaustive_n":8,"max_t":500}".
    assert_eq!(
        hash(json!({"max_t": 500, "exhaustive_n": 8})),
        "5c3b7b896723507f9594f7cd22e2781367c96f41e06d9c74d1379e65c66f2562"
    );
    let twice = json!({"extensions": ["local_transition", "local_transition"]});
    assert_eq!(
        hash(twice),
        hash(json!({"extensions": ["local_transition"]}))
    );
}
