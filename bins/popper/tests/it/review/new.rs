//! `popper new` prints what the other commands accept.

use serde_json::json;

use crate::process::{file, law, popper};

#[test]
fn an_example_is_accepted() {
    let law = popper(&["new", "law"]);
    assert_eq!(law.code, Some(0));
    assert!(law.stderr.contains("\nforbidden: "), "{}", law.stderr);
    let checked = popper(&["check", &file("new.law.json", &law.stdout)]);
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    assert!(
        checked
            .stdout
            .ends_with("1 law: 1 PASS, 0 FAIL, 0 UNKNOWN\n"),
        "{}",
        checked.stdout
    );

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("universe.json");
    let path = path.to_str().unwrap();
    let made = popper(&["new", "universe", "-o", path]);
    assert_eq!(
        (made.code, made.stdout.as_str()),
        (Some(0), ""),
        "{}",
        made.stderr
    );
    assert_eq!(
        std::fs::read_to_string(path).unwrap(),
        popper(&["new", "universe"]).stdout
    );
    let checked = popper(&["universe", "check", path]);
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    assert!(
        checked.stdout.starts_with("ok walkers_and_walls "),
        "{}",
        checked.stdout
    );
    // Walkers are conserved in it, as its reader expects.
    let walkers = json!({
        "law_id": "walkers", "template": "invariant", "quantifiers": {"T": 20},
        "observables": [{"name": "w", "expr": "count('>')"}],
        "claim": "w(t) == w(0)", "forbidden": "a walker that vanishes",
    });
    let walkers = file("new.walkers.json", walkers.to_string());
    let checked = popper(&["check", "--universe", path, &walkers]);
    assert!(
        checked.stdout.contains("proved for every ring size"),
        "{}",
        checked.stdout
    );
}

#[test]
fn a_precondition_in_words_is_shown_its_form() {
    let mut law = law("worded");
    law["preconditions"] = json!(["count('F') == 1"]);
    let ran = popper(&["check", &file("worded.json", law.to_string())]);
    assert_eq!(ran.code, Some(2));
    let form =
        r#"expected an object such as {"lhs": "count('F')", "op": "==", "rhs": 1}, found a string"#;
    assert!(
        ran.stderr.contains("$.preconditions[0]: "),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains(form), "{}", ran.stderr);
}
