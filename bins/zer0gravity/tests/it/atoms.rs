//! `atoms`: the commitments of a text, and the differences of another one. The guide has an example that `xtask docs` runs.

use serde_json::Value;

use crate::program::Place;

fn place() -> Place {
    let place = Place::new();
    place.file(
        "a.txt",
        "Do not open valve V-12\r\nbefore 3 May 2024. Ärzte müssen 5 mg!\n",
    );
    place.file(
        "b.txt",
        "Open valve V-12\nbefore 3 May 2024. Ärzte müssen 5 g.\n",
    );
    place
}

#[test]
fn n7_differences_have_file_line_and_column() {
    let ran = place().alone(&["atoms", "a.txt", "b.txt"]).exits(0);
    assert_eq!(
        ran.stdout,
        "a.txt:1:4: negation lost: not\n\
         a.txt:2:33: number changed: 5 mg -> 5 g (b.txt:2:33)\n\
         b.txt: 2 differences, 2 critical; 60.0 % of the critical commitments kept\n"
    );
    let same = place().alone(&["atoms", "a.txt", "a.txt"]).exits(0);
    assert_eq!(
        same.stdout,
        "a.txt: 0 differences, 0 critical; 100.0 % of the critical commitments kept\n"
    );
}

#[test]
fn commitments_have_the_form_in_which_they_are_compared() {
    let ran = place().alone(&["atoms", "a.txt"]).exits(0);
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "a.txt:1:4: negation: not");
    assert!(
        lines.contains(&"a.txt:2:8: date: 3 May 2024 (2024-05-03)"),
        "{lines:?}"
    );
    assert!(
        lines
            .last()
            .is_some_and(|line| line.ends_with("commitments")),
        "{lines:?}"
    );
}

#[test]
fn json_has_every_difference_and_every_commitment() {
    let place = place();
    let json = |arguments: &[&str]| -> Value {
        let ran = place.alone(arguments).exits(0);
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let found = json(&["atoms", "a.txt", "--json"]);
    assert_eq!(found["atoms"][0]["kind"], "negation");
    assert_eq!(found["atoms"][0]["span"], serde_json::json!([3, 6]));
    assert_eq!(found["language"], "english");
    let numbers = |from: usize| {
        (from..from + 200)
            .map(|n| format!("{n}. "))
            .collect::<Vec<_>>()
            .concat()
    };
    place.file("many.txt", numbers(1_000));
    place.file("other.txt", numbers(3_000));
    let compared = json(&["atoms", "many.txt", "other.txt", "--json"]);
    assert_eq!(compared["findings"].as_array().map(Vec::len), Some(400));
    assert_eq!(compared["criticalRecall"], 0.0);
}

#[test]
fn texts_that_cannot_be_read_and_words_for_a_terminal() {
    let place = place();
    place.file("empty.txt", "");
    place.file("bytes.txt", [b'a', 0xff]);
    for (file, said) in [("none.txt", "none.txt"), ("bytes.txt", "UTF-8")] {
        let ran = place.alone(&["atoms", file]).exits(2);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    let ran = place.alone(&["atoms", "a.txt", "empty.txt"]).exits(0);
    assert!(
        ran.stdout
            .ends_with("; 0.0 % of the critical commitments kept\n")
    );
    place.file("sly.txt", "Ask `\u{1b}[2J` and \u{202e}Ann.");
    let ran = place.alone(&["atoms", "sly.txt"]).exits(0);
    assert!(
        !ran.stdout.contains(['\u{1b}', '\u{202e}']),
        "{:?}",
        ran.stdout
    );
}
