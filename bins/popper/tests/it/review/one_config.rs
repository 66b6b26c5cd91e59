//! One configuration file serves `check` and `run`.

use serde_json::json;

use crate::process::{file, law, popper};

#[test]
fn check_ignores_the_fields_of_the_loop() {
    let laws = file("one_config.laws.json", law("a").to_string());
    let harness = json!({"exhaustive_n": 4, "minimal_n": 4, "ladder": [8], "generations": 0});
    let alone = file("one_config.alone.json", harness.to_string());
    let mut both = harness.clone();
    both["propose"] = json!(5);
    both["weights"] = json!({"risk": 2});
    let both = file("one_config.both.json", both.to_string());
    let verdict = |config: &str| {
        let ran = popper(&["check", "--json", "--config", config, &laws]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        let mut verdicts = ran.json();
        verdicts[0]["runtime_ms"] = json!(0);
        verdicts
    };
    assert_eq!(verdict(&both), verdict(&alone));
    // A field of neither, and a field of the loop that is wrong, are errors as they are of `run`.
    for (config, said) in [
        (
            json!({"proposals": 5}),
            "$.proposals: there is no such field",
        ),
        (json!({"propose": "five"}), "$.propose: "),
    ] {
        let config = file("one_config.wrong.json", config.to_string());
        let ran = popper(&["check", "--config", &config, &laws]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}
