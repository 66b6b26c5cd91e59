//! Mistakes of persons, files and other processes: the error names each, and nothing is changed.

use std::fs;

use pscale_blocks::DirStore;

use crate::program::{DATA, Place, finish, start};

/// Creates a block with a head and two entries.
fn yard() -> Place {
    Place::with_block("yard", "What the yard holds.", &["Larch", "Oak"])
}

#[test]
fn an_edit_that_cannot_be_says_why_and_changes_nothing() {
    let place = yard();
    let before = place.read("data/blocks/yard.json");
    let long = "x".repeat(70 << 10);
    let deep = "0".repeat(32);
    for (arguments, kind, words) in [
        (
            &["write", "yard", "0.1", " "][..],
            "empty_content",
            &["empty"][..],
        ),
        (&["write", "yard", "2.1", "x"], "new_root", &["0"]),
        (
            &["write", "yard", "0.1", &long],
            "too_large",
            &["65536", "71680"],
        ),
        (&["append", "yard", &long], "too_large", &["65536"]),
        (&["append", "yard", ""], "empty_content", &[]),
        (&["mv", "yard", "0.1", "0.2"], "exists", &["0.2"]),
        (&["mv", "yard", "0.1", "0.1.1"], "into_itself", &["0.1.1"]),
        (&["mv", "yard", "0.7", "0.8"], "not_found", &["0.7"]),
        (
            &["rm", "yard", "0.1.5"],
            "not_found",
            &["no node `0.1.5` in yard; 0.1 has no entries"],
        ),
        (
            &["read", "yard", "0.3"],
            "not_found",
            &["no node `0.3` in yard; entries are 0.1 to 0.2"],
        ),
        (
            &["read", "yard", "1"],
            "not_found",
            &["no node `1` in yard; entries are 0.1 to 0.2; did you mean 0.1?\n"],
        ),
        (&["read", "yard", &deep], "not_found", &[]),
        (&["grow", "yard", "--summary", "\t"], "empty_content", &[]),
        (
            &["read", "yrad"],
            "no_block",
            &["yrad", "did you mean yard?"],
        ),
        (&["read", "quite-different"], "no_block", &["block list"]),
        (&["rm", "quite-different", "--whole"], "no_block", &[]),
        (&["log", "quite-different"], "no_block", &[]),
        (&["undo", "quite-different"], "no_block", &[]),
        (&["create", "yard", "x"], "exists", &["yard"]),
        (&["create", "shed", &long], "too_large", &["65536"]),
    ] {
        let arguments = [&["block"], arguments, &["--json"]].concat();
        let ran = place.run(&arguments).exits(1).tells(words);
        assert_eq!(ran.json()["error"], kind, "{}", ran.stderr);
    }
    assert_eq!(place.read("data/blocks/yard.json"), before);
    assert_eq!(place.names("data/blocks"), ["yard.json"]);
    let leaf = Place::with_block("leaf", "A head alone", &[]);
    let grow = ["block", "grow", "leaf", "--summary", "x", "--json"];
    let ran = leaf.run(&grow).exits(1);
    assert_eq!(ran.json()["error"], "nothing_to_grow");
}

#[test]
fn what_is_no_path_no_name_and_no_command_is_wrong_usage() {
    let place = Place::new();
    let long = "x".repeat(65);
    let deep = "0".repeat(33);
    for (arguments, words) in [
        (&["block", "read", "yard", "0..1"][..], &["character 2"][..]),
        (&["block", "read", "yard", "0.a"], &["character 2"]),
        (&["block", "read", "yard", "0,1"], &["character 1"]),
        (&["block", "read", "yard", "-1"], &[]),
        (&["block", "read", "yard", "0.1 "], &["character 3"]),
        (&["block", "read", "yard", &deep], &["32"]),
        (&["block", "read", "../x"], &["../x", "not a block name"]),
        (&["block", "create", "a/b", "x"], &["not a block name"]),
        (&["block", "create", "CON", "x"], &["not a block name"]),
        (&["block", "create", "con", "x"], &["device"]),
        (&["block", "create", "", "x"], &["empty"]),
        (&["block", "create", &long, "x"], &["64"]),
        (&["block", "create", "Upper", "x"], &["not a block name"]),
        (&["block", "write", "yard"], &["PATH"]),
        (&["block", "rm", "yard"], &["block rm yard --whole"]),
        (&["block", "rm", "yard", "0.1", "--whole"], &["--whole"]),
        (&["block", "grow", "yard"], &["--summary"]),
        (
            &["block", "append", "yard", "x", "--kind", "sum"],
            &["emergence"],
        ),
        (&["block", "undo", "yard", "--count", "0"], &["--count"]),
        (
            &["block", "write", "yard", "0", "x", "--rev=-1"],
            &["--rev"],
        ),
        (&["block", "forget", "yard"], &["forget"]),
        (&["blok"], &["block"]),
    ] {
        place.run(arguments).exits(2).tells(words);
    }
    assert!(!place.path(DATA).exists());
}

#[test]
fn a_directory_that_another_process_writes_to_can_be_read() {
    let place = yard();
    let holder = DirStore::open(place.path(DATA)).unwrap();
    place.run(&["block", "read", "yard"]).exits(0);
    place.run(&["block", "list"]).exits(0);
    place.run(&["block", "log"]).exits(0);
    let pid = format!("locked by pid {}", std::process::id());
    for edit in [
        &["write", "yard", "0.1", "x"][..],
        &["append", "yard", "x"],
        &["create", "shed", "x"],
        &["undo", "yard"],
        &["rm", "yard", "--whole"],
    ] {
        let arguments = [&["block"], edit, &["--json"]].concat();
        let ran = place.run(&arguments).exits(2);
        let ran = ran.tells(&[&pid, "reading works", "try again"]);
        assert!(!ran.stderr.contains("end that process"), "{}", ran.stderr);
        assert_eq!(ran.json()["error"], "locked");
    }
    drop(holder);
    place.run(&["block", "append", "yard", "Ash"]).exits(0);
}

#[test]
fn what_a_newer_program_wrote_ends_a_start_before_anything_is_written() {
    let place = Place::with_data();
    // Complete but for its capabilities, and the lock as a process left it.
    place
        .run(&["chat", "--provider", "offline", "--quiet"])
        .exits(0);
    place
        .run(&["block", "rm", "capabilities", "--whole"])
        .exits(0);
    let data = place.path(DATA);
    let log = std::fs::read_to_string(data.join("log/memory.jsonl")).unwrap();
    let newer = format!("{log}{}\n", r#"{"schema_version":3,"rev":2}"#);
    for (file, text) in [
        ("log/memory.jsonl", newer.as_str()),
        ("store.json", r#"{"schema_version":3}"#),
    ] {
        place.file(&format!("{DATA}/{file}"), text);
        place.file(&format!("{DATA}/lock"), std::process::id().to_string());
        let all = || {
            let files = crate::program::files(&data).into_iter();
            let bytes = files.map(|path| (std::fs::read(&path).unwrap(), path));
            bytes
                .filter(|(_, path)| !path.ends_with("lock") || file == "store.json")
                .collect::<Vec<_>>()
        };
        let before = all();
        let told = format!(
            "{file} was written by a newer hermitcrab (schema 3, this one knows 1): update the program, or use --data"
        );
        for words in [
            &["chat", "--provider", "offline", "--quiet"][..],
            &["block", "append", "memory", "x"],
            &["block", "list"],
            &["block", "read", "memory"],
            &["prompt", "--provider", "offline"],
            &["mcp", "--write"],
        ] {
            place.run(words).exits(1).tells(&[&told]);
            assert!(all() == before, "{file}: {words:?}");
        }
        let refused = place.run(&["block", "list", "--json"]).exits(1).json();
        assert_eq!(refused["error"], "newer");
    }
}

#[test]
fn a_conversation_of_a_newer_program_ends_a_start_before_anything_is_written() {
    let place = Place::with_data();
    let chat = ["chat", "--provider", "offline", "--quiet"];
    place.run(&chat).exits(0);
    let file = format!("{DATA}/conversation.jsonl");
    let newer = r#"{"message":{"schema_version":5}}"#;
    place.file(&file, format!("{}{newer}\n{{", place.read(&file)));
    let all = || {
        let files = crate::program::files(&place.path(DATA)).into_iter();
        let bytes = files.map(|path| (std::fs::read(&path).unwrap(), path));
        let bytes = bytes.filter(|(_, path)| !path.ends_with("lock"));
        bytes.collect::<Vec<_>>()
    };
    let before = all();
    let told = "conversation.jsonl was written by a newer hermitcrab (schema 5, this one knows 4): update the program, or use --data";
    for words in [&chat[..], &["prompt", "--provider", "offline"]] {
        place.run(words).exits(1).tells(&[told]);
        assert!(all() == before, "{words:?}");
    }
    place.run(&["block", "list"]).exits(0);
}

#[test]
fn an_edit_waits_for_the_edit_of_another_process() {
    let place = yard();
    let holder = DirStore::open(place.path(DATA)).unwrap();
    // The lock does not say whose it is.
    place.file("data/lock", "");
    let waiting = start(&mut place.command(&["block", "append", "yard", "Ash"]));
    std::thread::sleep(std::time::Duration::from_millis(300));
    drop(holder);
    finish(waiting).exits(0);
    let holder = DirStore::open(place.path(DATA)).unwrap();
    place.file("data/lock", "");
    let ran = place.run(&["block", "append", "yard", "Elm"]).exits(2);
    let ran = ran.tells(&["locked by another process"]);
    assert!(!ran.stderr.contains('?'), "{}", ran.stderr);
    drop(holder);
}

#[test]
fn a_named_data_folder_that_is_missing_is_said_and_no_backup_is_lost() {
    let place = yard();
    for export in [&["export"][..], &["block", "export"]] {
        let arguments = [export, &["-o", "backup.json"]].concat();
        place.run(&arguments).exits(0);
        let before = place.read("backup.json");
        for data in ["typo", "empty"] {
            fs::create_dir_all(place.path("empty")).unwrap();
            let mut command = place.bare(&[&arguments[..], &["--data", data]].concat());
            finish(start(&mut command)).exits(2).tells(&[data]);
            assert_eq!(place.read("backup.json"), before, "{export:?} {data}");
        }
    }
    for arguments in [
        &["block", "list"][..],
        &["block", "read", "yard"],
        &["block", "log"],
        &["block", "search", "oak"],
        &["cost"],
        &["shells"],
        &["prompt"],
        &["export"],
        &["mcp"],
    ] {
        let mut command = place.bare(&[arguments, &["--data", "typo"]].concat());
        let ran = finish(start(&mut command)).exits(2);
        let said = "typo: there is no such data folder: --data DIR names another one";
        assert!(ran.stderr.contains(said), "{arguments:?} {}", ran.stderr);
    }
    let doctor = ["doctor", "--provider", "offline", "--data", "typo"];
    let ran = finish(start(&mut place.bare(&doctor))).exits(4);
    assert!(
        ran.stdout
            .contains("FAILS  blocks     typo: there is no such"),
        "{}",
        ran.stdout
    );
    assert!(!place.path("typo").exists());
    // The default folder has no blocks before the first edit.
    finish(start(&mut place.bare(&["block", "list"]))).exits(0);
}

#[test]
fn an_input_that_cannot_be_read_is_wrong_usage() {
    let place = yard();
    place.file("list.json", "[]");
    place.file("other.json", "{}");
    place.file("yard.txt", "no block");
    for arguments in [
        &["import", "list.json"][..],
        &["import", "other.json"],
        &["migrate", "other.json"],
        &["block", "diff", "yard", "yard.txt"],
    ] {
        place
            .run(arguments)
            .exits(2)
            .tells(&[arguments[arguments.len() - 1]]);
    }
    place
        .run(&["block", "diff", "yard"])
        .exits(2)
        .tells(&["--since REVISION"]);
    place
        .run(&["block", "remove", "yard"])
        .exits(2)
        .tells(&["hermitcrab block rm yard --whole"]);
}

#[test]
fn a_directory_that_cannot_be_used_is_named_with_what_to_do() {
    let place = Place::new();
    place.file(DATA, "a file");
    for arguments in [&["block", "list"][..], &["block", "create", "yard", "x"]] {
        place.run(arguments).exits(1).tells(&[DATA, "--data"]);
    }
    // One of a later program.
    let place = yard();
    place.file("data/store.json", r#"{"schema_version": 99}"#);
    for arguments in [&["block", "list"][..], &["block", "append", "yard", "x"]] {
        place.run(arguments).exits(1).tells(&["store.json", "99"]);
    }
    // No home, no directory.
    let mut command = place.bare(&["block", "list"]);
    command.env_remove("HOME");
    let ran = crate::program::finish(crate::program::start(&mut command));
    ran.exits(2).tells(&["--data DIR"]);
}

#[cfg(unix)]
#[test]
fn a_directory_without_permission_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    fs::create_dir(place.path(DATA)).unwrap();
    let set = |mode| fs::set_permissions(place.path(DATA), fs::Permissions::from_mode(mode));
    set(0o500).unwrap();
    let ran = place.run(&["block", "create", "yard", "x"]);
    set(0o700).unwrap();
    // Nothing is closed to root.
    if ran.code != Some(0) {
        ran.exits(1).tells(&[DATA, "--data"]);
    }
}

#[test]
fn a_file_that_is_no_block_does_not_hide_the_others() {
    let place = yard();
    place.run(&["block", "create", "shed", "A shed."]).exits(0);
    place.file("data/blocks/shed.json", "{\"decimal\": 1, \"tree\": {}");
    place.run(&["block", "read", "yard"]).exits(0);
    let ran = place.run(&["block", "append", "yard", "Ash"]).exits(0);
    assert!(!ran.stderr.contains("shed"), "{}", ran.stderr);
    // It is said at the first use, and the good version comes back from the log.
    let ran = place.run(&["block", "append", "shed", "A spade"]).exits(0);
    let ran = ran.tells(&["shed"]);
    assert!(ran.stderr.contains("quarantine"), "{}", ran.stderr);
    assert_eq!(place.names("data/quarantine").len(), 1);
    let read = place.run(&["block", "read", "shed"]).exits(0);
    assert!(read.stdout.contains("A shed."), "{}", read.stdout);
}

#[cfg(unix)]
#[test]
fn a_link_among_the_blocks_is_not_followed() {
    let place = yard();
    let block = r#"{"decimal": 1, "tree": {"0": "From outside"}}"#;
    place.file("outside.json", block);
    std::os::unix::fs::symlink(
        place.path("outside.json"),
        place.path("data/blocks/out.json"),
    )
    .unwrap();
    let ran = place.run(&["block", "read", "out"]).exits(1);
    assert!(!ran.stdout.contains("outside"), "{}", ran.stdout);
    assert_eq!(place.read("outside.json"), block);
}

#[test]
fn data_go_to_the_users_folder_where_none_is_named() {
    let place = Place::new();
    let mut command = place.bare(&["block", "create", "yard", "x"]);
    command.env("XDG_DATA_HOME", place.path("xdg"));
    crate::program::finish(crate::program::start(&mut command)).exits(0);
    let mut command = place.bare(&["block", "create", "yard", "x"]);
    crate::program::finish(crate::program::start(&mut command)).exits(0);
    if cfg!(target_os = "linux") {
        assert!(place.path("xdg/hermitcrab/blocks/yard.json").exists());
        assert!(
            place
                .path(".local/share/hermitcrab/blocks/yard.json")
                .exists()
        );
    }
}

#[test]
fn settings_that_make_no_sense_are_named_with_their_line() {
    let place = Place::new();
    for (text, words) in [
        (
            "[budgets]\nround = 3\n",
            ["line 2", "unknown field `round`"],
        ),
        ("[[model]]\nid = \"two words\"\n", ["line 2", "two words"]),
        ("\n[budgets]\nday_usd = -1\n", ["line 3", "-1"]),
        ("[budgets\n", ["line 1", "unclosed table"]),
    ] {
        place.file("data/hermitcrab.toml", text);
        let ran = place.run(&["prompt", "--phase", "call"]).exits(2);
        ran.tells(&["data/hermitcrab.toml"]).tells(&words);
        // Blocks have nothing to do with it.
        place.run(&["block", "list"]).exits(0);
    }
}
