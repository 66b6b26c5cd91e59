//! `popper lab`: files, the protocol, and episodes that are killed.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::process::{Ran, fresh, words};

fn run(folder: &Path, line: &str) -> Ran {
    fresh(folder, &words(line)).output().unwrap().into()
}

/// A folder with the universe of a seed.
fn sealed(tier: &str, seed: u64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let made = run(
        folder.path(),
        &format!("lab new --tier {tier} --seed {seed} -o mine"),
    );
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    folder
}

/// A player on the other end of the pipes.
struct Dialogue {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Dialogue {
    fn begin(folder: &Path, line: &str) -> Self {
        let mut child = fresh(folder, &words(line))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, answers }
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, line: &str) -> Value {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
        stdin.flush().unwrap();
        self.answer()
    }

    fn end(mut self) -> Option<i32> {
        drop(self.child.stdin.take());
        self.child.wait().unwrap().code()
    }
}

const LINES: [&str; 5] = [
    r#"{"experiment": {"start": "..ab", "steps": 3}}"#,
    "not a request",
    r#"{"experiment": {"start": "ab..c.", "steps": 2}}"#,
    r#"{"predict": [{"id": "q01.1", "state": null}]}"#,
    r#"{"end": true}"#,
];

#[test]
fn two_files_are_made_and_never_replaced() {
    let folder = sealed("A", 7);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let public: Value = serde_json::from_str(&read("mine.public.json")).unwrap();
    let secret: Value = serde_json::from_str(&read("mine.sealed.json")).unwrap();
    assert_eq!(public["questions"]["starts"].as_object().unwrap().len(), 64);
    assert!(!read("mine.public.json").contains(secret["salt"].as_str().unwrap()));
    let again = run(folder.path(), "lab new --tier A --seed 7 -o mine");
    assert_eq!(again.code, Some(2));
    let expected =
        "popper: mine.public.json exists already, and is not replaced; choose another name\n";
    assert_eq!(again.stderr, expected);
    let other = run(folder.path(), "lab new --tier A --seed 7 -o other");
    assert_eq!(other.stdout.trim(), public["commitment"].as_str().unwrap());
    assert_eq!(read("other.sealed.json"), read("mine.sealed.json"));
    // Without a seed each salt is another one.
    let drawn = ["x", "y"].map(|name| run(folder.path(), &format!("lab new --tier A -o {name}")));
    assert_ne!(drawn[0].stdout, drawn[1].stdout);
    assert!(!read("x.sealed.json").contains("\"seed\""));
}

#[test]
fn an_episode_is_one_line_for_one_line_and_its_log_gives_its_end() {
    let folder = sealed("A", 7);
    let mut play = Dialogue::begin(folder.path(), "lab play mine.sealed.json --log mine.jsonl");
    let public = fs::read_to_string(folder.path().join("mine.public.json")).unwrap();
    assert_eq!(
        play.answer(),
        serde_json::from_str::<Value>(&public).unwrap()
    );
    let mut last = Value::Null;
    for line in LINES {
        last = play.ask(line);
    }
    assert_eq!(play.ask("{}")["error"], "closed");
    assert_eq!(play.end(), Some(0));
    let log = fs::read_to_string(folder.path().join("mine.jsonl")).unwrap();
    let scored = "lab score mine.jsonl --sealed mine.sealed.json --public mine.public.json --json";
    let scored = [(); 2].map(|()| run(folder.path(), scored));
    for score in &scored {
        assert_eq!(score.code, Some(0), "{}", score.stderr);
        assert_eq!(serde_json::from_str::<Value>(&score.stdout).unwrap(), last);
        // The same bytes as the answer to the end.
        assert!(log.contains(score.stdout.trim_end()));
    }
    let refused = run(folder.path(), "lab play mine.sealed.json --log mine.jsonl");
    assert_eq!(refused.code, Some(2));
    let refused = run(
        folder.path(),
        "lab play mine.sealed.json --log mine.jsonl --resume",
    );
    assert!(
        refused.stderr.contains("the episode has ended"),
        "{}",
        refused.stderr
    );
}

#[test]
fn an_episode_that_was_killed_is_scored_and_continued() {
    let undisturbed = sealed("D", 3);
    let mut play = Dialogue::begin(undisturbed.path(), "lab play mine.sealed.json");
    play.answer();
    let expected = LINES.map(|line| play.ask(line));
    for kill_after in 0..LINES.len() {
        let folder = sealed("D", 3);
        let log = folder.path().join("mine.jsonl");
        let mut play = Dialogue::begin(folder.path(), "lab play mine.sealed.json --log mine.jsonl");
        play.answer();
        for (line, expected) in LINES[..kill_after].iter().zip(&expected) {
            assert_eq!(play.ask(line), *expected);
        }
        let second = run(
            folder.path(),
            "lab play mine.sealed.json --log mine.jsonl --resume",
        );
        assert_eq!(second.code, Some(1), "{}", second.stderr);
        assert!(second.stderr.contains("another process plays this episode"));
        play.child.kill().unwrap();
        play.child.wait().unwrap();
        // Each answer that was seen is in the log.
        let text = fs::read_to_string(&log).unwrap();
        assert_eq!(text.lines().count(), 1 + kill_after);
        let scored = run(
            folder.path(),
            "lab score mine.jsonl --sealed mine.sealed.json --json",
        );
        let score: Value = serde_json::from_str(&scored.stdout).unwrap();
        assert_eq!(score["ended"], false);
        // A power cut may leave a part of a line.
        fs::write(&log, text + "{\"line\":\"{\\\"exper").unwrap();
        let mut play = Dialogue::begin(
            folder.path(),
            "lab play mine.sealed.json --log mine.jsonl --resume",
        );
        play.answer();
        for (line, expected) in LINES.iter().zip(&expected).skip(kill_after) {
            assert_eq!(play.ask(line), *expected, "after {kill_after}");
        }
        assert_eq!(play.end(), Some(0));
    }
}

#[test]
fn files_that_do_not_belong_together_end_with_4() {
    let folder = sealed("A", 7);
    let run = |line: &str| run(folder.path(), line);
    run("lab new --tier A --seed 8 -o other");
    let played = run("lab play mine.sealed.json --baseline random --log mine.jsonl");
    assert_eq!(played.code, Some(0), "{}", played.stderr);
    assert!(
        played
            .stderr
            .contains("next: popper lab score mine.jsonl --sealed mine.sealed.json")
    );
    assert_eq!(
        run("lab score mine.jsonl --sealed mine.sealed.json").stdout,
        played.stdout
    );
    for line in [
        "lab score mine.jsonl --sealed other.sealed.json",
        "lab score mine.jsonl --sealed mine.sealed.json --public other.public.json",
    ] {
        let ran = run(line);
        assert_eq!(ran.code, Some(4), "{}", ran.stderr);
        assert!(
            ran.stderr
                .contains("the sealed file does not match: its commitment is ")
        );
    }
    let log = fs::read_to_string(folder.path().join("mine.jsonl")).unwrap();
    let cheaper = log.replacen("\\\"steps\\\":1", "\\\"steps\\\":2", 1);
    assert_ne!(cheaper, log);
    fs::write(folder.path().join("cheaper.jsonl"), cheaper).unwrap();
    let ran = run("lab score cheaper.jsonl --sealed mine.sealed.json");
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    for line in [
        "lab score mine.sealed.json --sealed mine.sealed.json",
        "lab score mine.jsonl --sealed mine.public.json",
        "lab play mine.public.json",
        "lab play mine.sealed.json --baseline random --resume --log mine.jsonl",
        "lab play mine.sealed.json --json",
        "lab new --tier E -o e",
    ] {
        assert_eq!(run(line).code, Some(2), "{line}");
    }
}

#[test]
fn hostile_names_of_laws_cannot_move_the_cursor() {
    let folder = sealed("A", 7);
    let mut play = Dialogue::begin(folder.path(), "lab play mine.sealed.json --log mine.jsonl");
    play.answer();
    let law = json!({
        "law_id": "a\u{202e}b", "template": "invariant", "quantifiers": {"T": 5},
        "observables": [{"name": "f", "expr": "count('a')"}], "forbidden": "a change",
    });
    assert_eq!(play.ask(&json!({"laws": [law]}).to_string())["laws"], 1);
    assert_eq!(play.end(), Some(0));
    let scored = run(
        folder.path(),
        "lab score mine.jsonl --sealed mine.sealed.json -v",
    );
    assert_eq!(scored.code, Some(0), "{}", scored.stderr);
    assert!(scored.stdout.contains("not ended") && !scored.stdout.contains('\u{202e}'));
}
