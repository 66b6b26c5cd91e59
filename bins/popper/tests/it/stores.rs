//! Databases that cannot be used: one clear line each, exit code 1 or, for a file of another kind, 2, and nothing is changed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;
use test_support::program::signal;

use crate::process::{Ran, fresh, words};
use crate::runs::Place;
use crate::sql;

/// Commands that open a database, without `--db`.
const COMMANDS: [&[&str]; 5] = [
    &["run", "--proposer", "enumerative", "--iterations", "1"],
    &["resume", "--run-id", "1"],
    &["status"],
    &["retest", "--law-fingerprint", "0123456789abcdef"],
    &["export"],
];

/// One line on stderr, nothing on stdout.
fn assert_refused(ran: &Ran, code: i32, said: &str, context: &str) {
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(code), ""),
        "{context}: {}",
        ran.stderr
    );
    let told = ran.stderr.trim_start_matches("run: 1 (newest)\n");
    assert_eq!(told.lines().count(), 1, "{context}: {}", ran.stderr);
    assert!(told.starts_with("popper: "), "{context}: {}", ran.stderr);
    assert!(ran.stderr.contains(said), "{context}: {}", ran.stderr);
}

#[test]
fn what_is_missing_is_only_made_by_run() {
    let place = Place::new();
    for command in &COMMANDS[1..] {
        let ran = place.popper(command);
        assert_refused(&ran, 2, "popper.db: there is no database", command[0]);
    }
    assert!(!place.db().exists());
    let refused = place.run(&["--run-id", "3"]);
    assert_refused(&refused, 2, "there is no database", "run --run-id");
    assert_eq!(place.run(&["--iterations", "1"]).code, Some(0));
    for command in [&["status"] as &[&str], &["resume"], &["export"]] {
        let ran = place.popper(&[command, &["--run-id", "77"]].concat());
        let line = "popper: the database has no run 77; its newest are 1 (kinetic_grid_v1)\n";
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), line));
    }
}

#[test]
fn what_is_no_database_is_refused_and_left_alone() {
    let place = Place::new();
    for (name, bytes) in [
        ("garbage", b"\x00\xff garbage".repeat(1000)),
        ("text", b"# a note\n".to_vec()),
        ("header", b"SQLite format 3\0".to_vec()),
    ] {
        fs::write(place.db(), &bytes).unwrap();
        for command in COMMANDS {
            let ran = place.popper(command);
            let context = format!("{name} {}", command[0]);
            assert_refused(&ran, 2, "popper.db: not a sound database", &context);
            assert_eq!(fs::read(place.db()).unwrap(), bytes, "{context}");
        }
    }
}

#[test]
fn a_database_that_was_cut_is_refused() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "2"]).code, Some(0));
    let whole = fs::read(place.db()).unwrap();
    for share in 1..10 {
        let cut = &whole[..whole.len() * share / 10];
        for command in COMMANDS {
            for companion in ["popper.db-wal", "popper.db-shm"] {
                let _ = fs::remove_file(place.path().join(companion));
            }
            fs::write(place.db(), cut).unwrap();
            let ran = place.popper(command);
            let context = format!("{share} {}", command[0]);
            assert_refused(&ran, 2, "not a sound database", &context);
        }
    }
}

#[test]
fn a_folder_in_place_of_a_database_is_refused() {
    let place = Place::new();
    fs::create_dir(place.db()).unwrap();
    for command in COMMANDS {
        let ran = place.popper(command);
        assert_refused(&ran, 2, "popper.db", command[0]);
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_refused() {
    let place = Place::new();
    let arguments = words("run --proposer enumerative --db config.json/x/popper.db");
    let ran: Ran = crate::process::fresh(place.path(), &arguments)
        .output()
        .unwrap()
        .into();
    assert_refused(&ran, 1, "config.json/x/popper.db: Not a directory", "run");
}

#[test]
fn a_database_of_a_newer_program_is_left_alone() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "1"]).code, Some(0));
    make_newer(&place.db());
    let rows = sql::rows(&place.db());
    for command in COMMANDS {
        let ran = place.popper(command);
        assert_refused(&ran, 2, "made by a newer program", command[0]);
    }
    assert_eq!(sql::rows(&place.db()), rows);
}

fn make_newer(db: &Path) {
    sql::column(db, "UPDATE schema_version SET version = 99");
}

#[test]
fn columns_that_hold_nonsense_are_named() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "1"]).code, Some(0));
    for (update, said) in [
        (
            "UPDATE law_evaluations SET evidence_json = '{'",
            "evidence_json",
        ),
        ("UPDATE runs SET created_at = 'yesterday'", "created_at"),
    ] {
        sql::column(&place.db(), update);
        for command in [&["status"] as &[&str], &["export"]] {
            let ran = place.popper(command);
            assert_refused(&ran, 1, said, &format!("{update} {}", command[0]));
        }
    }
}

/// A separate small file system, if this process may mount one.
struct Small<'a>(&'a Path);

impl<'a> Small<'a> {
    fn mount(folder: &'a Path, size: &str) -> Option<Self> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(folder)
            .output();
        mounted
            .is_ok_and(|mounted| mounted.status.success())
            .then_some(Self(folder))
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// A line that cannot be written to stderr is lost; the work and its results are not.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_below_stderr_ends_no_run() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["run", "--iterations", "1", "--exhaustive-n", "4"][..],
        &words("resume --run-id 1 --iterations 2 --log-format json"),
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let ran = crate::process::fresh(folder.path(), arguments)
            .stderr(full.unwrap())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&ran.stdout);
        assert_eq!(ran.status.code(), Some(0), "{arguments:?}: {text}");
        assert!(text.contains("completed"), "{text}");
    }
}

#[test]
fn a_full_disk_ends_a_run_with_one_line_and_how_to_go_on() {
    // Many laws an iteration, so that the disk is full soon.
    let config = json!({
        "exhaustive_n": 4, "minimal_n": 4, "ladder": [8], "generations": 0,
        "propose": 300, "test": 300,
    });
    let place = Place::with(&config);
    let small = place.path().join("small");
    fs::create_dir(&small).unwrap();
    let Some(mounted) = Small::mount(&small, "700k") else {
        eprintln!("skipped: no file system can be mounted here");
        return;
    };
    let arguments = words(
        "run --config config.json --proposer enumerative --iterations 40 --quiet --db small/popper.db",
    );
    let ran: Ran = crate::process::fresh(place.path(), &arguments)
        .output()
        .unwrap()
        .into();
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(1), ""),
        "{}",
        ran.stderr
    );
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines[0].contains("the disk is full"), "{}", ran.stderr);
    let hint = "popper: to continue: popper resume 1 --db small/popper.db --iterations 40";
    assert_eq!(lines[1..], [hint], "{}", ran.stderr);
    // What was committed is sound, and goes on elsewhere.
    for entry in fs::read_dir(&small).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), place.path().join(entry.file_name())).unwrap();
    }
    drop(mounted);
    sql::assert_sound(&place.db());
    let resumed = place.popper(&["resume", "--run-id", "1", "--iterations", "1"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
}

#[test]
fn a_read_only_file_system_is_read_and_not_written() {
    let place = Place::new();
    let small = place.path().join("small");
    fs::create_dir(&small).unwrap();
    let Some(_mounted) = Small::mount(&small, "10m") else {
        eprintln!("skipped: no file system can be mounted here");
        return;
    };
    let at = |arguments: &[&str]| -> Ran {
        let arguments = [arguments, &["--db", "small/popper.db"]].concat();
        let ran = crate::process::fresh(place.path(), &arguments).output();
        ran.unwrap().into()
    };
    let flags = words("--config config.json --iterations 1 --provider offline");
    assert_eq!(at(&[&["run"] as &[&str], &flags].concat()).code, Some(0));
    let remounted = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(&small)
        .status();
    assert!(remounted.unwrap().success());
    for command in &COMMANDS[..2] {
        assert_refused(&at(command), 1, "small/popper.db: read-only", command[0]);
    }
    let status = at(&["status"]);
    assert_eq!(
        (status.code, status.stderr.as_str()),
        (Some(0), "run: 1 (newest)\n")
    );
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_wait_for_a_server() {
    use std::io::{BufRead as _, BufReader, Read as _};

    let place = Place::new();
    for (line, waits) in [
        ("check --conserved X", "waiting for "),
        ("run --proposer enumerative", "trying again"),
        ("resume 1", "trying again"),
    ] {
        let line = format!("{line} --store postgres://127.0.0.1:1/none");
        let mut command = fresh(place.path(), &words(&line));
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut told = BufReader::new(child.stderr.take().unwrap());
        let mut seen = String::new();
        while !seen.contains(waits) {
            assert_ne!(told.read_line(&mut seen).unwrap(), 0, "{line}: {seen}");
        }
        signal(child.id(), "-TERM");
        told.read_to_string(&mut seen).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{line}: {seen}");
        assert!(seen.contains("popper: interrupted: "), "{line}: {seen}");
    }
}
