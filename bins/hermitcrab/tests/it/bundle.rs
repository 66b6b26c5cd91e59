//! Blocks that are exported from one directory and imported into another one unchanged.

use std::fs;

use serde_json::{Value, json};

use crate::model::KEY;
use crate::program::{DATA, Place, Ran, files, lossy};

/// Creates two blocks, one of them grown and one with a key.
fn yard() -> Place {
    let entries = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let place = Place::with_block("memory", "What I remember.", &entries);
    let ten = ["block", "append", "memory", "10", "--summary", "Up to nine"];
    place.run(&ten).exits(0);
    place
        .run(&["block", "create", "yard", "What is there."])
        .exits(0);
    place
        .run(&[
            "block",
            "append",
            "yard",
            &format!("Mine is {KEY} \u{1f41a}\n„quoted“"),
        ])
        .exits(0);
    place
        .fed(KEY.as_bytes(), &["key", "set", "--file"])
        .exits(0);
    place
}

fn import(place: &Place, file: &str, flags: &[&str]) -> Ran {
    let arguments = [&["import", file, "--json"], flags].concat();
    place.run(&arguments)
}

#[test]
fn all_blocks_move_to_a_new_directory_and_the_key_does_not() {
    let place = yard();
    for flags in [&[][..], &["--with-log"]] {
        let new = Place::new();
        let out = new.path("all.json");
        let arguments = [&["export", "-o", out.to_str().unwrap()], flags].concat();
        place.run(&arguments).exits(0);
        let answer = import(&new, "all.json", &[]).exits(0).json();
        assert_eq!(answer["blocks"].as_array().unwrap().len(), 2, "{answer}");
        for name in ["memory", "yard"] {
            let file = format!("data/blocks/{name}.json");
            assert_eq!(new.read(&file), place.read(&file), "{name}");
        }
        for file in files(new.root()) {
            assert!(!lossy(&file).contains("sk-ant-"), "{}", file.display());
        }
        assert!(!new.path("data/keys.env").exists());
    }
    // stdout is the same as a file, but for the time.
    let mut told: Value = serde_json::from_str(&place.run(&["export"]).exits(0).stdout).unwrap();
    place.run(&["export", "-o", "all.json"]).exits(0);
    let mut written: Value = serde_json::from_str(&place.read("all.json")).unwrap();
    for bundle in [&mut told, &mut written] {
        assert!(bundle["exported_at"].take().is_string());
    }
    assert_eq!(told, written);
    assert_eq!(told["kind"], "pscale-bundle");
}

#[test]
fn one_block_is_a_bare_file() {
    let place = yard();
    let told = place.run(&["block", "export", "yard"]).exits(0).stdout;
    assert_eq!(told, place.read("data/blocks/yard.json"));
    insta::assert_json_snapshot!(place.json(&["block", "export", "yard", "-o", "shed.json"]));
    assert_eq!(place.read("shed.json"), told);
    // Its name is the file's, or the one given.
    place.run(&["block", "import", "shed.json"]).exits(0);
    place
        .run(&["block", "import", "shed.json", "--name", "barn"])
        .exits(0);
    for name in ["shed", "barn"] {
        assert_eq!(place.read(&format!("data/blocks/{name}.json")), told);
    }
    place.file("No Name.json", &told);
    let ran = place.run(&["block", "import", "No Name.json"]);
    ran.exits(2).tells(&["--name"]);
    // Nothing is written among the files of the store.
    for own in [
        "data/blocks/yard.json",
        "data/blocks/memory.json",
        "data/new.json",
    ] {
        let ran = place.run(&["block", "export", "yard", "-o", own]);
        ran.exits(2).tells(&[own]);
    }
    assert_eq!(place.read("data/blocks/yard.json"), told);
}

#[test]
fn a_folder_of_blocks_is_imported() {
    let place = yard();
    let new = Place::new();
    for name in ["memory", "yard"] {
        let file = format!("data/blocks/{name}.json");
        new.file(&format!("folder/{name}.json"), place.read(&file));
    }
    import(&new, "folder", &[]).exits(0);
    assert_eq!(new.names("data/blocks"), ["memory.json", "yard.json"]);
}

#[test]
fn a_folder_is_taken_without_its_bad_files() {
    let place = Place::new();
    for number in 0..60 {
        let block =
            json!({ "tuning": "11.1", "tree": { "_": "Fog.", "1": format!("Bank {number}.") } });
        place.file(&format!("folder/b{number}.json"), block.to_string());
    }
    place.file(
        "folder/hidden.json",
        r#"{"tree":{"1":{"_":{"_":"Piers.","2":"x"}}}}"#,
    );
    place.file("folder/letter.json", r#"{"from":"a boat","subject":"fog"}"#);
    place.file("folder/\u{1b}[2J.json", r#"{"tree":{"_":"Fog."}}"#);
    let ran = import(&place, "folder", &[]).exits(3);
    let answer = ran.json();
    assert_eq!(answer["blocks"].as_array().unwrap().len(), 60);
    let notices = [
        "read as the newer upstream format: the root is the head",
        "its tuning puts pscale 0 at level 2; here the root has pscale 0",
    ];
    assert_eq!(
        answer["blocks"][0],
        json!({ "name": "b0", "outcome": "created", "keys_removed": 0, "repairs": [], "notices": notices })
    );
    let bad = answer["not_imported"].as_array().unwrap();
    assert_eq!(bad.len(), 3, "{answer}");
    for (problem, (name, kind, hint)) in bad.iter().zip([
        ("\u{1b}[2J", "bad_name", None),
        ("hidden", "format", Some("--repair keeps its text")),
        ("letter", "format", None),
    ]) {
        assert_eq!(problem["name"], name);
        assert_eq!(problem["error"], kind);
        assert_eq!(problem.get("hint").and_then(Value::as_str), hint);
    }
    assert_eq!(place.names("data/blocks").len(), 60);
    let log = place.json(&["block", "log", "b0"]);
    assert!(log.to_string().contains("tuning 11.1"), "{log}");
    let read = place.run(&["block", "read", "b7"]).exits(0).stdout;
    assert!(read.contains("Bank 7."), "{read}");

    let ran = place.run(&["import", "folder"]).exits(3);
    for line in [
        "hidden  not imported: not a block: at 1: \"_\" holds a tree (a hidden level of the newer format); \
            this format has no place for it; --repair keeps its text\n",
        "letter  not imported: not a block: its keys are from, subject; \
            a block has \"tree\", or only \"_\" and the digits 0-9\n",
        "b7  there already\n  read as the newer upstream format: the root is the head\n  \
            its tuning puts pscale 0 at level 2; here the root has pscale 0\n",
    ] {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
    }
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    ran.tells(&["3 of 63 files were not imported"]);
    // With repair one of them is imported, and the others are still named.
    let ran = place.run(&["import", "folder", "--repair"]).exits(3);
    let kept = "hidden  imported\n  left out: at 1: of the tree in \"_\": 2; its text is kept\n";
    assert!(ran.stdout.contains(kept), "{}", ran.stdout);
    ran.tells(&["2 of 63 files were not imported"]);

    // A folder without a good file is refused as a whole.
    let place = Place::new();
    place.file("folder/letter.json", r#"{"from":"a boat"}"#);
    place.file("folder/cut.json", r#"{"tree":{"#);
    let ran = place.run(&["import", "folder"]).exits(2);
    let ran = ran.tells(&["cut", "letter", "its key is from"]);
    assert!(!ran.stderr.contains("--repair"), "{}", ran.stderr);
    place.file("folder/fog.json", r#"{"tree":{"_":{"_":"Fog."}}}"#);
    place.file("folder/set.json", r#"{"blocks":{"fog":{"_":"Fog."}}}"#);
    let ran = place.run(&["import", "folder"]).exits(2);
    ran.tells(&[
        "the file holds several blocks: import it without the folder",
        "; for fog: --repair keeps its text",
    ]);
    assert!(!place.path(DATA).exists());
}

#[test]
fn a_set_of_upstream_is_imported_whole_or_not_at_all() {
    let place = Place::new();
    let good = r#"{"blocks":{"Harbour":{"tree":{"_":"The harbour."}},"fog":{"_":"Fog."}}}"#;
    let bad = good.replace("}}}", "},\"letter\":{\"from\":\"a boat\"}}}");
    assert_ne!(good, bad);
    place.file("shell.json", bad.replace("\"Fog.\"", "{\"_\":\"Fog.\"}"));
    // One of the two faults cannot be repaired.
    let ran = place.run(&["import", "shell.json"]).exits(2);
    let ran = ran.tells(&["\"fog\"", "\"letter\"", "its key is from"]);
    assert!(!ran.stderr.contains("--repair"), "{}", ran.stderr);
    assert!(!place.path(DATA).exists());
    place.file("shell.json", good);
    let ran = place.run(&["import", "shell.json"]).exits(0);
    assert!(ran.stdout.contains("harbour  imported"), "{}", ran.stdout);
    assert_eq!(place.names("data/blocks"), ["fog.json", "harbour.json"]);
}

#[test]
fn a_name_that_is_taken_is_skipped_replaced_or_changed() {
    let place = yard();
    place.run(&["export", "-o", "all.json"]).exits(0);
    let before = place.read("data/blocks/yard.json");
    place
        .run(&["block", "write", "yard", "0.1", "Changed"])
        .exits(0);
    let changed = place.read("data/blocks/yard.json");

    let ran = import(&place, "all.json", &[]).exits(3);
    insta::assert_json_snapshot!("skipped", ran.json());
    assert_eq!(place.read("data/blocks/yard.json"), changed);

    let ran = import(&place, "all.json", &["--on-conflict", "rename"]).exits(0);
    insta::assert_json_snapshot!("renamed", ran.json());
    assert_eq!(place.read("data/blocks/yard.json"), changed);

    let ran = import(&place, "all.json", &["--on-conflict", "replace"]).exits(0);
    insta::assert_json_snapshot!("replaced", ran.json());
    assert_eq!(place.read("data/blocks/yard.json"), before);
    // An import is an edit: it is in the log and can be taken back.
    let log = place
        .run(&["block", "log", "yard", "--limit", "1"])
        .exits(0);
    assert!(log.stdout.contains("import"), "{}", log.stdout);
    place.run(&["block", "undo", "yard"]).exits(0);
    assert_eq!(place.read("data/blocks/yard.json"), changed);
}

#[test]
fn what_is_no_block_is_refused_or_repaired() {
    let place = Place::new();
    let faulty = json!({ "decimal": 1, "tree": { "0": { "_": "Head", "1": "One", "12": "Two digits", "x": 3 } } });
    place.file("faulty.json", faulty.to_string());
    let ran = place.run(&["block", "import", "faulty.json"]).exits(2);
    ran.tells(&["faulty.json", "12", "--repair leaves faulty parts out"]);
    assert!(!place.path("data/blocks/faulty.json").exists());
    let ran = import(&place, "faulty.json", &["--repair"]).exits(0);
    insta::assert_json_snapshot!(ran.json());
    let read = place.run(&["block", "read", "faulty"]).exits(0).stdout;
    assert!(read.contains("0.1  One"), "{read}");
}

#[test]
fn a_file_that_is_none_of_ours_writes_nothing() {
    let place = Place::new();
    let big = format!(
        r#"{{"decimal":1,"tree":{{"0":"{}"}}}}"#,
        "x".repeat(5 << 20)
    );
    let decimal = r#"{"decimal":33,"tree":{"0":"x"}}"#;
    for (file, content, words) in [
        ("empty.json", &b""[..], &["empty.json"][..]),
        ("braces.json", b"{}", &["braces.json"]),
        ("decimal.json", decimal.as_bytes(), &["decimal"]),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0", &["picture.png"]),
        ("foreign.json", br#"{"kind":"other","blocks":[]}"#, &["foreign.json"]),
        ("later.json", br#"{"schema_version":9,"kind":"pscale-bundle","exported_at":"2026-01-01T00:00:00Z","blocks":{}}"#, &["later.json"]),
        ("big.json", big.as_bytes(), &["big.json"]),
    ] {
        place.file(file, content);
        let arguments = ["import", file, "--name", "x"];
        place.run(&arguments).exits(2).tells(words);
    }
    place
        .run(&["import", "missing.json"])
        .exits(2)
        .tells(&["missing.json"]);
    // One faulty block of a bundle keeps all out.
    let good = Place::with_block("good", "A good one.", &[]);
    good.run(&["export", "-o", "all.json"]).exits(0);
    let mut bundle: Value = serde_json::from_str(&good.read("all.json")).unwrap();
    bundle["blocks"]["bad"] =
        json!({ "rev": 1, "hash": "", "block": { "decimal": 1, "tree": {} } });
    place.file("bundle.json", bundle.to_string());
    place
        .run(&["import", "bundle.json"])
        .exits(2)
        .tells(&["bad"]);
    assert!(!place.path(DATA).join("blocks/good.json").exists());
}

#[test]
fn an_output_that_cannot_be_written_is_named() {
    let place = yard();
    fs::create_dir(place.path("folder")).unwrap();
    place.file("file", "");
    for file in ["file/in/a/file/x.json", "folder"] {
        let ran = place.run(&["export", "-o", file, "--json"]).exits(1);
        assert_eq!(ran.json()["error"], "io");
        ran.tells(&[file]);
    }
    let ran = place.run(&["block", "export", "gone", "-o", "x.json"]);
    ran.exits(1).tells(&["gone"]);
    assert!(!place.path("x.json").exists());
}

#[test]
fn a_dash_is_stdout_and_no_file() {
    let place = yard();
    for arguments in [
        &["block", "export", "yard"][..],
        &["block", "export", "memory"],
    ] {
        let plain = place.run(arguments).exits(0).stdout;
        let ran = place.run(&[arguments, &["-o", "-"]].concat()).exits(0);
        assert_eq!(ran.stdout, plain);
    }
    let ran = place.run(&["export", "--output=-"]).exits(0);
    assert!(ran.json().is_object());
    assert!(!place.path("-").exists());
}
