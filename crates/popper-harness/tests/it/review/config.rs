//! The hash of a configuration.

use popper_harness::decide::Config;
use serde_json::{Value, json};

fn hash(fields: Value) -> String {
    serde_json::from_value::<Config>(fields).unwrap().hash()
}

#[test]
fn p25_only_what_differs_from_the_default_enters_the_hash() {
    let default = hash(json!({}));
    // sha256 of "popper-harness/4\n{}": a field that is added later cannot change it.
    assert_eq!(
        default,
        "82457e8a7f22a0fca031ab1792b7585f17d98ec1b6e4bc97133837dc042eb36c"
    );
    let fields = serde_json::to_value(Config::default()).unwrap();
    assert_eq!(hash(fields), default);
    assert_eq!(hash(json!({"seed": 7})), default);
    assert_ne!(hash(json!({"rounds": 2})), default);
    assert_ne!(hash(json!({"rounds": 2})), hash(json!({"generations": 2})));
    // sha256 of "popper-harness/4\n{"exhaustive_n":8,"max_t":500}".
    assert_eq!(
        hash(json!({"max_t": 500, "exhaustive_n": 8})),
        "ba767c4469f94abd72a31a8976eb7b26fe76a62efc824f433d51ae2888fad096"
    );
    let twice = json!({"extensions": ["local_transition", "local_transition"]});
    assert_eq!(
        hash(twice),
        hash(json!({"extensions": ["local_transition"]}))
    );
}
