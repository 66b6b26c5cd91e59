//! Tests of proofs against the fixtures and brute force, and of mutated proofs.

mod mutants;

use std::path::PathBuf;

use serde_json::{Value, json};

use mutants::proofs;

use super::{Proof, prove, subject, verify_proof};
use crate::law::evaluate::{Case, Horizon};
use crate::law::{Extensions, Law, NormalLaw, Program};
use crate::universe::{KineticGrid, Symbol, Tabulated, Universe, random_universe};

fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/popper")
        .join(name);
    std::fs::read_to_string(path).unwrap()
}

fn laws(name: &str) -> Vec<Law> {
    let extensions = Extensions {
        local_transition: true,
    };
    Law::read_all(&fixture(&format!("laws/{name}.json")), extensions)
        .unwrap()
        .into_iter()
        .filter_map(Result::ok)
        .collect()
}

fn law(value: &Value) -> Law {
    let extensions = Extensions {
        local_transition: true,
    };
    Law::from_value(value.clone(), "$", extensions).unwrap()
}

/// A law of a claim over named expressions.
fn claim(template: &str, observables: &[(&str, &str)], claim: &str) -> Law {
    claim_from(template, observables, claim, &json!([]))
}

/// The same with preconditions.
fn claim_from(
    template: &str,
    observables: &[(&str, &str)],
    claim: &str,
    preconditions: &Value,
) -> Law {
    law(&json!({
        "schema_version": "1.0.0", "law_id": "test", "template": template,
        "quantifiers": {"T": 9, "H": 2}, "preconditions": preconditions, "proposed_tests": [],
        "observables": observables.iter().map(|(name, expr)| json!({"name": name, "expr": expr})).collect::<Vec<_>>(),
        "claim": claim, "forbidden": "the contrary",
        "direction": (template == "monotone").then_some("<="),
    }))
}

fn proof(law: &Law, universe: &Tabulated) -> Option<Proof> {
    let program = Program::compile(law, universe).ok()?;
    let proof = prove(law, &program, universe)?;
    assert_eq!(verify_proof(&proof), Ok(()), "{}", law.claim);
    let text = serde_json::to_string(&proof).unwrap();
    let back: Proof = serde_json::from_str(&text).unwrap();
    assert_eq!(back, proof);
    assert_eq!(verify_proof(&back), Ok(()));
    Some(proof)
}

#[test]
fn true_fixtures_are_proved() {
    let expected: Value = serde_json::from_str(&fixture("expectations.json")).unwrap();
    let strength = |id: &str| {
        let entries = expected["expected"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["law_id"] == id).unwrap();
        entry["strength"].as_str().unwrap_or("").to_owned()
    };
    let also = [
        "incoming_becomes_collision",
        "collisions_at_most_half",
        "collision_leaves_room",
    ];
    let mut count = 0;
    for law in laws("true") {
        let wanted = strength(&law.id) == "proved" || also.contains(&law.id.as_str());
        assert_eq!(proof(&law, &KineticGrid).is_some(), wanted, "{}", law.id);
        count += usize::from(wanted);
    }
    assert_eq!(count, 14);
}

#[test]
fn false_and_undecided_fixtures_are_not_proved() {
    for law in laws("false") {
        assert!(proof(&law, &KineticGrid).is_none(), "{}", law.id);
    }
    let harmless = [
        "count_is_not_negative",
        "p_implies_p",
        "antecedent_never_holds",
        "impossible_precondition",
    ];
    for law in laws("unknown") {
        let found = proof(&law, &KineticGrid).is_some();
        assert!(!found || harmless.contains(&law.id.as_str()), "{}", law.id);
    }
}

fn elementary(number: u32) -> Tabulated {
    let table: serde_json::Map<String, Value> = (0..8)
        .map(|code| {
            let next = if number >> code & 1 == 1 { "1" } else { "0" };
            (format!("{code:03b}"), next.into())
        })
        .collect();
    let json = json!({
        "id": format!("rule_{number}"), "symbols": "01", "radius": 1, "rule": {"table": table},
        "transforms": [{"name": "mirror", "reverse": true}, {"name": "flip", "map": {"0": "1", "1": "0"}}],
    });
    Tabulated::from_json(&json.to_string()).unwrap()
}

/// Every state of 1 to `n` cells that may start.
fn starts(universe: &Tabulated, n: usize) -> Vec<Vec<Symbol>> {
    let symbols: Vec<Symbol> = (0..universe.alphabet().len() as Symbol)
        .filter(|&symbol| universe.may_start(symbol))
        .collect();
    let mut all = Vec::new();
    let mut last = vec![Vec::new()];
    for _ in 0..n {
        last = last
            .iter()
            .flat_map(|state: &Vec<Symbol>| {
                symbols.iter().map(|&symbol| {
                    let mut longer = state.clone();
                    longer.push(symbol);
                    longer
                })
            })
            .collect();
        all.extend(last.clone());
    }
    all
}

/// The first start that contradicts a law, if there is one.
fn contradiction(
    program: &Program,
    universe: &Tabulated,
    starts: &[Vec<Symbol>],
) -> Option<Vec<Symbol>> {
    let window = match program.claim {
        crate::law::Claim::Eventually { window, .. } => window,
        _ => 0,
    };
    let horizon = Horizon {
        t: program.horizon.min(12),
        window,
    };
    let contradicts = |start: &&Vec<Symbol>| {
        let case = Case::new(program, universe, start, horizon);
        case.violation.is_some() || case.error.is_some()
    };
    starts.iter().find(contradicts).cloned()
}

/// Random laws over the observables of a universe, many of them true.
struct Laws<'a> {
    universe: &'a Tabulated,
    rng: rand_chacha::ChaCha20Rng,
    conserved: Vec<String>,
}

impl<'a> Laws<'a> {
    fn new(universe: &'a Tabulated, seed: u64) -> Self {
        use rand_chacha::rand_core::SeedableRng;
        let basis = crate::conserved::span(universe, 2).unwrap().basis;
        Self {
            universe,
            rng: rand_chacha::ChaCha20Rng::seed_from_u64(seed),
            conserved: basis.into_iter().map(|quantity| quantity.expr).collect(),
        }
    }

    fn draw(&mut self, bound: usize) -> usize {
        use rand_chacha::rand_core::Rng;
        (self.rng.next_u64() % bound as u64) as usize
    }

    fn text(&mut self, length: usize) -> String {
        let chars = self.universe.alphabet().chars();
        (0..length).map(|_| chars[self.draw(chars.len())]).collect()
    }

    fn part(&mut self) -> String {
        match self.draw(22) {
            0..=4 => format!("count('{}')", self.text(1)),
            5..=6 => format!("count_pattern('{}')", self.text(2)),
            7 => format!("count_pattern('{}')", self.text(3)),
            8 => "grid_length".into(),
            9 if self.universe.incoming().is_some() => "incoming_collisions".into(),
            10 => format!("count_even('{}')", self.text(1)),
            11 => format!("leftmost('{}')", self.text(1)),
            12 => format!("rightmost('{}')", self.text(1)),
            13 => format!("spread('{}')", self.text(1)),
            14 => format!("max_gap('{}')", self.text(1)),
            15 => format!("count_odd('{}')", self.text(1)),
            16 => format!("adjacent_pairs('{}', '{}')", self.text(1), self.text(1)),
            17 => format!("gap_pairs('{}', '{}', 2)", self.text(1), self.text(1)),
            18 => format!("(count('{}') % {})", self.text(1), self.draw(4) + 2),
            _ => {
                let index = self.draw(self.conserved.len());
                format!("({})", self.conserved[index])
            }
        }
    }

    fn expr(&mut self) -> String {
        let (one, other) = (self.part(), self.part());
        match self.draw(12) {
            0 => format!("{one} + {other}"),
            1 => format!("{one} - {other}"),
            2 => format!("{one} - 2*{other}"),
            3 => format!("{one} * {other}"),
            4 => format!("({one}) % {}", self.draw(4)),
            5 => format!("{one} + ({other} % 2)"),
            _ => one,
        }
    }

    fn comparison(&mut self) -> String {
        let op = ["==", "!=", "<", "<=", ">", ">="][self.draw(6)];
        let side = |laws: &mut Self| {
            let name = ["f", "g", "h"][laws.draw(3)];
            match laws.draw(10) {
                8 => format!("(f(t) + g(t+1)) % {}", laws.draw(2) + 2),
                9 => format!("(f(0) + 2*g(t)) % {}", laws.draw(2) + 2),
                0..=3 => format!("{name}(t)"),
                4..=5 => format!("{name}(t+1)"),
                6 => format!("{name}(0)"),
                _ => ["0", "1", "2", "-1"][laws.draw(4)].to_string(),
            }
        };
        format!("{} {op} {}", side(self), side(self))
    }

    fn formula(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.comparison();
        }
        let (one, other) = (self.formula(depth - 1), self.formula(depth - 1));
        match self.draw(8) {
            0 => format!("(({one}) and ({other}))"),
            1..=2 => format!("(({one}) or ({other}))"),
            3 => format!("(not ({one}))"),
            4 => format!("(({one}) -> ({other}))"),
            _ => one,
        }
    }

    fn next(&mut self) -> Law {
        let exprs = [self.expr(), self.expr(), self.expr()];
        let observables = [("f", &*exprs[0]), ("g", &*exprs[1]), ("h", &*exprs[2])];
        let (p, q) = (self.formula(1), self.formula(1));
        let (template, claim) = match self.draw(5) {
            0 => ("bound", self.comparison()),
            1 => ("implication_state", format!("{p} -> {q}")),
            2 => ("implication_step", format!("{p} -> {q}")),
            3 => ("eventually", format!("{p} -> {q}")),
            _ => ("bound", self.formula(2)),
        };
        claim_from(template, &observables, &claim, &self.preconditions())
    }

    /// A condition on the start, in one of three laws.
    fn preconditions(&mut self) -> Value {
        if self.draw(3) > 0 {
            return json!([]);
        }
        let op = ["==", "!=", "<=", ">="][self.draw(4)];
        json!([{"lhs": self.part(), "op": op, "rhs": self.draw(3).to_string()}])
    }
}

/// Counts the laws that are true on small rings, and those of them that are proved.
fn agree(universe: &Tabulated, seed: u64, laws: usize, n: usize) -> (usize, usize) {
    let mut starts = starts(universe, n);
    let mut generator = Laws::new(universe, seed);
    let symbols = universe.start_symbols();
    for _ in 0..200 {
        let cells = n + 1 + generator.draw(14 - n);
        let cell = |_| symbols[generator.draw(symbols.len())];
        starts.push((0..cells).map(cell).collect());
    }
    let (mut true_laws, mut proved) = (0, 0);
    for _ in 0..laws {
        let law = generator.next();
        let Ok(program) = Program::compile(&law, universe) else {
            continue;
        };
        let found = proof(&law, universe).is_some();
        let contradiction = contradiction(&program, universe, &starts);
        if found {
            let exprs: Vec<&str> = law.observables.iter().map(|o| o.expr.as_str()).collect();
            assert_eq!(
                contradiction,
                None,
                "{} of {exprs:?} on {}",
                law.claim,
                universe.id()
            );
        }
        true_laws += usize::from(contradiction.is_none());
        proved += usize::from(found);
    }
    (true_laws, proved)
}

#[test]
fn what_is_proved_is_true_on_the_kinetic_grid() {
    let (true_laws, proved) = agree(&KineticGrid, 1, 300, 7);
    assert!(proved * 4 > true_laws * 3, "only {proved} of {true_laws}");
}

/// This many random laws in each of eight random universes, and in each of eight elementary ones.
fn elsewhere(laws: [usize; 2]) {
    for seed in 0..8 {
        agree(&random_universe(seed), seed, laws[0], 5);
    }
    for number in [30, 90, 110, 184, 170, 204, 0, 232] {
        agree(&elementary(number), u64::from(number), laws[1], 9);
    }
}

#[test]
fn what_is_proved_is_true_elsewhere() {
    elsewhere([30, 50]);
}

#[test]
#[ignore = "minutes; the same with fewer laws runs always"]
fn what_is_proved_is_true_of_thousands_of_laws() {
    elsewhere([400, 600]);
}

#[test]
fn false_variants_of_a_law_are_refused() {
    let mut count = 0;
    for (from, to) in [
        ("'X'", "'.'"),
        ("'>'", "'<'"),
        ("'<'", "'>'"),
        ("count(", "leftmost("),
        ("count('", "count_pattern('X"),
        ("==", "<="),
        ("==", "!="),
        ("<=", "<"),
        ("<=", ">="),
        ("mirror_swap", "mirror_only"),
        ("mirror_swap", "swap_only"),
        ("2*", "3*"),
        ("eventually", "implication_state"),
        ("\"const\":0", "\"const\":1"),
        ("\"const\":0", "\"const\":-1"),
        ("t_plus_1\":true", "var\":\"t\""),
    ] {
        for proof in proofs() {
            let text = proof.law.to_string().replace(from, to);
            let Ok(law) = serde_json::from_str::<Value>(&text) else {
                continue;
            };
            if law == proof.law {
                continue;
            }
            let mut forged = proof.clone();
            forged.law_fingerprint = crate::json::hash::of(&law.to_string());
            forged.law = law;
            forged.digest = subject::digest(&forged).unwrap();
            if verify_proof(&forged).is_ok() {
                // Then it must be a true law.
                let universe: Tabulated = match forged.universe.as_str() {
                    Some(_) => Tabulated::clone(&KineticGrid),
                    None => elementary(184),
                };
                let law = NormalLaw::from_value(forged.law.clone(), "$.law")
                    .unwrap()
                    .to_law("forged");
                let program = Program::compile(&law, &universe).unwrap();
                let starts = starts(&universe, 6);
                assert_eq!(contradiction(&program, &universe, &starts), None, "{text}");
            } else {
                count += 1;
            }
        }
    }
    assert!(count >= 40, "{count}");
}

#[test]
fn unsafe_expressions_are_not_proved() {
    for (expr, text) in [
        ("count('>') % (count('X') - count('X'))", "f(t) == f(0)"),
        ("count('>') % count('<')", "f(t) == f(t)"),
        ("9223372036854775807 * count('>')", "f(t) == f(t)"),
        ("count('>') + 9223372036854775807", "f(t) >= 0"),
        (
            "grid_length * grid_length * grid_length * grid_length * grid_length",
            "f(t) == f(0)",
        ),
        ("count('>')", "f(t) / 2 == f(t) / 2"),
        ("count('>')", "f(3) == f(3)"),
        ("count('>')", "t >= 0"),
    ] {
        let law = claim("bound", &[("f", expr)], text);
        assert!(proof(&law, &KineticGrid).is_none(), "{expr}: {text}");
    }
}

#[test]
fn what_is_provable() {
    for (template, text) in [
        ("bound", "n(t) > 0"),
        ("bound", "x(t) >= -5"),
        ("bound", "x(t+1) == inc(t)"),
        ("bound", "r(t) == r(0) and x(t) <= n(0)"),
        ("bound", "rl(t) == rl(0)"),
        ("bound", "par(t) == par(0)"),
        ("bound", "par(t) <= 1"),
        ("bound", "2*x(t) <= n(0)"),
        ("bound", "x(t) <= r(0)"),
        ("bound", "xx(t) <= x(t)"),
        ("bound", "even(t) <= x(t)"),
        ("implication_state", "x(t) == 0 -> xx(t) == 0"),
        ("implication_state", "r(t) == 0 -> x(t) < 1"),
        ("implication_state", "xx(t) > 0 -> x(t) > 0"),
        ("implication_step", "inc(t) > 0 -> x(t+1) > 0"),
        ("implication_step", "x(t) >= 0 -> rr(t+1) == rr(t)"),
        ("implication_step", "x(t) > n(t) -> x(t+1) == 0"),
        ("eventually", "inc(t) > 0 -> x(t) > 0"),
        ("eventually", "r(t) > 3 -> r(t) > 2"),
        ("monotone", "d(t+1) <= d(t)"),
    ] {
        let observables = [
            ("n", "grid_length"),
            ("x", "count('X')"),
            ("xx", "count_pattern('XX')"),
            ("inc", "incoming_collisions"),
            ("r", "count('>') + count('X')"),
            (
                "rr",
                "count_pattern('>>') + count_pattern('>X') + count_pattern('X>') + count_pattern('XX')",
            ),
            (
                "rl",
                "(count('>') + count('X')) * (count('<') + count('X'))",
            ),
            ("par", "(count('<') + count('X')) % 2"),
            ("even", "count_even('X')"),
            ("d", "count('.') - count('X')"),
        ];
        let law = claim(template, &observables, text);
        assert!(proof(&law, &KineticGrid).is_some(), "{text}");
    }
}

#[test]
fn a_remainder_over_two_steps_is_read_from_the_start_as_a_whole() {
    // Each cell changes between a and b, so that `a(t) + b(t+1)` is twice `a(t)`, while `a(0) + b(0)` is the number of cells.
    let swap = |window: &[char]| if window[0] == 'a' { 'b' } else { 'a' };
    let universe = Tabulated::from_fn("swap", "ab", 0, swap).unwrap();
    let observables = [("a", "count('a')"), ("b", "count('b')")];
    let odd = json!([{"lhs": "grid_length % 2", "op": "==", "rhs": "1"}]);
    let law = |remainder| {
        let claim = format!("(a(t) + b(t+1)) % 2 == {remainder}");
        claim_from("bound", &observables, &claim, &odd)
    };
    assert!(proof(&law(1), &universe).is_none());
    assert!(proof(&law(0), &universe).is_some());
}

#[test]
fn a_proof_with_the_former_hash_of_the_built_in_universe_holds() {
    let (built_in, other): (Vec<_>, Vec<_>) = proofs()
        .into_iter()
        .partition(|proof| proof.universe.is_string());
    for (proofs, holds) in [(built_in, true), (other, false)] {
        assert!(!proofs.is_empty());
        for mut proof in proofs {
            proof.sim_hash = KineticGrid::FORMER_HASH.into();
            proof.digest = subject::digest(&proof).unwrap();
            assert_eq!(verify_proof(&proof).is_ok(), holds, "{}", proof.law);
        }
    }
}
