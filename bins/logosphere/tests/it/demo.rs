//! The first five minutes of a user without a key.

use crate::program::Place;

/// Words of a text that name a file below the folder.
fn paths(text: &str) -> Vec<String> {
    let bare = |word: &str| {
        let marks = |char: char| "\"'`()<>,;:".contains(char);
        word.trim_matches(marks).trim_end_matches('.').to_owned()
    };
    let words = text.split_whitespace().map(bare);
    words
        .filter(|word| word.contains('/') && !word.contains("://") && !word.starts_with('-'))
        .filter(|word| word.chars().any(char::is_alphabetic))
        .collect()
}

#[test]
fn every_path_that_the_demo_prints_is_there() {
    let place = Place::new();
    let ran = place.alone(&["demo"]).exits(0);
    let named = paths(&ran.all());
    // Counts such as `30/30` and units have no letters or no slash; what is left is a path.
    let missing: Vec<_> = named
        .iter()
        .filter(|name| !place.path(name).exists())
        .collect();
    assert!(missing.is_empty(), "{missing:?}\n{}", ran.all());
    let report = named
        .iter()
        .find(|name| name.ends_with("report.html"))
        .expect("a report to open");
    let page = place.read(report);
    assert!(page.contains("<svg") && page.contains("offline"));
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"));
    let journal = report.replace("report.html", "logs/experiment.jsonl");
    let lines = place.read(&journal);
    assert_eq!(
        lines.matches("\"type\":\"mind_invocation\"").count(),
        12 * 30
    );
    assert_eq!(lines.matches("\"type\":\"round_end\"").count(), 30);
    place.alone(&["verify", &journal]).exits(0);
    assert!(ran.all().contains("offline"), "{}", ran.all());
}

#[test]
fn two_demos_do_not_disturb_each_other() {
    let place = Place::new();
    let first = place.alone(&["demo"]).exits(0);
    let second = place.alone(&["demo"]).exits(0);
    for ran in [first, second] {
        assert!(
            paths(&ran.all())
                .iter()
                .all(|name| place.path(name).exists())
        );
    }
}
