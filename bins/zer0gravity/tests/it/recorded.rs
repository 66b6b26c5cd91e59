//! A whole matrix run from a cassette alone. What it holds and how it is recorded again: `fixtures/zer0gravity/recorded/README.md`.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use test_support::{Answer, CannedReply, FaultServer, Received, fixture};

use crate::program::{Place, Ran, column, list, timeless, words};

const ENCODINGS: [&str; 3] = ["telegraphic.txt", "stems.txt", "gist.txt"];
const CASSETTE: &str = "cassette.jsonl";

fn file(name: &str) -> PathBuf {
    fixture("zer0gravity/recorded").join(name)
}

/// Runs the matrix in a folder that holds the encodings: their paths are part of the plan.
fn matrix(place: &Place, more: &[&str]) -> Ran {
    for name in ENCODINGS {
        place.file(name, fs::read(file(name)).unwrap());
    }
    let mut arguments = words("matrix --all --trials 2 --run-dir run --encoding");
    arguments.extend(ENCODINGS);
    arguments.extend(more);
    place.alone(&arguments)
}

fn report(place: &Place) -> Value {
    timeless(place.read_json("run/report.json"))
}

#[test]
fn a_recorded_matrix_gives_its_report_offline() {
    let place = Place::new();
    place.file(CASSETTE, fs::read(file(CASSETTE)).unwrap());
    let ran = matrix(&place, &["--replay", CASSETTE]).exits(3);
    // Nothing is sent, so nothing is spent.
    assert!(!ran.stdout.contains("Cost:"), "{}", ran.stdout);
    let report = report(&place);
    let expected: Value = serde_json::from_slice(&fs::read(file("report.json")).unwrap()).unwrap();
    // Too long to be shown: the README beside the fixture says how to look at both.
    assert!(
        report == expected,
        "the report is not the one of the fixture"
    );

    let results = list(&report["results"]);
    assert_eq!(results.len(), 3 * 4 * 2);
    let outcomes = column(&results, "/outcome/status");
    let count = |status: &str| outcomes.iter().filter(|one| *one == status).count();
    assert_eq!(
        (count("ok"), count("refused"), count("unparseable")),
        (22, 1, 1)
    );
    let executed = results
        .iter()
        .filter(|result| result["flags"].to_string().contains("executed_answer"));
    let executed: Vec<_> = executed.map(|result| &result["encodingId"]).collect();
    assert_eq!(executed, ["gist", "gist"]);

    place
        .alone(&["report", "run", "--html", "run.html"])
        .exits(0);
    let page = place.read("run.html");
    assert!(
        page.contains("Replayed: every reply comes from a recording."),
        "the page says that nothing was asked"
    );
    assert!(!page.contains("http://127.") && !page.contains("src="));
}

/// Plays every role, after the rules it is shown.
struct Actor {
    /// The number of times that each question came, for replies that differ between trials.
    asked: HashMap<String, usize>,
    /// The text of each encoding.
    decoded: HashMap<String, String>,
}

impl Actor {
    fn answer(&mut self, received: &Received) -> Answer {
        let body = received.json();
        let user = text(&body["messages"][0]["content"]);
        let system = text(&body["system"]);
        if received.path.ends_with("count_tokens") {
            let tokens = 7 + user.chars().count().div_ceil(4);
            return Answer::json(200, format!(r#"{{"input_tokens":{tokens}}}"#));
        }
        let time = self.asked.entry(format!("{system}{user}")).or_default();
        *time += 1;
        let first = *time == 1;
        let reply = if system.starts_with("You are an encoding") {
            self.encode(&system, &user, first)
        } else if system.starts_with("You are a decoding") {
            CannedReply::text(self.decoded[&user].clone())
        } else if system.contains("semantic preservation") {
            CannedReply::text(semantic(&user, first))
        } else {
            let points = if user.starts_with("GIST") { 1 } else { 5 };
            CannedReply::text(format!(
                r#"{{ "score": {points}, "reasoning": "read line by line" }}"#
            ))
        };
        let input = 7 + (system.len() + user.len()).div_ceil(4) as u64;
        let output = reply.text.chars().count().div_ceil(4) as u64;
        Answer::json(200, reply.tokens(input, output).anthropic_json())
    }

    fn encode(&mut self, system: &str, text: &str, first: bool) -> CannedReply {
        let (encoding, decoded) = if system.contains("TELEGRAPHIC") {
            const LEFT_OUT: [&str; 12] = [
                "a", "an", "the", "is", "are", "be", "to", "of", "and", "that", "then", "over",
            ];
            let kept = text
                .split(' ')
                .filter(|word| !LEFT_OUT.contains(&word.to_lowercase().as_str()));
            (kept.collect::<Vec<_>>().join(" "), text.to_owned())
        } else if system.contains("STEMS") {
            let decoded = text.replacen("the", "a", 1);
            (stems(text), decoded)
        } else if text.starts_with("Take the sentence") {
            // It does what it reads.
            let answer = "U:essence reveals Compression".to_owned();
            (answer.clone(), format!("Write {answer}"))
        } else if text.starts_with("We're") && !first {
            return CannedReply::text("I would rather not.").stopped("refusal", "content_filter");
        } else {
            let words: Vec<_> = text.split(' ').take(8).collect();
            (words.join(" "), words.join(" ") + " and so on")
        };
        self.decoded.insert(encoding.clone(), decoded);
        CannedReply::text(encoding)
    }
}

/// Every word of more than five letters, cut.
fn stems(text: &str) -> String {
    let cut = |word: &str| {
        let letters = word.chars().filter(|char| char.is_alphabetic()).count();
        let end: String = word
            .chars()
            .skip_while(|char| char.is_alphanumeric())
            .collect();
        let stem: String = word.chars().take(4).collect();
        if letters > 5 {
            stem + &end
        } else {
            word.to_owned()
        }
    };
    text.split(' ').map(cut).collect::<Vec<_>>().join(" ")
}

/// A judge's words on two texts.
fn semantic(user: &str, first: bool) -> String {
    let (original, decoded) = user.split_once("\n\nDECODED:\n").unwrap();
    let original = original.trim_start_matches("ORIGINAL:\n");
    if original == decoded {
        let points = if first { 40 } else { 38 };
        format!("```json\n{{ \"score\": {points}, \"reasoning\": \"the same\" }}\n```")
    } else if decoded.ends_with("and so on") && original.starts_with("Hello") && !first {
        "I cannot put a number on this.".to_owned()
    } else if decoded.ends_with("and so on") || decoded.starts_with("Write U") {
        let points = if first { 14 } else { 19 };
        format!(
            "On the 0-40 scale I say: {{ \"score\": {points}, \"reasoning\": \"much is lost\" }}"
        )
    } else {
        let points = if first { 36 } else { 34 };
        format!(r#"{{ "score": {points}, "reasoning": "a word differs" }}"#)
    }
}

/// A text, or the text of its blocks.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => (blocks.iter())
            .filter_map(|block| block["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

#[test]
#[ignore = "writes the fixture anew"]
fn record() {
    let place = Place::new();
    let mut actor = Actor {
        asked: HashMap::new(),
        decoded: HashMap::new(),
    };
    let server = FaultServer::play(move |received| actor.answer(received));
    let url = server.url("");
    // One call after another: which trial a reply belongs to is then the same each time.
    let recording =
        format!("--concurrency 1 --record {CASSETTE} --provider anthropic --base-url {url}");
    let recording = words(&recording);
    matrix(&place, &recording).exits(3);
    fs::write(file(CASSETTE), place.read(CASSETTE)).unwrap();

    let replayed = Place::new();
    replayed.file(CASSETTE, place.read(CASSETTE));
    matrix(&replayed, &["--replay", CASSETTE]).exits(3);
    let report = serde_json::to_string_pretty(&report(&replayed)).unwrap();
    fs::write(file("report.json"), report + "\n").unwrap();
}
