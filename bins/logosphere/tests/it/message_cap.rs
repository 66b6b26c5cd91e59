//! The cap on the messages of one answer: what is sent, and what every command makes of the rest.

use serde_json::json;
use test_support::{MindMode, MindScript, MindStub};

use crate::journal::{calls, events, path};
use crate::program::{Place, words};

fn saying(texts: usize) -> MindStub {
    MindStub::start(MindScript {
        mode: MindMode::Literal { texts, bytes: 40 },
        ..MindScript::default()
    })
}

#[test]
fn n20_of_five_messages_a_cap_of_three_sends_three_and_every_command_agrees() {
    let (place, stub) = (Place::new(), saying(5));
    place.experiment("E");
    let run = "run E --minds 2 --rounds 3 --seed 1 --max-messages 3";
    place.asking(&stub, &words(run)).exits(0);
    let before = events(&place, "E");
    assert_eq!(calls(&before).len(), 6);
    for call in calls(&before) {
        assert_eq!(call["transmitted"].as_array().unwrap().len(), 3);
        assert_eq!(call["parse"]["over_cap"], 2);
        assert_eq!(call["parse"]["notes"], json!(["too_many_messages"]));
    }
    assert_eq!(before.last().unwrap()["final_pool_size"], 8 + 18);
    let journal = path("E");
    for command in [
        &["verify", "E", "-o", "again.jsonl"][..],
        &["diff", &journal, "again.jsonl"],
        &["check-leaks", "E"],
        &["analyze", "E"],
        &["lineage", "E"],
        &["status", "E"],
        &["report", "E"],
    ] {
        place.alone(command).exits(0);
    }
    assert_eq!(place.bytes("again.jsonl"), place.bytes(&journal));
    let page = place.read("E/report.html");
    assert!(page.contains("too_many_messages"));
    // Another cap would be another run.
    for flag in ["--max-messages", "--max-message-chars"] {
        let resume = ["resume", "E", "--rounds", "4", flag, "4"];
        place.alone(&resume).exits(2).tells(&[flag]);
    }
    assert_eq!(events(&place, "E"), before);
    place.resuming(&stub, "E", &["--rounds", "4"]).exits(0);
    for call in calls(&events(&place, "E")) {
        assert_eq!(call["parse"]["over_cap"], 2);
    }
    place.alone(&["verify", "E"]).exits(0);
}

#[test]
fn l15_an_answer_adds_256_messages_unless_the_run_has_another_cap() {
    let stub = saying(1000);
    for (flag, sent) in [
        ("", 256),
        ("--max-messages 0", 1000),
        ("--max-messages 1000", 1000),
    ] {
        let place = Place::new();
        place.experiment("E");
        let run = format!("run E --minds 1 --rounds 1 --seed 1 {flag}");
        place.asking(&stub, &words(&run)).exits(0);
        let before = events(&place, "E");
        let call = calls(&before)[0];
        assert_eq!(
            call["transmitted"].as_array().unwrap().len(),
            sent,
            "{flag}"
        );
        place.alone(&["verify", "E"]).exits(0);
        // The file that the run wrote gives the same run again.
        place.experiment("F");
        place.file("F/config.json", place.read("E/config.json"));
        place.asking(&stub, &["run", "F"]).exits(0);
        let copied = &events(&place, "F")[0]["effective"]["max_messages"];
        assert_eq!(copied, &before[0]["effective"]["max_messages"], "{flag}");
    }
}

#[test]
fn a_long_message_is_not_sent() {
    let (place, stub) = (Place::new(), saying(2));
    place.experiment("E");
    let run = "run E --minds 1 --rounds 2 --seed 1 --max-message-chars 39";
    let ran = place.asking(&stub, &words(run)).exits(0);
    assert!(ran.stdout.contains("silence_with_text 2"), "{}", ran.stdout);
    for call in calls(&events(&place, "E")) {
        assert_eq!(call["parse"]["over_cap"], 2);
    }
    place.alone(&["verify", "E"]).exits(0);
    place.alone(&["report", "E"]).exits(0);
}
