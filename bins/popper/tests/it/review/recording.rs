//! A replayed run offers no more than the recording holds.

use crate::process::{Ran, fresh, words};

#[test]
fn the_last_line_ends_where_the_recording_ends() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/popper/discovery/cassette.jsonl"
    );
    let run = |iterations: &str| -> String {
        let arguments = format!("run --db popper.db --iterations {iterations} --replay {cassette}");
        let arguments = words(&arguments);
        let ran: Ran = fresh(folder.path(), &arguments).output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stdout.lines().last().unwrap().to_owned()
    };
    // Three of four calls are used.
    let more =
        format!("continue   popper resume 1 --db popper.db --iterations 3 --replay {cassette}");
    assert_eq!(run("2"), more);
    assert_eq!(run("3"), "continue   the recording ends here");
}
