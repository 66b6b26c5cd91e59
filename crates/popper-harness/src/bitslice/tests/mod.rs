//! Comparison of the engine with the reference evaluator, lane by lane.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

mod distance;
mod images;
mod levels;
mod parts;

use super::*;
use crate::law::evaluate::Case;
use crate::law::{Extensions, Law, Program};
use crate::universe::{KineticGrid, State, Symbol, Tabulated, Universe, random_universe};

struct TestStream(ChaCha20Rng);

impl TestStream {
    fn new(seed: u64) -> Self {
        Self(ChaCha20Rng::seed_from_u64(seed))
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound as u64) as usize
    }

    fn of<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// Draws a state that is sometimes dense, sometimes sparse, sometimes one run.
    fn state(&mut self, n: usize, symbols: usize) -> State {
        let favourite = self.below(symbols) as Symbol;
        let chance = self.below(10);
        (0..n)
            .map(|_| {
                if self.below(10) < chance {
                    favourite
                } else {
                    self.below(symbols) as Symbol
                }
            })
            .collect()
    }
}

/// A table universe whose next symbols are drawn, with a transform and a symbol that may not start.
fn drawn(symbols: &str, radius: usize, seed: u64) -> Tabulated {
    let mut draw = TestStream::new(seed);
    let chars: Vec<char> = symbols.chars().collect();
    let table: serde_json::Map<String, Value> = (0..chars.len().pow(2 * radius as u32 + 1))
        .map(|code| {
            let digit = |place| code / chars.len().pow(place) % chars.len();
            let text = (0..=2 * radius as u32)
                .map(|place| chars[digit(place)])
                .collect();
            (text, json!(draw.of(&chars)))
        })
        .collect();
    let map = json!({ chars[0].to_string(): chars[1], chars[1].to_string(): chars[0] });
    let universe = json!({
        "id": format!("drawn_{seed}"), "symbols": symbols, "radius": radius, "rule": {"table": table},
        "initial_forbidden": chars[chars.len() - 1].to_string(),
        "transforms": [
            {"name": "turn", "reverse": true},
            {"name": "swap", "map": map},
        ],
    });
    Tabulated::from_json(&universe.to_string()).unwrap()
}

fn universes() -> Vec<Tabulated> {
    let mut all: Vec<Tabulated> = vec![Tabulated::clone(&KineticGrid)];
    for seed in [1, 2, 5] {
        all.push(random_universe(seed));
    }
    all.push(drawn(".o", 2, 7));
    all.push(drawn(".ab", 1, 8));
    all.push(drawn("01234567", 1, 9));
    all.push(drawn(".abcd", 1, 10));
    all.push(drawn(".o", 0, 11));
    all
}

fn compile(law: &Value, universe: &Tabulated) -> Program {
    let mut full = json!({"schema_version": "1.0.0", "law_id": "x", "preconditions": [],
        "observables": [], "claim": "", "forbidden": "anything else"});
    for (key, value) in law.as_object().unwrap() {
        full[key] = value.clone();
    }
    let extensions = Extensions {
        local_transition: true,
    };
    let law =
        Law::from_json(&full.to_string(), extensions).unwrap_or_else(|e| panic!("{full}: {e}"));
    Program::compile(&law, universe).unwrap_or_else(|e| panic!("{full}: {e}"))
}

/// The result of the reference evaluator on a batch, in the engine's form.
fn reference(
    program: &Program,
    universe: &Tabulated,
    batch: &Batch,
    horizon: Horizon,
) -> Vec<Option<Case>> {
    (0..LANES)
        .map(|lane| {
            let live = batch.live.get(lane);
            live.then(|| Case::new(program, universe, &batch.get(lane), horizon))
        })
        .collect()
}

fn check(
    what: &str,
    program: &Program,
    universe: &Tabulated,
    batch: &Batch,
    horizon: Horizon,
    scratch: &mut Scratch,
) -> BatchOutcome {
    let circuit = Circuit::new(universe.rule());
    let plan = BitProgram::new(program, &circuit, universe, batch.n, horizon)
        .unwrap_or_else(|| panic!("{what}: no plan"));
    let outcome = plan.run(batch, scratch);
    let mut triggers = [0; WORDS];
    for (lane, case) in reference(program, universe, batch, horizon)
        .iter()
        .enumerate()
    {
        let default = Case::default();
        let case_or = case.as_ref().unwrap_or(&default);
        let first = outcome.first.iter().find(|(_, lanes)| lanes.get(lane));
        let found = (
            outcome.admitted.get(lane),
            outcome.error.get(lane),
            first.map(|(t, _)| *t),
            outcome.violated.get(lane),
            outcome.triggered.get(lane),
        );
        let expected = (
            case_or.admitted,
            case_or.error.is_some(),
            case_or.violation,
            case_or.violation.is_some(),
            case_or.triggers > 0,
        );
        triggers[lane / 64] += case_or.triggers;
        assert_eq!(
            found,
            expected,
            "{what}, {} of {}, {horizon:?}",
            universe.alphabet().text(&batch.get(lane)),
            universe.id(),
        );
    }
    assert_eq!(outcome.triggers, triggers, "{what}");
    assert!(outcome.first.is_sorted_by(|a, b| a.0 < b.0));
    outcome
}

/// Batches of all states up to N = 4 (as far as they fit) and of drawn ones up to 70.
fn batches(universe: &Tabulated, draw: &mut TestStream, large: usize) -> Vec<Batch> {
    let symbols = universe.alphabet().len();
    let all: Vec<Symbol> = (0..symbols as Symbol).collect();
    let mut batches = Vec::new();
    for n in 1..=5 {
        let starts = InitialStates::new(n, &all, symbols, StartClasses::Each).unwrap();
        let mut some = Vec::new();
        starts.visit(draw.below(starts.chunks()), |batch, _| {
            some.push(batch.clone());
            some.len() < 8
        });
        batches.push(some.swap_remove(draw.below(some.len())));
    }
    for _ in 0..large {
        let n = 1 + draw.below(70);
        let mut batch = Batch::new(n, symbols);
        for lane in 0..LANES {
            if draw.below(8) == 0 {
                batch.set(lane, &draw.state(n, symbols));
            }
        }
        batches.push(batch);
    }
    batches
}

/// An expression of the observable language.
fn expression(draw: &mut TestStream, universe: &Tabulated, depth: usize) -> String {
    let symbols = universe.alphabet().chars().to_vec();
    let (a, b) = (draw.of(&symbols), draw.of(&symbols));
    if depth > 0 && draw.below(3) > 0 {
        let (left, right) = (
            expression(draw, universe, depth - 1),
            expression(draw, universe, depth - 1),
        );
        return match draw.below(6) {
            0 => format!("({left} - {right})"),
            1 => format!("({left} * {right})"),
            2 => format!("({left} % {right})"),
            3 => format!("(-{left})"),
            _ => format!("({left} + {right})"),
        };
    }
    match draw.below(14) {
        0 => format!("{}", draw.below(9)),
        1 => "grid_length".into(),
        2 => format!("count_even('{a}')"),
        3 => format!("count_odd('{a}')"),
        4 => format!("count_pattern('{a}{b}{a}')"),
        5 => format!("leftmost('{a}')"),
        6 => format!("rightmost('{a}')"),
        7 => format!("spread('{a}')"),
        8 => format!("max_gap('{a}')"),
        9 => format!("adjacent_pairs('{a}','{b}')"),
        10 => format!("gap_pairs('{a}','{b}',{})", draw.below(4)),
        11 if universe.incoming().is_some() => "incoming_collisions".into(),
        _ => format!("count('{a}')"),
    }
}

fn formula(draw: &mut TestStream, depth: usize, next: bool) -> String {
    if depth > 0 && draw.below(2) == 0 {
        let (left, right) = (
            formula(draw, depth - 1, next),
            formula(draw, depth - 1, next),
        );
        return match draw.below(3) {
            0 => format!("(not {left})"),
            1 => format!("({left} and {right})"),
            _ => format!("({left} or {right})"),
        };
    }
    let mut reading = || {
        let times: &[&str] = if next {
            &["t", "t+1", "0"]
        } else {
            &["t", "t", "0", "2"]
        };
        format!("{}({})", draw.of(&["f", "g"]), draw.of(times))
    };
    let (left, right) = (reading(), reading());
    let right = match draw.below(4) {
        0 => right,
        1 => format!("{right} + {}", draw.below(3)),
        2 => format!("{right} % {left}"),
        _ => format!("{}", draw.below(6)),
    };
    let op = draw.of(&["==", "!=", "<", "<=", ">", ">="]);
    format!("{left} {op} {right}")
}

fn law(draw: &mut TestStream, universe: &Tabulated) -> (Value, Horizon) {
    let (f, g) = (expression(draw, universe, 2), expression(draw, universe, 2));
    let t = 2 + draw.below(7) as u64;
    let window = draw.below(6) as u64;
    let preconditions = match draw.below(3) {
        0 => json!([
            {"lhs": expression(draw, universe, 1), "op": draw.of(&["<=", "==", ">", "!="]), "rhs": draw.below(4)},
            {"lhs": expression(draw, universe, 1), "op": draw.of(&["<", ">="]), "rhs": expression(draw, universe, 1)},
        ]),
        _ => json!([]),
    };
    let (template, claim) = match draw.below(5) {
        0 => (
            "implication_state",
            format!("{} -> {}", formula(draw, 1, false), formula(draw, 1, false)),
        ),
        1 => (
            "implication_step",
            format!("{} -> {}", formula(draw, 1, false), formula(draw, 1, true)),
        ),
        2 => (
            "eventually",
            format!("{} -> {}", formula(draw, 1, false), formula(draw, 1, false)),
        ),
        3 => (
            "eventually",
            format!("{} -> {}", formula(draw, 1, false), formula(draw, 1, true)),
        ),
        _ => ("bound", formula(draw, 2, false)),
    };
    let law = json!({
        "template": template, "quantifiers": {"T": t, "H": window}, "preconditions": preconditions,
        "observables": [{"name": "f", "expr": f}, {"name": "g", "expr": g}], "claim": claim,
    });
    (law, Horizon { t, window })
}

#[test]
fn random_laws_on_random_states() {
    let mut draw = TestStream::new(1);
    let mut scratch = Scratch::default();
    let (mut violated, mut errors, mut met) = (0, 0, 0);
    for universe in universes() {
        for _ in 0..30 {
            let (law, horizon) = law(&mut draw, &universe);
            let program = compile(&law, &universe);
            for batch in batches(&universe, &mut draw, 2) {
                let outcome = check(
                    &law.to_string(),
                    &program,
                    &universe,
                    &batch,
                    horizon,
                    &mut scratch,
                );
                violated += outcome.violated.count();
                errors += outcome.error.count();
                met += outcome.triggered.count();
            }
        }
    }
    assert!(
        violated > 1000 && errors > 1000 && met > 1000,
        "{violated} {errors} {met}"
    );
}

#[test]
fn circuits_step_like_the_rule() {
    let mut draw = TestStream::new(2);
    for universe in universes() {
        let circuit = Circuit::new(universe.rule());
        let horizon = Horizon { t: 3, window: 0 };
        let identity = json!({"template": "symmetry_commutation", "quantifiers": {"T": 3}, "transform": "shift_0"});
        let program = compile(&identity, &universe);
        for batch in batches(&universe, &mut draw, 20) {
            let plan = BitProgram::new(&program, &circuit, &universe, batch.n, horizon).unwrap();
            let mut scratch = Scratch::default();
            let mut machine = run::Machine::new(&plan, &batch, &mut scratch);
            machine.advance();
            let next = machine.state();
            for lane in batch.live.iter() {
                assert_eq!(
                    next.get(lane),
                    universe.step(&batch.get(lane)),
                    "{}",
                    universe.id()
                );
            }
        }
    }
}

#[test]
fn the_kinetic_grid_is_two_copies() {
    let circuit = Circuit::new(KineticGrid.rule());
    assert_eq!(circuit.gates(), 0);
}

#[test]
fn symmetries_and_local_transitions() {
    let mut draw = TestStream::new(3);
    let mut scratch = Scratch::default();
    let (mut violated, mut met) = (0, 0);
    for universe in universes() {
        let symbols = universe.alphabet().chars().to_vec();
        let mut names: Vec<String> = universe
            .transforms()
            .iter()
            .map(|transform| transform.name.clone())
            .collect();
        names.extend(["shift_k", "shift_3", "shift_-1", "shift_0"].map(String::from));
        let mut laws: Vec<Value> = names
            .iter()
            .map(|name| json!({"template": "symmetry_commutation", "transform": name}))
            .collect();
        for _ in 0..20 {
            let mut law = json!({
                "template": "local_transition",
                "trigger_symbol": draw.of(&symbols).to_string(),
                "result_op": draw.of(&["==", "!="]),
                "result_symbol": draw.of(&symbols).to_string(),
            });
            if draw.below(2) == 0 {
                let trigger = law["trigger_symbol"].as_str().unwrap().to_owned();
                let (left, right) = (draw.of(&symbols), draw.of(&symbols));
                law["neighbor_pattern"] = json!(format!("{left}{trigger}{right}"));
            }
            if draw.below(2) == 0 {
                law["required_parity"] = json!(draw.below(2));
            }
            laws.push(law);
        }
        for mut law in laws {
            let t = 1 + draw.below(6) as u64;
            law["quantifiers"] = json!({"T": t});
            let program = compile(&law, &universe);
            let horizon = Horizon { t, window: 0 };
            for batch in batches(&universe, &mut draw, 2) {
                let outcome = check(
                    &law.to_string(),
                    &program,
                    &universe,
                    &batch,
                    horizon,
                    &mut scratch,
                );
                violated += outcome.violated.count();
                met += outcome.triggered.count();
            }
        }
    }
    assert!(violated > 1000 && met > 1000, "{violated} {met}");
}

/// Claims that the random ones do not reach: t as a number, fixed times beyond the period, `->` inside.
#[test]
fn claims_with_fixed_times_and_steps() {
    let mut draw = TestStream::new(4);
    let mut scratch = Scratch::default();
    for universe in universes() {
        let symbol = universe.alphabet().char(1);
        for (template, claim) in [
            ("bound", "f(t) + t >= t * 2 - 3"),
            ("bound", "f(7) <= f(t)"),
            (
                "implication_state",
                "f(t) > 1 -> (f(t) == 2 -> f(0) != f(3))",
            ),
            ("eventually", "f(t) > t -> f(t) < f(5)"),
            ("invariant", "f(t) == f(0)"),
            ("monotone", "f(t+1) <= f(t)"),
        ] {
            let law = json!({
                "template": template, "quantifiers": {"T": 9, "H": 4}, "claim": claim, "direction":
                if template == "monotone" { json!("<=") } else { Value::Null },
                "observables": [{"name": "f", "expr": format!("count('{symbol}')")}],
            });
            let program = compile(&law, &universe);
            for t in [0, 1, 6] {
                let horizon = Horizon { t, window: 3 };
                for batch in batches(&universe, &mut draw, 1) {
                    check(claim, &program, &universe, &batch, horizon, &mut scratch);
                }
            }
        }
    }
}

#[test]
fn every_state_of_small_rings_and_some_of_large_ones() {
    let mut draw = TestStream::new(9);
    let mut scratch = Scratch::default();
    for universe in universes() {
        let symbols = universe.alphabet().len();
        let start: Vec<Symbol> = (0..symbols as Symbol)
            .filter(|&symbol| universe.may_start(symbol))
            .collect();
        let all: Vec<Symbol> = (0..symbols as Symbol).collect();
        for _ in 0..4 {
            let (law, horizon) = law(&mut draw, &universe);
            let program = compile(&law, &universe);
            for allowed in [&start, &all] {
                for n in 1..=5 {
                    let starts =
                        InitialStates::new(n, allowed, symbols, StartClasses::Each).unwrap();
                    let mut left = 8;
                    starts.visit(0, |batch, _| {
                        let what = law.to_string();
                        check(&what, &program, &universe, batch, horizon, &mut scratch);
                        left -= 1;
                        left > 0
                    });
                }
            }
            let n = 500 + draw.below(600);
            let mut batch = Batch::new(n, symbols);
            for lane in [0, 63, 200, 511] {
                batch.set(lane, &draw.state(n, symbols));
            }
            check(
                &law.to_string(),
                &program,
                &universe,
                &batch,
                horizon,
                &mut scratch,
            );
        }
    }
}
