//! The starts of which one stands for two: a law has the same outcome on a start and on its image.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value, json};

use super::{TestStream, compile, formula, law};
use crate::bitslice::Horizon;
use crate::law::evaluate::Case;
use crate::law::invariance::symmetry;
use crate::law::{Observable, Program};
use crate::universe::{KineticGrid, State, Symbol, Tabulated, Transform, Universe};

/// An exchange of two symbols, or none, and whether the order of the cells is turned round.
type Image = (Option<(char, char)>, bool);

/// A drawn table that commutes with the transform `image`; `last` exchanges the last two symbols.
fn symmetric(symbols: &str, radius: u32, forbidden: &str, image: Image, seed: u64) -> Tabulated {
    let mut draw = TestStream::new(seed);
    let chars: Vec<char> = symbols.chars().collect();
    let (swap, reverse) = image;
    let other = |char| match swap {
        Some((a, b)) if char == a => b,
        Some((a, b)) if char == b => a,
        _ => char,
    };
    let fixed: Vec<char> = chars.iter().copied().filter(|&c| other(c) == c).collect();
    let mut table = serde_json::Map::new();
    for code in 0..chars.len().pow(2 * radius + 1) {
        let cells =
            (0..=2 * radius).map(|place| chars[code / chars.len().pow(place) % chars.len()]);
        let window: String = cells.collect();
        let turned: String = if reverse {
            window.chars().rev().map(other).collect()
        } else {
            window.chars().map(other).collect()
        };
        if !table.contains_key(&window) {
            let next = draw.of(if turned == window { &fixed } else { &chars });
            table.insert(turned, json!(other(next)));
            table.insert(window, json!(next));
        }
    }
    let map: Value = (swap.iter().flat_map(|&(a, b)| [(a, b), (b, a)]))
        .map(|(from, to)| (from.to_string(), json!(to)))
        .collect();
    let [before, last] = [2, 1].map(|back| chars[chars.len() - back].to_string());
    let universe = json!({
        "id": format!("symmetric_{seed}"), "symbols": symbols, "radius": radius, "rule": {"table": table},
        "initial_forbidden": forbidden, "incoming": chars[seed as usize % chars.len()],
        "transforms": [
            {"name": "none"},
            {"name": "image", "reverse": reverse, "map": map},
            {"name": "turn", "reverse": true},
            {"name": "last", "map": {&before: &last, &last: &before}},
        ],
    });
    Tabulated::from_json(&universe.to_string()).unwrap()
}

fn universes() -> Vec<Tabulated> {
    let swap = Some(('a', 'b'));
    let mut all = vec![Tabulated::clone(&KineticGrid)];
    for seed in 0..3 {
        all.push(symmetric(".ab", 1, "", (swap, seed != 1), seed));
        all.push(symmetric(".abc", 1, "c", (swap, seed != 2), 10 + seed));
        all.push(symmetric(".o", 2, "", (None, true), 20 + seed));
        all.push(symmetric(".o", 1, "", (None, true), 25 + seed));
        all.push(symmetric(".abc", 1, ".c", (swap, seed == 0), 30 + seed));
    }
    all.push(symmetric(".ab", 2, "", (swap, true), 40));
    all.push(symmetric(".ab", 0, "", (swap, false), 41));
    // Images that may not start, and images with more movers: no law has a symmetry.
    all.push(symmetric(".ab", 1, "a", (swap, true), 42));
    all.push(symmetric("ab.", 1, "", (swap, true), 43));
    all
}

/// Expressions with their reading on the image of a state, as far as there is one in the language.
struct Expressions<'a> {
    draw: &'a mut TestStream,
    universe: &'a Tabulated,
    transform: &'a Transform,
}

impl Expressions<'_> {
    fn image(&self, text: &[char]) -> String {
        let alphabet = self.universe.alphabet();
        let cells: Vec<Symbol> = text.iter().map(|&c| alphabet.symbol(c).unwrap()).collect();
        alphabet.text(&self.transform.apply(&cells))
    }

    fn single(&mut self) -> [String; 2] {
        let symbols = self.universe.alphabet().chars().to_vec();
        let length = 1 + self.draw.below(4);
        let cells: Vec<char> = (0..length).map(|_| self.draw.of(&symbols)).collect();
        let (a, b) = (cells[0], cells[length - 1]);
        let [x, y] = [self.image(&[a]), self.image(&[b])];
        let (first, last) = if self.transform.reverse {
            (&y, &x)
        } else {
            (&x, &y)
        };
        let gap = self.draw.below(3);
        let one = |name: &str| [format!("{name}('{a}')"), format!("{name}('{x}')")];
        match self.draw.below(22) {
            0 => [(); 2].map(|()| format!("{gap}")),
            1 => [(); 2].map(|()| "grid_length".into()),
            2 => one("count_even"),
            3 => one("count_odd"),
            4 => one("leftmost"),
            5 => one("rightmost"),
            6 => one("spread"),
            7 => one("max_gap"),
            8 => [
                format!("adjacent_pairs('{a}','{b}')"),
                format!("adjacent_pairs('{first}','{last}')"),
            ],
            9 => [
                format!("gap_pairs('{a}','{b}',{gap})"),
                format!("gap_pairs('{first}','{last}',{gap})"),
            ],
            10 | 11 if self.universe.incoming().is_some() => {
                [(); 2].map(|()| "incoming_collisions".into())
            }
            12..=16 => {
                let text: String = cells.iter().collect();
                [text, self.image(&cells)].map(|text| format!("count_pattern('{text}')"))
            }
            _ => one("count"),
        }
    }

    fn pair(&mut self, depth: usize) -> [String; 2] {
        if depth == 0 || self.draw.below(3) == 0 {
            return self.single();
        }
        let (left, right) = (self.pair(depth - 1), self.pair(depth - 1));
        let kind = self.draw.below(9);
        [0, 1].map(|side| {
            let (left, right) = (&left[side], &right[side]);
            match kind {
                0 => format!("(-{left})"),
                1 => format!("({left} % 3)"),
                2 | 3 => format!("({left} * {right})"),
                4 | 5 => format!("({left} - {right})"),
                _ => format!("({left} + {right})"),
            }
        })
    }

    /// An expression and its image, often one that is its own image or nearly so.
    fn balanced(&mut self) -> [String; 2] {
        let [e, i] = self.pair(1);
        match self.draw.below(8) {
            0 => [format!("{e} + {i}"), format!("{i} + {e}")],
            1 => [format!("{e} * {i}"), format!("{i} * {e}")],
            2 => [format!("{e} - {i}"), format!("{i} - {e}")],
            3 => [format!("2 * {e} + {i}"), format!("2 * {i} + {e}")],
            4 => [
                format!("({e} - {i}) * ({i} - {e})"),
                format!("({i} - {e}) * ({e} - {i})"),
            ],
            5 => [format!("3 - (-{e} - {i})"), format!("3 - (-{i} - {e})")],
            _ => [e, i],
        }
    }

    /// A formula of `f` and its image `g`, often together with the formula of the image.
    fn formula(&mut self, next: bool) -> String {
        let text = formula(self.draw, 1, next);
        let turned: String = text
            .chars()
            .map(|c| match c {
                'f' => 'g',
                'g' => 'f',
                other => other,
            })
            .collect();
        // "and", "or" and "not" hold neither letter.
        match self.draw.below(6) {
            0 => format!("({text} and {turned})"),
            1 => format!("({text} or {turned})"),
            2 => format!("(not ({text}) and not ({turned}))"),
            3 => "(f(t) - g(t) <= 1 and g(t) - f(t) <= 1)".into(),
            4 => "t + f(t) + g(0) >= g(t) + f(0)".into(),
            _ => text,
        }
    }

    fn law(&mut self) -> (Value, Horizon) {
        let horizon = Horizon {
            t: 2 + self.draw.below(4) as u64,
            window: self.draw.below(4) as u64,
        };
        let [f, g] = self.balanced();
        let preconditions = match self.draw.below(4) {
            0 => {
                let ([e, i], k) = (self.pair(1), self.draw.below(4));
                json!([{"lhs": e, "op": "<=", "rhs": k}, {"lhs": k, "op": ">=", "rhs": i}])
            }
            1 => {
                let [e, i] = self.pair(1);
                json!([{"lhs": e, "op": self.draw.of(&["==", "!=", "<="]), "rhs": i}])
            }
            2 => json!([{"lhs": "grid_length", "op": ">=", "rhs": 2}]),
            _ => json!([]),
        };
        let symbols = self.universe.alphabet().chars().to_vec();
        let op = self.draw.of(&["==", "<=", ">=", "!=", "<"]);
        let mut law = match self.draw.below(9) {
            0 => json!({"template": "invariant", "claim": "f(t) == f(0)"}),
            1 => json!({"template": "monotone", "direction": "<=", "claim": "f(t+1) <= f(t)"}),
            2 => json!({"template": "bound", "claim": format!("f(t) {op} g(0) + 1")}),
            3 => json!({"template": "bound", "claim": self.formula(false)}),
            4 => json!({"template": "implication_state",
                "claim": format!("{} -> {}", self.formula(false), self.formula(false))}),
            5 => json!({"template": "implication_step",
                "claim": format!("{} -> {}", self.formula(false), self.formula(true))}),
            6 => json!({"template": "eventually",
                "claim": format!("{} -> {}", self.formula(false), self.formula(false))}),
            7 => {
                let names = self.universe.transforms().iter().map(|t| t.name.clone());
                let shifts = ["shift_k", "shift_2", "shift_-1"].map(String::from);
                let names: Vec<String> = names.chain(shifts).collect();
                json!({"template": "symmetry_commutation", "transform": self.draw.of(&names)})
            }
            _ => {
                let trigger = self.draw.of(&symbols);
                let mut law = json!({
                    "template": "local_transition", "trigger_symbol": trigger.to_string(),
                    "result_op": self.draw.of(&["==", "!="]), "result_symbol": self.draw.of(&symbols).to_string(),
                });
                if self.draw.below(3) > 0 {
                    let (left, right) = (self.draw.of(&symbols), self.draw.of(&symbols));
                    law["neighbor_pattern"] = json!(format!("{left}{trigger}{right}"));
                }
                if self.draw.below(6) == 0 {
                    law["required_parity"] = json!(self.draw.below(2));
                }
                law
            }
        };
        law["quantifiers"] = json!({"T": horizon.t, "H": horizon.window});
        law["preconditions"] = preconditions;
        law["observables"] = match law["template"].as_str() {
            Some("symmetry_commutation" | "local_transition") => json!([]),
            _ => json!([{"name": "f", "expr": f}, {"name": "g", "expr": g}]),
        };
        (law, horizon)
    }
}

/// The starts of rings of `n` cells.
fn starts(universe: &Tabulated, n: usize) -> Vec<State> {
    let symbols = universe.start_symbols();
    let all = symbols.len().pow(n as u32);
    let state = |code: usize| {
        let cell = |place: usize| symbols[code / symbols.len().pow(place as u32) % symbols.len()];
        (0..n).map(cell).collect()
    };
    (0..all).map(state).collect()
}

/// The parts of a start that the statistics of a ring read: its movers, its outcome, and whether it visits a symbol that may not start.
fn outcome(
    program: &Program,
    universe: &Tabulated,
    start: &State,
    horizon: Horizon,
) -> (usize, Case, bool) {
    let movers = start.iter().filter(|&&symbol| symbol != 0).count();
    let mut state = start.clone();
    let unusual = (0..=horizon.t).any(|_| {
        let here = state.clone();
        state = universe.step(&here);
        here.iter().any(|&symbol| !universe.may_start(symbol))
    });
    (
        movers,
        Case::new(program, universe, start, horizon),
        unusual,
    )
}

/// Compares each start of small rings with its image, if the law has one; the kinds of observables of such a law.
fn compare(what: &Value, universe: &Tabulated, horizon: Horizon) -> Option<BTreeSet<&'static str>> {
    let program = compile(what, universe);
    let transform = symmetry(&program, universe)?;
    let k = universe.start_symbols().len();
    for n in (1..=9).filter(|&n| k.pow(n as u32) <= 300) {
        let outcomes: HashMap<State, _> = starts(universe, n)
            .into_iter()
            .map(|start| {
                let outcome = outcome(&program, universe, &start, horizon);
                (start, outcome)
            })
            .collect();
        for (start, outcome) in &outcomes {
            let image = transform.apply(start);
            assert_eq!(
                outcome,
                &outcomes[&image],
                "{} and {} under {transform:?} of {}: {what}",
                universe.alphabet().text(start),
                universe.alphabet().text(&image),
                universe.id(),
            );
            assert!(outcome.1.error.is_none(), "{what}");
        }
    }
    let mut kinds = BTreeSet::new();
    let conditions = program.preconditions.iter();
    let sides = conditions.flat_map(|condition| [&condition.left, &condition.right]);
    for observable in program.observables.iter().chain(sides) {
        list_kinds(observable, &mut kinds);
    }
    Some(kinds)
}

fn list_kinds(observable: &Observable, kinds: &mut BTreeSet<&'static str>) {
    let kind = match observable {
        Observable::Int(_) => "number",
        Observable::GridLength => "length",
        Observable::Count(pattern) if pattern.at.len() == 1 => "count",
        Observable::Count(_) => "pattern",
        Observable::Incoming(_) => "incoming",
        Observable::Neg(inner) => {
            list_kinds(inner, kinds);
            "negative"
        }
        Observable::Bin(_, left, right) => {
            list_kinds(left, kinds);
            list_kinds(right, kinds);
            "operation"
        }
        _ => "place",
    };
    kinds.insert(kind);
}

#[test]
fn a_start_and_its_image_have_the_same_outcome() {
    let mut draw = TestStream::new(23);
    let mut kept: BTreeMap<String, usize> = BTreeMap::new();
    let mut kinds = BTreeSet::new();
    let mut refused = 0;
    for universe in universes() {
        let commutes = |transform: &&Transform| {
            transform.commutes_with(universe.rule()) && !transform.is_identity()
        };
        let transform = universe.transforms().iter().find(commutes).unwrap();
        for round in 0..400 {
            let (law, horizon) = if round % 8 == 0 {
                law(&mut draw, &universe)
            } else {
                let mut expressions = Expressions {
                    draw: &mut draw,
                    universe: &universe,
                    transform,
                };
                expressions.law()
            };
            match compare(&law, &universe, horizon) {
                Some(found) => {
                    *kept.entry(law["template"].to_string()).or_default() += 1;
                    kinds.extend(found);
                }
                None => refused += 1,
            }
        }
    }
    let invariant = [
        "count",
        "incoming",
        "length",
        "negative",
        "number",
        "operation",
        "pattern",
    ];
    assert_eq!(
        kinds,
        invariant.into(),
        "those that change under rotations are never kept"
    );
    assert_eq!(kept.len(), 8, "{kept:?}");
    assert!(
        kept.values().all(|&laws| laws >= 40) && refused > 500,
        "{kept:?}, {refused} refused"
    );
}

/// Laws that read alike on an image at first sight, and do not.
#[test]
fn a_law_that_tells_a_start_from_its_image_has_no_symmetry() {
    let grid = &KineticGrid;
    let observed = |expr: &str| {
        json!({"template": "invariant", "quantifiers": {"T": 3}, "claim": "f(t) == f(0)",
            "observables": [{"name": "f", "expr": expr}]})
    };
    for (expr, kept) in [
        ("count('>') + count('<')", true),
        ("count('<') * count('>')", true),
        ("count('>') - count('<')", false),
        ("count('>')", false),
        ("2 * count('>') + count('<')", false),
        ("count_pattern('><')", true),
        ("count_pattern('<>')", true),
        ("count_pattern('>.')", false),
        ("count_pattern('>.') + count_pattern('.<')", true),
        ("count_pattern('>.') + count_pattern('<.')", false),
        ("count_pattern('>X<')", true),
        ("incoming_collisions", true),
        ("grid_length * count('.')", true),
        ("count_even('.')", false),
        ("count_odd('X') + count_even('X')", false),
        ("leftmost('.')", false),
        ("rightmost('X')", false),
        ("leftmost('.') + rightmost('.')", false),
        ("spread('.')", false),
        ("max_gap('.')", false),
        ("adjacent_pairs('>','<')", false),
        ("gap_pairs('X','X',1)", false),
        ("count('X') % 2", false),
    ] {
        let program = compile(&observed(expr), grid);
        assert_eq!(symmetry(&program, grid).is_some(), kept, "{expr}");
        let condition = json!({"template": "invariant", "quantifiers": {"T": 3}, "claim": "f(t) == f(0)",
            "observables": [{"name": "f", "expr": "count('X')"}],
            "preconditions": [{"lhs": expr, "op": ">=", "rhs": 1}]});
        let program = compile(&condition, grid);
        assert_eq!(symmetry(&program, grid).is_some(), kept, "on {expr}");
    }
    for (claim, kept) in [
        ("r(t) == l(t)", true),
        ("r(t) != l(t)", true),
        ("r(t) <= l(t)", false),
        ("r(t) > l(t)", false),
        ("r(t) <= l(t) and l(t) <= r(t)", true),
        ("r(t) <= l(t) and r(t) >= l(t)", true),
        ("r(t) <= l(0) and l(t) <= r(0)", true),
        ("r(t) <= l(0) and l(0) <= r(t)", false),
        ("r(t) - l(t) <= 1 or l(t) - r(t) <= 1", true),
        ("r(t) + t >= l(t) + t", false),
        ("r(t) + l(t) >= t", true),
        ("(r(t) + l(t)) / 2 >= 0", false),
        ("not r(t) > 1 and not 1 < l(t)", true),
        ("r(t) - l(t) <= 1", false),
        ("-r(t) + l(t) <= 1", false),
        ("r(t) * l(0) <= 1", false),
        ("r(t) * l(t) <= 1", true),
        ("r(t) > 1 -> l(t) > 1", false),
        ("(r(t) > 1 -> l(t) > 1) or t > 5", false),
        ("(r(t) > 1 -> l(t) > 1) and (l(t) > 1 -> r(t) > 1)", true),
    ] {
        let law = json!({"template": "bound", "quantifiers": {"T": 3}, "claim": claim,
            "observables": [{"name": "r", "expr": "count('>')"}, {"name": "l", "expr": "count('<')"}]});
        let program = compile(&law, grid);
        assert_eq!(symmetry(&program, grid).is_some(), kept, "{claim}");
    }
    for (name, kept) in [
        ("mirror_swap", true),
        ("mirror_only", true),
        ("swap_only", true),
        ("shift_k", false),
        ("shift_1", false),
    ] {
        let law =
            json!({"template": "symmetry_commutation", "quantifiers": {"T": 3}, "transform": name});
        let program = compile(&law, grid);
        assert_eq!(symmetry(&program, grid).is_some(), kept, "{name}");
    }
}
