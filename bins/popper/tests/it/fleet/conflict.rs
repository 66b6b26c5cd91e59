//! A worker that answers something else stops the run, and it continues only after the conflict is resolved.

use std::sync::Arc;

use super::double::{Double, Liar};
use super::scene::{Expected, Fleet};
use crate::kill::place;

const FLAGS: &str = "--iterations 2 --threads 0 --audit 100";

#[test]
fn a_lie_stops_the_run_until_it_is_resolved() {
    let Some(fleet) = Fleet::new(place(20)) else {
        return;
    };
    let expected = Expected::new(&place(20), 2, 1);
    fleet.migrate();
    let liar = Double::start(&fleet, "liar", Arc::new(Liar::new()));
    let ran = fleet.run(FLAGS).end().exits(1);
    ran.tells(&[
        "two workers answered differently",
        "conflict 1",
        "popper queue resolve",
        "popper: to continue: popper resume 1 --store ",
    ]);
    let open = "SELECT count(*) FROM work_queue.conflicts WHERE resolved_at IS NULL";
    assert_eq!(fleet.number(open), 1);
    let both = "SELECT count(*) FROM work_queue.conflicts WHERE first_worker = 'liar'
        AND second_worker = 'coordinator' AND convert_from(first_output, 'UTF8') LIKE '%a note that is not true%'
        AND second_output <> first_output AND first_digest <> second_digest";
    assert_eq!(fleet.number(both), 1);
    // Neither answer is stored.
    let stored = "SELECT count(*) FROM popper.law_evaluations WHERE notes LIKE '%not true%'";
    assert_eq!(fleet.number(stored), 0);

    // The liar is honest now, but the conflict stays.
    let resume = || {
        fleet.popper(&format!(
            "resume --run-id 1 --lease 1s --patience 100s {FLAGS}"
        ))
    };
    for _ in 0..2 {
        let ran = resume().end().exits(1);
        ran.tells(&["two workers answered differently", "conflict 1"]);
        assert_eq!(fleet.number(open), 1);
    }
    let listed = fleet.popper("queue list").end().exits(0).stdout;
    for words in [
        "set aside: 0",
        "conflicts: 1",
        "liar answered ",
        "coordinator answered ",
        "law ",
    ] {
        assert!(listed.contains(words), "{words}: {listed}");
    }
    let json = fleet.popper("queue list --json").end().exits(0).json();
    assert_eq!(json["conflicts"][0]["first_worker"], "liar");
    assert_eq!(json["conflicts"][0]["laws"][0]["seed"], 0);
    let shown = fleet.popper("status").end().exits(0).stdout;
    assert!(
        shown.contains("\nconflicts  1; `popper queue list` shows them\n"),
        "{shown}"
    );
    // Only with both flags, and only once.
    fleet.popper("queue resolve --conflict 1").end().exits(2);
    let resolve = || fleet.popper("queue resolve --conflict 1 --drop-both").end();
    resolve().exits(0);
    resolve().exits(1).tells(&["there is no open conflict 1"]);
    resume().end().exits(0);
    liar.stop();
    expected.assert_same(&fleet, "resolved");
    // It stays on record.
    assert_eq!(fleet.number("SELECT count(*) FROM work_queue.conflicts"), 1);
}
