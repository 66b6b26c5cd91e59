//! Faults that are found before a call is made, and their messages.

use test_support::{MindScript, MindStub};

use crate::journal::{self, events, path};
use crate::program::{Place, Ran, init};

/// Runs with a server that must not be asked; the program says these words.
#[track_caller]
fn refuses(place: &Place, arguments: &[&str], words: &[&str]) -> Ran {
    let stub = MindStub::start(MindScript::default());
    let ran = place.asking(&stub, arguments).exits(2).tells(words);
    assert_eq!(stub.stats().requests, 0, "{arguments:?}");
    assert_eq!(ran.stdout, "", "{arguments:?}");
    ran
}

#[test]
fn usage() {
    let place = Place::new();
    place.experiment("E");
    for arguments in [
        &["frobnicate"][..],
        &["run", "E", "--ruonds", "1"],
        &["run", "E", "--rounds"],
        &["run", "E", "--rounds", "many"],
        &["run", "E", "--rounds", "-1"],
        &["run", "E", "--minds", "0"],
        &["run", "E", "--minds", "65536"],
        &["run", "E", "--active", "0"],
        &["run", "E", "--samples", "-3"],
        &["run", "E", "--scheduling", "parallel"],
        &["run", "E", "--impersonation", "sometimes"],
        &["run", "E", "--seed", "x"],
        &["run", "E", "--max-usd", "-1"],
        &["run", "E", "--concurrency", "0"],
        &["diff", "only-one"],
        &["resume"],
        &["verify"],
        &["parse", "E/init.md", "--mode", "loose"],
    ] {
        let ran = place.alone(arguments).exits(2);
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
    assert!(!place.path("E/logs/experiment.jsonl").exists());
}

#[test]
fn rules_of_the_old_program_are_not_a_mode() {
    let place = Place::new();
    place.experiment("E");
    refuses(&place, &["run", "E", "--parse-mode", "legacy"], &["legacy"]);
    place.file("E/config.json", r#"{"parse_mode": "legacy"}"#);
    refuses(&place, &["run", "E"], &["parse_mode"]);
    place.file("answer.txt", "---\na\n---\n\n---\n");
    place
        .alone(&["parse", "answer.txt", "--mode", "legacy"])
        .exits(2);
}

#[test]
fn minds_that_are_not_there() {
    let place = Place::new();
    place.experiment("E");
    for (mind, word) in [
        ("parrot", "parrot"),
        ("copier:mu=2", "mu"),
        ("copier:nu=0.1", "nu"),
        ("copier:mu=x", "mu"),
        ("mutator:p=-1", "p"),
        ("markov:n=0", "n"),
        ("flaky:rate=NaN", "rate"),
        ("biased:s=0.2,type=(", "type"),
    ] {
        let ran = place.alone(&["run", "E", "--mind", mind]).exits(2);
        assert!(ran.stderr.contains(word), "{mind}: {}", ran.stderr);
    }
    assert!(!place.path("E/logs/experiment.jsonl").exists());
}

#[test]
fn settings() {
    let cases: Vec<(&str, &[&str])> = vec![
        (r#"{"n_minds": 0}"#, &["n_minds", "65535"]),
        (r#"{"n_minds": 65536}"#, &["n_minds", "65535"]),
        (r#"{"n_minds": -1}"#, &["n_minds", "65535"]),
        (r#"{"n_minds": 1.5}"#, &["n_minds"]),
        (r#"{"n_minds": "3"}"#, &["n_minds"]),
        (r#"{"n_minds": null}"#, &["n_minds"]),
        (r#"{"n_minds": [3]}"#, &["n_minds"]),
        (r#"{"k_samples": -1}"#, &["k_samples", "0"]),
        (r#"{"m_active_pool": 0}"#, &["m_active_pool", "1"]),
        (
            r#"{"max_rounds": 4294967296}"#,
            &["max_rounds", "4294967295"],
        ),
        (r#"{"token_limit": 0}"#, &["token_limit", "1"]),
        (r#"{"max_rounds": NaN}"#, &["line 1"]),
        (r#"{"options": {"temperature": 3}}"#, &["temperature", "2"]),
        (
            r#"{"options": {"temprature": 1}}"#,
            &["temprature", "temperature"],
        ),
        (r#"{"options": {"top_p": -0.1}}"#, &["top_p"]),
        (r#"{"stop": {"loss_above": 2}}"#, &["loss_above"]),
        (
            r#"{"stop": {"silence": 2}}"#,
            &["silence", "silence_rounds"],
        ),
        (r#"{"caps": {"max_usd": -1}}"#, &["max_usd"]),
        (r#"{"caps": {"max_usd": "much"}}"#, &["max_usd"]),
        (r#"{"n_mind": 3}"#, &["n_mind", "n_minds"]),
        (r#"{"N_MIND": 3}"#, &["N_MIND", "n_minds"]),
        (
            r#"{"scheduling": "random"}"#,
            &["scheduling", "sequential", "snapshot"],
        ),
        (r#"{"keep": "some"}"#, &["keep", "all", "active"]),
        (
            r#"{"durability": "later"}"#,
            &["durability", "fsync", "flush"],
        ),
        (r#"{"on_error": "panic"}"#, &["on_error", "skip", "stop"]),
        (r#"{"concurrency": 0}"#, &["concurrency"]),
        (r#"{"init_signature": "init"}"#, &["init_signature", "~"]),
        (r#"{"stamp_seeds": "yes"}"#, &["stamp_seeds"]),
        (r#"{"schema_version": 2}"#, &["schema_version", "1"]),
        ("{\"n_minds\": 3,\n\"n_minds\": 4}", &["n_minds"]),
        ("{\n\"n_minds\": 3,\n}", &["line 3"]),
        ("[1]", &["config.json"]),
        ("3", &["config.json"]),
        ("", &["config.json"]),
        ("{", &["config.json"]),
        ("{} x", &["config.json"]),
        ("\u{feff}{\"n_mind\": 1}", &["config.json"]),
    ];
    for (config, words) in cases {
        let place = Place::new();
        place.experiment("E");
        place.file("E/config.json", config);
        let words = [&["config.json"], words].concat();
        refuses(&place, &["run", "E"], &words);
        assert_eq!(place.read("E/config.json"), config);
        assert!(!place.path("E/logs/experiment.jsonl").exists(), "{config}");
    }
    let place = Place::new();
    place.experiment("E");
    place.file("E/config.json", b"{\"model\": \"\xff\"}");
    refuses(&place, &["run", "E"], &["config.json", "UTF-8"]);
}

#[test]
fn seeds() {
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(init(&["One."]).encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let bad = [init(&["One."]).as_bytes(), b"\xff"].concat();
    let cases: Vec<(Vec<u8>, &[&str])> = vec![
        (utf16, &["UTF-16"]),
        (bad, &["UTF-8", "line 8"]),
        (b"notes\n---\nOne.\n".to_vec(), &["---"]),
        (b"notes\n---\nOne.\n---\n\n---\n".to_vec(), &["~init"]),
        (
            b"notes\n---\nOne.\n---\n\n---\n~other\n".to_vec(),
            &["~other", "~init"],
        ),
        (
            b"notes\n---\n\n---\n~init\n".to_vec(),
            &["allow_zero_seeds"],
        ),
        (b"no delimiter at all".to_vec(), &["---"]),
        (Vec::new(), &["---"]),
    ];
    for (bytes, words) in cases {
        let place = Place::new();
        place.file("E/init.md", &bytes);
        let words = [&["init.md"], words].concat();
        refuses(&place, &["run", "E"], &words);
        assert!(!place.path("E/logs/experiment.jsonl").exists());
        let ran = place.alone(&["check-init", "E/init.md"]).exits(2);
        assert!(ran.stderr.contains("init.md"), "{}", ran.stderr);
        assert_eq!(place.bytes("E/init.md"), bytes);
    }
}

#[test]
fn a_missing_init_names_the_command_that_makes_one() {
    let place = Place::new();
    std::fs::create_dir(place.path("E")).unwrap();
    refuses(&place, &["run", "E"], &["init.md", "new"]);
    refuses(&place, &["run", "nowhere"], &["nowhere"]);
    assert!(place.names("E").is_empty() && !place.path("nowhere").exists());
}

#[test]
fn what_is_not_there_is_named() {
    let place = Place::new();
    for command in [
        &["resume"][..],
        &["analyze"],
        &["report"],
        &["lineage"],
        &["estimate"],
        &["null-model", "--kind", "shuffle"],
        &["verify"],
        &["check-init"],
        &["parse"],
        &["export", "messages", "--format", "csv"],
        &["new", "x", "--from"],
    ] {
        let ran = place
            .alone(&[command, &["nowhere"]].concat())
            .exits_with_one_of(&[1, 2]);
        assert!(
            ran.stderr.contains("nowhere"),
            "{command:?}: {}",
            ran.stderr
        );
        assert!(place.names("").is_empty(), "{command:?}");
    }
}

#[test]
fn journals() {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&["run", "E", "--rounds", "2", "--seed", "1"])
        .exits(0);
    let journal = place.read(&path("E"));
    let events = events(&place, "E");
    let lines: Vec<_> = journal.lines().collect();
    let joined = |lines: &[&str]| lines.join("\n") + "\n";
    let renumbered = |journal: String| journal::rechained(&events, &journal);
    let without_a_seq = [&lines[..3], &lines[4..]].concat();
    let two_starts = [&lines[..1], &lines[..]].concat();
    let unknown_version = journal.replacen("\"schema_version\":2", "\"schema_version\":99", 1);
    let cases: Vec<(&str, String, &[&str])> = vec![
        ("empty", String::new(), &["empty"]),
        ("blank", "\n".to_owned(), &["line 1"]),
        (
            "no start",
            joined(&lines[1..]),
            &["experiment_start", "line 1"],
        ),
        ("two starts", renumbered(joined(&two_starts)), &["line 2"]),
        (
            "gap",
            renumbered(joined(&without_a_seq)),
            &["line 4", "seq"],
        ),
        (
            "version",
            renumbered(unknown_version),
            &["schema_version", "99"],
        ),
        ("no JSON", joined(&[lines[0], "{", lines[1]]), &["line 2"]),
        ("no object", joined(&[lines[0], "3", lines[1]]), &["line 2"]),
        (
            "CRLF",
            joined(&lines).replace('\n', "\r\n"),
            &["line 1", "carriage return"],
        ),
        (
            "BOM",
            format!("\u{feff}{journal}"),
            &["line 1", "byte order mark"],
        ),
        ("text", "hello\nworld\n".to_owned(), &["line 1"]),
        (
            "a field is missing",
            renumbered(journal.replacen("\"pool_size\":", "\"pol_size\":", 1)),
            &["line 2", "pool_size"],
        ),
        (
            "a type is wrong",
            renumbered(journal.replacen("\"mind_id\":0", "\"mind_id\":\"0\"", 1)),
            &["line 3", "mind_id"],
        ),
    ];
    for (what, damaged, words) in cases {
        place.file("j.jsonl", &damaged);
        for command in [&["verify", "j.jsonl"][..]] {
            let ran = place.alone(command).exits_with_one_of(&[2, 4]);
            for word in words {
                assert!(
                    ran.all().contains(word),
                    "{what}, {command:?}: {word:?}\n{}",
                    ran.all()
                );
            }
        }
        let whole = path("E");
        place
            .alone(&["diff", "j.jsonl", &whole])
            .exits_with_one_of(&[2, 4]);
        place.file("D/logs/experiment.jsonl", &damaged);
        place.file("D/init.md", place.bytes("E/init.md"));
        for command in [
            &["analyze", "D"][..],
            &["report", "D"],
            &["lineage", "D"],
            &["resume", "D"],
        ] {
            place.alone(command).exits_with_one_of(&[1, 2, 4]);
        }
        assert_eq!(
            place.read("D/logs/experiment.jsonl"),
            damaged,
            "{what}: nothing is written"
        );
    }
}

#[test]
fn a_clock_that_goes_backwards_is_only_a_warning() {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&["run", "E", "--rounds", "2", "--seed", "1"])
        .exits(0);
    let journal = place.read(&path("E"));
    let events = events(&place, "E");
    let mut lines: Vec<_> = journal.lines().map(str::to_owned).collect();
    let time = events[4]["timestamp"].as_str().unwrap();
    lines[4] = lines[4].replacen(time, "2001-01-01T00:00:00.000Z", 1);
    place.file("j.jsonl", journal::rechained(&events, &lines.join("\n")));
    let ran = place.alone(&["verify", "j.jsonl"]).exits(0);
    assert!(
        ran.stderr.contains("line 5") && ran.stderr.contains("clock"),
        "{}",
        ran.stderr
    );
    place
        .alone(&["verify", "j.jsonl", "-o", "again.jsonl"])
        .exits(0);
    assert_eq!(place.bytes("again.jsonl"), place.bytes("j.jsonl"));
}

#[test]
fn a_resume_that_would_mix_runs() {
    let stub = MindStub::start(MindScript::default());
    let place = Place::new();
    place.experiment("E");
    place
        .asking(&stub, &["run", "E", "--rounds", "2", "--seed", "1"])
        .exits(0);
    let before = place.bytes(&path("E"));
    let made = stub.stats().requests;
    for (flags, words) in [
        (&["--minds", "4"][..], &["--minds"][..]),
        (&["--samples", "1"], &["--samples"]),
        (&["--active", "9"], &["--active"]),
        (&["--seed", "2"], &["--seed"]),
        (&["--scheduling", "snapshot"], &["--scheduling"]),
        (&["--token-limit", "9"], &["--token-limit"]),
        (
            &["--model", "other", "--rounds", "3"],
            &["model", "\"m\"", "other"],
        ),
        (
            &["--provider", "offline", "--rounds", "3"],
            &["provider", "openrouter", "offline"],
        ),
    ] {
        let ran = place.alone(&[&["resume", "E"], flags].concat()).exits(2);
        for word in words {
            let bare = word.trim_matches('"');
            assert!(
                ran.stderr.contains(bare),
                "{flags:?}: {word}\n{}",
                ran.stderr
            );
        }
    }
    // The other way round.
    place.experiment("O");
    place
        .alone(&["run", "O", "--rounds", "1", "--seed", "1"])
        .exits(0);
    let offline = place.bytes(&path("O"));
    let ran = place
        .asking(&stub, &["resume", "O", "--rounds", "2"])
        .exits(2);
    assert!(
        ran.stderr.contains("offline") && ran.stderr.contains("openrouter"),
        "{}",
        ran.stderr
    );
    assert_eq!(place.bytes(&path("E")), before);
    assert_eq!(place.bytes(&path("O")), offline);
    assert_eq!(stub.stats().requests, made);
}
