//! Folders that others made, with links and pipes in the place of files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::program::{Place, SEEDS, finish, init, start, words};

const LINKED: &str = " is a link, and nothing is written through links in this folder";
const JOURNAL: &str = "logs/experiment.jsonl";

/// A run of two rounds.
fn ended() -> Place {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&words("run E --rounds 2 --mind copier:mu=0"))
        .exits(0);
    place
}

/// All files below a folder, with their contents.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            all.push((path.display().to_string(), fs::read(path).unwrap()));
        }
    }
    all.sort();
    all
}

/// Moves a file or folder to `away/moved`, and makes a link to it.
fn linked(place: &Place, name: &str) {
    fs::create_dir_all(place.path("away")).unwrap();
    let moved = place.path("away/moved");
    fs::rename(place.path(name), &moved).unwrap();
    symlink(moved, place.path(name)).unwrap();
}

fn unlinked(place: &Place, name: &str) {
    fs::remove_file(place.path(name)).unwrap();
    fs::rename(place.path("away/moved"), place.path(name)).unwrap();
}

fn pipe(place: &Place, name: &str) {
    let _ = fs::remove_file(place.path(name));
    let made = Command::new("mkfifo").arg(place.path(name)).status();
    assert!(made.unwrap().success());
}

#[test]
fn a_run_is_not_continued_through_a_link() {
    let place = ended();
    for file in [
        "logs",
        "logs/lock",
        JOURNAL,
        "logs/calls.spool.jsonl",
        "config.effective.json",
    ] {
        let name = format!("E/{file}");
        linked(&place, &name);
        let before = contents(place.root());
        let told = format!("{name}{LINKED}");
        place
            .alone(&words("resume E --rounds 3"))
            .exits(2)
            .tells(&[&told]);
        assert_eq!(contents(place.root()), before, "{file}");
        // What is there can be read.
        place.alone(&words("verify E")).exits(0);
        place.alone(&words("status E")).exits(0);
        place.alone(&words("watch E --once")).exits(0);
        unlinked(&place, &name);
    }
    place.alone(&words("resume E --rounds 3")).exits(0);
    // The folder itself may be on another disk.
    linked(&place, "E");
    place.alone(&words("resume E --rounds 4")).exits(0);
    place.alone(&words("report E")).exits(0);
    assert!(place.path("away/moved/report.html").exists());
}

#[test]
fn a_new_run_writes_nothing_through_a_link() {
    let place = Place::new();
    place.experiment("E");
    fs::create_dir(place.path("E/logs")).unwrap();
    for file in ["logs/lock", JOURNAL, "config.json", "config.effective.json"] {
        let link = place.path(&format!("E/{file}"));
        symlink(place.path("target"), &link).unwrap();
        let told = format!("E/{file}{LINKED}");
        place
            .alone(&words("run E --rounds 1"))
            .exits(2)
            .tells(&[&told]);
        assert!(!place.path("target").exists(), "{file}");
        fs::remove_file(link).unwrap();
    }
}

#[test]
fn a_page_goes_through_a_link_only_if_the_user_names_it() {
    let place = ended();
    for file in ["E/report.html", "E/logs/experiment.html"] {
        place.file("mine", "mine");
        symlink(place.path("mine"), place.path(file)).unwrap();
        let run = if file == "E/report.html" {
            "E"
        } else {
            "E/logs/experiment.jsonl"
        };
        let told = format!("{file}{LINKED}");
        for more in ["", " --watch"] {
            let line = format!("report {run}{more}");
            place.alone(&words(&line)).exits(2).tells(&[&told]);
        }
        assert_eq!(place.read("mine"), "mine");
        place.alone(&["report", run, "-o", file]).exits(0);
        assert!(place.read("mine").contains("<html"));
    }
}

#[test]
fn runs_of_a_sweep_and_of_a_fork_are_not_made_through_a_link() {
    let place = ended();
    place.file("init.md", init(&SEEDS));
    place.file(
        "plan.toml",
        "schema_version = 1\nname = \"try\"\nrepeats = 2\nseed = 7\ninit = \"init.md\"\n\
         [base]\nn_minds = 2\nmax_rounds = 2\nmind = \"copier:mu=0\"\n[axes]\nk_samples = [1, 2]\n",
    );
    fs::create_dir(place.path("away")).unwrap();
    for (folder, link, command) in [
        ("sweeps/try", "cells", "sweep plan.toml"),
        ("sweeps/try/cells", "k_samples=1", "sweep plan.toml"),
        ("sweeps/try/cells/k_samples=2", "r001", "sweep plan.toml"),
        (
            "forks/x",
            "control",
            "fork E --at 1 --replicates 1 --name x",
        ),
        (
            "forks/x/treated",
            "r00",
            "fork E --at 1 --replicates 1 --name x",
        ),
    ] {
        fs::create_dir_all(place.path(folder)).unwrap();
        let path = format!("{folder}/{link}");
        symlink(place.path("away"), place.path(&path)).unwrap();
        let told = format!("{path}{LINKED}");
        place.alone(&words(command)).exits(1).tells(&[&told]);
        assert_eq!(
            fs::read_dir(place.path("away")).unwrap().count(),
            0,
            "{path}"
        );
        fs::remove_file(place.path(&path)).unwrap();
        place.alone(&words(command)).exits(0);
        let root = folder.split('/').next().unwrap();
        fs::remove_dir_all(place.path(root)).unwrap();
    }
    for (file, command) in [
        ("sweeps/try/plan.json", "sweep plan.toml"),
        ("sweeps/try/report.html", "sweep plan.toml"),
        (
            "forks/x/summary.json",
            "fork E --at 1 --replicates 1 --name x",
        ),
    ] {
        let path = place.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(place.path("target"), &path).unwrap();
        place.alone(&words(command)).exits(2).tells(&[file, LINKED]);
        assert!(!place.path("target").exists(), "{file}");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_pipe_in_the_place_of_a_journal_is_not_waited_for() {
    let place = ended();
    let journal = format!("E/{JOURNAL}");
    pipe(&place, &journal);
    for command in [
        "watch", "status", "analyze", "report", "resume", "verify", "lineage",
    ] {
        let ran = place.alone(&[command, "E"]).exits(2);
        ran.tells(&[&journal, "not a regular file"]);
    }
    place.alone(&["watch", "E", "--once"]).exits(2);
    place.alone(&["verify", &journal]).exits(2);
    place.alone(&words("fork E --at 1 --replicates 1")).exits(2);
    // One that the user names elsewhere is read.
    pipe(&place, "named");
    let verify = start(&mut place.command(&words("verify named")));
    fs::write(place.path("named"), "{}\n").unwrap();
    finish(verify).exits_with_one_of(&[2, 4]);
}

#[test]
fn a_pipe_in_the_place_of_a_page_or_of_seed_messages_is_not_waited_for() {
    let place = ended();
    for (file, commands) in [
        ("E/report.html", &["report E", "report E --watch"][..]),
        (
            "E/logs/experiment.html",
            &[
                "report E/logs/experiment.jsonl",
                "report E/logs/experiment.jsonl --watch",
            ],
        ),
        ("E/init.md", &["check-init E"]),
        ("E/config.effective.json", &["resume E --rounds 3"]),
        ("E/logs/calls.spool.jsonl", &["resume E --rounds 3"]),
    ] {
        pipe(&place, file);
        for command in commands {
            let told = format!("{file}: not a regular file; expected a file of 1 GiB or less");
            let ran = place.alone(&words(command)).exits(2);
            ran.tells(&[&told, "so move it away"]);
        }
        fs::remove_file(place.path(file)).unwrap();
    }
    pipe(&place, "init.md");
    let plan = "schema_version = 1\nname = \"try\"\nrepeats = 1\nseed = 7\ninit = \"init.md\"\n\
                [base]\nmax_rounds = 2\nmind = \"copier:mu=0\"\n[axes]\nk_samples = [1, 2]\n";
    place.file("plan.toml", plan);
    let ran = place.alone(&words("sweep plan.toml")).exits(2);
    ran.tells(&["cannot read init.md", "not a regular file"]);
    // A pipe that the user names takes the page, and gives seed messages.
    pipe(&place, "named");
    let report = start(&mut place.command(&words("report E -o named")));
    assert!(place.read("named").contains("<html"));
    finish(report).exits(0);
    let check = start(&mut place.command(&words("check-init named")));
    fs::write(place.path("named"), init(&SEEDS)).unwrap();
    finish(check).exits(0);
}

#[test]
fn a_file_of_a_run_that_has_a_name_elsewhere_is_not_changed() {
    let place = ended();
    let hard = |file: &str, target: &str| {
        let path = place.path(file);
        let _ = fs::remove_file(&path);
        fs::hard_link(place.path(target), path).unwrap();
    };
    let told = |file: &str| {
        format!("{file} is a hard link, and nothing is written through links in this folder")
    };
    place.file("mine", "mine");
    hard("E/logs/lock", "mine");
    let ran = place.alone(&words("resume E --rounds 3")).exits(2);
    ran.tells(&[&told("E/logs/lock"), "put a copy in its place"]);
    // What is there can be read.
    place.alone(&words("status E")).exits(0);
    place.alone(&words("watch E --once")).exits(0);
    fs::remove_file(place.path("E/logs/lock")).unwrap();
    place.alone(&words("resume E --rounds 3")).exits(0);
    // A new run empties its spool and a journal without a whole line.
    place.experiment("N");
    fs::create_dir(place.path("N/logs")).unwrap();
    for file in ["N/logs/calls.spool.jsonl", "N/logs/experiment.jsonl"] {
        hard(file, "mine");
        let ran = place.alone(&words("run N --rounds 1")).exits(2);
        ran.tells(&[&told(file)]);
        fs::remove_file(place.path(file)).unwrap();
    }
    assert_eq!(place.read("mine"), "mine");
    place.alone(&words("run N --rounds 1")).exits(0);
}
