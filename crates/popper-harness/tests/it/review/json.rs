//! JSON from people and models: a repeated key and endless nesting are refused by name.

use popper_harness::law::{Extensions, Law};
use popper_harness::universe::Tabulated;

fn refusal(text: &str) -> String {
    let laws = Law::read_all(text, Extensions::default());
    let laws = laws.map(|laws| laws.into_iter().filter_map(Result::err).collect::<Vec<_>>());
    match laws {
        Ok(errors) => errors.first().unwrap().to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn p8_a_repeated_key_is_refused_with_its_path() {
    let law = |quantifiers: &str, more: &str| {
        format!(
            r#"{{"law_id": "a", "template": "invariant", "quantifiers": {quantifiers},
            "observables": [{{"name": "x", "expr": "count('X')"}}], "forbidden": "f"{more}}}"#
        )
    };
    assert_eq!(
        refusal(&law(r#"{"T": 3, "T": 9}"#, "")),
        "$.quantifiers: the key \"T\" occurs twice"
    );
    let twice = law(r#"{"T": 3}"#, r#", "observables": []"#);
    assert_eq!(refusal(&twice), "$: the key \"observables\" occurs twice");
    // In an array the others are still read.
    let sound = law(r#"{"T": 3}"#, "");
    let laws = Law::read_all(&format!("[{sound}, {twice}]"), Extensions::default()).unwrap();
    assert!(laws[0].is_ok());
    assert_eq!(
        laws[1].as_ref().unwrap_err().to_string(),
        "$[1]: the key \"observables\" occurs twice"
    );
    let universe = r#"{"id": "u", "symbols": "ab", "radius": 0, "rule": {"table": {"a": "a", "b": "b", "a": "b"}}}"#;
    assert_eq!(
        Tabulated::from_json(universe).unwrap_err().to_string(),
        "rule.table: the key \"a\" occurs twice"
    );
}

#[test]
fn p33_a_file_that_nests_without_end_says_the_limit() {
    let deep = |open: &str, close: &str| {
        let law = format!("{}1{}", open.repeat(200), close.repeat(200));
        refusal(&law)
    };
    assert_eq!(deep("{\"a\":", "}"), "$: nests deeper than 64");
    assert_eq!(deep("[", "]"), "$[0]: nests deeper than 64");
}
