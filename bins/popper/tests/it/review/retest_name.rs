//! `retest` takes the name of a law where one law has it.

use crate::runs::Place;
use crate::sql;

#[test]
fn a_law_is_named_or_the_candidates_are() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "2"]).code, Some(0));
    let tested = "SELECT law_id FROM laws WHERE status = 'tested' ORDER BY id";
    let name = sql::column(&place.db(), tested).remove(0);
    let before = sql::count(&place.db(), "law_evaluations");
    let ran = place.popper(&["retest", "--law-id", &name]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains(&name), "{}", ran.stdout);
    assert_eq!(sql::count(&place.db(), "law_evaluations"), before + 1);

    let unknown = place.popper(&["retest", "--law-id", &name[..name.len() - 1]]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(2), ""));
    let begin = format!(
        "popper: run 1 has no law named {}; it has ",
        &name[..name.len() - 1]
    );
    assert!(unknown.stderr.starts_with(&begin), "{}", unknown.stderr);
    assert!(unknown.stderr.contains(&name), "{}", unknown.stderr);

    sql::column(
        &place.db(),
        "UPDATE laws SET law_id = 'twin' WHERE id IN (1, 2)",
    );
    let twins = sql::column(
        &place.db(),
        "SELECT substr(law_fingerprint, 1, 8) FROM laws WHERE law_id = 'twin' ORDER BY id",
    );
    let twice = place.popper(&["retest", "--law-id", "twin"]);
    let line = format!(
        "popper: run 1 has 2 laws named twin: {}; give --law-fingerprint\n",
        twins.join(", ")
    );
    assert_eq!((twice.code, twice.stderr), (Some(2), line));
    for wrong in [
        &["retest"] as &[&str],
        &["retest", "--law-id", "a", "--law-fingerprint", "b"],
    ] {
        assert_eq!(place.popper(wrong).code, Some(2));
    }
}
