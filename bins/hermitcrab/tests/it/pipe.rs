//! `chat` in a pipe: a line is a turn, and the output is plain text.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::program::{DATA, Place, Ran, finish, start};

/// A part of the greeting of the offline script at the first start.
const FIRST: &str = "this is a first meeting";

fn chat(place: &Place, lines: impl AsRef<[u8]>) -> Ran {
    place.fed(lines.as_ref(), &["chat"])
}

/// Fails the test unless stdout has these words, one after the other.
#[track_caller]
fn in_order(ran: &Ran, words: &[&str]) {
    let mut rest = ran.stdout.as_str();
    for word in words {
        let Some((_, after)) = rest.split_once(word) else {
            panic!("{word:?} is missing, or comes too early:\n{}", ran.stdout);
        };
        rest = after;
    }
}

/// Returns the record of the conversation, to which every answer of a model is added.
fn said(place: &Place) -> String {
    place.read("data/conversation.jsonl")
}

#[test]
fn a_life_without_a_page_or_a_key() {
    let place = Place::new();
    let lines = "remember: the keel is laid\nread memory\nwrite memory 0.2: oak on larch\nread memory 0.2\n\
        create log: What the wind did.\nlist\ntools base web\ntime\n";
    let first = chat(&place, lines).exits(0);
    in_order(
        &first,
        &[
            FIRST,
            "Remembered at 0.1.",
            "0.1 the keel is laid",
            "Written to memory 0.2.",
            "0.2 oak on larch",
            "Block log is made.",
            "log (1 nodes): What the wind did.",
            "block_append, patch_source, web_search, web_fetch",
            "zone: ",
        ],
    );
    let first = first.tells(&["offline", "first start: created 6 blocks in data"]);
    assert!(!first.stderr.contains("  block_append"), "{}", first.stderr);
    // Plain text: no colours, no prompts, no carriage returns.
    for text in [&first.stdout, &first.stderr] {
        assert!(!text.contains('\u{1b}') && !text.contains('\r'), "{text:?}");
    }
    assert!(!first.stdout.lines().any(|line| line.starts_with("> ")));

    // A face is made, breaks, is mended in the same turn, and is changed.
    let lines = b"tools base\nbreak\nbigger text\n";
    let second = place.fed(lines, &["chat", "-v"]).exits(0);
    in_order(&second, &["The face is repaired.", "The face is changed."]);
    second.tells(&["face 1 is kept", "face 2 is kept"]);

    // The next start calls no model and has the whole conversation.
    let before = said(&place);
    let third = chat(&place, "").exits(0);
    assert_eq!(said(&place), before);
    assert!(!third.stdout.contains(FIRST), "{}", third.stdout);
    let fourth = chat(&place, "read memory\n/blocks\n").exits(0);
    in_order(
        &fourth,
        &["0.1 the keel is laid", "0.2 oak on larch", "\nlog "],
    );
    let shells = place.json(&["shells"]);
    assert_eq!(shells["shells"].as_array().unwrap().len(), 2);
    let source = place.run(&["shells", "show", "2"]).exits(0).stdout;
    assert!(source.contains("const SIZE = 18;"), "{source}");

    // With `--fresh` the model wakes again, and it knows that this is not the first meeting.
    let before = said(&place);
    let fresh = place.fed(b"", &["chat", "--fresh"]).exits(0);
    assert_ne!(said(&place), before);
    assert!(fresh.stdout.contains("Hello."), "{}", fresh.stdout);
    assert!(!fresh.stdout.contains(FIRST), "{}", fresh.stdout);
    chat(&place, "read memory\n").exits(0);
}

#[test]
fn tools_that_are_chosen_stay_chosen() {
    let place = Place::new();
    chat(&place, "tools base web\n").exits(0);
    let ran = chat(&place, "/tools\n").exits(0);
    assert!(ran.stdout.contains("web_fetch"), "{}", ran.stdout);
    // An unknown one changes nothing.
    let ran = chat(&place, "tools wbe\n/tools\n").exits(0);
    in_order(&ran, &["It did not work: ", "web_fetch"]);
}

#[test]
fn lines_that_say_nothing_ask_nobody() {
    let place = Place::new();
    chat(&place, "").exits(0);
    let before = said(&place);
    let ran = chat(&place, "\n   \n\t\r\n\n").exits(0);
    assert_eq!(said(&place), before);
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
}

#[test]
fn the_last_line_needs_no_end_and_a_line_may_end_as_windows_ends_it() {
    let place = Place::new();
    let ran = chat(&place, "remember: one\r\nremember: two").exits(0);
    in_order(&ran, &["Remembered at 0.1.", "Remembered at 0.2."]);
    let memory = place.read("data/blocks/memory.json");
    assert!(!memory.contains("\\r"), "{memory}");
}

#[test]
fn what_is_not_in_the_script_is_one_line_and_nothing_is_metered() {
    let place = Place::new();
    chat(&place, "").exits(0);
    let ran = chat(&place, "what is the tide?\nhelp\n/cost\n").exits(0);
    in_order(
        &ran,
        &[
            "Here again.\nThat is not in my script; try `help`.\n",
            "I understand:\nlist\n",
            "turn  0 calls, 0 tokens in (0 cached), 0 out, $0.00\n",
        ],
    );
    let ran = ran.tells(&["offline · 1 round · 0 tokens in, 0 out"]);
    assert_eq!(ran.stdout.matches("not in my script").count(), 1);
    assert!(!place.names(DATA).contains(&"usage.jsonl".to_owned()));
    assert_eq!(place.json(&["cost"])["total"]["calls"], 0);
}

#[test]
fn an_unknown_command_is_named_and_the_next_line_is_answered() {
    let place = Place::new();
    let ran = chat(
        &place,
        "/nope\n/read\n/read nothere\n/undo memory x\nremember: on\n",
    );
    let ran = ran.exits(0).tells(&["/help", "nothere"]);
    in_order(&ran, &["Remembered at 0.1."]);
}

#[test]
fn the_commands_of_the_person() {
    let place = Place::new();
    let lines = "remember: one\n/read memory 0.1\n/log memory\n/undo memory\n/read memory\n/tools\n/cost\n/prompt\n\
        /save said.txt\n/help\n/quit\nremember: never said\n";
    let ran = chat(&place, lines).exits(0);
    in_order(
        &ran,
        &[
            "Remembered at 0.1.",
            "0.1  one",
            "block_read block_write block_list block_create get_source recompile get_datetime set_tools",
            "turn ",
            "day ",
            "total ",
            "tokens (o200k",
            "/blocks ",
        ],
    );
    assert!(!ran.stdout.contains("never said"), "{}", ran.stdout);
    let saved = place.read("said.txt");
    assert!(
        saved.contains("you: remember: one\n\nhermitcrab: Remembered at 0.1.\n"),
        "{saved}"
    );
    assert!(!place.read("data/blocks/memory.json").contains("one"));
}

#[test]
fn block_commands_print_what_the_command_line_prints() {
    let place = Place::with_block("wind", "What the wind did.", &["north", "east"]);
    let greeting = chat(&place, "").exits(0).stdout;
    assert!(greeting.contains(FIRST), "{greeting}");
    // What a command prints after the greeting of a later start.
    let printed = |line: &str| {
        let said = chat(&place, format!("{line}\n")).exits(0);
        let printed = said.stdout.strip_prefix("Here again.\n");
        (printed.unwrap().to_owned(), said.stderr)
    };
    for (line, words) in [
        ("/blocks", &["block", "list"][..]),
        ("/read wind", &["block", "read", "wind"]),
        ("/read wind 0.1", &["block", "read", "wind", "0.1"]),
        ("/log wind", &["block", "log", "wind"]),
    ] {
        let told = place.run(words).exits(0).stdout;
        assert!(told.lines().count() > 1, "{told}");
        assert_eq!(printed(line).0, told, "{line}");
    }
    // On two equal blocks an edit says the same.
    place
        .run(&["block", "create", "tide", "The tide."])
        .exits(0);
    for entry in ["north", "east"] {
        place.run(&["block", "append", "tide", entry]).exits(0);
    }
    for (line, words) in [
        (
            "/undo wind 2",
            &["block", "undo", "tide", "--count", "2"][..],
        ),
        ("/redo wind", &["block", "redo", "tide"]),
        ("/undo wind", &["block", "undo", "tide"]),
    ] {
        let told = place.run(words).exits(0).stdout;
        assert!(told.starts_with("tide: "), "{told}");
        assert_eq!(printed(line).0, told.replace("tide", "wind"), "{line}");
    }
    // The faults are those of the command line, too.
    for (line, words) in [
        ("/read nothere", &["block", "read", "nothere"][..]),
        ("/undo nothere", &["block", "undo", "nothere"]),
        ("/read wind 0.7", &["block", "read", "wind", "0.7"]),
    ] {
        let fault = place.run(words).stderr;
        assert!(printed(line).1.contains(&fault), "{line}: {fault}");
    }
    let (_, told) = printed("/undo wind x");
    assert!(told.contains("x is not a number of edits"), "{told}");
    // All blocks, the last 20 edits, the latest at the end.
    for at in 1..=20 {
        let path = if at < 10 { "0.3" } else { "0.4" };
        let name = if at % 2 == 0 { "wind" } else { "tide" };
        place
            .run(&["block", "write", name, path, &at.to_string()])
            .exits(0);
    }
    let log = printed("/log").0;
    let ends: Vec<_> = log
        .lines()
        .map(|line| line.rsplit("  ").next().unwrap())
        .collect();
    let edits: Vec<_> = (1..=20).map(|at: u32| at.to_string()).collect();
    assert_eq!(ends, edits, "{log}");
}

#[test]
fn h17_what_is_saved_goes_by_its_author() {
    let place = Place::new();
    let line = |by: &str, message: Value| {
        let said = json!({"schema_version": 2, "at": "2026-11-20T14:00:00Z", "by": by, "message": message});
        format!("{}\n", json!({ "message": said }))
    };
    let text = |role: &str, text: &str| json!({"role": role, "content": [{"kind": {"text": {"text": text}}}]});
    let record = [
        line("person", text("user", "[a list]")),
        line("model", text("assistant", "[\"a\"]")),
        line("kernel", text("user", "Anything of the kernel's.")),
        line(
            "face 2",
            text("user", "[From face 2, not from the person] Hm."),
        ),
        line("model", text("assistant", "No.")),
    ];
    place.file("data/conversation.jsonl", record.concat());
    chat(&place, "/save said.txt\n/quit\n").exits(0);
    let said = place.read("said.txt");
    let words = "you: [a list]\n\nhermitcrab: [\"a\"]\n\nface 2: [From face 2, not from the person] Hm.\n\nhermitcrab: No.\n";
    assert!(said.starts_with(words), "{said}");
}

#[test]
fn a_message_that_is_too_long_is_refused_with_the_limit_and_the_next_is_answered() {
    let place = Place::new();
    for long in ["x".repeat(100_000), "ä".repeat(100_000)] {
        let ran = chat(&place, format!("{long}\nremember: short\n")).exits(3);
        in_order(&ran, &["Remembered at "]);
        let ran = ran.tells(&["100000", "60000"]);
        assert!(ran.stderr.len() < 5_000, "the line is repeated");
    }
    let kept = place.read("data/conversation.jsonl");
    assert!(!kept.contains("xxxx") && !kept.contains("ääää"));
}

#[test]
fn a_line_without_an_end_in_sight_is_one_message_that_is_refused() {
    let place = Place::new();
    let long = "y".repeat(3 << 20);
    let ran = chat(&place, format!("{long}\nremember: short\n")).exits(3);
    in_order(&ran, &["Remembered at 0.1."]);
    let refused = ran.stderr.matches("60000").count();
    assert_eq!(refused, 1, "{}", ran.stderr);
}

#[test]
fn what_is_no_text_is_refused_and_what_was_said_before_is_kept() {
    let place = Place::new();
    let ran = chat(&place, b"remember: one\n\xff\xfe\xfa\nremember: two\n").exits(3);
    let ran = ran.tells(&["UTF-8"]);
    in_order(&ran, &["Remembered at 0.1.", "Remembered at 0.2."]);
}

#[test]
fn a_reader_that_leaves_early_ends_it_quietly() {
    let place = Place::new();
    let mut child = start(place.command(&["chat"]).stdin(Stdio::piped()));
    let mut pipe = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut greeting = String::new();
    out.read_line(&mut greeting).unwrap();
    assert!(greeting.contains(FIRST), "{greeting}");
    // As `head -1` does it.
    drop(out);
    for at in 0..5 {
        // It may have ended before.
        let _ = writeln!(pipe, "remember: entry {at}");
    }
    drop(pipe);
    let ran = finish(child);
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    // The next start works.
    let ran = chat(&place, "read memory\n").exits(0);
    in_order(&ran, &["0.1 entry 0"]);
}

#[test]
fn answers_come_as_the_lines_come() {
    let place = Place::new();
    let mut child = start(place.command(&["chat"]).stdin(Stdio::piped()));
    let mut pipe = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    for at in 1..=3 {
        writeln!(pipe, "remember: entry {at}").unwrap();
        line.clear();
        out.read_line(&mut line).unwrap();
        assert_eq!(line, format!("Remembered at 0.{at}.\n"));
    }
    drop(pipe);
    finish(child).exits(0);
}

#[test]
fn quiet_says_whom_it_asks_and_nothing_else() {
    let place = Place::new();
    let quiet = place.fed(b"time\n", &["--quiet", "chat"]).exits(0);
    // Whom it asks is always said, and nothing else.
    assert_eq!(quiet.stderr.lines().count(), 1, "{}", quiet.stderr);
    assert!(quiet.stderr.contains("running offline"), "{}", quiet.stderr);
    assert!(place.names(DATA).contains(&"conversation.jsonl".to_owned()));
}

#[test]
fn two_cannot_talk_at_once_and_the_second_says_what_to_do() {
    let place = Place::new();
    let mut child = start(place.command(&["chat"]).stdin(Stdio::piped()));
    let pipe = child.stdin.take().unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let pid = child.id().to_string();
    place
        .fed(b"remember: y\n", &["chat"])
        .exits(2)
        .tells(&["locked", &pid]);
    // Looking works meanwhile.
    place.run(&["cost"]).exits(0);
    place.run(&["block", "read", "memory"]).exits(0);
    drop(pipe);
    finish(child).exits(0);
}
