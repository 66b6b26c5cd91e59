//! `popper universe` and `popper conserved`, and the universes of the fixtures.

use popper_harness::universe::{KineticGrid, State, Symbol, Tabulated, Universe};
use serde_json::{Value, json};

use crate::process::{file, popper, without_folder};

fn fixture(name: &str) -> (String, String) {
    let path = format!("fixtures/popper/universes/{name}.json");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let text = std::fs::read_to_string(format!("{root}{path}")).unwrap();
    (path, text)
}

/// Every state of `n` cells.
fn states(symbols: usize, n: usize) -> impl Iterator<Item = State> {
    (0..symbols.pow(n as u32)).map(move |code| {
        let digit = |place| (code / symbols.pow(place as u32) % symbols) as Symbol;
        (0..n).map(digit).collect()
    })
}

#[test]
fn the_kinetic_grid_as_a_table_is_the_built_in_one() {
    let table = Tabulated::from_json(&fixture("kinetic_grid").1).unwrap();
    assert_eq!(table.alphabet(), KineticGrid.alphabet());
    assert_eq!(table.transforms(), KineticGrid.transforms());
    for symbol in 0..4 {
        assert_eq!(table.may_start(symbol), KineticGrid.may_start(symbol));
    }
    for n in 1..=7 {
        for state in states(4, n) {
            assert_eq!(table.step(&state), KineticGrid.step(&state), "{state:?}");
        }
    }
}

#[test]
fn the_elementary_automata_are_those_of_their_numbers() {
    for number in [30_usize, 90, 110, 184] {
        let universe = Tabulated::from_json(&fixture(&format!("elementary_{number}")).1).unwrap();
        for code in 0..8_usize {
            let window = [code >> 2 & 1, code >> 1 & 1, code & 1].map(|bit| bit as Symbol);
            assert_eq!(
                usize::from(universe.next_cell(&window)),
                number >> code & 1,
                "{number} {code}"
            );
        }
    }
}

#[test]
fn show_says_what_a_universe_is() {
    insta::assert_snapshot!(
        "kinetic_grid",
        popper(&["universe", "show", "kinetic_grid"]).text()
    );
    insta::assert_snapshot!(
        "elementary_110",
        popper(&["universe", "show", &fixture("elementary_110").0]).text()
    );
}

#[test]
fn what_show_prints_as_json_is_read_back_as_the_same_universe() {
    for (name, universe) in [
        ("built_in", "kinetic_grid".to_owned()),
        ("table", fixture("kinetic_grid").0),
    ] {
        let shown = popper(&["universe", "show", "--json", &universe]).stdout;
        let again = file(&format!("{name}.universe.json"), &shown);
        assert_eq!(
            popper(&["universe", "show", "--json", &again]).stdout,
            shown,
            "{name}"
        );
        let checked = popper(&["universe", "check", &universe]);
        assert_eq!(checked.code, Some(0));
        assert_eq!(
            popper(&["universe", "check", &again]).stdout,
            checked.stdout,
            "{name}"
        );
    }
}

#[test]
fn a_random_universe_is_the_same_for_the_same_seed_and_can_be_used() {
    let drawn = popper(&["universe", "random", "--seed", "3"]);
    assert_eq!(
        drawn.stdout,
        popper(&["universe", "random", "--seed=3"]).stdout
    );
    assert_ne!(
        drawn.stdout,
        popper(&["universe", "random", "--seed", "4"]).stdout
    );
    let path = file("random_3.json", &drawn.stdout);
    let ran = popper(&["simulate", "abc.", "--steps", "4", "--universe", &path]);
    assert_eq!(
        (ran.code, ran.stdout.lines().count()),
        (Some(0), 5),
        "{ran:?}"
    );
}

#[test]
fn a_universe_that_is_none_says_what_is_wrong() {
    let universe = |change: &dyn Fn(&mut Value)| {
        let mut universe: Value = serde_json::from_str(&fixture("elementary_184").1).unwrap();
        change(&mut universe);
        universe.to_string()
    };
    let mut errors = String::new();
    for (name, text) in [
        (
            "missing",
            universe(&|file| drop(file["rule"]["table"].as_object_mut().unwrap().remove(".#."))),
        ),
        (
            "foreign",
            universe(&|file| file["rule"]["table"]["..."] = json!("o")),
        ),
        (
            "too_wide",
            universe(&|file| file["rule"]["table"]["....."] = json!(".")),
        ),
        ("radius", universe(&|file| file["radius"] = json!(3))),
        ("symbols", universe(&|file| file["symbols"] = json!(".#."))),
        (
            "reserved",
            universe(&|file| file["id"] = json!("kinetic_grid_v1")),
        ),
        (
            "shift",
            universe(&|file| file["transforms"][0]["name"] = json!("shift_2")),
        ),
        (
            "nothing_starts",
            universe(&|file| file["initial_forbidden"] = json!(".#")),
        ),
        (
            "unknown_key",
            universe(&|file| file["colour"] = json!("red")),
        ),
        ("not_json", "rule 184".to_owned()),
    ] {
        let path = file(&format!("{name}.universe.json"), text);
        let ran = popper(&["universe", "check", &path]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(2), ""),
            "{name}: {ran:?}"
        );
        let same = popper(&["conserved", "--universe", &path]);
        assert_eq!((same.code, &same.stderr), (Some(2), &ran.stderr), "{name}");
        errors.push_str(&without_folder(&ran.stderr));
    }
    insta::assert_snapshot!(errors);
}

#[test]
fn the_conserved_quantities_of_the_kinetic_grid_is_known() {
    insta::assert_snapshot!("conserved", popper(&["conserved"]).text());
    for (width, dimension) in [("1", 3), ("2", 5)] {
        let span = popper(&["conserved", "--json", "--width", width]).json();
        assert_eq!(span["dimension"], dimension);
        assert_eq!(span["basis"].as_array().unwrap().len(), dimension);
    }
    let table = popper(&[
        "conserved",
        "--json",
        "--universe",
        &fixture("kinetic_grid").0,
    ])
    .json();
    assert_eq!(
        table["basis"],
        popper(&["conserved", "--json"]).json()["basis"]
    );
    for width in ["0", "99"] {
        let ran = popper(&["conserved", "--width", width]);
        assert_eq!(
            (ran.code, ran.stderr.lines().count()),
            (Some(2), 1),
            "{ran:?}"
        );
    }
}
