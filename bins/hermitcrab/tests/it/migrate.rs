//! Data of the earlier generation becomes blocks.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use test_support::fixture;

use crate::program::{DATA, Place, files, lossy};

fn sample() -> Value {
    let path = fixture("hermitcrab/vectors/g0_export_sample.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns the dump of a browser's storage.
fn dump() -> String {
    let sample = sample();
    let parts = json!({ "localStorage": sample["localStorage"], "indexedDB": sample["indexedDB"] });
    serde_json::to_string_pretty(&parts).unwrap()
}

fn block(place: &Place, name: &str) -> Value {
    serde_json::from_str(&place.read(&format!("data/blocks/{name}.json"))).unwrap()
}

/// Returns the expected block, with the head of the stored one.
fn expected(name: &str, stored: &Value) -> Value {
    let mut expected = sample()["expected"][name].take();
    expected["tree"]["0"]["_"] = stored["tree"]["0"]["_"].clone();
    expected
}

#[test]
fn the_sample_becomes_what_is_expected_of_it() {
    let place = Place::new();
    place.file("dump.json", dump());
    let answer = place.json(&["migrate", "dump.json"]);
    for name in ["memory", "stash"] {
        let stored = block(&place, name);
        assert_eq!(stored, expected(name, &stored), "{name}");
    }
    let memory = block(&place, "memory");
    let head = memory["tree"]["0"]["_"].as_str().unwrap();
    assert!(head.contains("Kelp"), "{head}");
    let wanted = sample()["expected"].take();
    let constitution = block(&place, "constitution");
    for digit in ["4", "5"] {
        let stored = &constitution["tree"]["0"]["5"][digit];
        assert_eq!(
            stored,
            &wanted["constitution_adds"][&format!("0.5.{digit}")]
        );
    }
    assert_eq!(answer["instance_name"], wanted["instance_name"]);
    assert_eq!(answer["counts"], wanted["counts"]);
    assert_eq!(answer["not_imported"], wanted["never_imported"]);
    assert_eq!(
        place.names("data/blocks"),
        [
            "capabilities.json",
            "constitution.json",
            "keystone.json",
            "memory.json",
            "network.json",
            "skills.json",
            "stash.json"
        ]
    );
    // The input is as it was, and no key is anywhere else.
    assert_eq!(place.read("dump.json"), dump());
    assert!(!all_text(&place.path(DATA)).contains("sk-ant-"));
}

#[test]
fn the_conversation_goes_on_record_once() {
    let place = Place::new();
    place.file("dump.json", dump());
    let said = || -> Vec<Value> {
        let record = place.read("data/conversation.jsonl");
        let lines = record
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let messages = lines.map(|line| line["message"]["message"].clone());
        messages.collect()
    };
    // The second time it is there; the third time a crash has kept it from being written.
    for round in 0..3 {
        place.run(&["migrate", "dump.json"]).exits(0);
        let said = said();
        let wanted = sample()["expected"]["conversation"].take();
        assert_eq!(
            said.len(),
            wanted.as_array().unwrap().len(),
            "round {round}"
        );
        for (said, wanted) in said.iter().zip(wanted.as_array().unwrap()) {
            assert_eq!(said["role"], wanted["role"]);
            assert!(
                said["content"]
                    .to_string()
                    .contains(wanted["text"].as_str().unwrap())
            );
        }
        if round == 1 {
            fs::remove_file(place.path("data/conversation.jsonl")).unwrap();
        }
    }
}

/// Returns the contents of all files in a folder.
fn all_text(folder: &Path) -> String {
    files(folder).iter().map(|file| lossy(file)).collect()
}

#[test]
fn what_get_memory_answers_gives_the_same_memory_and_no_conversation() {
    let place = Place::new();
    place.file("memory.json", sample()["g0_surface_getMemory"].to_string());
    let answer = place.json(&["migrate", "memory.json"]);
    let memory = block(&place, "memory");
    assert_eq!(memory, expected("memory", &memory));
    assert_eq!(answer["counts"]["conversation_messages"], 0);
}

#[test]
fn a_folder_of_files_gives_the_same_memory() {
    let place = Place::new();
    let files: Map<String, Value> =
        serde_json::from_value(sample()["g0_surface_getMemory"].take()).unwrap();
    for (path, text) in &files {
        let name = format!("export{path}");
        place.file(&name, text.as_str().unwrap());
    }
    place.run(&["migrate", "export"]).exits(0);
    let memory = block(&place, "memory");
    assert_eq!(memory, expected("memory", &memory));
}

#[test]
fn a_dry_run_says_what_would_be_and_writes_nothing() {
    let place = Place::new();
    place.file("dump.json", dump());
    let ran = place.run(&["migrate", "dump.json", "--dry-run"]).exits(0);
    insta::assert_snapshot!(ran.stdout);
    assert!(!place.path(DATA).exists());
    let plan = place.json(&["migrate", "dump.json", "--dry-run"]);
    assert!(!place.path(DATA).exists());
    let mut done = place.json(&["migrate", "dump.json"]);
    assert_eq!(plan["dry_run"], true);
    done["dry_run"] = json!(true);
    assert_eq!(done, plan);
}

#[test]
fn a_dry_run_makes_every_check_of_the_real_one() {
    let both = |place: &Place, code: i32| {
        let before = all_text(&place.path("data"));
        let dry = place
            .run(&["migrate", "dump.json", "--dry-run"])
            .exits(code);
        assert_eq!(all_text(&place.path("data")), before);
        let real = place.run(&["migrate", "dump.json"]).exits(code);
        assert_eq!((&dry.stdout, &dry.stderr), (&real.stdout, &real.stderr));
        dry.stderr
    };
    let done = Place::new();
    done.file("dump.json", dump());
    done.run(&["migrate", "dump.json"]).exits(0);
    assert!(both(&done, 0).contains("there already: nothing was done"));
    let used = Place::with_block("yard", "What the yard holds.", &[]);
    used.file("dump.json", dump());
    assert!(both(&used, 1).contains("in use (yard)"));
    used.file("data/store.json", br#"{"schema_version":2}"#);
    assert!(both(&used, 1).contains("by a newer hermitcrab (schema 2,"));
    // Another process writes to it.
    let locked = Place::new();
    locked.file("dump.json", dump());
    locked.run(&["migrate", "dump.json"]).exits(0);
    let lock = fs::File::open(locked.path("data/lock")).unwrap();
    lock.lock().unwrap();
    assert!(both(&locked, 2).contains("is locked by pid"));
}

#[test]
fn a_second_run_does_nothing_and_says_so() {
    let place = Place::new();
    place.file("dump.json", dump());
    place.run(&["migrate", "dump.json"]).exits(0);
    let before = all_text(&place.path("data/blocks"));
    let ran = place.run(&["migrate", "dump.json"]).exits(0);
    ran.tells(&["there already", "nothing was done"]);
    assert_eq!(place.json(&["migrate", "dump.json"])["already"], true);
    assert_eq!(all_text(&place.path("data/blocks")), before);
    // Neither does one where blocks of a person's own are.
    let own = Place::with_block("yard", "What the yard holds.", &[]);
    own.file("dump.json", dump());
    own.run(&["migrate", "dump.json"])
        .exits(1)
        .tells(&["yard", "nothing was done", "--data DIR"]);
    assert_eq!(own.names("data/blocks"), ["yard.json"]);
}

#[test]
fn what_is_no_export_writes_nothing() {
    let place = Place::new();
    fs::create_dir(place.path("empty")).unwrap();
    for (file, content) in [
        ("picture.png", &b"\x89PNG\r\n\x1a\n\0\0\0"[..]),
        ("empty.json", b""),
        ("foreign.json", br#"{"name":"something else","version":3}"#),
        ("array.json", b"[1,2,3]"),
        (
            "half.json",
            br#"{"localStorage":{"hcmem:/memories/M-1.md":"x""#,
        ),
        ("empty", b""),
    ] {
        if file != "empty" {
            place.file(file, content);
        }
        let ran = place.run(&["migrate", file]).exits(2);
        ran.tells(&[file, "not an export of"]);
    }
    place
        .run(&["migrate", "missing"])
        .exits(2)
        .tells(&["missing"]);
    let newer = r#"{"tree":{"_":"The harbour.","1":"Fog."}}"#;
    for (file, path) in [
        ("harbour.json", "harbour.json"),
        ("folder/fog.json", "folder"),
    ] {
        place.file(file, newer);
        let ran = place.run(&["migrate", path]).exits(2);
        ran.tells(&[path, "this is a block of the newer format: use import"]);
    }
    assert!(!place.path(DATA).exists());
}
