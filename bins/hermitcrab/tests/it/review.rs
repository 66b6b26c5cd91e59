//! Edits that wait for the person in `chat` and on the command line, a new window, and the way back to the source.

use std::fs;

use serde_json::json;

use crate::program::{Place, Ran};
use crate::terminal::Terminal;

const GIFT: &str =
    r#"{"decimal": 1, "tree": {"0": {"_": "A gift.", "1": "Be kind to visitors."}}}"#;

/// A place with a conversation, and a block from elsewhere.
fn with_gift() -> Place {
    let place = Place::new();
    place.fed(b"", &["chat"]).exits(0);
    fs::write(place.path("gift.json"), GIFT).unwrap();
    place.run(&["block", "import", "gift.json"]).exits(0);
    place
}

fn chat(place: &Place, lines: &str) -> Ran {
    place.fed(lines.as_bytes(), &["chat"]).exits(0)
}

#[test]
fn the_person_decides_in_chat_and_begins_a_new_window() {
    let place = with_gift();
    let said = chat(
        &place,
        "read gift 0.1\nwrite constitution 0.7: Theirs.\nwrite constitution 0.8: Theirs, too.\n/review\n\
         /new\nwrite constitution 0.9: Mine.\n",
    );
    let why = "after reading what was imported from gift.json; the person decides";
    let queued = format!("({why}): /review, or hermitcrab block review");
    let said = said.tells(&[
        &queued,
        "a new window begins: the model sees none of the earlier messages",
    ]);
    let out = &said.stdout;
    assert_eq!(out.matches("It waits for you as ").count(), 2, "{out}");
    assert_eq!(
        out.matches(&format!("  constitution  {why}\n")).count(),
        2,
        "{out}"
    );
    assert!(out.contains("Written to constitution 0.9."), "{out}");

    let waiting = place.json(&["block", "review"]);
    let mut ids = Vec::new();
    for edit in waiting["waiting"].as_array().unwrap() {
        let text = edit["changes"][0]["after"].as_str().unwrap();
        ids.push((text.to_owned(), edit["id"].as_str().unwrap().to_owned()));
    }
    ids.sort();
    let [(theirs, first), (_, second)] = &ids[..] else {
        panic!("{waiting}");
    };
    assert_eq!(theirs, "Theirs, too.");
    let lines =
        format!("/review approve {first}\n/review drop {second}\n/review\n/review drop {second}\n");
    let said = chat(&place, &lines).tells(&[&format!("no edit waits as \"{second}\"")]);
    for line in [
        format!("{first} is approved: constitution, revision 3\n"),
        format!("{second} is dropped\n"),
        "no edit waits\n".to_owned(),
    ] {
        assert!(said.stdout.contains(&line), "{}", said.stdout);
    }
    let block = place.json(&["block", "read", "constitution", "0.8"]);
    assert_eq!(block["node"]["content"], "Theirs, too.", "{block}");
    place
        .run(&["block", "read", "constitution", "0.7"])
        .exits(1);
}

/// A person approves only what was shown.
#[test]
fn a_terminal_shows_an_edit_that_waits_whole() {
    let place = with_gift();
    let long = format!("{}obey{}", "a".repeat(150), "z".repeat(150));
    let lines = format!("read gift 0.1\nwrite constitution 0.7: {long}\n");
    chat(&place, &lines);
    let mut terminal = Terminal::start(&place.command(&["block", "review"]));
    let told = terminal.all();
    assert!(told.contains(&long), "{told}");
}

#[test]
fn a_text_is_traced_to_its_source() {
    let place = with_gift();
    chat(
        &place,
        "read gift 0.1\nremember: be kind\n/new\nremember: mine\n",
    );
    let lines = place.run(&["trace", "memory", "0.1"]).exits(0).stdout;
    assert!(lines.starts_with("memory 0.1  be kind\n"), "{lines}");
    let from = lines.lines().find(|line| line.starts_with("from "));
    let from = from.unwrap_or_else(|| panic!("{lines}"));
    assert!(
        from.starts_with("from import gift.json, message ") && from.contains("block_read"),
        "{lines}"
    );
    let trace = place.json(&["trace", "memory", "0.1"]);
    assert_eq!(
        trace["from"][0]["origin"],
        json!({"import": {"source": "gift.json"}})
    );
    let gift = place.run(&["trace", "gift", "0.1"]).exits(0).stdout;
    assert!(gift.contains("from import gift.json"), "{gift}");
    place
        .run(&["trace", "memory", "0.9"])
        .exits(1)
        .tells(&["0.9"]);
}

#[test]
fn an_import_is_labelled_and_a_trusted_one_keeps_the_labels_of_the_bundle() {
    let place = with_gift();
    let bundle = |place: &Place| place.run(&["export", "-o", "all.json"]).exits(0);
    bundle(&place);
    let text = place.read("all.json");
    let new = |trust: &[&str]| {
        let new = Place::new();
        fs::write(new.path("all.json"), &text).unwrap();
        new.run(&[&["import", "all.json"], trust].concat()).exits(0);
        new
    };
    let origins = |place: &Place, name: &str, path: &str| {
        let trace = place.json(&["trace", name, path]);
        let from = trace["from"].as_array().unwrap().clone();
        let origins = from
            .into_iter()
            .map(|row| row["origin"]["import"]["source"].clone());
        origins.collect::<Vec<_>>()
    };
    let trusted = new(&["--trust"]);
    assert_eq!(origins(&trusted, "constitution", "0.1"), [json!(null); 0]);
    assert_eq!(origins(&trusted, "gift", "0.1"), [json!("gift.json")]);
    let foreign = new(&[]);
    assert_eq!(
        origins(&foreign, "constitution", "0.1"),
        [json!("all.json")]
    );
    assert_eq!(origins(&foreign, "gift", "0.1"), [json!("all.json")]);

    // Without trust, the blocks that say who the model is are not replaced.
    let write = ["block", "write", "constitution", "0.1", "My own rule."];
    let used = Place::new();
    used.fed(b"", &["chat"]).exits(0);
    used.run(&write).exits(0);
    fs::write(used.path("all.json"), &text).unwrap();
    let replace = ["import", "all.json", "--on-conflict", "replace"];
    let skipped = used
        .run(&replace)
        .exits(3)
        .tells(&["--trust replaces"])
        .stdout;
    assert!(skipped.contains("constitution  skipped"), "{skipped}");
    assert_eq!(
        used.json(&["block", "read", "constitution", "0.1"])["node"]["content"],
        "My own rule."
    );
    used.run(&[&replace[..], &["--trust"]].concat()).exits(0);
    assert_ne!(
        used.json(&["block", "read", "constitution", "0.1"])["node"]["content"],
        "My own rule."
    );
}
