//! Servers that fail in every way. Each failure is a tool error, the turn is answered, and no process is left.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{add, choice, mcp, result, server, set_fault, tools, with_fault};
use crate::model::{GREETING, Talk, calls, says};
use crate::program::{BINARY, DATA, Place, Ran, feed, finish, signal, start};

/// Runs two turns in which the model chooses the tools of a server with this fault and calls one. Returns the result of the call.
#[track_caller]
fn calls_once(fault: &str) -> (String, bool) {
    let talk = with_fault(turns(), fault);
    let ran = talk.say("look\nagain\n").exits(0);
    ended(&talk, &ran);
    result(&talk, "b")
}

/// Returns a model that chooses the tools of the server, calls one, and answers.
fn turns() -> Talk {
    Talk::of([
        calls("a", "set_tools", &choice()),
        calls("b", "faulty__find", &json!({"q": "moss"})),
        says("done"),
    ])
}

/// Fails the test unless both turns were answered and no process of the server is left.
#[track_caller]
fn ended(talk: &Talk, ran: &Ran) {
    assert_eq!(
        ran.stdout,
        format!("{GREETING}\ndone\ndone\n"),
        "{}",
        ran.stderr
    );
    server::all_have_ended(talk.place.root());
}

#[track_caller]
fn fails_with(fault: &str, words: &str) {
    let (text, is_error) = calls_once(fault);
    assert!(
        is_error && text.contains("server_failed") && text.contains(words),
        "{text}"
    );
}

#[test]
fn a_server_without_faults_answers() {
    assert_eq!(calls_once("none"), ("found \"moss\"".to_owned(), false));
}

#[test]
fn dies_at_start() {
    let talk = with_fault(turns(), "dies-at-start");
    let ran = talk.say("look\nagain\n").exits(0);
    ended(&talk, &ran);
    let (text, is_error) = result(&talk, "a");
    assert!(is_error && text.contains("server_failed"), "{text}");
    assert!(
        text.contains("exit status: 3") && text.contains("no notes"),
        "{text}"
    );
    assert!(!ran.all().contains('\u{1b}'), "{ran:?}");
    // The choice of such a server changes nothing.
    assert_eq!(tools(&talk.asked()[1]).len(), 10);
    // Nor is it added.
    let command = server::command("dies-at-start");
    let mut words = vec!["--data", DATA, "mcp", "add", "second", "--"];
    words.extend(command.iter().map(String::as_str));
    let ran = finish(start(&mut talk.place.bare(&words))).exits(1);
    ran.tells(&["second: it ended (exit status: 3)"]);
    assert!(!talk.place.read("data/servers.json").contains("second"));
}

#[test]
fn dies_at_a_call() {
    fails_with("dies-at-call", "exit status: 4");
}

#[test]
fn dies_in_a_line() {
    fails_with("mid-line", "exit status: 5");
}

#[test]
fn answers_another_request() {
    fails_with("other-id", "within 30 s");
}

#[test]
fn never_answers() {
    fails_with("never", "within 30 s");
}

#[test]
fn is_silent_at_its_start() {
    let talk = with_fault(turns(), "silent");
    let ran = talk.say("look\nagain\n").exits(0);
    ended(&talk, &ran);
    let (text, is_error) = result(&talk, "a");
    assert!(is_error && text.contains("within 10 s"), "{text}");
}

/// Runs the two turns in a memory that is too small for a GiB.
#[track_caller]
fn in_little_memory(talk: &Talk) {
    let inner = talk.command(&[]);
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -v 1000000 && exec \"$0\" \"$@\"", BINARY])
        .args(inner.get_args())
        .current_dir(talk.place.root())
        .env_clear()
        // Each thread would reserve memory.
        .env("MALLOC_ARENA_MAX", "2")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap());
    }
    let ran = feed(&mut command, b"look\nagain\n").exits(0);
    ended(talk, &ran);
}

#[test]
fn sends_a_line_of_a_gigabyte() {
    let talk = with_fault(turns(), "huge-line");
    in_little_memory(&talk);
    let (text, is_error) = result(&talk, "b");
    assert!(is_error && text.contains("more than 4 MiB"), "{text}");
}

#[test]
fn lists_its_tools_on_pages() {
    let found = ("found \"moss\"".to_owned(), false);
    assert_eq!(calls_once("two-pages"), found);
    for (fault, words) in [
        ("same-page", "names a page twice"),
        ("more-pages", "more than 50 pages"),
    ] {
        let talk = with_fault(turns(), fault);
        // The pages would not end.
        in_little_memory(&talk);
        let (text, is_error) = result(&talk, "a");
        assert!(
            is_error && text.contains("server_failed") && text.contains(words),
            "{text}"
        );
    }
}

#[test]
fn sends_messages_without_end() {
    fails_with("endless", "more than 4 MiB");
}

#[test]
fn has_five_hundred_tools() {
    let talk = with_fault(turns(), "many");
    let ran = talk.say("look\nagain\n").exits(0);
    ended(&talk, &ran);
    // One is allowed, so one is offered.
    let bodies = talk.asked();
    let names = tools(&bodies[1]);
    assert_eq!(
        names,
        ["block_read", "block_list", "set_tools", "faulty__find"]
    );
    assert_eq!(result(&talk, "b"), ("found \"moss\"".to_owned(), false));
}

#[test]
fn asks_for_sampling_roots_and_input() {
    assert_eq!(
        calls_once("asks"),
        ("-32601 -32601 -32601".to_owned(), false)
    );
}

#[test]
fn a_failure_of_the_tool_itself_is_its_words() {
    let (text, is_error) = calls_once("fails");
    assert!(
        is_error && text.contains("\"failed\"") && text.contains("no such note"),
        "{text}"
    );
}

#[test]
fn a_long_text_is_cut_and_pictures_are_named() {
    let (text, is_error) = calls_once("long");
    assert!(
        !is_error && text.starts_with(&"n".repeat(12_000)),
        "{}",
        text.len()
    );
    assert!(
        text.len() < 12_200 && text.contains("[cut after 12000 of 20000"),
        "{}",
        text.len()
    );
    let (text, _) = calls_once("picture");
    let expected = "[a picture, image/png]\n[a link, file:///etc/passwd]\na caption";
    assert_eq!(text, expected);
}

#[test]
fn all_processes_of_a_server_end_with_the_program() {
    assert!(!calls_once("two-processes").1);
}

#[test]
fn a_signal_in_a_call_ends_the_server_too() {
    for fault in ["never", "stubborn"] {
        let talk = with_fault(turns(), fault);
        let mut child = start(talk.command(&[]).stdin(Stdio::piped()));
        let mut lines = child.stdin.take().unwrap();
        lines.write_all(b"look\n").unwrap();
        let called = talk.place.path(server::CALLED);
        let mut looks = 0;
        while !called.exists() {
            looks += 1;
            assert!(looks < 2_000, "no tool was called");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        signal(child.id(), "-TERM");
        finish(child).exits(130);
        server::all_have_ended(talk.place.root());
    }
}

#[test]
fn a_signal_while_tools_are_listed_ends_the_server_too() {
    for signal_name in ["-TERM", "-INT"] {
        let place = Place::with_data();
        let command = server::command("deaf");
        let mut words = vec!["add", "second", "--"];
        words.extend(command.iter().map(String::as_str));
        let child = start(&mut mcp(&place, &words));
        server::have_begun(place.root(), 1);
        signal(child.id(), signal_name);
        finish(child).exits(130);
        server::all_have_ended(place.root());
        add(&place, &["find"], &[]);
        set_fault(&place, "deaf");
        let child = start(&mut mcp(&place, &["allow", "faulty", "env"]));
        server::have_begun(place.root(), 3);
        signal(child.id(), signal_name);
        finish(child).exits(130);
        server::all_have_ended(place.root());
    }
}

#[test]
fn a_signal_ends_the_questions() {
    let place = Place::with_data();
    let command = server::command("none");
    let mut words = vec!["add", "second", "--"];
    words.extend(command.iter().map(String::as_str));
    let mut child = start(mcp(&place, &words).stdin(Stdio::piped()));
    let answers = child.stdin.take();
    server::have_begun(place.root(), 1);
    server::all_have_ended(place.root());
    signal(child.id(), "-INT");
    finish(child).exits(130);
    drop(answers);
    assert!(!place.path("data/servers.json").exists());
}

#[test]
fn another_program_under_the_name_is_started_in_place_of_the_earlier_one() {
    let call = |id: &str| calls(id, "faulty__find", &json!({"q": id}));
    let talk = Talk::of([
        calls("a", "set_tools", &choice()),
        call("b"),
        call("c"),
        says("done"),
    ]);
    let talk = with_fault(talk, "replaced");
    let ran = talk.say("look\nagain\n").exits(0);
    ended(&talk, &ran);
    assert_eq!(result(&talk, "b").0, "another one from now on");
    assert_eq!(result(&talk, "c"), ("found \"c\"".to_owned(), false));
}

#[test]
fn is_started_again_three_times_an_hour() {
    let call = |id: &str| calls(id, "faulty__find", &json!({"q": id}));
    let talk = Talk::of([
        calls("a", "set_tools", &choice()),
        call("b"),
        call("c"),
        call("d"),
        call("e"),
        call("f"),
        says("done"),
    ]);
    let talk = with_fault(talk, "dies-at-call");
    let ran = talk.say("look\nagain\n").exits(0);
    ended(&talk, &ran);
    for id in ["b", "c", "d", "e"] {
        assert!(result(&talk, id).0.contains("exit status: 4"), "{id}");
    }
    let (text, _) = result(&talk, "f");
    assert!(
        text.contains("started again 3 times within an hour"),
        "{text}"
    );
    // One start was that of `mcp add`.
    assert_eq!(talk.place.read(server::PROCESSES).lines().count(), 5);
}
