//! The block commands, without a model, a key or a network.

use std::fs;

use serde_json::{Value, json};

use crate::program::{DATA, Place};

/// Creates a block with a head, three entries and a branch.
fn yard() -> Place {
    let place = Place::with_block("yard", "What the yard holds.", &["Larch", "Oak", "A saw"]);
    place
        .run(&["block", "write", "yard", "0.1.1", "Dry since March"])
        .exits(0);
    place
}

#[test]
fn a_block_is_made_filled_and_read() {
    let place = yard();
    insta::assert_snapshot!(place.run(&["block", "read", "yard"]).exits(0).stdout);
    insta::assert_json_snapshot!(place.json(&["block", "read", "yard"]));
}

#[test]
fn the_three_views() {
    let place = yard();
    for (view, path) in [("node", "0.1"), ("spindle", "0.1.1"), ("subtree", "0.1")] {
        let arguments = ["block", "read", "yard", path, "--view", view];
        let ran = place.run(&arguments).exits(0);
        insta::assert_snapshot!(format!("{view}_told"), ran.stdout);
        insta::assert_json_snapshot!(format!("{view}_json"), place.json(&arguments));
    }
    // A path alone is a node; no path with a view of one is the head.
    let node = place.json(&["block", "read", "yard", "0.1"]);
    assert_eq!(node["view"], "node");
    let head = place.json(&["block", "read", "yard", "--view", "node"]);
    assert_eq!(head["node"]["path"], "0");
}

#[test]
fn an_unusual_path_is_understood_and_noted() {
    let place = yard();
    let ran = place.run(&["block", "read", "yard", "0.11"]).exits(0);
    ran.tells(&["read as 0.1.1"]);
    let answer = place.json(&["block", "read", "yard", "011"]);
    assert_eq!(answer["note"], "read as 0.1.1");
    assert_eq!(answer["node"]["content"], "Dry since March");
    // H46: what is written goes nowhere that was not meant.
    let refused = place.run(&["block", "write", "yard", "0.21", "x"]);
    refused
        .exits(2)
        .tells(&["0.21 is read as 0.2.1; write 0.2.1"]);
    place
        .run(&["block", "write", "yard", "0.2.1", "x"])
        .exits(0);
    let moved = place.json(&["block", "mv", "yard", "0.21", "022"]);
    assert_eq!(moved["note"], "read as 0.2.1, read as 0.2.2");
    let plain = place.json(&["block", "read", "yard", "0.1.1"]);
    assert!(plain.get("note").is_none(), "{plain}");
}

#[test]
fn long_and_hostile_texts_do_not_steer_the_terminal() {
    let place = yard();
    let long = format!("{}\u{1b}[2J\u{202e}\nsecond line", "x".repeat(300));
    place
        .run(&["block", "write", "yard", "0.4", &long])
        .exits(0);
    for arguments in [
        &["block", "read", "yard"][..],
        &["block", "read", "yard", "0"],
        &["block", "read", "yard", "0.4"],
        &["block", "read", "yard", "--full"],
        &["block", "list"],
    ] {
        let ran = place.run(arguments).exits(0);
        for char in ['\u{1b}', '\u{202e}'] {
            assert!(!ran.stdout.contains(char), "{arguments:?}\n{}", ran.stdout);
        }
    }
    // A pipe receives the whole texts. The tests `terminal::` cover a terminal.
    let node = place.run(&["block", "read", "yard", "0.4"]).stdout;
    assert!(node.contains(&"x".repeat(300)), "{node}");
    assert!(node.contains("\n     second line\n"), "{node}");
    assert_eq!(
        place.json(&["block", "read", "yard", "0.4"])["node"]["content"],
        long
    );
}

#[test]
fn texts_come_from_stdin_without_the_last_line_break() {
    let place = Place::new();
    place
        .fed(b"A head\n", &["block", "create", "notes"])
        .exits(0);
    place
        .fed(b"One\r\n", &["block", "write", "notes", "0.1", "-"])
        .exits(0);
    place
        .fed("Zwei\nZeilen ä".as_bytes(), &["block", "append", "notes"])
        .exits(0);
    // A text may begin with a dash.
    place
        .run(&["block", "append", "notes", "- a list item"])
        .exits(0);
    let read = place.json(&["block", "read", "notes"]);
    let texts: Vec<_> = read["nodes"].as_array().unwrap().iter().collect();
    let texts: Vec<_> = texts.iter().map(|step| step["text"].clone()).collect();
    assert_eq!(texts, ["A head", "One", "Zwei\nZeilen ä", "- a list item"]);
    place
        .fed(b"\xff\xfe", &["block", "append", "notes", "-"])
        .exits(2)
        .tells(&["stdin", "UTF-8"]);
}

#[test]
fn the_list_and_how_to_begin_one() {
    let place = Place::with_data();
    let ran = place.run(&["block", "list"]).exits(0);
    assert_eq!(ran.stdout, "");
    ran.tells(&["block create NAME TEXT", "import"]);
    assert_eq!(place.json(&["block", "list"])["blocks"], json!([]));
    assert!(place.names("data").is_empty(), "reading makes nothing");

    let place = yard();
    place
        .run(&["block", "create", "a_much-longer-name", "Another one"])
        .exits(0);
    insta::assert_snapshot!(place.run(&["block", "list"]).exits(0).stdout);
    insta::assert_json_snapshot!(place.json(&["block", "list"]));
}

/// Replaces the time in the name of a file in the trash.
fn without_trash_time(told: &str) -> String {
    let Some((before, rest)) = told.split_once("trash/yard-") else {
        return told.to_owned();
    };
    let (_, after) = rest.split_once(".json").unwrap();
    format!("{before}trash/yard-TIME.json{after}")
}

#[test]
fn every_edit_says_what_it_did() {
    let place = Place::new();
    let steps: [&[&str]; 7] = [
        &["create", "yard", "What the yard holds."],
        &["append", "yard", "Larch"],
        &["write", "yard", "0.2.1", "Below a level without text"],
        &["mv", "yard", "0.2.1", "0.3"],
        &["rm", "yard", "0.3"],
        &["grow", "yard", "--summary", "Wood", "--kind", "emergence"],
        &["rm", "yard", "--whole"],
    ];
    let mut told = String::new();
    for step in steps {
        let arguments = [&["block"], step].concat();
        let ran = place.run(&arguments).exits(0);
        told += &["$ ", &step.join(" "), "\n", &ran.stdout, &ran.stderr].concat();
    }
    insta::assert_snapshot!(without_trash_time(&told));

    let place = Place::new();
    let mut answers = Vec::new();
    for step in steps {
        let answer = place.json(&[&["block"], step].concat()).to_string();
        answers.push(serde_json::from_str::<Value>(&without_trash_time(&answer)).unwrap());
    }
    insta::assert_json_snapshot!(answers);
}

#[test]
fn the_tenth_entry_asks_for_a_summary() {
    let entries = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let place = Place::with_block("memory", "What I remember.", &entries);
    let ran = place.run(&["block", "append", "memory", "ten"]).exits(1);
    insta::assert_snapshot!(format!("{}{}", ran.stdout, ran.stderr));
    let ran = place.run(&["block", "append", "memory", "ten", "--json"]);
    insta::assert_json_snapshot!(ran.exits(1).json());
    let summary = ["--summary", "The first nine", "--kind", "summary"];
    let arguments = [&["block", "append", "memory", "ten"][..], &summary].concat();
    let answer = place.json(&arguments);
    assert_eq!(answer["path"], "0.2.1");
    insta::assert_snapshot!(place.run(&["block", "read", "memory"]).exits(0).stdout);
}

#[test]
fn compare_and_set() {
    let place = yard();
    let rev = place.json(&["block", "read", "yard"])["rev"].to_string();
    place
        .run(&["block", "write", "yard", "0.1", "Ash", "--rev", &rev])
        .exits(0);
    for edit in [
        &["write", "yard", "0.1", "Elm"][..],
        &["append", "yard", "Elm"],
        &["grow", "yard", "--summary", "Wood"],
        &["mv", "yard", "0.1", "0.9"],
        &["rm", "yard", "0.1"],
        &["rm", "yard", "--whole"],
    ] {
        let arguments = [&["block"], edit, &["--rev", &rev, "--json"]].concat();
        let ran = place.run(&arguments).exits(1).tells(&["read it again"]);
        assert_eq!(ran.json()["error"], "revision", "{edit:?}");
    }
    let read = place.json(&["block", "read", "yard", "0.1"]);
    assert_eq!(read["node"]["content"], "Ash");
}

#[test]
fn the_log_says_who_did_what() {
    let place = yard();
    place.run(&["block", "mv", "yard", "0.3", "0.5"]).exits(0);
    place.run(&["block", "rm", "yard", "0.5"]).exits(0);
    place.run(&["block", "undo", "yard"]).exits(0);
    place.run(&["block", "create", "notes", "Notes."]).exits(0);
    let mut log = place.json(&["block", "log"]);
    for entry in log["entries"].as_array_mut().unwrap() {
        entry["at"] = json!("TIME");
    }
    insta::assert_json_snapshot!(log);
    let told = place.run(&["block", "log", "yard"]).exits(0).stdout;
    let told: Vec<_> = told.lines().map(without_time).collect();
    insta::assert_snapshot!(told.join("\n"));
    let last = place.json(&["block", "log", "--limit", "1"]);
    assert_eq!(last["entries"].as_array().unwrap().len(), 2);
}

/// A file may have any number, and kinds of a later program.
#[test]
fn the_log_counts_origins_that_it_cannot_name() {
    let place = yard();
    let file = place.path(DATA).join("log/yard.jsonl");
    let log = fs::read_to_string(&file).unwrap();
    let (first, rest) = log.split_once('\n').unwrap();
    let face = r#"{"face":{"rev":1}}"#;
    for (from, shown) in [
        (r#"[{"more":3}]"#.to_owned(), " from 3 places  "),
        (r#"{"moon":8}"#.to_owned(), " from 1 place  "),
        (
            format!(r#"[{face},{face},{{"more":{}}}]"#, u64::MAX),
            " from face 1 and 4294967296 more  ",
        ),
    ] {
        let first = first.strip_suffix('}').unwrap();
        fs::write(&file, format!("{first},\"from\":{from}}}\n{rest}")).unwrap();
        let ran = place.run(&["block", "log", "yard"]).exits(0);
        let line = ran.stdout.lines().next().unwrap();
        assert!(line.contains(shown), "{line}");
    }
}

/// Returns a line of a log without its third and fourth word, the day and the time.
fn without_time(line: &str) -> String {
    let words: Vec<_> = line.split(' ').filter(|word| !word.is_empty()).collect();
    [&words[..2], &words[4..]].concat().join(" ")
}

#[test]
fn undo_steps_back_and_redo_forward() {
    let place = yard();
    let before = place.json(&["block", "read", "yard"])["nodes"].clone();
    for text in ["one", "two", "three"] {
        place.run(&["block", "write", "yard", "0.2", text]).exits(0);
    }
    let after = place.json(&["block", "read", "yard"])["nodes"].clone();
    let undone = place.json(&["block", "undo", "yard", "--count", "3"]);
    insta::assert_json_snapshot!(undone);
    assert_eq!(place.json(&["block", "read", "yard"])["nodes"], before);
    let redone = place.json(&["block", "redo", "yard", "--count", "3"]);
    assert_eq!(
        (&redone["redone"], &redone["undone"]),
        (&json!(3), &Value::Null)
    );
    assert_eq!(place.json(&["block", "read", "yard"])["nodes"], after);
    let ran = place.run(&["block", "redo", "yard"]).exits(1);
    ran.tells(&["yard: nothing to redo\n"]);

    // Twice is two steps back.
    let text = || place.json(&["block", "read", "yard", "0.2"])["node"]["content"].clone();
    for back in ["two", "one"] {
        place.run(&["block", "undo", "yard"]).exits(0);
        assert_eq!(text(), back);
    }
    let ran = place.run(&["block", "redo", "yard"]).exits(0);
    assert!(
        ran.stdout
            .starts_with("yard: 1 edit made again, revision 13\n")
    );
    assert_eq!(text(), "two");
    let ran = place.run(&["block", "redo", "yard", "--count", "9"]);
    ran.exits(0).tells(&["no more than 1 could be made again"]);
    // Past the first edit: what there is, and how many.
    let ran = place.run(&["block", "undo", "yard", "--count", "99"]);
    ran.exits(0).tells(&["no more than"]);
    let ran = place.run(&["block", "undo", "yard"]).exits(1);
    ran.tells(&["yard: nothing to undo\n"]);
    let ran = place.run(&["block", "undo", "yard", "--json"]).exits(1);
    assert_eq!(ran.json()["error"], "nothing_to_undo");
    // An edit in between leaves nothing to make again.
    place
        .run(&["block", "write", "yard", "0.2", "four"])
        .exits(0);
    place.run(&["block", "redo", "yard"]).exits(1);
    let log = place.run(&["block", "log", "yard"]).exits(0).stdout;
    assert!(
        log.contains("  undo 8, 7, 6\n") && log.contains("  redo 7\n"),
        "{log}"
    );
}

#[test]
fn keys_are_taken_out_of_texts() {
    let place = Place::new();
    let text = "Mine is sk-ant-api03-0123456789, keep it";
    for arguments in [
        &["create", "notes", text][..],
        &["append", "notes", text],
        &["write", "notes", "0.2", text],
    ] {
        let answer = place.json(&[&["block"], arguments].concat());
        assert_eq!(answer["keys_removed"], 1, "{arguments:?}");
    }
    let ran = place
        .run(&["block", "write", "notes", "0.3", text])
        .exits(0);
    ran.tells(&["looks like a key", "[key removed]"]);
    for file in ["data/blocks/notes.json", "data/log/notes.jsonl"] {
        assert!(!place.read(file).contains("sk-ant"), "{file}");
    }
}

#[test]
fn help_and_completions_know_every_command() {
    let place = Place::new();
    let ran = place.run(&["--help"]).exits(0);
    for command in ["block", "export", "import", "migrate", "key", "completions"] {
        assert!(ran.stdout.contains(command), "{command}\n{}", ran.stdout);
        place.run(&[command, "--help"]).exits(0);
    }
    let ran = place.run(&["block", "--help"]).exits(0);
    for command in [
        "list", "read", "create", "write", "append", "grow", "mv", "rm", "search", "diff", "lint",
        "export", "import", "log", "undo",
    ] {
        assert!(ran.stdout.contains(command), "{command}\n{}", ran.stdout);
        place.run(&["block", command, "--help"]).exits(0);
    }
    for shell in ["bash", "zsh", "fish"] {
        let ran = place.run(&["completions", shell]).exits(0);
        assert!(ran.stdout.contains("hermitcrab"), "{shell}");
    }
}

#[test]
fn words_are_found() {
    let place = yard();
    place
        .run(&["block", "create", "notes", "On larch"])
        .exits(0);
    let ran = place.run(&["block", "search", "LARCH"]).exits(0);
    assert_eq!(ran.stdout, "notes 0  On larch\nyard 0.1  Larch\n");
    insta::assert_json_snapshot!(place.json(&["block", "search", "larch"]));
    let one = place.json(&["block", "search", "a", "yard", "--limit", "2"]);
    let hits = one["hits"].as_array().unwrap();
    assert!(hits.len() == 2 && hits.iter().all(|hit| hit["name"] == "yard"));
    assert_eq!(one["more"], true);
    let ran = place.run(&["block", "search", "birch"]).exits(0);
    assert_eq!(ran.stdout, "");
    ran.tells(&["nothing found"]);
    place
        .run(&["block", "search", " "])
        .exits(2)
        .tells(&["empty"]);
}

#[test]
fn lint_remarks_and_ends_with_4() {
    let place = yard();
    let ran = place.run(&["block", "lint"]).exits(0);
    assert_eq!(ran.stdout, "");
    place
        .run(&["block", "write", "yard", "0.4", &"word ".repeat(1000)])
        .exits(0);
    place
        .run(&["block", "write", "yard", "0.2.0", "x"])
        .exits(0);
    let ran = place.run(&["block", "lint", "yard"]).exits(4);
    insta::assert_snapshot!(ran.stdout);
    let ran = place.run(&["block", "lint", "--json"]).exits(4);
    insta::assert_json_snapshot!(ran.json());
}

#[test]
fn a_difference_is_shown_and_ends_with_4() {
    let place = yard();
    place
        .run(&["block", "export", "yard", "-o", "then.json"])
        .exits(0);
    let same = place.run(&["block", "diff", "yard", "then.json"]).exits(0);
    assert_eq!(same.stdout, "");
    place
        .run(&["block", "write", "yard", "0.2", "Ash"])
        .exits(0);
    place.run(&["block", "rm", "yard", "0.3"]).exits(0);
    place.run(&["block", "append", "yard", "A boat"]).exits(0);
    place.run(&["block", "append", "yard", "A rope"]).exits(0);
    let ran = place.run(&["block", "diff", "yard", "then.json"]).exits(4);
    insta::assert_snapshot!(ran.stdout);
    let ran = place.run(&["block", "diff", "yard", "then.json", "--json"]);
    insta::assert_json_snapshot!(ran.exits(4).json());
    // Between blocks of the store, of other decimals.
    place.run(&["block", "import", "then.json"]).exits(0);
    let export = |name: &str| place.run(&["block", "export", name]).exits(0).stderr;
    assert!(export("then").contains("texts from outside"));
    assert_eq!(export("yard"), "");
    place
        .run(&["block", "grow", "then", "--summary", "Wood"])
        .exits(0);
    let ran = place.run(&["block", "diff", "yard", "then"]).exits(4);
    assert!(
        ran.stdout.starts_with("- decimal 1\n+ decimal 2\n"),
        "{}",
        ran.stdout
    );
    place.file("none.json", "{}");
    place
        .run(&["block", "diff", "yard", "none.json"])
        .exits(2)
        .tells(&["none.json"]);
    place
        .run(&["block", "diff", "yard", "gone.json"])
        .exits(2)
        .tells(&["gone.json"]);
    place
        .run(&["block", "diff", "yard", "gone"])
        .exits(1)
        .tells(&["gone"]);
}

#[test]
fn what_has_changed_since_a_revision() {
    let place = yard();
    place
        .run(&["block", "write", "yard", "0.2", "Ash"])
        .exits(0);
    place
        .run(&["block", "grow", "yard", "--summary", "Wood"])
        .exits(0);
    place.run(&["block", "undo", "yard"]).exits(0);
    let since = |rev: &str| place.run(&["block", "diff", "yard", "--since", rev]);
    assert_eq!(since("8").exits(0).stdout, "");
    assert_eq!(since("5").exits(4).stdout, "- 0.2  Oak\n+ 0.2  Ash\n");
    assert_eq!(since("6").exits(0).stdout, "");
    let grown = since("7").exits(4).stdout;
    assert!(grown.starts_with("- decimal 2\n+ decimal 1\n"), "{grown}");
    for rev in ["0", "9"] {
        since(rev)
            .exits(1)
            .tells(&["no revision", "its last one is 8"]);
    }
    place.run(&["block", "diff", "yard"]).exits(2);
    // An entry that is gone is not passed over.
    let log = place.path(DATA).join("log/yard.jsonl");
    let lines = std::fs::read_to_string(&log).unwrap();
    let lines = lines
        .split_inclusive('\n')
        .filter(|line| !line.contains("\"rev\":6,"));
    std::fs::write(&log, lines.collect::<String>()).unwrap();
    since("7").exits(4);
    since("6").exits(0);
    since("5").exits(1).tells(&["no revision 5"]);
}

/// The error names the missing argument and the command that the person probably meant.
#[test]
fn a_whole_block_and_an_empty_one() {
    let place = yard();
    let way = "to remove the whole block: hermitcrab block rm yard --whole";
    place.run(&["block", "rm", "yard"]).exits(2).tells(&[way]);
    place
        .run(&["block", "rm", "yard", "0"])
        .exits(2)
        .tells(&[way]);
    for create in [
        &["block", "create", "notes"][..],
        &["block", "create", "notes", ""],
    ] {
        let empty = place.run(create).exits(2);
        empty.tells(&["missing TEXT: what this block is for"]);
    }
}

/// The aliases are words that people try first.
#[test]
fn other_words_for_the_commands() {
    let place = Place::new();
    let block = |arguments: &[&str]| place.run(&[&["block"], arguments].concat()).exits(0);
    block(&["new", "notes", "What I note."]);
    block(&["add", "notes", "oak"]);
    block(&["edit", "notes", "0.2", "larch"]);
    block(&["move", "notes", "0.2", "0.3"]);
    assert!(block(&["show", "notes"]).stdout.contains("0.3  larch"));
    block(&["delete", "notes", "0.3"]);
    let help = block(&["--help"]).stdout;
    for alias in ["show", "new", "edit", "add", "move", "delete"] {
        assert!(help.contains(alias), "{alias}: {help}");
    }
}

#[test]
fn a_block_that_grew_says_which_paths_are_others_now() {
    let entries = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let place = Place::with_block("notes", "Notes about the boat.", &entries);
    let append = ["block", "append", "notes", "10", "--summary", "Nine."];
    let ran = place.run(&append).exits(0);
    assert_eq!(ran.stdout, "notes 0.2.1 is written, revision 11\n");
    ran.tells(&["notes grew: 0.1 to 0.9 are now 0.1.1 to 0.1.9\n"]);
    assert_eq!(
        place.json(&["block", "read", "notes", "0.1.9"])["node"]["content"],
        "9"
    );

    place.run(&["block", "undo", "notes"]).exits(0);
    let grown = json!({"from": "0.N", "to": "0.1.N"});
    let appended = place.json(&append);
    assert_eq!(
        (&appended["path"], &appended["grown"]),
        (&json!("0.2.1"), &grown)
    );
    let grow = ["block", "grow", "notes", "--summary", "All."];
    let ran = place.run(&grow).exits(0);
    ran.tells(&["notes grew: 0.1 to 0.2 are now 0.1.1 to 0.1.2\n"]);
    assert_eq!(place.json(&grow)["grown"], grown);
    let appended = place.json(&["block", "append", "notes", "11"]);
    assert_eq!(appended["grown"], Value::Null);
}

#[cfg(unix)]
#[test]
fn a_removed_block_comes_back_by_the_printed_command() {
    use crate::program::{BINARY, DATA, finish, isolated, start};

    let place = Place::with_block("yard", "What the yard holds.", &["Larch"]);
    std::fs::rename(place.path(DATA), place.path("my data")).unwrap();
    let run = |arguments: &[&str]| {
        let arguments = [arguments, &["--data", "my data"]].concat();
        finish(start(&mut place.bare(&arguments)))
    };
    let before = place.read("my data/blocks/yard.json");
    for _ in 0..2 {
        let ran = run(&["block", "rm", "yard", "--whole"]).exits(0);
        let (_, command) = ran
            .stderr
            .split_once("restore it with: hermitcrab ")
            .unwrap();
        assert!(!place.path("my data/blocks/yard.json").exists());
        // As a shell reads it.
        let script = format!("\"$0\" {command}");
        let mut shell = isolated("sh", place.root(), &["-c", &script, BINARY]);
        finish(start(&mut shell)).exits(0);
        assert_eq!(place.read("my data/blocks/yard.json"), before);
    }
}

#[test]
fn a_pipe_gets_whole_texts() {
    let long = format!("Oak {} larch", "x".repeat(400));
    let place = Place::with_block("yard", "What the yard holds.", &[&long]);
    place
        .run(&["block", "write", "yard", "0.1", "Ash"])
        .exits(0);
    for arguments in [
        &["block", "undo", "yard"][..],
        &["block", "log", "yard"],
        &["block", "search", "larch"],
        &["block", "diff", "yard", "--since", "1"],
    ] {
        let ran = place.run(arguments).exits_with_one_of(&[0, 4]);
        assert!(ran.stdout.contains(&long), "{arguments:?} {}", ran.stdout);
        assert!(!ran.stdout.contains('\u{2026}'), "{arguments:?}");
    }
}

#[test]
fn the_folder_of_an_output_is_made() {
    let place = Place::with_block("yard", "What the yard holds.", &[]);
    place.run(&["export", "-o", "new/folder/all.json"]).exits(0);
    assert!(place.path("new/folder/all.json").exists());
    let inside = ["export", "-o", "data/new/folder/all.json"];
    place
        .run(&inside)
        .exits(2)
        .tells(&["in the data directory"]);
    assert!(!place.path("data/new").exists());
}
