//! The oracle is judged first: by the vectors, by the expectations, and by claims worked out by hand.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::oracle::{Case, Oracle, Refusal, Scope, Transform, Universe};

fn fixture(path: &str) -> Value {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/popper/");
    let text = std::fs::read_to_string(format!("{root}{path}")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn evolve(universe: &Universe, state: &str, steps: usize) -> String {
    let mut now = universe.cells(state).unwrap();
    let mut then = now.clone();
    for _ in 0..steps {
        universe.step(&now, &mut then);
        std::mem::swap(&mut now, &mut then);
    }
    universe.text(&now)
}

fn transformed(universe: &Universe, name: &str, state: &str) -> String {
    let cells = universe.cells(state).unwrap();
    let mut image = cells.clone();
    let transforms = universe.transforms(name, cells.len()).unwrap();
    assert_eq!(transforms.len(), 1);
    transforms[0].apply(&cells, &mut image);
    universe.text(&image)
}

fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

fn law(template: &str, claim: &str, observables: &[(&str, &str)]) -> Value {
    let observables: Vec<_> = observables
        .iter()
        .map(|(name, expr)| json!({"name": name, "expr": expr}))
        .collect();
    json!({
        "schema_version": "1.0.0",
        "law_id": "by_hand",
        "template": template,
        "quantifiers": {"T": 4, "H": 1},
        "preconditions": [],
        "observables": observables,
        "claim": claim,
        "forbidden": "the opposite",
        "proposed_tests": [],
        "capability_requirements": {"missing_observables": [], "missing_transforms": [], "missing_generators": []},
    })
}

/// A case of the kinetic grid.
fn case(law: &Value, state: &str) -> Case {
    Oracle::new(law, &Universe::kinetic()).unwrap().case(state)
}

fn refusal(law: &Value) -> Refusal {
    Oracle::new(law, &Universe::kinetic()).err().unwrap()
}

const RX: &[(&str, &str)] = &[("r", "count('>')"), ("x", "count('X')")];

#[test]
fn random_vectors_match() {
    let grid = Universe::kinetic();
    let vectors = fixture("vectors/state_vectors.json");
    let mut values = 0;
    for vector in vectors["random"].as_array().unwrap() {
        let state = vector["state"].as_str().unwrap();
        assert_eq!(vector["next"], evolve(&grid, state, 1), "{state}");
        assert_eq!(vector["t20"], evolve(&grid, state, 20), "{state}");
        let trajectory: Vec<_> = (0..=20).map(|t| evolve(&grid, state, t)).collect();
        assert_eq!(vector["traj20_sha256"], sha256(&trajectory.join("\n")));
        for name in [
            "mirror_swap",
            "mirror_only",
            "swap_only",
            "shift_3",
            "shift_-2",
        ] {
            assert_eq!(
                vector[name],
                transformed(&grid, name, state),
                "{name} {state}"
            );
        }
        for (t, key) in [(0, "obs_at_t0"), (3, "obs_at_t3")] {
            let now = evolve(&grid, state, t);
            let cells = grid.cells(&now).unwrap();
            for (text, expected) in vector[key].as_object().unwrap() {
                let expr = Scope::new(&grid, &[], None).parse(text).unwrap();
                assert_eq!(expr.value(&[], &cells), expected.as_i64(), "{text} {now}");
                values += 1;
            }
        }
        assert_eq!(vector["state_t3"], evolve(&grid, state, 3));
    }
    assert_eq!(values, 180 * 2 * 21);
}

#[test]
fn small_and_hand_vectors_match() {
    let grid = Universe::kinetic();
    let vectors = fixture("vectors/state_vectors.json");
    for pair in vectors["small_all_4sym"].as_array().unwrap() {
        assert_eq!(pair[1], evolve(&grid, pair[0].as_str().unwrap(), 1));
    }
    for hand in vectors["hand"].as_array().unwrap() {
        let state = hand["state"].as_str().unwrap();
        let trajectory: Vec<_> = (0..=5).map(|t| evolve(&grid, state, t)).collect();
        assert_eq!(hand["traj5"], json!(trajectory));
    }
    for (n, expected) in vectors["exhaustive_3sym_sha256"].as_object().unwrap() {
        let mut lines = String::new();
        for cells in grid.starts(n.parse().unwrap()) {
            let state = grid.text(&cells);
            writeln!(lines, "{state}>{}", evolve(&grid, &state, 1)).unwrap();
        }
        assert_eq!(*expected, sha256(&lines), "N = {n}");
    }
}

#[test]
fn expectations_hold_up_to_eight_cells() {
    let grid = Universe::kinetic();
    let mut laws = Vec::new();
    for file in ["true", "false", "unknown"] {
        laws.extend(
            fixture(&format!("laws/{file}.json"))
                .as_array()
                .unwrap()
                .clone(),
        );
    }
    let expectations = fixture("expectations.json");
    let expected = expectations["expected"].as_array().unwrap();
    assert_eq!(laws.len(), expected.len());
    for expectation in expected {
        let id = &expectation["law_id"];
        let mut law = laws
            .iter()
            .find(|law| law["law_id"] == *id)
            .unwrap()
            .clone();
        if law["quantifiers"]["T"].as_u64() > Some(1000) {
            // The only reduction here, and by hand: a ring of up to 8 cells repeats after at most 8 steps.
            law["quantifiers"]["T"] = json!(50);
        }
        let oracle = match Oracle::new(&law, &grid) {
            Ok(oracle) => oracle,
            Err(refusal) => {
                assert_eq!(
                    refusal.reason_code(),
                    expectation["reason_code"].as_str(),
                    "{id}"
                );
                continue;
            }
        };
        let found = oracle.smallest(8);
        let smallest_n = expectation["smallest_n"].as_u64().filter(|n| *n <= 8);
        assert_eq!(
            found.as_ref().map(|f| f.n as u64),
            smallest_n,
            "{id}: {found:?}"
        );
        if let Some(found) = found {
            assert_eq!(
                expectation["fewest_movers_at_smallest_n"], found.movers,
                "{id}"
            );
        }
        let sizes: Vec<_> = (1..=6).map(|n| oracle.rings(n)).collect();
        let errors: usize = sizes.iter().map(|s| s.errors).sum();
        let admitted: usize = sizes.iter().map(|s| s.admitted).sum();
        assert_eq!(
            errors > 0,
            expectation["reason_code"] == "evaluation_error",
            "{id}"
        );
        assert_eq!(
            admitted == 0,
            expectation["reason_code"] == "unmet_preconditions",
            "{id}"
        );
        let implies = ["implication_step", "implication_state", "eventually"]
            .contains(&law["template"].as_str().unwrap());
        let triggers: usize = sizes.iter().map(|s| s.triggers).sum();
        let vacuous = expectation["reason_code"] == "vacuous_pass";
        assert_eq!(implies && triggers == 0, vacuous, "{id}");
    }
}

fn kinetic_table() -> Value {
    json!({
        "id": "kinetic_as_patterns",
        "symbols": [".", ">", "<", "X"],
        "radius": 1,
        "rule": {
            "patterns": [
                [">?<", "X"], [">?X", "X"], ["X?<", "X"], ["X?X", "X"],
                [">??", ">"], ["X??", ">"], ["??<", "<"], ["??X", "<"],
            ],
            "default": ".",
        },
        "initial_forbidden": ["X"],
        "transforms": [
            {"name": "mirror_swap", "reverse": true, "map": {".": ".", ">": "<", "<": ">", "X": "X"}},
        ],
    })
}

#[test]
fn a_table_of_the_grid_steps_like_the_grid() {
    let grid = Universe::kinetic();
    let table = Universe::table(&kinetic_table()).unwrap();
    let mut free = kinetic_table();
    free["initial_forbidden"] = json!([]);
    let free = Universe::table(&free).unwrap();
    for n in 1..=6 {
        assert_eq!(table.starts(n), grid.starts(n));
        for cells in free.starts(n) {
            let state = free.text(&cells);
            assert_eq!(evolve(&table, &state, 1), evolve(&grid, &state, 1));
            assert_eq!(
                transformed(&table, "mirror_swap", &state),
                transformed(&grid, "mirror_swap", &state)
            );
        }
    }
    let incoming = law("bound", "i(t) <= 4", &[("i", "incoming_collisions")]);
    assert!(matches!(
        Oracle::new(&incoming, &table).err(),
        Some(Refusal::MissingObservable(_))
    ));
}

#[test]
fn an_elementary_automaton_reads_its_windows_from_the_left() {
    // Rule 184 moves each 1 to the right if there is room; the number of ones is kept.
    let table: serde_json::Map<String, Value> = (0..8)
        .map(|w| (format!("{w:03b}"), json!((184_u32 >> w & 1).to_string())))
        .collect();
    let mut json = json!({"id": "184", "symbols": "01", "radius": 1, "rule": {"table": table}});
    let traffic = Universe::table(&json).unwrap();
    assert_eq!(evolve(&traffic, "1100100", 1), "1010010");
    assert_eq!(evolve(&traffic, "0000001", 1), "1000000");
    let ones = law("invariant", "c(t) == c(0)", &[("c", "count('1')")]);
    assert_eq!(Oracle::new(&ones, &traffic).unwrap().smallest(8), None);
    let zeros = law("bound", "c(t) < 3", &[("c", "count('1')")]);
    let found = Oracle::new(&zeros, &traffic).unwrap().smallest(8).unwrap();
    assert_eq!(
        (found.n, found.movers, found.t_fail, &*found.state),
        (3, 3, 0, "111")
    );

    json["rule"]["table"].as_object_mut().unwrap().remove("010");
    assert!(Universe::table(&json).is_err());
}

#[test]
fn a_bare_shift_means_every_shift() {
    let grid = Universe::kinetic();
    let all = grid.transforms("shift_k", 3).unwrap();
    assert!(matches!(
        all[..],
        [
            Transform::Shift(0),
            Transform::Shift(1),
            Transform::Shift(2)
        ]
    ));
    assert!(grid.transforms("shift_", 3).is_none());
    assert!(grid.transforms("shift_1x", 3).is_none());
    assert_eq!(transformed(&grid, "shift_-7", ">.."), "..>");
}

#[test]
fn templates_count_t_as_the_specification_does() {
    // T = 4; `>` walks to the right and stands at 0 again at the end.
    let run = [">..<", ".><.", ".<>.", "<..>", ">..<"];
    for (t, state) in run.iter().enumerate() {
        assert_eq!(evolve(&Universe::kinetic(), run[0], t), *state);
    }
    let place = &[("p", "leftmost('>')")][..];
    let first = |template: &str, claim: &str| {
        let case = case(&law(template, claim, place), run[0]);
        (case.first_violation, case.triggers)
    };
    assert_eq!(first("bound", "p(t) < 3"), (Some(3), 0));
    assert_eq!(first("bound", "p(t+1) < 3"), (Some(2), 0));
    assert_eq!(first("bound", "p(3) < 3"), (Some(0), 0));
    assert_eq!(
        first("bound", "p(5) < 3"),
        (None, 0),
        "5 is outside the horizon"
    );
    assert_eq!(first("bound", "t < 4"), (Some(4), 0));
    assert_eq!(first("monotone", "t < 4"), (None, 0), "a step ends at T");
    assert_eq!(first("monotone", "p(t+1) >= p(t)"), (Some(3), 0));
    assert_eq!(first("implication_state", "p(t) >= 2 -> t != 4"), (None, 2));
    assert_eq!(
        first("implication_state", "p(t) == 0 -> t != 4"),
        (Some(4), 2)
    );
    assert_eq!(first("implication_step", "p(t) == 0 -> t != 4"), (None, 1));
    assert_eq!(
        first("implication_step", "p(t) == 3 -> p(t+1) == 1"),
        (Some(3), 1)
    );
    // H = 1: the window of t0 = 4 reaches s(5), where p is 1 again.
    assert_eq!(first("eventually", "p(t) == 0 -> p(t) == 1"), (None, 2));
    assert_eq!(first("eventually", "p(t) <= 2 -> p(t) == 1"), (Some(2), 4));
    assert_eq!(first("eventually", "t >= 4 -> t == 5"), (None, 1));
}

#[test]
fn claims_bind_as_in_the_grammar() {
    // Both sides at t = 0 of ">": r = 1, x = 0.
    let holds = |claim: &str| {
        case(&law("bound", claim, RX), ">")
            .first_violation
            .is_none()
    };
    assert!(holds("x(t) == 1 -> x(t) == 1 -> x(t) == 2"));
    assert!(!holds(
        "(x(t) == 1 -> x(t) == 1) => x(t) == 0 and r(t) == 2"
    ));
    assert!(holds("r(t) == 1 or x(t) == 1 and x(t) == 2"));
    assert!(!holds("(r(t) == 1 || x(t) == 1) && x(t) == 2"));
    assert!(holds("not x(t) > 0 and r(t) > 0"));
    assert!(!holds("! r(t) > 0"));
    assert!(holds("!!r(t)>0->x(t)<=-1+r(t)"));
    assert!(holds(
        "7 - 2 - 1 == 4 and 2 + 3 * 4 == 14 and 7 * 3 % 4 == 1"
    ));
    assert!(holds("-7 % 3 == 2 and 7 % -3 == -2 and -(7 % 3) == -1"));
    assert!(holds(
        "1 / 3 + 1 / 6 == 1 / 2 and 1 / 3 < 34 / 100 and 3 / 2 * 2 == 3"
    ));
    assert!(holds("7 / 2 % 2 == 3 / 2 and -1 / 2 % 2 == 3 / 2"));
    assert!(holds("grid_length == 1 and r(0) == 1 and r(t+1) == r(t)"));
    for broken in [
        "x(t) > 0 >= 0",
        "x(t)",
        "x > 0",
        "x(t+2) > 0",
        "x(t) = 0",
        "not 3",
        "(x(t) > 0",
        "t(t",
        "x(t) > 0 and 1",
        "",
        "x(t) > 0)",
        "1 + (2 > 1) > 0",
        "x(t-1) > 0",
        "x(t) > 0 -> -> 1 > 0",
    ] {
        let refused = refusal(&law("bound", broken, RX));
        assert_eq!(refused.reason_code(), Some("ambiguous_claim"), "{broken}");
    }
    let unknown = refusal(&law("bound", "y(t) > 0", RX));
    assert_eq!(unknown, Refusal::MissingObservable("y".into()));
}

#[test]
fn a_tree_says_what_the_text_says() {
    let seen = |name: &str, t: Value| json!({"obs": name, "t": t});
    let op = |op: &str, lhs: Value, rhs: Value| json!({"op": op, "lhs": lhs, "rhs": rhs});
    let mut tree = law("implication_step", "only a comment", RX);
    tree["claim_ast"] = op(
        "=>",
        op(">", seen("x", json!({"var": "t"})), json!({"const": 0})),
        op(
            "or",
            json!({"op": "not", "arg": op(">=", seen("x", json!({"t_plus_1": true})), json!({"const": 1}))}),
            op(
                "<",
                json!({"var": "t"}),
                op("/", seen("r", json!({"const": 0})), json!({"const": 2})),
            ),
        ),
    );
    let text = law(
        "implication_step",
        "x(t) > 0 -> not x(t+1) >= 1 or t < r(0) / 2",
        RX,
    );
    let grid = Universe::kinetic();
    let (tree, text) = (
        Oracle::new(&tree, &grid).unwrap(),
        Oracle::new(&text, &grid).unwrap(),
    );
    for n in 1..=6 {
        assert_eq!(tree.cases(n), text.cases(n));
    }
    // Two blocks that pass through each other collide twice in a row.
    assert_eq!(tree.smallest(6).unwrap().n, 3);
}

#[test]
fn fields_speak_before_the_text() {
    let x = &RX[1..];
    let mut bound = law("bound", "", x);
    bound["bound_value"] = json!(1);
    bound["bound_op"] = json!("<=");
    assert_eq!(case(&bound, ">.<>.<").first_violation, Some(1));
    bound["claim"] = json!("1 >= x(t)");
    assert_eq!(case(&bound, ">.<>.<").first_violation, Some(1));
    bound["claim"] = json!("x(t) <= 2");
    assert!(matches!(refusal(&bound), Refusal::Ambiguous(_)));
    // A null is an absent field.
    bound["bound_op"] = Value::Null;
    assert_eq!(case(&bound, ">.<>.<").first_violation, None);
    let mut falling = law("monotone", "x(t+1) <= x(t)", x);
    falling["direction"] = json!(">=");
    assert!(matches!(refusal(&falling), Refusal::Ambiguous(_)));
    let silent = law("invariant", "", x);
    assert_eq!(case(&silent, ">.<").first_violation, Some(1));
    let prose = law("invariant", "the number never changes", x);
    assert!(matches!(refusal(&prose), Refusal::Ambiguous(_)));
    let mut shift = law("symmetry_commutation", "commutes(shift_-2)", &[]);
    assert_eq!(case(&shift, ">.<").first_violation, None);
    shift["transform"] = json!("swap_only");
    assert!(matches!(refusal(&shift), Refusal::Ambiguous(_)));
    shift["claim"] = json!("looks the same after exchange");
    assert!(matches!(refusal(&shift), Refusal::Ambiguous(_)));
    shift["claim"] = json!("");
    assert_eq!(case(&shift, ">..").first_violation, Some(1));
    shift["transform"] = json!("swap");
    assert_eq!(refusal(&shift), Refusal::MissingTransform("swap".into()));
}

#[test]
fn errors_stay_where_they_happen() {
    // z has no value where there is no X; ">.<" meets at t = 1 and 4.
    let with_z = &[("z", "7 % count('X')"), ("x", "count('X')"), ("y", "z + 1")][..];
    let of = |template: &str, claim: &str, state: &str| {
        let case = case(&law(template, claim, with_z), state);
        (case.first_violation, case.error, case.triggers)
    };
    assert_eq!(
        of("bound", "x(t) >= 0", ">.<"),
        (None, false, 0),
        "z is never asked"
    );
    assert_eq!(of("bound", "z(t) > 0", ">.<"), (Some(1), true, 0));
    assert_eq!(
        of("bound", "x(t) == 0 or z(t) == 0", ">.<"),
        (None, false, 0)
    );
    assert_eq!(
        of("bound", "z(t) == 0 or x(t) == 0", ">.<"),
        (None, true, 0)
    );
    assert_eq!(
        of("bound", "x(t) > 0 and z(t) == 0", ">.<"),
        (Some(0), false, 0)
    );
    assert_eq!(
        of("implication_state", "x(t) > 0 -> y(t) == 1", ">.<"),
        (None, false, 2)
    );
    assert_eq!(
        of("implication_state", "y(t) == 1 -> x(t) == 1", ">.<"),
        (None, true, 2)
    );
    // H = 1: t0 = 0 sees x = 1 at t = 1 and forgives the error at 0; t0 = 2 has only errors.
    assert_eq!(
        of("eventually", "t == 0 -> z(t) == 0", ">.<"),
        (None, false, 1)
    );
    assert_eq!(
        of("eventually", "t == 2 -> z(t) == 0", ">.<"),
        (None, true, 1)
    );
    assert_eq!(
        of("eventually", "t == 0 -> z(t) == 1", ">.<"),
        (None, true, 1)
    );
    let big = "9223372036854775807 * count('>')";
    let overflow = law("bound", "b(t) > 0", &[("b", big)]);
    assert_eq!(
        case(&overflow, ">"),
        Case {
            admitted: true,
            ..Case::default()
        }
    );
    assert!(case(&overflow, ">>").error);
}

#[test]
fn preconditions_are_asked_of_the_start() {
    let admitted = |conditions: Value, state: &str| {
        let mut law = law("bound", "x(t) <= 0", RX);
        law["preconditions"] = conditions;
        let case = case(&law, state);
        (case.admitted, case.error, case.first_violation)
    };
    let odd = json!({"lhs": "grid_length % 2", "op": "==", "rhs": 1});
    let one = json!({"lhs": "r", "op": ">=", "rhs": "count('<')"});
    let none = json!({"lhs": "7 % x", "op": "==", "rhs": 0});
    assert_eq!(admitted(json!([odd, one]), ">.<"), (true, false, Some(1)));
    assert_eq!(admitted(json!([odd, one]), ">..<"), (false, false, None));
    assert_eq!(admitted(json!([odd, none]), ">.<"), (false, true, None));
    assert_eq!(admitted(json!([none, odd]), ">..<"), (false, false, None));
    assert_eq!(admitted(json!([]), ">X<"), (false, false, None));
    assert_eq!(admitted(json!([]), ""), (false, false, None));
    assert_eq!(admitted(json!([]), ">?"), (false, false, None));
}

#[test]
fn observables_are_parsed_to_the_end() {
    let grid = Universe::kinetic();
    let names = ["a".to_string(), "b".to_string()];
    let value = |text: &str, state: &str| {
        let parsed = Scope::new(&grid, &names, Some(0)).parse(text);
        parsed.map(|expr| expr.value(&[], &grid.cells(state).unwrap()))
    };
    assert_eq!(value("gap_pairs('>','<',0)", "><><"), Ok(Some(2)));
    assert_eq!(value("gap_pairs('<','>',1)", "<.><"), Ok(Some(1)));
    assert_eq!(value("gap_pairs('<','>',9)", "<.><"), Ok(Some(0)));
    assert_eq!(value("count_pattern('>>>>')", ">>"), Ok(Some(2)));
    assert_eq!(value("- 2 * -count('>') % 3 - -1", "><>"), Ok(Some(2)));
    assert_eq!(value("spread('<') + leftmost('<')", ".<.<"), Ok(Some(3)));
    for missing in [
        "c",
        "a + 1",
        "entropy('>')",
        "f(1, 'x', 2 * b)",
        "count_even2('>')",
    ] {
        let refused = value(missing, ">").unwrap_err();
        assert_eq!(
            refused.reason_code(),
            Some("missing_observable"),
            "{missing}"
        );
    }
    for broken in [
        "count(>)",
        "count('>'",
        "count('?')",
        "count('><')",
        "count('>','<')",
        "1 2",
        "",
        "c +",
        "2 / 1",
        "count_at_parity('>',2)",
        "gap_pairs('>','<',-1)",
        "count_pattern('')",
        "a(t)",
        "'>'",
    ] {
        let refused = value(broken, ">");
        let code = refused.as_ref().err().and_then(Refusal::reason_code);
        // `a(t)` is a well-formed call of a function nobody knows with an argument nobody knows.
        let expected = if broken == "a(t)" {
            "missing_observable"
        } else {
            "ambiguous_claim"
        };
        assert_eq!(code, Some(expected), "{broken}: {refused:?}");
    }
    let circle = law("bound", "a(t) > 0", &[("a", "b + 1"), ("b", "2 * a")]);
    assert!(matches!(refusal(&circle), Refusal::Schema(_)));
    let mut lacking = law("bound", "x(t) >= 0", RX);
    lacking["capability_requirements"]["missing_observables"] = json!(["spread", "x"]);
    assert!(Oracle::new(&lacking, &grid).is_ok(), "the harness has both");
    lacking["capability_requirements"]["missing_generators"] = json!(["simulated_annealing"]);
    assert!(matches!(refusal(&lacking), Refusal::MissingGenerator(_)));
}

#[test]
fn the_smallest_is_the_first_in_the_order_of_smallness() {
    let grid = Universe::kinetic();
    let found = |law: &Value| {
        let smallest = Oracle::new(law, &grid).unwrap().smallest(6).unwrap();
        (smallest.n, smallest.movers, smallest.t_fail, smallest.state)
    };
    let one = law("bound", "x(t) < 1", RX);
    assert_eq!(found(&one), (3, 2, 1, ".<>".into()));
    let place = law("bound", "p(t) < 3", &[("p", "rightmost('<')")]);
    assert_eq!(found(&place), (4, 1, 0, "...<".into()));
    let both = law("implication_state", "x(t) > 0 -> r(t) > 0", RX);
    assert_eq!(found(&both), (3, 2, 1, ".<>".into()));
    let witness = Oracle::new(&both, &grid).unwrap().observables("<.>X");
    assert_eq!(witness, Some(vec![Some(1), Some(1)]));
}
