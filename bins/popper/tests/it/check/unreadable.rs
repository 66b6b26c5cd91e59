//! `popper check` and texts that do not parse: UNKNOWN, a mark under the column, exit code 3.

use serde_json::json;

use crate::process::{file, law, popper, quick};

#[test]
fn p1_a_file_of_typing_errors_has_no_decided_law() {
    let ran = popper(&["check", "--json", "fixtures/popper/typing_errors.json"]);
    assert_eq!(ran.code, Some(3));
    let verdicts = ran.json();
    let verdicts = verdicts.as_array().unwrap();
    assert_eq!(verdicts.len(), 40);
    assert!(
        verdicts
            .iter()
            .all(|verdict| verdict["status"] == "UNKNOWN")
    );
}

#[test]
fn an_expression_that_cannot_be_read_is_shown_with_the_spelling_that_was_meant() {
    for (expr, said) in [
        (
            "count(T)",
            "column 7: symbols are quoted: count('T')\n  count(T)\n        ^\n",
        ),
        (
            "count('X'",
            "column 10: expected `,` or `)`, found the end\n  count('X'\n           ^\n",
        ),
        (
            "count('X') count('>')",
            "expected an operator or the end, found `count`",
        ),
    ] {
        let ran = popper(&["check", "--conserved", expr]);
        assert_eq!(ran.code, Some(3), "{expr}: {}", ran.stderr);
        assert!(
            ran.stdout.contains("UNKNOWN  ambiguous_claim"),
            "{}",
            ran.stdout
        );
        assert!(ran.stderr.contains(said), "{expr}: {}", ran.stderr);
    }
    // These can be read, and the universe lacks a part.
    for (expr, said, stderr) in [
        ("cuont('X')", "did you mean `count`?", "lists the names"),
        (
            "count('T')",
            "symbol T is not in kinetic_grid_v1 (. > < X)",
            "--universe names another universe",
        ),
    ] {
        let ran = popper(&["check", "--conserved", expr]);
        assert_eq!(ran.code, Some(3), "{expr}: {}", ran.stderr);
        assert!(ran.stdout.contains(said), "{expr}: {}", ran.stdout);
        assert!(ran.stderr.contains(stderr), "{expr}: {}", ran.stderr);
    }
}

#[test]
fn p1_the_line_a_mark_and_the_expectation_are_printed() {
    let mut wrong = law("wrong");
    wrong["claim"] = json!("r(t) =! r(0)");
    let laws = file("unread.json", json!([law("sound"), wrong]).to_string());
    let ran = popper(&["check", "--config", &quick(), &laws]);
    assert_eq!(ran.code, Some(3), "{}", ran.stdout);
    assert_eq!(
        ran.stderr,
        "popper: law wrong: claim: column 6: `=!` is not an operator; did you mean `!=`?\n  \
         r(t) =! r(0)\n       ^\n"
    );
    assert!(ran.stdout.contains("ambiguous_claim"), "{}", ran.stdout);
}

#[test]
fn p1_with_expectations_the_comparison_alone_decides() {
    let mut wrong = law("wrong");
    wrong["claim"] = json!("right movers stay");
    let laws = file("unread_expected.json", wrong.to_string());
    for (reason, code) in [("ambiguous_claim", 0), ("vacuous_pass", 4)] {
        let expected = json!([{"law_id": "wrong", "status": "UNKNOWN", "reason_code": reason}]);
        let expected = json!({"schema_version": "1.0.0", "expected": expected});
        let expected = file(&format!("unread_{reason}.json"), expected.to_string());
        let ran = popper(&["check", "--config", &quick(), "--expect", &expected, &laws]);
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (Some(code), ""),
            "{reason}"
        );
    }
}
