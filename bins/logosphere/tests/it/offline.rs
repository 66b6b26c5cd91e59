//! Without a key everything works, and says that no model was asked.

use crate::journal::{self, calls, events, of_type, outline};
use crate::program::{Place, words};

#[test]
fn two_rounds_without_a_key() {
    let place = Place::new();
    let ran = place
        .alone(&["run", "--rounds", "2", "--output-dir", "D"])
        .exits(0);
    assert!(
        ran.stderr.to_lowercase().contains("offline"),
        "{}",
        ran.stderr
    );
    // A directory without seeds gets those of the template, and it is said.
    assert!(ran.stderr.contains("init.md"), "{}", ran.stderr);
    let events = events(&place, "D");
    let counts: Vec<_> = outline(&events);
    let expected = [
        ("experiment_start", 1),
        ("round_start", 2),
        ("mind_invocation", 6),
        ("round_end", 2),
        ("experiment_end", 1),
    ];
    assert_eq!(
        counts,
        expected.map(|(kind, count)| (kind.to_owned(), count))
    );
    let start = &events[0];
    assert_eq!(start["offline"], true);
    assert_eq!(start["provider"], "offline");
    assert!(
        calls(&events)[0]["model_answered"]
            .as_str()
            .unwrap()
            .contains("offline")
            || start["provider"] == "offline"
    );
    assert_eq!(events.last().unwrap()["total_rounds"], 2);
    place.alone(&["verify", &journal::path("D")]).exits(0);
}

#[test]
fn an_experiment_without_a_name_gets_one() {
    let place = Place::new();
    for _ in 0..2 {
        place.alone(&["run", "--rounds", "1"]).exits(0);
    }
    let names = place.names("experiments");
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(
        names[0].ends_with("-run") && names[1].ends_with("-run-2"),
        "{names:?}"
    );
    for name in names {
        assert_eq!(name.as_bytes()[4], b'-');
        let events = events(&place, &format!("experiments/{name}"));
        assert_eq!(of_type(&events, "experiment_end").len(), 1);
    }
}

#[test]
fn offline_by_choice_says_nothing_about_keys() {
    let place = Place::new();
    place.experiment("E");
    let flags = words("run E --rounds 1 --provider offline --mind copier:mu=0.5");
    let ran = place.alone(&flags).exits(0);
    assert!(!ran.stderr.contains("API_KEY"), "{}", ran.stderr);
    assert_eq!(events(&place, "E")[0]["offline"], true);
}

#[test]
fn every_local_mind_gives_a_run_that_verifies() {
    let place = Place::new();
    for mind in [
        "copier:mu=0.05",
        "mutator",
        "mutator:p=0.1",
        "markov:n=2",
        "biased:s=0.2,type=word",
        "disobedient",
        "silent",
    ] {
        let name = mind.replace([':', ',', '='], "-");
        place.experiment(&name);
        let run = ["run", &name, "--mind", mind, "--rounds", "3", "--seed", "5"];
        place.alone(&run).exits(0);
        place.alone(&["verify", &journal::path(&name)]).exits(0);
        assert_eq!(calls(&events(&place, &name)).len(), 9, "{mind}");
    }
    place.experiment("flaky");
    let run = words("run flaky --mind flaky:rate=0.5 --rounds 4 --seed 5");
    place.alone(&run).exits(3);
    place.alone(&["verify", &journal::path("flaky")]).exits(0);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let place = Place::new();
    for (name, seed) in [("A", "7"), ("B", "7"), ("C", "8")] {
        place.experiment(name);
        place
            .alone(&["run", name, "--rounds", "4", "--seed", seed])
            .exits(0);
    }
    let [a, b, c] = ["A", "B", "C"].map(journal::path);
    place.alone(&["diff", &a, &b]).exits(0);
    place.alone(&["diff", &a, &c]).exits(4);
}

#[test]
fn a_random_seed_is_drawn_and_recorded_and_the_default_is_0() {
    let place = Place::new();
    for name in ["A", "B"] {
        place.experiment(name);
        place
            .alone(&["run", name, "--rounds", "1", "--seed", "random"])
            .exits(0);
    }
    let seed = |name| events(&place, name)[0]["rng"]["seed"].clone();
    let seeds = ["A", "B"].map(seed);
    assert!(seeds[0].is_u64(), "{seeds:?}");
    assert_ne!(seeds[0], seeds[1]);
    place.experiment("D");
    place.alone(&["run", "D", "--rounds", "1"]).exits(0);
    assert_eq!(seed("D"), 0);
    // With what was recorded the run is the same.
    place.experiment("C");
    let drawn = seeds[0].to_string();
    place
        .alone(&["run", "C", "--rounds", "1", "--seed", &drawn])
        .exits(0);
    place
        .alone(&["diff", &journal::path("A"), &journal::path("C")])
        .exits(0);
}

#[test]
fn flags_take_an_equals_sign() {
    let place = Place::new();
    place.experiment("A");
    place.experiment("B");
    let spaced = "run A --rounds 2 --minds 2 --samples 1 --active 4 --seed 3 --mind copier:mu=0.1 --scheduling snapshot";
    let joined = "run B --rounds=2 --minds=2 --samples=1 --active=4 --seed=3 --mind=copier:mu=0.1 --scheduling=snapshot";
    for line in [spaced, joined] {
        place.alone(&line.split(' ').collect::<Vec<_>>()).exits(0);
    }
    place
        .alone(&["diff", &journal::path("A"), &journal::path("B")])
        .exits(0);
}
