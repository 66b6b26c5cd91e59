//! Forks with runs that cannot be read, that are not theirs, or that end at once.

use std::fs;

use serde_json::Value;

use crate::program::{Place, Ran, init, words};

const FORK: &str = "fork first --at 6 --inject new.md --replicates 3 --name f";
const JOURNAL: &str = "logs/experiment.jsonl";
const RESULTS: [&str; 2] = ["forks/f/summary.json", "forks/f/report.html"];

/// A run of eight rounds with a fork that has ended.
fn forked() -> Place {
    let place = Place::new();
    place.experiment("first");
    place.file("new.md", init(&["an idea from outside"]));
    place
        .alone(&words("run first --rounds 8 --active 30"))
        .exits(0);
    place.alone(&words(FORK)).exits(0);
    place
}

fn journal(run: &str) -> String {
    format!("forks/f/{run}/{JOURNAL}")
}

fn results(place: &Place) -> [String; 2] {
    RESULTS.map(|name| place.read(name))
}

#[test]
fn a_damaged_run_is_named_and_the_others_are_made() {
    let place = forked();
    let before = results(&place);
    let whole = place.read(&journal("control/r01"));
    let last = whole.rfind("\"seq\":").unwrap();
    let damaged = format!("{}{}", &whole[..last], whole[last..].replacen(':', ":9", 1));
    place.file(&journal("control/r01"), &damaged);
    fs::remove_dir_all(place.path("forks/f/treated/r02")).unwrap();
    let without = |ran: Ran| {
        let ran = ran.tells(&["forks/f/control/r01: ", "the fork makes a run again once"]);
        assert!(
            ran.stdout.contains("control/r01 cannot be read: line "),
            "{}",
            ran.stdout
        );
        let json: Value = serde_json::from_str(&place.read(RESULTS[0])).unwrap();
        assert_eq!(json["replicates"], 2);
        assert_eq!(json["unreadable"][0]["run"], "control/r01");
        assert!(place.read(RESULTS[1]).contains("Unreadable runs"));
    };
    without(place.alone(&words(FORK)).exits(1));
    assert!(place.path(&journal("treated/r02")).exists());
    without(place.alone(&words(FORK)).exits(1));
    assert_eq!(place.read(&journal("control/r01")), damaged);
    // Without its folder the run is made again.
    fs::remove_dir_all(place.path("forks/f/control/r01")).unwrap();
    place.alone(&words(FORK)).exits(0);
    assert_eq!(results(&place), before);
}

#[test]
fn a_run_whose_journal_has_no_event_is_named_and_can_be_made_again() {
    let place = forked();
    let before = results(&place);
    let begin = place.read(&journal("control/r01"))[..40].to_owned();
    for torn in ["", &begin] {
        place.file(&journal("control/r01"), torn);
        let why = "no event was written to its end, and a fork writes its first ones at once";
        for _ in 0..2 {
            let ran = place.alone(&words(FORK)).exits(1);
            let told = format!("{}: {why}", journal("control/r01"));
            let ran = ran.tells(&[&told, "the fork makes a run again once its folder is moved"]);
            let told = format!("control/r01 cannot be read: {why}");
            assert!(ran.stdout.contains(&told), "{}", ran.stdout);
            let json: Value = serde_json::from_str(&place.read(RESULTS[0])).unwrap();
            assert_eq!(json["replicates"], 2);
            assert_eq!(json["unreadable"][0]["run"], "control/r01");
            assert_eq!(json["unreadable"][0]["reason"], why);
        }
        assert_eq!(place.read(&journal("control/r01")), torn);
        let watch = place.alone(&words("watch f --once"));
        assert!(watch.stdout.contains(why), "{}", watch.stdout);
        fs::remove_dir_all(place.path("forks/f/control/r01")).unwrap();
        place.alone(&words(FORK)).exits(0);
        assert_eq!(results(&place), before);
    }
}

#[test]
fn drafts_that_a_killed_fork_left_are_removed() {
    let place = forked();
    for run in ["control/r00", "treated/r02"] {
        place.file(&format!("forks/f/{run}/.draft-a.part"), "half");
        place.file(&format!("forks/f/{run}/logs/.draft-b.part"), "half");
    }
    place.alone(&words(FORK)).exits(0);
    for run in ["control/r00", "treated/r02"] {
        for folder in [format!("forks/f/{run}"), format!("forks/f/{run}/logs")] {
            let names = place.names(&folder);
            assert!(
                !names.iter().any(|name| name.starts_with(".draft")),
                "{names:?}"
            );
        }
    }
}

/// The events of a journal without what each process draws or reads from a clock.
fn events(place: &Place, run: &str) -> Vec<Value> {
    let text = place.read(&format!("{run}/{JOURNAL}"));
    let events = text.lines().map(|line| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        let fields = event.as_object_mut().unwrap();
        let is_own = fields["type"] == "forked";
        fields.retain(|key, _| {
            let is_time = key == "timestamp" || key.ends_with("_ms") || key == "chain";
            !(is_time || is_own && key == "run_id")
        });
        event
    });
    events.collect()
}

/// Both arms have no change, and the random numbers follow from the parent and the number of the replicate.
#[test]
fn a_control_of_another_fork_from_the_same_point_is_the_same_run() {
    let place = forked();
    let other = "fork first --at 6 --replicates 3 --inject other.md --name other";
    place.file("other.md", init(&["another idea"]));
    place.alone(&words(other)).exits(0);
    let before = results(&place);
    for run in ["control/r00", "control/r01", "control/r02"] {
        let other = format!("forks/other/{run}");
        assert_eq!(
            events(&place, &format!("forks/f/{run}")),
            events(&place, &other)
        );
        place.file(&journal(run), place.read(&format!("{other}/{JOURNAL}")));
    }
    place.alone(&words(FORK)).exits(0);
    assert_eq!(results(&place), before);
}

#[test]
fn a_run_of_another_arm_replicate_or_fork_is_refused_and_nothing_is_written() {
    let place = forked();
    let other = "fork first --at 6 --replicates 3 --inject other.md --name other";
    place.file("other.md", init(&["another idea"]));
    place.alone(&words(other)).exits(0);
    let before = results(&place);
    for (from, to, why) in [
        (
            "forks/f/control/r01",
            "treated/r01",
            "its arm is \"control\", expected \"treated\"",
        ),
        (
            "forks/f/treated/r01",
            "control/r01",
            "its arm is \"treated\", expected \"control\"",
        ),
        (
            "forks/f/treated/r02",
            "treated/r01",
            "its replicate is 2, expected 1",
        ),
        (
            "forks/other/treated/r01",
            "treated/r01",
            "texts of its change 1 is another",
        ),
        (
            "first",
            "control/r00",
            "its type is \"round_start\", expected \"forked\"",
        ),
    ] {
        let kept = place.read(&journal(to));
        let copied = place.read(&format!("{from}/{JOURNAL}"));
        place.file(&journal(to), &copied);
        fs::remove_dir_all(place.path("forks/f/treated/r00")).unwrap();
        let ran = place.alone(&words(FORK)).exits(4);
        ran.tells(&[
            &journal(to),
            "is not the run of this arm and replicate",
            why,
        ]);
        assert_eq!(results(&place), before);
        assert_eq!(place.read(&journal(to)), copied);
        assert!(!place.path("forks/f/treated/r00").exists(), "{why}");
        place.file(&journal(to), kept);
        place.alone(&words(FORK)).exits(0);
    }
    // A part of the parent's journal is not a fork that has begun.
    let part: String = place
        .read(&journal("control/r02"))
        .split_inclusive('\n')
        .take(3)
        .collect();
    place.file(&journal("control/r02"), part);
    place
        .alone(&words(FORK))
        .exits(4)
        .tells(&["it has no event of a fork"]);
}

#[test]
fn several_files_are_put_in_together_or_not_at_all() {
    let place = forked();
    place.file("empty.md", "no seeds\n");
    let path = format!("first/{JOURNAL}");
    let before = place.read(&path);
    for bad in [
        "--inject empty.md",
        "--inject none.md",
        "--ablate 0 --ablate 999",
    ] {
        let line = format!("resume first --rounds 9 --inject new.md {bad}");
        place.alone(&words(&line)).exits(2);
        assert_eq!(place.read(&path), before, "{bad}");
    }
    place.file("other.md", init(&["another idea"]));
    let line = "resume first --rounds 9 --inject new.md --inject other.md";
    place.alone(&words(line)).exits(0);
    place.alone(&words("verify first")).exits(0);
    assert_eq!(
        place
            .read(&path)
            .matches("\"type\":\"intervention\"")
            .count(),
        2
    );
}

#[test]
fn runs_that_a_rule_ends_at_once_are_said() {
    let place = Place::new();
    place.experiment("p");
    place.file("new.md", init(&["an idea from outside"]));
    place
        .alone(&words("run p --rounds 9 --mind silent --silence-rounds 2"))
        .exits(0);
    let line = "fork p --at 3 --inject new.md --replicates 2 --rounds 3 --name f";
    let ran = place.alone(&words(line)).exits(0);
    for arm in ["control", "treated"] {
        let told = format!(
            "runs without a call after the point: 2 of the {arm} arm, ended by the rule silence_rounds"
        );
        assert!(ran.stdout.contains(&told), "{}", ran.stdout);
        assert!(place.read(RESULTS[0]).contains(&told));
        assert!(place.read(RESULTS[1]).contains(&told));
    }
    let earlier = "fork p --at 2 --replicates 2 --rounds 3 --name g";
    let ran = place.alone(&words(earlier)).exits(0);
    assert!(
        !ran.stdout.contains("runs without a call"),
        "{}",
        ran.stdout
    );
}
