//! Replies, files and signals that could break a chat.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use rustix::fs::{OFlags, fcntl_setfl};
use serde_json::{Value, json};
use test_support::CannedReply;

use crate::model::{GREETING, Talk, assert_paired, calls, fails, says, streamed};
use crate::program::{Place, signal, start};
use crate::terminal::Terminal;

const CTRL_D: &[u8] = b"\x04";
/// A text that sets a terminal's title, clears it, begins an escape sequence in one character and turns the direction.
const STEERS: &str = "a\u{1b}]0;b\u{7}c\u{1b}[2Jd\u{9b}e\u{202e}f";

fn until_asked(talk: &Talk, requests: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let waiting = talk.server.wait_requests(requests);
    runtime.unwrap().block_on(waiting);
}

fn fifo(place: &Place, name: &str) {
    let made = Command::new("mkfifo").arg(place.path(name)).status();
    assert!(made.unwrap().success());
}

fn edits(place: &Place) -> usize {
    let log = fs::read_to_string(place.path("data/log/memory.jsonl"));
    log.map_or(0, |log| log.lines().count())
}

#[test]
fn a_signal_stops_the_tools_of_a_reply() {
    const CALLS: usize = 400;
    let mut reply = CannedReply::text("");
    for number in 0..CALLS {
        let arguments = json!({"name": "memory", "path": "0.1", "content": format!("{number}")});
        reply = reply.call(&format!("c{number}"), "block_write", &arguments.to_string());
    }
    let talk = Talk::of([streamed(&reply), says("here")]);
    let mut child = start(
        talk.command(&[])
            .stdin(Stdio::piped())
            .stderr(Stdio::null()),
    );
    writeln!(child.stdin.as_mut().unwrap(), "write").unwrap();
    while edits(&talk.place) < 3 {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    signal(child.id(), "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let done = edits(&talk.place);
    assert!(done < CALLS / 2, "{done} of {CALLS} calls were run");
    assert_eq!(talk.asked().len(), 1);
    let kept = talk.place.read("data/conversation.jsonl");
    assert!(kept.contains("the person stopped the turn"), "{kept}");
    talk.say("go on\n").exits(0);
    assert_paired(&talk.asked().pop().unwrap());
}

#[test]
fn a_signal_ends_a_chat_whose_output_is_not_read() {
    let (_unread, mut full) = std::io::pipe().unwrap();
    fcntl_setfl(&full, OFlags::NONBLOCK).unwrap();
    let filled = std::iter::repeat_with(|| full.write(&[b'.'; 4_096])).find_map(Result::err);
    assert_eq!(filled.unwrap().kind(), ErrorKind::WouldBlock);
    fcntl_setfl(&full, OFlags::empty()).unwrap();
    let talk = Talk::of([says("here")]);
    let mut command = talk.command(&[]);
    command
        .stdin(Stdio::piped())
        .stdout(full)
        .stderr(Stdio::null());
    let child = start(&mut command);
    // The greeting cannot be written.
    until_asked(&talk, 1);
    signal(child.id(), "-TERM");
    crate::program::finish(child).exits(130);
}

#[test]
fn a_tool_with_a_name_of_any_length_fills_no_window() {
    let name = "n".repeat(150_000);
    let talk = Talk::of([calls("c", &name, &json!({})), says("here")]);
    let ran = talk.say("first\nsecond\n").exits(0);
    assert_eq!(ran.stdout, format!("{GREETING}\nhere\nhere\n"));
    assert!(ran.stderr.len() < 3_000, "{}", ran.stderr.len());
    talk.say("third\n").exits(0);
    let longest = talk.asked().iter().map(|body| body.to_string().len()).max();
    assert!(longest < Some(100_000), "{longest:?}");
    assert!(talk.place.read("data/conversation.jsonl").len() < 20_000);
}

#[test]
fn a_pause_that_cannot_be_continued_keeps_its_words() {
    let pause = CannedReply::text("The tide turns at six.").stopped("pause_turn", "stop");
    let talk = Talk::of([streamed(&pause), says("here")]);
    let ran = talk
        .say("when?\nthen?\n")
        .exits(3)
        .tells(&["the provider paused"]);
    assert_eq!(
        ran.stdout,
        format!("{GREETING}\nThe tide turns at six.\nhere\n")
    );
    let last = talk.asked().pop().unwrap();
    assert_paired(&last);
    assert!(last.to_string().contains("turns at six"), "{last}");
}

#[test]
fn a_prompt_steers_no_terminal() {
    let place = Place::new();
    place.fed(b"", &["chat"]).exits(0);
    place.run(&["block", "append", "memory", STEERS]).exits(0);
    let call = ["prompt", "--phase", "call"];
    let shown = place.run(&call).exits(0).stdout;
    let typed = place.fed(b"/prompt\n", &["chat"]).exits(0).stdout;
    for told in [&shown, &typed] {
        assert!(told.contains(r"c\u{1b}[2Jd\u{9b}e\u{202e}f"), "{told}");
        assert!(!told.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']));
    }
}

#[test]
fn json_steers_no_terminal() {
    let place = Place::with_block("yard", "What the yard holds.", &[STEERS]);
    for words in [
        &["block", "read", "yard", "--json"][..],
        &["block", "export", "yard"],
    ] {
        let whole = place.run(words).exits(0).stdout;
        assert!(whole.contains('\u{9b}'), "{whole}");
        let told = Terminal::start(&place.command(words)).all();
        assert!(!told.contains(['\u{9b}', '\u{202e}']), "{told}");
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(read(&told), read(&whole));
    }
}

#[test]
fn a_terminal_shows_an_answer_once() {
    let looks = CannedReply::text("I look it up.").call("c", "block_list", "{}");
    let refusal = CannedReply::text("").stopped("refusal", "content_filter");
    let talk = Talk::of([streamed(&looks), says("It is six."), streamed(&refusal)]);
    let mut terminal = Terminal::start(&talk.command(&[]));
    terminal.until("/help");
    terminal.press(b"when?\r");
    let told = terminal.before(" out · ");
    for words in ["I look it up.\r\n", "It is six."] {
        assert_eq!(told.matches(words).count(), 1, "{words}: {told}");
    }
    assert!(!told.contains("block_list"), "{told}");
    terminal.until("> ");
    terminal.press(b"how?\r");
    let told = terminal.before(" out · ");
    assert_eq!(told.matches("declines to answer").count(), 1, "{told}");
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_an_error_and_no_wait() {
    let listed: &[&[&str]] = &[
        &["hermitcrab.toml", "prompt"],
        &["hermitcrab.toml", "chat"],
        &["g0.json", "chat"],
        &["keys.env", "key", "status"],
        &["keys.env", "chat"],
    ];
    for words in listed {
        let place = Place::with_block("yard", "What the yard holds.", &[]);
        let name = format!("data/{}", words[0]);
        fifo(&place, &name);
        let ran = place.run(&words[1..]).exits(2);
        ran.tells(&[&name, "not a regular file"]);
    }
}

#[test]
fn remembered_lines_follow_no_link_and_wait_for_no_pipe() {
    let place = Place::new();
    place
        .run(&["block", "create", "yard", "Its head."])
        .exits(0);
    place.file("victim", "as it was\n");
    symlink(place.path("victim"), place.path("data/lines.txt")).unwrap();
    let leave = |place: &Place| {
        let mut terminal = Terminal::start(&place.command(&["chat"]));
        terminal.until("> ");
        terminal.press(b"/help\r");
        terminal.until("/quit");
        terminal.until("> ");
        terminal.press(CTRL_D);
        assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    };
    leave(&place);
    assert_eq!(place.read("victim"), "as it was\n");
    fs::remove_file(place.path("data/lines.txt")).unwrap();
    fifo(&place, "data/lines.txt");
    leave(&place);
}

#[test]
fn a_log_that_is_not_a_file_keeps_no_other_block_away() {
    let make: [fn(&Place, &str); 3] = [
        fifo,
        |place, name| fs::create_dir(place.path(name)).unwrap(),
        |place, name| symlink("/dev/zero", place.path(name)).unwrap(),
    ];
    for make in make {
        let place = Place::with_block("yard", "What the yard holds.", &["A saw."]);
        place
            .run(&["block", "create", "shed", "Its head."])
            .exits(0);
        fs::remove_file(place.path("data/log/yard.jsonl")).unwrap();
        make(&place, "data/log/yard.jsonl");
        for name in ["shed", "yard"] {
            place.run(&["block", "read", name]).exits(0);
        }
        let append = ["block", "append", "yard", "A rope."];
        place.run(&append).exits(0).tells(&["quarantine"]);
        let read = place.run(&["block", "read", "yard"]).exits(0).stdout;
        assert!(
            read.contains("A saw.") && read.contains("A rope."),
            "{read}"
        );
    }
}

#[test]
fn a_line_of_usage_that_cannot_be_written_is_written_with_the_next_one() {
    let place = Place::new();
    let (usage, moved) = (place.path("data/usage.jsonl"), place.path("moved"));
    let talk = Talk {
        place,
        ..Talk::by(move |_, number| {
            if number == 1 {
                fs::rename(&usage, &moved).unwrap();
                fs::create_dir(&usage).unwrap();
            } else if number == 2 {
                fs::remove_dir(&usage).unwrap();
                fs::rename(&moved, &usage).unwrap();
            }
            says("here")
        })
    };
    let ran = talk.say("first\nsecond\nthird\n").exits(0);
    ran.tells(&["usage.jsonl cannot be written"]);
    // The greeting's, and the three turns'.
    assert_eq!(talk.place.read("data/usage.jsonl").lines().count(), 4);
}

#[test]
fn a_call_without_an_answer_is_counted_under_its_model() {
    let events = CannedReply::text("half of it").anthropic_events();
    let cut = test_support::Answer::events().pieces(&events[..3]).close();
    let talk = Talk::by(move |received, _| match received.json()["model"].as_str() {
        Some("claude-opus-5-5") => fails(404, "not_found_error"),
        _ => cut.clone(),
    });
    talk.say("first\n").exits(3);
    let usage = talk.place.read("data/usage.jsonl");
    let last: Value = serde_json::from_str(usage.lines().last().unwrap()).unwrap();
    assert_eq!(last["model"], "claude-opus-5", "{usage}");
}

#[test]
fn tabs_of_an_answer_stay() {
    let talk = Talk::of([says("one\ttwo")]);
    let ran = talk.say("first\n/save talk.txt\n").exits(0);
    assert_eq!(ran.stdout, format!("{GREETING}\none\ttwo\n"));
    assert!(talk.place.read("talk.txt").contains("one\ttwo"));
}

#[test]
fn a_conversation_that_is_not_saved_shows_in_the_exit_code() {
    let place = Place::new();
    place.file("nope", "a file");
    for (file, words) in [
        ("nope/talk.txt", "nope"),
        ("data/talk.txt", "data directory"),
    ] {
        let line = format!("/save {file}\n");
        place
            .fed(line.as_bytes(), &["chat"])
            .exits(3)
            .tells(&[words]);
        assert!(!place.path(file).exists());
    }
}

#[test]
fn doctor_names_the_source_of_the_data_folder() {
    let place = Place::with_data();
    let offline = ["doctor", "--provider", "offline"];
    let found = |command: &mut Command| crate::program::feed(command, b"").exits(0).stdout;
    let told = found(&mut place.command(&offline));
    assert!(told.contains("data (--data)"), "{told}");
    let told = found(place.bare(&offline).env("XDG_DATA_HOME", place.path("xdg")));
    assert!(told.contains("hermitcrab (XDG_DATA_HOME)"), "{told}");
}

#[test]
fn a_host_that_is_none_is_refused_before_anything_is_made() {
    for host in ["http://x", "", "x:99999", "*"] {
        let place = Place::new();
        let ran = place.run(&["chat", "--allow-host", host]).exits(2);
        ran.tells(&["--allow-host"]);
        assert!(!place.path("data").exists(), "{host}");
    }
}
