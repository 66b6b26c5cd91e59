//! A command that is refused leaves nothing on the disk.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::program::{Place, clean, finish, start, words};

/// Every file with its bytes, every folder with none.
fn tree(folder: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        if path.is_dir() {
            found.extend(tree(&path));
            found.insert(name, None);
        } else {
            found.insert(name, Some(fs::read(&path).unwrap()));
        }
    }
    found
}

#[test]
fn l18_a_refused_run_or_demo_leaves_no_file_and_no_directory() {
    let place = Place::new();
    place.experiment("E");
    place.file("C/config.json", r#"{"n_minds": 0}"#);
    place.file("W/init.md", "no delimiter");
    place.file("file", "x");
    place.experiment("U");
    place
        .alone(&["run", "U", "--rounds", "1", "--seed", "1"])
        .exits(0);
    let flags: [&[&str]; 17] = [
        &["--mind", "foo"],
        &["--mind", "copier:mu=2"],
        &["--model", "anthropic/claude-3.5-sonnet"],
        &["--provider", "openrouter"],
        &["--provider", "offline", "--model", "x"],
        &["--provider", "openai", "--mind", "copier"],
        &["--provider", "generic", "--model", "m"],
        &["--provider", "offline", "--replay", "nowhere.jsonl"],
        &words("--provider llamacpp --model m --replay nowhere.jsonl"),
        &["--loss-above", "2"],
        &["--concurrency", "5000"],
        &["--on-error", "wait"],
        &["--retries", "21"],
        &["--max-messages", "1000001"],
        &["--prices", "nowhere.toml"],
        &["--max-tokens", "5", "--mind", "copier"],
        &words("--provider generic --base-url http://127.0.0.1:1/v1 --model m --max-usd 1"),
    ];
    let before = tree(place.root());
    for flags in flags {
        for target in [
            &["run"][..],
            &["run", "--output-dir", "D/e/e"],
            &["run", "E"],
            &["run", "W"],
            &["run", "--output-dir", "C"],
        ] {
            let command = [target, flags].concat();
            place.alone(&command).exits(2);
            assert_eq!(tree(place.root()), before, "{command:?}");
        }
    }
    for command in [
        &["run", "U"][..],
        &["demo", "--dir", "U"],
        &["demo", "--dir", "file"],
        &["demo", "--dir", "W"],
        &["demo", "--dir", "C"],
        &["run", "nowhere"],
        &["new", "x", "--from", "nowhere"],
        &["new", "x", "--from", "C"],
        &["new", "../x"],
    ] {
        place.alone(command).exits(2);
        assert_eq!(tree(place.root()), before, "{command:?}");
    }
    // Seeds of one's own that cannot be read make no directory either.
    place.file("init-template.txt", "no delimiter");
    let before = tree(place.root());
    for command in [&["run"][..], &["run", "--output-dir", "D"]] {
        place.alone(command).exits(2).tells(&["init-template.txt"]);
        assert_eq!(tree(place.root()), before, "{command:?}");
    }
    // A demo does not read them.
    place.alone(&["demo", "--dir", "D"]).exits(0);
}

#[test]
fn l05_a_model_that_is_named_is_never_played_by_a_program() {
    let place = Place::new();
    place.experiment("E");
    let model = "anthropic/claude-3.5-sonnet";
    let words = "no API key for the model anthropic/claude-3.5-sonnet: set LOGOSPHERE_API_KEY or OPENROUTER_API_KEY, or pass --provider offline";
    place
        .alone(&["run", "E", "--model", model])
        .exits(2)
        .tells(&[words]);
    let offline = "--provider offline takes --mind, not --model";
    for flags in [&["--provider", "offline"][..], &["--mind", "copier"]] {
        let run = [&["run", "E", "--model", model], flags].concat();
        place.alone(&run).exits(2).tells(&[offline]);
    }
    place.experiment("F");
    place.file(
        "F/config.json",
        r#"{"model": "anthropic/claude-3.5-sonnet"}"#,
    );
    place.alone(&["run", "F"]).exits(2).tells(&[words]);
    // What is chosen, and what was recorded of an offline run, stay.
    place
        .alone(&["run", "F", "--provider", "offline", "--rounds", "1"])
        .exits(0);
    place.alone(&["run", "E", "--rounds", "1"]).exits(0);
    place.alone(&["resume", "E", "--rounds", "2"]).exits(0);
    let ran = place
        .alone(&["estimate", "E", "--model", "nobody/knows-it"])
        .exits(0);
    let line = "cost      unknown: no price for openrouter nobody/knows-it (--prices FILE)";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    place.experiment("G");
    let ran = place
        .alone(&["estimate", "G", "--model", "nobody/knows-it"])
        .exits(0);
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
}

#[test]
fn l04_a_new_experiment_has_what_a_person_wrote_and_not_what_a_run_recorded() {
    let place = Place::new();
    place.experiment("A");
    place
        .alone(&words("run A --rounds 2 --minds 4 --seed 7"))
        .exits(0);
    let snapshot = place.read("A/config.json");
    let recorded = "  \"recorded\": [\n    \"provider\",\n    \"model\",\n    \"mind\"\n  ]\n}\n";
    assert!(snapshot.ends_with(recorded), "{snapshot}");
    let copy = |name: &str, flags: &[&str]| {
        let ran = place
            .alone(&[&["new", name, "--from", "A"], flags].concat())
            .exits(0);
        let folder = ran.stdout.trim_end().to_owned();
        (
            place.read_json(&format!("{folder}/config.json")),
            ran,
            folder,
        )
    };
    let (config, ran, b) = copy("b", &[]);
    assert!(
        ran.stderr
            .contains("not copied: seed, provider, model, mind"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        (&config["n_minds"], &config["max_rounds"]),
        (&4.into(), &2.into())
    );
    for key in ["seed", "provider", "model", "mind", "recorded"] {
        assert!(config.get(key).is_none(), "{key}");
    }
    place.alone(&["run", &b]).exits(0);
    let seed =
        |folder: &str| place.read_json(&format!("{folder}/config.effective.json"))["seed"].clone();
    // The default seed, not that of the run.
    assert_eq!((seed("A"), seed(&b)), (7.into(), 0.into()));
    let (config, ran, _) = copy("d", &["--keep-seed"]);
    assert_eq!(config["seed"], 7);
    assert!(
        ran.stderr.contains("not copied: provider, model, mind"),
        "{}",
        ran.stderr
    );
    // What a person gave is copied, by flags or in a file, but for the seed.
    place.experiment("G");
    place
        .alone(&words("run G --rounds 1 --mind copier --seed 5"))
        .exits(0);
    assert_eq!(
        place.read_json("G/config.json")["recorded"],
        serde_json::json!(["provider", "model"])
    );
    place.experiment("H");
    place.file("H/config.json", r#"{ "mind": "copier", "seed": 5}"#);
    for from in ["G", "H"] {
        let ran = place.alone(&["new", "x", "--from", from]).exits(0);
        let config = place.read_json(&format!("{}/config.json", ran.stdout.trim_end()));
        assert_eq!(
            (&config["mind"], config.get("seed")),
            (&"copier".into(), None),
            "{from}"
        );
    }
    place
        .alone(&["run", "A"])
        .exits(2)
        .tells(&["`logosphere new NAME --from A`"]);
}

#[test]
fn l2_a_share_that_is_no_number_changes_no_run() {
    let place = Place::new();
    place.experiment("A");
    place
        .alone(&["run", "A", "--rounds", "2", "--loss-above", "0.5"])
        .exits(0);
    let before = place.bytes("A/logs/experiment.jsonl");
    for share in ["nan", "inf", "-inf"] {
        let flag = format!("--loss-above={share}");
        let ran = place.alone(&["resume", "A", "--rounds", "3", &flag]);
        ran.exits(2).tells(&["--loss-above", "expected a number"]);
    }
    assert_eq!(place.bytes("A/logs/experiment.jsonl"), before);
}

#[test]
fn l20_a_journal_names_its_experiment_and_a_device_is_none() {
    let place = Place::new();
    place.experiment("A");
    place.alone(&["run", "A", "--rounds", "2"]).exits(0);
    let journal = "A/logs/experiment.jsonl";
    place.alone(&["estimate", journal]).exits(0);
    place.alone(&["new", "b", "--from", journal]).exits(0);
    place.alone(&["resume", journal, "--rounds", "3"]).exits(0);
    place.file("old.jsonl", place.bytes(journal));
    let refused = place.alone(&["resume", "old.jsonl", "--rounds", "4"]);
    refused
        .exits(2)
        .tells(&["old.jsonl", "logs/experiment.jsonl"]);
    for command in ["verify", "analyze"] {
        let refused = place.alone(&[command, "/dev/zero"]);
        refused.exits(2).tells(&["/dev/zero", "a device"]);
    }
}

#[test]
fn l10_an_expected_head_is_hexadecimal_in_either_case() {
    let place = Place::new();
    place.experiment("A");
    place.alone(&["run", "A", "--rounds", "1"]).exits(0);
    let verified = place.alone(&["verify", "A", "--json"]).exits(0);
    let verified: serde_json::Value = serde_json::from_str(&verified.stdout).unwrap();
    let head = verified["head"].as_str().unwrap();
    for head in [head.to_owned(), head.to_uppercase()] {
        place
            .alone(&["verify", "A", "--expect-head", &head])
            .exits(0);
    }
    for head in ["zz", "", &head[..8]] {
        let flag = format!("--expect-head={head}");
        let refused = place.alone(&["verify", "A", &flag]);
        refused.exits(2).tells(&["32 hexadecimal digits"]);
    }
}

#[test]
fn a_limit_of_file_sizes_is_an_error_in_words() {
    let place = Place::new();
    place.experiment("A");
    let limited = [
        "-c",
        "ulimit -f 8; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_logosphere"),
        "run",
        "A",
        "--rounds",
        "40",
    ];
    let ran = finish(start(&mut clean("sh", place.root(), &limited)));
    ran.exits(1).tells(&["File too large"]);
}
