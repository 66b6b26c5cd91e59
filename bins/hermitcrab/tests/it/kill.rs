//! Processes that are killed in the middle of an edit or of a turn: the next one starts, and nothing that was reported
//! is lost.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::program::RandomNumbers;
use test_support::{Answer, CannedReply};

use crate::model::{GREETING, Talk, assert_paired, calls, says, texts};
use crate::program::{Place, Ran, start};

/// The least number of processes that are killed, and that of those that report an edit.
const KILLED: u32 = 40;
const REPORTED: usize = 20;
/// The largest number of processes that are started.
const MOST: u32 = 1000;

/// Returns the numbers of the entries in the block, in their order.
fn entries(place: &Place) -> Vec<u32> {
    let read = place.json(&["block", "read", "memory"]);
    let texts = read["nodes"].as_array().unwrap().iter();
    let texts = texts.filter_map(|step| step["text"].as_str());
    let numbers = texts.filter_map(|text| text.strip_prefix("entry "));
    numbers.map(|number| number.parse().unwrap()).collect()
}

/// Appends the entry, with a summary in case that there are nine entries.
fn append(place: &Place, number: u32) -> std::process::Command {
    let (text, summary) = (format!("entry {number}"), format!("up to {number}"));
    place.command(&[
        "block",
        "append",
        "memory",
        &text,
        "--summary",
        &summary,
        "--json",
    ])
}

#[test]
fn an_edit_that_was_reported_outlives_every_kill() {
    let place = Place::with_block("memory", "What I remember.", &["entry 0"]);
    let begun = Instant::now();
    let whole = start(&mut append(&place, 1)).wait_with_output().unwrap();
    Ran::from(whole).exits(0);
    let mut span = begun.elapsed();

    let mut draws = RandomNumbers(20_261_122);
    let mut reported = vec![0, 1];
    let mut killed = 0;
    for number in 2.. {
        if killed >= KILLED && reported.len() >= REPORTED {
            break;
        }
        assert!(
            number < MOST,
            "{killed} killed, {} reported",
            reported.len()
        );
        let delay = draws.share_of(span);
        let mut child = start(&mut append(&place, number));
        let begun = Instant::now();
        while begun.elapsed() < delay {
            thread::yield_now();
        }
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        // A machine gets busier and quieter: the next one is killed later, or earlier.
        if output.status.code().is_none() {
            killed += 1;
            span = span.mul_f64(1.05);
        } else {
            span = span.mul_f64(0.95);
        }
        let answer: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        if answer.is_some_and(|answer| answer["path"].is_string()) {
            reported.push(number);
        }
        // What was not reported may be in, or come in when the next process repairs the block by its log.
        let kept = entries(&place);
        assert!(kept.is_sorted_by(|a, b| a < b), "{kept:?}");
        let lost: Vec<_> = reported
            .iter()
            .filter(|number| !kept.contains(number))
            .collect();
        assert!(
            lost.is_empty(),
            "{lost:?} lost by process {number}: {kept:?}"
        );
        assert!(kept.last() <= Some(&number), "{kept:?}");
        place.run(&["block", "log", "memory"]).exits(0);
    }
    // The history is whole: it can be taken back to the first entry.
    place
        .run(&["block", "undo", "memory", "--count", "1000"])
        .exits(0);
    assert_eq!(entries(&place), [0_u32; 0]);
}

/// A chat that receives line after line.
struct Talking {
    child: Child,
    lines: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Talking {
    fn start(talk: &Talk) -> Self {
        let mut child = start(talk.command(&[]).stdin(Stdio::piped()));
        Self {
            lines: child.stdin.take().unwrap(),
            answers: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.lines, "{line}").unwrap();
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), None, "it had ended by itself");
    }
}

/// Waits until the model has received this number of requests, that of the greeting included.
fn until_asked(talk: &Talk, requests: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let waiting = talk.server.wait_requests(requests);
    runtime.unwrap().block_on(waiting);
}

/// Starts again and says `line`. Returns the messages that the model receives, which must be valid.
#[track_caller]
fn next_start(talk: &Talk, line: &str) -> (Ran, String) {
    let ran = talk.say(&format!("{line}\n")).exits(0);
    let body = talk.asked().pop().unwrap();
    assert_paired(&body);
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert!(texts(last).contains(&line.to_owned()), "{last}");
    (ran, body["messages"].to_string())
}

/// Returns a model that gives these answers to the requests of turns, and then the last one without end.
fn with_stall(before: Vec<Answer>, stalled: Answer) -> Talk {
    let stall_at = before.len();
    Talk::by(move |_, number| match number {
        at if at < stall_at => before[at].clone(),
        at if at == stall_at => stalled.clone(),
        _ => says("Here."),
    })
}

#[test]
fn killed_while_the_model_is_silent_or_in_the_middle_of_its_answer() {
    let events = CannedReply::text("half of it").anthropic_events();
    for stalled in [
        Answer::raw().stall(),
        Answer::events().stall(),
        Answer::events().pieces(&events[..3]).stall(),
        Answer::events().pieces(&events[..events.len() - 1]).stall(),
    ] {
        let talk = with_stall(vec![says("The first answer.")], stalled);
        let mut talking = Talking::start(&talk);
        assert_eq!(talking.hear(), GREETING);
        talking.say("the first question");
        assert_eq!(talking.hear(), "The first answer.");
        talking.say("the second question");
        until_asked(&talk, 3);
        talking.kill();

        let (ran, messages) = next_start(&talk, "the third question");
        assert_eq!(ran.stdout, "Here again.\nHere.\n", "{}", ran.stderr);
        // What was answered is kept, what was not is not asked again by itself.
        assert!(messages.contains("The first answer."), "{messages}");
        assert!(!messages.contains("half"), "{messages}");
        assert!(!messages.contains("second question"), "{messages}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_between_two_lines_ends_a_chat_that_waits_for_one() {
    for name in ["-INT", "-TERM", "-HUP"] {
        let talk = Talk::of([says("The first answer."), says("Here.")]);
        let mut talking = Talking::start(&talk);
        assert_eq!(talking.hear(), GREETING);
        talking.say("the first question");
        assert_eq!(talking.hear(), "The first answer.");
        // The pipe stays open: the program would wait for ever.
        crate::program::signal(talking.child.id(), name);
        let status = talking.child.wait().unwrap();
        assert_eq!(status.code(), Some(130), "{name}");
        let (_, messages) = next_start(&talk, "the second question");
        assert!(messages.contains("The first answer."), "{messages}");
    }
}

#[test]
fn killed_between_two_rounds_of_tools() {
    let append = |text: &str| json!({"name": "memory", "content": text});
    let rounds = vec![
        calls("c1", "block_append", &append("one")),
        calls("c2", "block_append", &append("two")),
    ];
    let talk = with_stall(rounds, Answer::raw().stall());
    let mut talking = Talking::start(&talk);
    assert_eq!(talking.hear(), GREETING);
    talking.say("the first question");
    until_asked(&talk, 4);
    talking.kill();

    let (ran, messages) = next_start(&talk, "the second question");
    assert!(ran.stdout.ends_with("Here.\n"), "{}", ran.stdout);
    // Both edits are done, and the model knows that it made them.
    let memory = talk.place.json(&["block", "read", "memory"]).to_string();
    assert!(memory.contains("one") && memory.contains("two"), "{memory}");
    assert!(
        messages.contains("c1") && messages.contains("c2"),
        "{messages}"
    );
    let cost = talk.place.json(&["cost"]);
    assert_eq!(cost["total"]["calls"], 4);
}

#[test]
fn killed_in_the_middle_of_waking() {
    let place = Place::new();
    let server = test_support::FaultServer::replies([
        Answer::events().stall(),
        says(GREETING),
        says("Here."),
    ]);
    let talk = Talk { place, server };
    let talking = Talking::start(&talk);
    until_asked(&talk, 1);
    talking.kill();
    let ran = talk.say("the first question\n").exits(0);
    assert_eq!(ran.stdout, format!("{GREETING}\nHere.\n"));
}

#[test]
fn no_answer_that_was_heard_is_lost_by_any_kill() {
    let talk = Talk::by(|received, number| {
        // Every second request is answered by a call, so that there is something to kill between.
        let body = received.json();
        let last = body["messages"].as_array().unwrap().last().unwrap().clone();
        let asked = texts(&last).pop();
        match asked {
            Some(line) if line.starts_with("keep") => calls(
                &format!("c{number}"),
                "block_write",
                &json!({"name": "memory", "path": "0.1", "content": line}),
            ),
            _ => says(&format!("Kept by request {number}.")),
        }
    });
    talk.say("").exits(0);
    let mut draws = RandomNumbers(7);
    let mut heard = Vec::new();
    for number in 0..12 {
        let mut talking = Talking::start(&talk);
        talking.hear();
        talking.say(&format!("keep {number}"));
        heard.push(talking.hear());
        talking.say(&format!("keep {number} again"));
        let delay = draws.share_of(Duration::from_millis(60));
        let begun = Instant::now();
        while begun.elapsed() < delay {
            thread::yield_now();
        }
        talking.child.kill().unwrap();
        talking.child.wait().unwrap();
        let kept = talk.place.read("data/conversation.jsonl");
        let lost: Vec<_> = heard.iter().filter(|line| !kept.contains(*line)).collect();
        assert!(lost.is_empty(), "{lost:?} lost by process {number}");
    }
    for body in talk.asked() {
        assert_paired(&body);
    }
    next_start(&talk, "well?");
}
