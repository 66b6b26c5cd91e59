//! The leak checker as its users run it.

use serde_json::Value;
use test_support::{MindMode, MindScript, MindStub};

use crate::journal;
use crate::program::Place;

fn stub() -> MindStub {
    MindStub::start(MindScript {
        mode: MindMode::Mix,
        ..MindScript::default()
    })
}

fn report(place: &Place, arguments: &[&str], code: i32) -> Value {
    let ran = place.alone(&[&["check-leaks", "--json"], arguments].concat());
    serde_json::from_str(&ran.exits(code).stdout).unwrap()
}

fn kinds(report: &Value, severity: &str) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    let of_severity = findings.filter(|finding| finding["severity"] == severity);
    of_severity
        .map(|finding| finding["kind"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn captured_bodies_and_headers_are_held_against_the_journal() {
    let (place, stub) = (Place::new(), stub());
    place.experiment("E");
    place
        .asking(&stub, &["run", "E", "--rounds", "4", "--seed", "3"])
        .exits(0);
    for (number, request) in stub.requests().iter().enumerate() {
        let headers = request
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"));
        let list = format!(
            "POST /v1/chat/completions HTTP/1.1\r\n{}",
            headers.collect::<String>()
        );
        place.file(&format!("kept/{number}.json"), &request.body);
        place.file(&format!("kept/{number}.headers"), list);
    }
    let held = report(&place, &["E", "--bodies", "kept"], 0);
    assert_eq!(
        (&held["calls"], &held["captured"], &held["equal"]),
        (&12.into(), &12.into(), &12.into())
    );
    assert_eq!(kinds(&held, "by_design"), ["stamp"]);
    assert_eq!(kinds(&held, "leak"), [""; 0]);

    let list = place.read("kept/7.headers");
    place.file("kept/7.headers", list + "X-Mind: 1\r\n");
    assert_eq!(
        kinds(&report(&place, &["E", "--bodies", "kept"], 4), "leak"),
        ["header", "header"]
    );
    let ran = place
        .alone(&["check-leaks", "E", "--bodies", "kept"])
        .exits(4);
    assert!(
        ran.stdout.contains("leak header: 7.json: header `x-mind`"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("does not hold, 2 leaks: 12 calls rebuilt, 12 of 12"),
        "{}",
        ran.stdout
    );
}

#[test]
fn nothing_captured_proves_nothing() {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&["run", "E", "--rounds", "1", "--seed", "3"])
        .exits(0);
    place.file("empty/.hidden", "");
    place
        .alone(&["check-leaks", "E", "--bodies", "empty"])
        .exits(2)
        .tells(&["empty", "no captured request"]);
    place
        .alone(&["check-leaks", "E", "--bodies", "nowhere"])
        .exits(2)
        .tells(&["nowhere"]);
    place
        .alone(&["check-leaks", "nowhere"])
        .exits(2)
        .tells(&["nowhere"]);
    // The journal alone, wherever it lies.
    let bytes = place.bytes(&journal::path("E"));
    let holds = place
        .alone(&["check-leaks", place.file("elsewhere/j.jsonl", &bytes)])
        .exits(0);
    assert!(
        holds.stdout.ends_with("holds: 3 calls rebuilt\n"),
        "{}",
        holds.stdout
    );
    let mut altered = bytes;
    altered[200] ^= 1;
    place.file("elsewhere/j.jsonl", altered);
    place
        .alone(&["check-leaks", "elsewhere/j.jsonl"])
        .exits(4)
        .tells(&["elsewhere/j.jsonl", "line 1"]);
}

#[test]
fn a_system_prompt_that_tells_of_the_run_is_found_before_and_after() {
    let place = Place::new();
    for (text, kind) in [
        ("It is 2026-01-02T03:04:05Z.", "time"),
        ("You are mind 2.", "mind"),
        ("You take part in sea-4711.", "name"),
    ] {
        place.experiment("sea-4711");
        place.file(
            "sea-4711/config.json",
            format!("{{\"system_prompt\": \"{text} Read.\"}}"),
        );
        let run = place
            .alone(&["run", "sea-4711", "--rounds", "1", "--seed", "3"])
            .exits(0);
        run.tells(&[&format!("leak {kind}: system_prompt")]);
        let found = report(&place, &["sea-4711"], 4);
        assert!(
            kinds(&found, "leak").iter().all(|found| found == kind),
            "{found}"
        );
        // What the directory is called is not in the journal.
        let verify = place.alone(&["verify", "sea-4711"]);
        verify.exits(if kind == "name" { 0 } else { 4 });
        std::fs::remove_dir_all(place.path("sea-4711")).unwrap();
    }
}

#[test]
fn canaries_are_in_no_request() {
    let (place, stub) = (Place::new(), stub());
    place.experiment("E");
    place
        .asking(
            &stub,
            &["run", "E", "--canary", "--rounds", "3", "--seed", "3"],
        )
        .exits(0);
    let events = journal::events(&place, "E");
    let run_id = events[0]["run_id"].as_str().unwrap();
    assert!(run_id.starts_with("canary-"), "{run_id}");
    let year = &events[0]["timestamp"].as_str().unwrap()[..5];
    let requests = stub.requests();
    assert_eq!(requests.len(), 9);
    for request in requests {
        assert!(!request.text().contains(run_id) && !request.text().contains(year));
    }
    place.alone(&["verify", "E"]).exits(0);

    // One that is in a prompt stops the run before anything is sent.
    place.experiment("F");
    let folder = std::fs::canonicalize(place.path("F")).unwrap();
    let prompt = serde_json::json!({"system_prompt": format!("You are in {}.", folder.display())});
    place.file("F/config.json", prompt.to_string());
    stub.forget();
    let ran = place.asking(&stub, &["run", "F", "--canary", "--check-leaks", "off"]);
    ran.exits(4).tells(&["path of the experiment"]);
    assert_eq!(stub.stats().requests, 0);
}

#[test]
fn l11_a_header_with_the_name_of_a_dated_folder_is_a_leak() {
    let (place, stub) = (Place::new(), stub());
    let folder = "experiments/2026-11-23-okd";
    place.experiment(folder);
    place
        .asking(&stub, &["run", folder, "--rounds", "1", "--seed", "3"])
        .exits(0);
    for (number, request) in stub.requests().iter().enumerate() {
        place.file(&format!("kept/{number}.json"), &request.body);
        place.file(
            &format!("kept/{number}.headers"),
            "user-agent: logosphere/okd-round\r\n",
        );
    }
    let found = report(&place, &["okd", "--bodies", "kept"], 4);
    assert!(
        kinds(&found, "leak").contains(&"name".to_owned()),
        "{found}"
    );
}
