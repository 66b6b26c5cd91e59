//! A journal proves itself: it is rebuilt from its own lines, byte for byte, anywhere.

use std::fs;

use test_support::{MindFaults, MindMode, MindScript, MindStub, fixture};

use crate::journal::{self, events, path};
use crate::program::{Place, clean, finish, start, words};

/// Journals of `fixtures/logosphere/journals`, made by [`make_fixtures`].
const JOURNALS: [&str; 3] = ["sequential.jsonl", "snapshot.jsonl", "resumed.jsonl"];

/// A journal of version 2 from before the cap on messages, by the program of 2026-11-28.
const UNCAPPED: &str = "uncapped.jsonl";

fn fixture_bytes(name: &str) -> Vec<u8> {
    fs::read(fixture(format!("logosphere/journals/{name}"))).unwrap()
}

#[test]
fn committed_journals_are_made_anew_elsewhere() {
    for name in JOURNALS.into_iter().chain([UNCAPPED]) {
        let bytes = fixture_bytes(name);
        for zone in ["UTC", "Asia/Kolkata", "America/St_Johns"] {
            // In a folder of its own without `init.md` or settings.
            let place = Place::new();
            place.file("j.jsonl", &bytes);
            let mut command = place.command(&["verify", "j.jsonl", "-o", "again.jsonl"]);
            command.env("TZ", zone).env("LC_ALL", "tr_TR.UTF-8");
            finish(start(&mut command)).exits(0);
            assert_eq!(place.bytes("again.jsonl"), bytes, "{name} {zone}");
            assert_eq!(place.bytes("j.jsonl"), bytes);
            assert_eq!(place.names(""), ["again.jsonl", "j.jsonl"]);
        }
        let place = Place::new();
        place.file("j.jsonl", &bytes);
        place.alone(&["verify", "j.jsonl"]).exits(0);
        place.alone(&["diff", "j.jsonl", "j.jsonl"]).exits(0);
    }
}

#[test]
fn damage_of_line_ends_is_called_by_its_name() {
    let journal = String::from_utf8(fixture_bytes(JOURNALS[0])).unwrap();
    let place = Place::new();
    place.file("crlf.jsonl", journal.replace('\n', "\r\n"));
    place.file("bom.jsonl", format!("\u{feff}{journal}"));
    for (file, words) in [
        ("crlf.jsonl", "carriage return"),
        ("bom.jsonl", "byte order mark"),
    ] {
        let ran = place.alone(&["verify", file]).exits_with_one_of(&[2, 4]);
        assert!(ran.all().contains(words), "{}", ran.all());
    }
}

#[test]
fn a_flipped_byte_is_found() {
    let bytes = fixture_bytes(JOURNALS[0]);
    let place = Place::new();
    let last_line = bytes[..bytes.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap();
    // All over the file, its first and last bytes, and some of the last line.
    let spread = (0..16).map(|n| n * bytes.len() / 16 + 7 * n);
    let edges = [
        0,
        1,
        bytes.len() - 1,
        bytes.len() - 2,
        bytes.len() - 40,
        last_line,
        last_line + 1,
        last_line + 30,
    ];
    for at in spread.chain(edges) {
        for mask in [0x01, 0x20] {
            let mut damaged = bytes.clone();
            damaged[at] ^= mask;
            place.file("j.jsonl", &damaged);
            let ran = place.alone(&["verify", "j.jsonl"]);
            let told = ran.all();
            let ran = ran.exits_with_one_of(&[4]);
            assert!(ran.all().contains("line"), "byte {at}: {told}");
        }
    }
}

#[test]
fn a_changed_value_is_named_even_with_a_chain_that_holds() {
    let journal = String::from_utf8(fixture_bytes(JOURNALS[0])).unwrap();
    let events: Vec<_> = journal
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let place = Place::new();
    for (old, new, field) in [
        ("\"completed\":true", "\"completed\":false", "completed"),
        ("\"pool_size\":8", "\"pool_size\":9", "pool_size"),
        (
            "\"messages_added\":",
            "\"messages_added\":1",
            "messages_added",
        ),
        ("\"sampled_ids\":[", "\"sampled_ids\":[7,", "sampled_ids"),
        ("\"lost_chars\":0", "\"lost_chars\":1", "lost_chars"),
        (
            "\"prompt_sha256\":\"",
            "\"prompt_sha256\":\"0",
            "prompt_sha256",
        ),
        (
            "\"request_sha256\":\"",
            "\"request_sha256\":\"0",
            "request_sha256",
        ),
        ("\"total_tokens\":", "\"total_tokens\":1", "total_tokens"),
    ] {
        assert!(journal.contains(old), "{old}");
        let altered = journal.replacen(old, new, 1);
        place.file("j.jsonl", journal::rechained(&events, &altered));
        let ran = place.alone(&["verify", "j.jsonl"]).exits(4);
        assert!(ran.all().contains(field), "{field}: {}", ran.all());
    }
}

#[test]
fn a_run_is_made_anew_with_nothing_but_its_journal() {
    let stub = MindStub::start(MindScript {
        mode: MindMode::Mix,
        faults: Some(MindFaults::always(0.1)),
        ..MindScript::default()
    });
    let (place, elsewhere) = (Place::new(), Place::new());
    place.experiment("E");
    let run = words("run E --minds 5 --rounds 6 --seed 2 --scheduling snapshot");
    place.asking(&stub, &run).exits_with_one_of(&[0, 3]);
    let made = stub.stats().requests;
    elsewhere.file("j.jsonl", place.bytes(&path("E")));
    elsewhere
        .alone(&["verify", "j.jsonl", "-o", "again.jsonl"])
        .exits(0);
    assert_eq!(elsewhere.bytes("again.jsonl"), place.bytes(&path("E")));
    assert_eq!(stub.stats().requests, made);
    // From a folder that is not there any more.
    let folder = elsewhere.path("deep");
    fs::create_dir(&folder).unwrap();
    let journal = elsewhere.path("j.jsonl");
    let arguments = ["verify", journal.to_str().unwrap()];
    finish(start(&mut clean(
        env!("CARGO_BIN_EXE_logosphere"),
        &folder,
        &arguments,
    )))
    .exits(0);
}

/// Writes the journals of this module again, after a change of the journal's format, with
#[test]
#[ignore = "writes into the checkout"]
fn make_fixtures() {
    let stub = MindStub::start(MindScript {
        mode: MindMode::Mix,
        ..MindScript::default()
    });
    let folder = fixture("logosphere/journals");
    fs::create_dir_all(&folder).unwrap();
    let place = Place::new();
    for (name, scheduling, rounds) in [
        ("sequential", "sequential", "6"),
        ("snapshot", "snapshot", "6"),
        ("resumed", "sequential", "4"),
    ] {
        place.experiment(name);
        let run =
            format!("run {name} --rounds {rounds} --minds 4 --seed 42 --scheduling {scheduling}");
        let run = words(&run);
        place.asking(&stub, &run).exits(0);
    }
    // Cut in the fifth call, gone on with, and made longer.
    let bytes = place.bytes(&path("resumed"));
    place.file(&path("resumed"), &bytes[..bytes.len() / 2]);
    place.resuming(&stub, "resumed", &[]).exits(0);
    place
        .resuming(&stub, "resumed", &["--rounds", "5"])
        .exits(0);
    assert!(events(&place, "resumed").len() > 20);
    for name in JOURNALS {
        let experiment = name.trim_end_matches(".jsonl");
        fs::write(folder.join(name), place.bytes(&path(experiment))).unwrap();
    }
}
