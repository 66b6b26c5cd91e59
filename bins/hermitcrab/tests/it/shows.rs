//! A command that shows something opens what it shows, and nothing else.

use crate::program::Place;

#[test]
fn garbage_in_other_files_is_not_read() {
    let place = Place::new();
    let lines = b"remember: the keel is laid\nbreak\nbigger text\n";
    place.fed(lines, &["chat"]).exits(0);
    let commands: [&[&str]; 9] = [
        &["cost"],
        &["cost", "--by-month"],
        &["shells"],
        &["shells", "show", "1"],
        &["block", "read", "constitution"],
        &["block", "list"],
        &["block", "log", "memory"],
        &["block", "search", "face"],
        &["compile", "data/shells/1.jsx"],
    ];
    let before = commands.map(|command| place.run(command).exits(0).stdout);
    let garbage = "{]\n\u{0}garbage\n";
    for file in ["conversation.jsonl", "state.json", "hermitcrab.toml"] {
        place.file(&format!("data/{file}"), garbage);
    }
    for (command, before) in commands.iter().zip(before) {
        let ran = place.run(command).exits(0);
        assert_eq!(ran.stdout, before, "{command:?}");
        assert_eq!(ran.stderr, "", "{command:?}");
    }
    assert_eq!(place.read("data/conversation.jsonl"), garbage);
}

#[test]
fn a_start_of_chat_reads_no_memory_and_the_first_turn_mends_it() {
    let place = Place::new();
    let lines = b"remember: the keel is laid\n";
    place.fed(lines, &["chat"]).exits(0);
    let whole = place.read("data/blocks/memory.json");
    place.file("data/blocks/memory.json", "garbage");
    place.fed(b"", &["chat"]).exits(0);
    assert_eq!(place.read("data/blocks/memory.json"), "garbage");
    place.fed(b"hi\n", &["chat"]).exits(0);
    assert_eq!(place.read("data/blocks/memory.json"), whole);
}
