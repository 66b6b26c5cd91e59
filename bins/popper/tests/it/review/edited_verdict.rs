//! A verdict whose status was edited contradicts the evidence that it carries.

use serde_json::{Value, json};

use crate::process::{Ran, false_law, file, law, popper, quick};

fn ask(name: &str, verdict: &Value) -> Ran {
    let path = format!("edited.{name}.json");
    popper(&["verify", &file(&path, verdict.to_string())])
}

#[test]
fn an_edited_status_does_not_hold() {
    let laws = json!([law("movers"), false_law("collisions")]).to_string();
    let laws = file("edited.laws.json", laws);
    let verdicts = popper(&["check", "--json", "--config", &quick(), &laws]).json();
    let (proved, refuted) = (&verdicts[0], &verdicts[1]);
    assert_eq!(
        (&proved["status"], &refuted["status"]),
        (&json!("PASS"), &json!("FAIL"))
    );

    let edited = |verdict: &Value, status: &str| {
        let mut edited = verdict.clone();
        edited["status"] = status.into();
        edited
    };
    let mut bare = refuted.clone();
    bare["counterexample"] = Value::Null;
    for (name, verdict, said) in [
        (
            "fail_to_pass",
            edited(refuted, "PASS"),
            "collisions: does not hold: the verdict says PASS and carries a counterexample\n",
        ),
        (
            "fail_to_unknown",
            edited(refuted, "UNKNOWN"),
            "collisions: does not hold: the verdict says UNKNOWN and carries a counterexample\n",
        ),
        (
            "pass_to_fail",
            edited(proved, "FAIL"),
            "movers: does not hold: the verdict says FAIL and carries a proof and no counterexample\n",
        ),
        (
            "no_status",
            edited(proved, "PASS."),
            "movers: does not hold: the verdict says PASS., expected PASS, FAIL or UNKNOWN\n",
        ),
        (
            "nothing_left",
            bare,
            "collisions: does not hold: the verdict says FAIL and carries no counterexample\n",
        ),
    ] {
        let ran = ask(name, &verdict);
        let found = (ran.code, ran.stdout.as_str(), ran.stderr.as_str());
        assert_eq!(found, (Some(4), said, ""), "{name}");
    }
    // A verdict that was not edited still holds.
    let both = json!([edited(refuted, "PASS"), refuted]);
    let ran = ask("both", &both);
    assert_eq!(
        (ran.code, ran.stdout.lines().count()),
        (Some(4), 2),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("collisions: holds: "), "{}", ran.stdout);
}
