//! U1 and U2: a universe of a custom type, made with the public names alone.

use std::sync::atomic::{AtomicU64, Ordering};

use popper_harness::counterexample::rederive;
use popper_harness::decide::{Config, Harness, HarnessError, Status};
use popper_harness::law::{Extensions, Law};
use popper_harness::proof::verify_proof;
use popper_harness::universe::{
    Alphabet, KineticGrid, Symbol, Tabulated, Transform, Universe, UniverseError,
};
use serde_json::json;

use crate::fixtures::fixture;
use crate::random_law::random_law;

/// Three symbols: `>` moves right, `<` moves left, and where both arrive the right-mover alone remains.
struct Drift {
    alphabet: Alphabet,
    transforms: [Transform; 1],
}

impl Drift {
    fn new() -> Self {
        let alphabet = Alphabet::new(['.', '>', '<']).unwrap();
        let map = [('>', '<'), ('<', '>')];
        Self {
            transforms: [Transform::new("mirror_swap", true, map, &alphabet).unwrap()],
            alphabet,
        }
    }

    fn file() -> Tabulated {
        Tabulated::from_json(
            r#"{"id": "drift", "symbols": ".><", "radius": 1,
                "rule": {"patterns": [[">??", ">"], ["??<", "<"]], "default": "."}, "incoming": "<",
                "transforms": [{"name": "mirror_swap", "reverse": true, "map": {">": "<", "<": ">"}}]}"#,
        )
        .unwrap()
    }
}

impl Universe for Drift {
    fn id(&self) -> &'static str {
        "drift"
    }

    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn radius(&self) -> usize {
        1
    }

    fn next_cell(&self, window: &[Symbol]) -> Symbol {
        match window {
            [1, ..] => 1,
            [.., 2] => 2,
            _ => 0,
        }
    }

    fn may_start(&self, _: Symbol) -> bool {
        true
    }

    fn transforms(&self) -> &[Transform] {
        &self.transforms
    }

    fn incoming(&self) -> Option<Symbol> {
        Some(2)
    }
}

fn config() -> Config {
    Config::default()
        .exhaustive_n(4)
        .minimal_n(4)
        .max_t(40)
        .ladder(vec![1, 2, 5, 9])
        .generations(1)
}

#[test]
fn u1_a_type_and_a_file_of_one_rule_are_one_universe() {
    let foreign = Harness::new(Drift::new(), config()).unwrap();
    let file = Harness::new(Drift::file(), config()).unwrap();
    assert_eq!(foreign.sim_hash(), file.sim_hash());
    assert_eq!(foreign.universe(), file.universe());
    let (mut proofs, mut refuted) = (0, 0);
    for seed in 0..200 {
        let text = random_law(seed).to_string().replace('X', "<");
        let law = Law::from_json(&text, Extensions::default()).unwrap();
        let mut verdicts = [&foreign, &file].map(|harness| harness.evaluate(&law));
        for verdict in &mut verdicts {
            verdict.runtime_ms = 0;
        }
        let [one, other] = &verdicts;
        assert_eq!(json!(one).to_string(), json!(other).to_string(), "{text}");
        if let Some(proof) = &one.evidence.proof {
            verify_proof(proof).unwrap();
            proofs += 1;
        }
        if let Some(counterexample) = &one.counterexample {
            assert_eq!(one.status, Status::Fail);
            rederive(counterexample).unwrap();
            refuted += 1;
        }
    }
    assert!(proofs > 3 && refuted > 30, "{proofs} {refuted}");
}

#[test]
fn u1_a_function_is_the_same_universe() {
    let next = |window: &[char]| match window {
        ['>', ..] => '>',
        [.., '<'] => '<',
        _ => '.',
    };
    let drift = Tabulated::from_fn("drift", ".><", 1, next).unwrap();
    assert_eq!(drift.rule(), Drift::file().rule());
    let wrong = Tabulated::from_fn("a", "ab", 0, |_| 'c').unwrap_err();
    assert_eq!(
        wrong.to_string(),
        r#"rule: "a" gives 'c', expected one of "ab""#
    );
}

/// A universe that breaks one promise.
struct Broken {
    alphabet: Alphabet,
    calls: AtomicU64,
    radius: usize,
    starts: bool,
    next: fn(&[Symbol], u64) -> Symbol,
}

impl Universe for Broken {
    fn id(&self) -> &'static str {
        "broken"
    }

    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn radius(&self) -> usize {
        self.radius
    }

    fn next_cell(&self, window: &[Symbol]) -> Symbol {
        (self.next)(window, self.calls.fetch_add(1, Ordering::Relaxed))
    }

    fn may_start(&self, _: Symbol) -> bool {
        self.starts
    }
}

#[test]
fn u2_a_universe_that_breaks_its_promise_is_an_error() {
    let refusal = |radius, starts, next| {
        let broken = Broken {
            alphabet: Alphabet::new(['a', 'b', '.']).unwrap(),
            calls: AtomicU64::new(0),
            radius,
            starts,
            next,
        };
        let error = Tabulated::of(&broken).unwrap_err();
        let same = Harness::new(broken, config()).map(|_| ()).unwrap_err();
        (same, error)
    };
    let line = |radius, starts, next| refusal(radius, starts, next).1.to_string();
    assert_eq!(
        line(1, true, |window, _| if *window == [0, 1, 2] {
            7
        } else {
            0
        }),
        r#"next_cell: "ab." gives symbol 7, the alphabet has 3"#
    );
    assert_eq!(
        line(1, true, |window, call| {
            if *window == [0, 1, 2] {
                (call % 2) as Symbol
            } else {
                0
            }
        }),
        r#"next_cell: "ab." gives a and then b: it must be a pure function"#
    );
    assert_eq!(line(3, true, |_, _| 0), "radius is 3, the limit is 2");
    assert_eq!(
        line(usize::MAX, true, |_, _| 0),
        format!("radius is {}, the limit is 2", usize::MAX)
    );
    assert_eq!(line(1, false, |_, _| 0), "no symbol may start");
    let (harness, error) = refusal(3, true, |_, _| 0);
    assert_eq!(harness, HarnessError::Universe(error));
}

#[test]
fn p6_the_period_and_incoming_follow_from_the_table() {
    let file = Tabulated::from_json(&fixture("universes/kinetic_grid.json")).unwrap();
    assert_eq!(file.period_bound(7), Some(7));
    assert_eq!(Drift::file().period_bound(7), None);
    // The grid under other names, in another order.
    let renamed = Tabulated::from_fn("renamed", "Lr.B", 1, |window| {
        let (right, left) = ("rB".contains(window[0]), "LB".contains(window[2]));
        match (right, left) {
            (true, true) => 'B',
            (true, false) => 'r',
            (false, true) => 'L',
            (false, false) => '.',
        }
    });
    let renamed = renamed.unwrap();
    assert_eq!(renamed.period_bound(5), Some(5));
    let start = renamed.alphabet().parse("Lr.BrL.").unwrap();
    let stepped = (0..3).fold(start.clone(), |now, _| renamed.step(&now));
    assert_eq!(renamed.evolve(&start, 703), stepped);
    assert_eq!(renamed.alphabet().text(&renamed.step(&start)), "..B.BrL");
    // Two universes that differ in `incoming` alone have two hashes; without it the hash is the former one.
    let mut definition = KineticGrid.definition();
    assert_eq!(definition.incoming, Some('X'));
    assert_eq!(definition.hash(), KineticGrid.definition_hash());
    definition.incoming = None;
    assert_eq!(definition.hash(), KineticGrid::FORMER_HASH);
    assert!(KineticGrid.definition_hash().starts_with("6ec6ca0f2d0c"));
}

#[test]
fn names_of_the_built_in_universe_are_its_own() {
    let built_in = serde_json::to_string(&KineticGrid.definition()).unwrap();
    assert!(Tabulated::from_json(&built_in).unwrap().is_built_in());
    let mut other = json!(KineticGrid.definition());
    other["incoming"] = json!("<");
    assert!(matches!(
        Tabulated::from_value(&other),
        Err(UniverseError::Field { field, .. }) if field == "id"
    ));
}
