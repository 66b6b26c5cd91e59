//! Random laws over the whole grammar, one for each seed.
//!
//! A law of random parts is refuted on the second ring and tests little. So most laws start from a true law of the grid,
//! which is changed a little, or not at all.

use serde_json::{Map, Value, json};

/// splitmix64: small, and the same everywhere.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    Now,
    Next,
    At(usize),
}

/// A claim before it is written as text or as a tree.
#[derive(Clone, Debug)]
enum Node {
    Int(i64),
    Time,
    Length,
    Seen(String, When),
    Not(Box<Node>),
    Op(&'static str, Box<Node>, Box<Node>),
}

fn now(name: &str) -> Node {
    Node::Seen(name.into(), When::Now)
}

fn next(name: &str) -> Node {
    Node::Seen(name.into(), When::Next)
}

fn start(name: &str) -> Node {
    Node::Seen(name.into(), When::At(0))
}

fn op(op: &'static str, left: Node, right: Node) -> Node {
    Node::Op(op, Box::new(left), Box::new(right))
}

fn implies(left: Node, right: Node) -> Node {
    op("=>", left, right)
}

fn positive(name: &str) -> Node {
    op(">", now(name), Node::Int(0))
}

/// Names and what they stand for.
type Observables = Vec<(String, String)>;

struct RandomLawBuilder {
    template: &'static str,
    observables: Observables,
    claim: Node,
}

const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];
const NAMES: [&str; 14] = [
    "a", "b", "c", "d", "e", "k", "m", "p", "q", "R", "L", "value_2", "_u", "notes",
];

/// Constant along every run of the grid.
const CONSERVED: [&str; 13] = [
    "count('>') + count('X')",
    "count('<') + count('X')",
    "count('>') + count('<') + 2*count('X')",
    "(count('>') + count('X')) - (count('<') + count('X'))",
    "count('>') - count('<')",
    "count('.') - count('X')",
    "grid_length",
    "2*(count('>') + count('X')) - 3*(count('<') + count('X'))",
    "(count('>') + count('X')) * (count('<') + count('X'))",
    "(count('>') - count('<')) % 3",
    "count_pattern('>>') + count_pattern('>X') + count_pattern('X>') + count_pattern('XX')",
    "(count('.') + count('X')) % 2 - grid_length % 2 * 1",
    "count_even('>') + count_odd('>') + count('X') - 4",
];

/// The words of the laws a physicist would propose.
const GRID: [(&str, &str); 7] = [
    ("x", "count('X')"),
    ("r", "count('>')"),
    ("l", "count('<')"),
    ("e", "count('.')"),
    ("inc", "incoming_collisions"),
    ("R", "r + x"),
    ("both", "count('>') * count('<')"),
];

/// An observable that changes, or changes on larger rings only.
const RESTLESS: [&str; 16] = [
    "count('X')",
    "count('>')",
    "count('.')",
    "count('>') + count('<') + count('X')",
    "incoming_collisions",
    "transition_indicator",
    "max_gap('.')",
    "max_gap('>')",
    "spread('<')",
    "leftmost('>')",
    "adjacent_pairs('>','<')",
    "gap_pairs('>','<',1)",
    "count_even('>') - count_odd('>')",
    "count('X') % 2",
    "count_pattern('><')",
    "count('X') * (count('X') - 1)",
];

pub fn random_law(seed: u64) -> Value {
    Generator {
        rng: Rng::new(seed),
        horizon: 1,
    }
    .law(seed)
}

/// A table universe over the grid's four symbols, so that the same laws can be asked of it.
pub fn random_universe(seed: u64) -> Value {
    const SYMBOLS: [char; 4] = ['.', '>', '<', 'X'];
    let mut rng = Rng::new(seed);
    let mut table = Map::new();
    for left in SYMBOLS {
        for middle in SYMBOLS {
            for right in SYMBOLS {
                let window: String = [left, middle, right].iter().collect();
                table.insert(window, json!(rng.pick(&SYMBOLS)));
            }
        }
    }
    let swap = json!({".": ".", ">": "<", "<": ">", "X": "X"});
    let keep = json!({".": ".", ">": ">", "<": "<", "X": "X"});
    json!({
        "id": format!("random_{seed}"),
        "symbols": SYMBOLS,
        "radius": 1,
        "rule": {"table": table},
        "initial_forbidden": if rng.percent(50) { vec!["X"] } else { vec![] },
        "transforms": [
            {"name": "mirror_swap", "reverse": true, "map": swap},
            {"name": "mirror_only", "reverse": true, "map": keep},
            {"name": "swap_only", "reverse": false, "map": swap},
        ],
    })
}

struct Generator {
    rng: Rng,
    horizon: usize,
}

impl Generator {
    fn law(&mut self, seed: u64) -> Value {
        self.horizon = match self.rng.below(20) {
            0 => self.rng.between(13, 30),
            1..=3 => 1,
            _ => self.rng.between(2, 12),
        } as usize;
        if self.rng.percent(9) {
            return self.symmetry(seed);
        }
        let mut draft = match self.rng.below(10) {
            0..=5 => self.known(),
            6 | 7 => self.plain(),
            _ => self.wild(),
        };
        if self.rng.percent(35) {
            self.bend(&mut draft);
        }
        self.finish(seed, draft)
    }

    // ---- where laws come from -------------------------------------------------------------------

    /// Something a physicist would say, most of it true.
    fn known(&mut self) -> RandomLawBuilder {
        let (template, claim) = match self.rng.below(26) {
            0..=4 => ("bound", self.known_bound()),
            5..=10 => ("implication_state", self.known_state()),
            11..=16 => ("implication_step", self.known_step()),
            17..=21 => ("eventually", self.known_eventually()),
            22 | 23 => ("monotone", self.known_monotone()),
            _ => ("invariant", self.known_invariant()),
        };
        let mut observables: Observables = GRID
            .iter()
            .map(|(name, expr)| ((*name).into(), (*expr).into()))
            .collect();
        keep_used(&mut observables, &claim);
        RandomLawBuilder {
            template,
            observables,
            claim,
        }
    }

    fn known_bound(&mut self) -> Node {
        let k = Node::Int(self.rng.between(0, 3));
        match self.rng.below(5) {
            0 => op("<=", op("*", Node::Int(2), now("x")), Node::Length),
            1 => op("<=", now("x"), op("+", now("e"), k)),
            2 => op("==", now("R"), start("R")),
            3 => op("<=", now("x"), k),
            _ => op("<=", op("+", now("inc"), now("x")), Node::Length),
        }
    }

    fn known_state(&mut self) -> Node {
        let k = Node::Int(self.rng.between(0, 3));
        let none = |name| op("==", now(name), Node::Int(0));
        match self.rng.below(6) {
            0 => implies(positive("x"), op(">=", now("e"), now("x"))),
            1 => implies(none("e"), none("x")),
            2 => implies(positive("x"), op(">", Node::Length, Node::Int(2))),
            3 => implies(positive("inc"), none("x")),
            4 => {
                let twice = op("*", Node::Int(2), now("r"));
                implies(op(">", now("x"), k), op("!=", Node::Length, twice))
            }
            _ => implies(op("==", start("r"), Node::Int(0)), none("x")),
        }
    }

    fn known_step(&mut self) -> Node {
        let k = Node::Int(self.rng.between(0, 3));
        let clear = op("==", next("x"), Node::Int(0));
        match self.rng.below(6) {
            0 => implies(positive("inc"), op("==", next("x"), now("inc"))),
            1 => implies(op(">", next("x"), Node::Int(0)), positive("inc")),
            2 => implies(positive("x"), clear),
            3 => {
                let none_comes = op("==", now("inc"), Node::Int(0));
                implies(op("and", positive("x"), none_comes), clear)
            }
            4 => implies(op("==", now("R"), k.clone()), op("==", next("R"), k)),
            _ => implies(op(">=", now("e"), k), op("<=", next("x"), now("e"))),
        }
    }

    fn known_eventually(&mut self) -> Node {
        match self.rng.below(5) {
            0 => implies(positive("inc"), positive("x")),
            1 => implies(positive("x"), op("==", now("x"), Node::Int(0))),
            2 => implies(positive("both"), positive("x")),
            3 => implies(positive("r"), op(">=", now("R"), start("R"))),
            _ => implies(
                op("==", now("x"), start("x")),
                op("==", now("e"), start("e")),
            ),
        }
    }

    fn known_monotone(&mut self) -> Node {
        if self.rng.percent(50) {
            let before = op("-", now("e"), now("x"));
            op("<=", op("-", next("e"), next("x")), before)
        } else {
            op("<=", next("x"), op("+", now("x"), now("inc")))
        }
    }

    fn known_invariant(&mut self) -> Node {
        if self.rng.percent(50) {
            op(
                "==",
                op("+", now("r"), now("x")),
                op("+", start("r"), start("x")),
            )
        } else {
            op(
                "==",
                op("-", now("r"), now("l")),
                op("-", start("r"), start("l")),
            )
        }
    }

    /// One observable and the template's own shape.
    fn plain(&mut self) -> RandomLawBuilder {
        let expr = match self.rng.below(4) {
            0 | 1 => self.rng.pick(&CONSERVED).to_string(),
            2 => self.rng.pick(&RESTLESS).to_string(),
            _ => self.expression(2, &[]),
        };
        let name = self.rng.pick(&NAMES);
        let (template, claim) = match self.rng.below(3) {
            0 => ("invariant", op("==", now(name), start(name))),
            1 => {
                let direction = self.rng.pick(&["<=", ">="]);
                ("monotone", op(direction, next(name), now(name)))
            }
            _ => {
                let (op_, k) = match self.rng.below(8) {
                    0 => ("==", self.rng.between(0, 2)),
                    1 => ("!=", self.rng.between(-2, 9)),
                    2 => (">=", self.rng.between(-4, 1)),
                    3 => (">", self.rng.between(-5, 0)),
                    4 => ("<", self.rng.between(1, 9)),
                    _ => ("<=", self.rng.between(0, 8)),
                };
                ("bound", op(op_, now(name), Node::Int(k)))
            }
        };
        RandomLawBuilder {
            template,
            observables: vec![(name.into(), expr)],
            claim,
        }
    }

    /// Anything the grammar allows.
    fn wild(&mut self) -> RandomLawBuilder {
        let mut observables: Observables = Vec::new();
        for _ in 0..self.rng.between(1, 4) {
            let known: Vec<String> = observables.iter().map(|(name, _)| name.clone()).collect();
            let name = self.rng.pick(&NAMES);
            if known.iter().any(|other| other == name) {
                continue;
            }
            let expr = match self.rng.below(4) {
                0 => self.rng.pick(&CONSERVED).to_string(),
                1 => self.rng.pick(&RESTLESS).to_string(),
                _ => self.expression(2, &known),
            };
            observables.push((name.into(), expr));
        }
        if self.rng.percent(4) {
            // A name that is also built in, standing for itself.
            observables.push(("incoming_collisions".into(), "incoming_collisions".into()));
        }
        let names: Vec<String> = observables.iter().map(|(name, _)| name.clone()).collect();
        let template = self.rng.pick(&[
            "invariant",
            "monotone",
            "bound",
            "implication_step",
            "implication_state",
            "implication_state",
            "eventually",
            "eventually",
        ]);
        let mut claim = match template {
            "invariant" => {
                let at = When::At(if self.rng.percent(80) {
                    0
                } else {
                    self.rng.below(self.horizon + 1)
                });
                let left = self.arithmetic(&names, &[When::Now], 2);
                let right = moved(&left, at);
                op("==", left, right)
            }
            "monotone" => {
                let direction = self.rng.pick(&["<=", ">=", "<", "=="]);
                let right = self.arithmetic(&names, &[When::Now], 2);
                op(direction, moved(&right, When::Next), right)
            }
            "bound" => self.truth(&names, &[When::Now, When::Now, When::Next], 2),
            "implication_step" => implies(
                self.truth(&names, &[When::Now], 1),
                self.truth(&names, &[When::Next, When::Next, When::Now], 1),
            ),
            _ => implies(
                self.truth(&names, &[When::Now], 1),
                self.truth(&names, &[When::Now, When::Now, When::At(0)], 1),
            ),
        };
        if self.rng.percent(3) && template != "eventually" {
            // A time that may lie outside the horizon: then no t is left to speak of.
            let outside = When::At(self.rng.below(2 * self.horizon + 1));
            let name = names[0].clone();
            claim = match claim {
                Node::Op("=>", left, right) => implies(
                    *left,
                    op(
                        "or",
                        *right,
                        op(">=", Node::Seen(name, outside), Node::Int(1)),
                    ),
                ),
                other => op(
                    "or",
                    other,
                    op(">=", Node::Seen(name, outside), Node::Int(1)),
                ),
            };
        }
        RandomLawBuilder {
            template,
            observables,
            claim,
        }
    }

    fn symmetry(&mut self, seed: u64) -> Value {
        let mut name = self
            .rng
            .pick(&[
                "mirror_swap",
                "mirror_swap",
                "mirror_only",
                "swap_only",
                "shift_k",
                "shift",
            ])
            .to_string();
        if name == "shift" {
            name = format!("shift_{}", self.rng.between(-9, 9));
        }
        let mut law = Map::new();
        let claim = match self.rng.below(4) {
            0 => {
                law.insert("transform".into(), json!(name));
                String::new()
            }
            1 => format!("commutes({name})"),
            _ => {
                law.insert("transform".into(), json!(name));
                format!("commutes({name})")
            }
        };
        let preconditions = self.preconditions(&[]);
        self.envelope(
            seed,
            "symmetry_commutation",
            &claim,
            &preconditions,
            &[],
            law,
        )
    }

    // ---- the grammar ----------------------------------------------------------------------------

    fn symbol(&mut self) -> char {
        self.rng.pick(&['.', '>', '>', '<', '<', 'X', 'X'])
    }

    fn function(&mut self) -> String {
        let (a, b) = (self.symbol(), self.symbol());
        match self.rng.below(18) {
            0..=5 => format!("count('{a}')"),
            6 => format!("count_even('{a}')"),
            7 => format!("count_odd('{a}')"),
            8 => format!("count_at_parity('{a}',{})", self.rng.below(2)),
            9 => {
                let length = self.rng.between(1, 4);
                let pattern: String = (0..length).map(|_| self.symbol()).collect();
                format!("count_pattern('{pattern}')")
            }
            10 => format!("leftmost('{a}')"),
            11 => format!("rightmost('{a}')"),
            12 => format!("spread('{a}')"),
            13 => format!("max_gap('{a}')"),
            14 => format!("adjacent_pairs('{a}', '{b}')"),
            15 => format!("gap_pairs('{a}','{b}',{})", self.rng.below(4)),
            16 => "grid_length".into(),
            _ => self
                .rng
                .pick(&["incoming_collisions", "transition_indicator"])
                .into(),
        }
    }

    fn expression(&mut self, depth: usize, names: &[String]) -> String {
        if depth == 0 || self.rng.percent(30) {
            return match self.rng.below(10) {
                0 => self.rng.between(0, 4).to_string(),
                1 | 2 if !names.is_empty() => names[self.rng.below(names.len())].clone(),
                _ => self.function(),
            };
        }
        let left = self.expression(depth - 1, names);
        let right = self.expression(depth - 1, names);
        match self.rng.below(20) {
            0..=5 => format!("{left} + {right}"),
            6..=10 => format!("{left} - {right}"),
            11 => format!("{left}-({right})"),
            12 => format!("({left}) * ({right})"),
            13 => format!("{}*{right}", self.rng.between(0, 3)),
            14 => format!("-{left} + {right}"),
            15 => format!("-({left})"),
            16 | 17 => format!("({left}) % {}", self.rng.between(1, 4)),
            18 => format!("({left}) % -{}", self.rng.between(1, 4)),
            // Divisors that may be zero, and now and then a product that leaves i64.
            _ if self.rng.percent(20) => format!("({left}) * 9223372036854775807"),
            _ => format!("({left}) % ({right})"),
        }
    }

    fn arithmetic(&mut self, names: &[String], times: &[When], depth: usize) -> Node {
        if depth == 0 || self.rng.percent(45) {
            let name = names[self.rng.below(names.len())].clone();
            return match self.rng.below(20) {
                0 => Node::Time,
                1 => Node::Length,
                2 | 3 => Node::Int(self.rng.between(-1, 4)),
                _ => Node::Seen(name, self.rng.pick(times)),
            };
        }
        let left = self.arithmetic(names, times, depth - 1);
        let right = self.arithmetic(names, times, depth - 1);
        match self.rng.below(20) {
            0..=8 => op("+", left, right),
            9..=14 => op("-", left, right),
            15 | 16 => op("*", Node::Int(self.rng.between(0, 3)), right),
            17 => op("*", left, right),
            18 => op("/", left, Node::Int(self.rng.between(1, 3))),
            _ => op("/", left, right),
        }
    }

    fn comparison(&mut self, names: &[String], times: &[When]) -> Node {
        let left = self.arithmetic(names, times, 1);
        let right = match self.rng.below(5) {
            0 | 1 => self.arithmetic(names, times, 1),
            // `%` has no meaning all agree on for fractions, so its left side has none.
            2 => {
                let name = names[self.rng.below(names.len())].clone();
                let divisor = Node::Int(self.rng.between(1, 4));
                op("%", Node::Seen(name, self.rng.pick(times)), divisor)
            }
            _ => Node::Int(self.rng.between(-1, 4)),
        };
        // `%` is for the text only; trees have the four other operators.
        op(self.rng.pick(&COMPARISONS), left, right)
    }

    fn truth(&mut self, names: &[String], times: &[When], depth: usize) -> Node {
        if depth == 0 || self.rng.percent(55) {
            return self.comparison(names, times);
        }
        let left = self.truth(names, times, depth - 1);
        match self.rng.below(7) {
            0 | 1 => op("and", left, self.truth(names, times, depth - 1)),
            2..=4 => op("or", left, self.truth(names, times, depth - 1)),
            5 => Node::Not(Box::new(left)),
            // Something and its opposite: a tautology, or never met.
            _ => op(
                self.rng.pick(&["or", "and"]),
                left.clone(),
                Node::Not(Box::new(left)),
            ),
        }
    }

    fn preconditions(&mut self, observables: &[(String, String)]) -> Vec<Value> {
        let mut all = Vec::new();
        let names: Vec<String> = observables.iter().map(|(name, _)| name.clone()).collect();
        while all.len() < 3 && self.rng.percent(35) {
            let small = self.rng.between(0, 4);
            all.push(match self.rng.below(12) {
                0..=3 => json!({"lhs": "grid_length", "op": ">=", "rhs": self.rng.between(1, 5)}),
                4 => json!({"lhs": "grid_length", "op": "<=", "rhs": self.rng.between(3, 9)}),
                5 => json!({"lhs": "grid_length", "op": self.rng.pick(&COMPARISONS), "rhs": small + 1}),
                6 => json!({"lhs": "grid_length % 2", "op": "==", "rhs": self.rng.between(0, 1)}),
                7 if !names.is_empty() => json!({
                    "lhs": names[self.rng.below(names.len())],
                    "op": self.rng.pick(&COMPARISONS),
                    "rhs": small,
                }),
                8 if !names.is_empty() => json!({
                    "lhs": names[self.rng.below(names.len())],
                    "op": self.rng.pick(&COMPARISONS),
                    "rhs": self.rng.pick(&["grid_length", "count('>')", "grid_length - 2", "3"]),
                }),
                9 => json!({"lhs": "count('>')", "op": "==", "rhs": "count('<')"}),
                10 => json!({"lhs": self.function(), "op": self.rng.pick(&["<=", ">=", "!="]), "rhs": small}),
                _ => json!({
                    "lhs": self.expression(1, &names),
                    "op": self.rng.pick(&COMPARISONS),
                    "rhs": self.rng.between(-1, 3),
                }),
            });
        }
        all
    }

    // ---- nearly true ----------------------------------------------------------------------------

    /// One change: an operator, a constant, a symbol.
    fn bend(&mut self, draft: &mut RandomLawBuilder) {
        if self.rng.percent(30) {
            let at = self.rng.below(draft.observables.len());
            let expr = &mut draft.observables[at].1;
            let (from, to) = self.rng.pick(&[
                ("'>'", "'<'"),
                ("'<'", "'X'"),
                ("'X'", "'.'"),
                ("'.'", "'>'"),
                ("count(", "count_even("),
                (" + ", " - "),
                ("2*", "3*"),
                (" * ", " + "),
            ]);
            *expr = expr.replacen(from, to, 1);
        } else {
            let mut at = self.rng.below(size(&draft.claim));
            let implication = matches!(draft.claim, Node::Op("=>", ..));
            if implication && at == 0 {
                at = 1;
            }
            self.change(&mut draft.claim, &mut at);
        }
    }

    /// Changes the node `at` steps on in reading order, in kind with its type.
    fn change(&mut self, node: &mut Node, at: &mut usize) {
        let here = *at == 0;
        *at = at.wrapping_sub(1);
        match node {
            Node::Int(value) if here => *value += self.rng.pick(&[-1, 1]),
            Node::Seen(name, _) if here => {
                let name = name.clone();
                let seen = node.clone();
                let k = self.rng.between(1, 2);
                *node = match self.rng.below(3) {
                    0 => op("+", seen, Node::Int(k)),
                    1 => op("*", Node::Int(k), seen),
                    _ => Node::Seen(name, When::At(0)),
                };
            }
            Node::Op(operator, ..) if here => {
                let choice: &[&'static str] = match *operator {
                    "+" | "-" => &["+", "-"],
                    "*" | "/" | "%" => &["*", "+"],
                    "and" | "or" => &["and", "or"],
                    "=>" => &["=>"],
                    _ => &COMPARISONS,
                };
                *operator = self.rng.pick(choice);
            }
            Node::Not(inner) if here => *node = (**inner).clone(),
            Node::Not(inner) => self.change(inner, at),
            Node::Op(_, left, right) => {
                self.change(left, at);
                if *at < usize::MAX / 2 {
                    self.change(right, at);
                }
            }
            Node::Int(_) | Node::Time | Node::Length | Node::Seen(..) => {}
        }
    }

    // ---- writing it down ------------------------------------------------------------------------

    fn finish(&mut self, seed: u64, mut draft: RandomLawBuilder) -> Value {
        let mut extra = Map::new();
        let fields = field_form(&draft);
        // An invariant of one observable is told by that alone, whatever its text says; a tree outranks it.
        let needs_tree =
            draft.template == "invariant" && draft.observables.len() == 1 && fields.is_none();
        let as_tree = needs_tree || self.rng.percent(30) && !has_modulo(&draft.claim);
        let text = self.write(&draft.claim, 0);
        let claim = if as_tree {
            if has_length(&draft.claim) {
                // Trees have no word for the ring's length, but an observable may say it.
                draft
                    .observables
                    .push(("ring_size".into(), "grid_length".into()));
            }
            extra.insert("claim_ast".into(), tree(&draft.claim));
            if self.rng.percent(50) {
                text
            } else {
                self.rng.pick(&["see the tree", "x(t) >", "1 == 2"]).into()
            }
        } else if let Some(fields) = fields {
            extra.extend(fields);
            match self.rng.below(20) {
                0..=4 => String::new(),
                // Says something else: such a law is ambiguous.
                5 => format!("{text} and t < 1"),
                6..=9 => self.turned(&draft.claim),
                _ => text,
            }
        } else {
            text
        };
        if draft.template == "eventually" {
            let window = match self.rng.below(4) {
                0 => self.rng.below(2),
                _ => self.rng.below(7),
            };
            extra.insert("H".into(), json!(window));
        } else if self.rng.percent(5) {
            extra.insert("H".into(), Value::Null);
        }
        let preconditions = self.preconditions(&draft.observables);
        // The order of observables says nothing; a name may come before what it uses.
        if self.rng.percent(50) {
            draft.observables.reverse();
        }
        self.envelope(
            seed,
            draft.template,
            &claim,
            &preconditions,
            &draft.observables,
            extra,
        )
    }

    fn envelope(
        &mut self,
        seed: u64,
        template: &str,
        claim: &str,
        preconditions: &[Value],
        observables: &[(String, String)],
        mut extra: Map<String, Value>,
    ) -> Value {
        let mut quantifiers = json!({"T": self.horizon});
        if let Some(window) = extra.remove("H") {
            quantifiers["H"] = window;
        }
        let mut proposed_tests = json!([]);
        if self.rng.percent(5) {
            proposed_tests = json!([
                {"family": "random_density_sweep", "params": {"grid_lengths": [8], "cases": 20}},
            ]);
        }
        // A lack of what the harness has is no lack.
        let missing = if self.rng.percent(2) {
            json!(["spread"])
        } else {
            json!([])
        };
        let observables: Vec<Value> = observables
            .iter()
            .map(|(name, expr)| json!({"name": name, "expr": expr}))
            .collect();
        let mut law = json!({
            "schema_version": "1.0.0",
            "law_id": format!("random_{seed}"),
            "template": template,
            "quantifiers": quantifiers,
            "preconditions": preconditions,
            "observables": observables,
            "claim": claim,
            "forbidden": "a run in which the claim is false",
            "proposed_tests": proposed_tests,
            "capability_requirements": {
                "missing_observables": missing,
                "missing_transforms": [],
                "missing_generators": [],
            },
        });
        for (key, value) in extra {
            law[key] = value;
        }
        for key in [
            "claim_ast",
            "transform",
            "direction",
            "bound_value",
            "bound_op",
        ] {
            if law.get(key).is_none() && self.rng.percent(3) {
                law[key] = Value::Null;
            }
        }
        law
    }

    /// As text, with no more parentheses than needed, or a few more.
    fn write(&mut self, node: &Node, needed: usize) -> String {
        let (level, text) = match node {
            Node::Int(value) => (if *value < 0 { 8 } else { 9 }, value.to_string()),
            Node::Time => (9, "t".into()),
            Node::Length => (9, "grid_length".into()),
            Node::Seen(name, When::Now) => (9, format!("{name}(t)")),
            Node::Seen(name, When::Next) => {
                (9, format!("{name}({})", self.rng.pick(&["t+1", "t + 1"])))
            }
            Node::Seen(name, When::At(k)) => (9, format!("{name}({k})")),
            Node::Not(inner) => {
                let word = self.rng.pick(&["not ", "!", "! "]);
                (4, format!("{word}{}", self.write(inner, 4)))
            }
            Node::Op("-", zero, inner) if matches!(**zero, Node::Int(0)) => {
                (8, format!("-{}", self.write(inner, 9)))
            }
            Node::Op(operator, left, right) => {
                let (level, left_needs, right_needs) = match *operator {
                    "=>" => (1, 2, 1),
                    "or" => (2, 2, 3),
                    "and" => (3, 3, 4),
                    "+" | "-" => (6, 6, 7),
                    "*" | "/" | "%" => (7, 7, 8),
                    _ => (5, 6, 6),
                };
                let left = self.write(left, left_needs);
                let right = self.write(right, right_needs);
                let word = match *operator {
                    "=>" => self.rng.pick(&["->", "->", "=>"]),
                    "or" => self.rng.pick(&["or", "||"]),
                    "and" => self.rng.pick(&["and", "&&"]),
                    other => other,
                };
                let tight = word.chars().all(|c| !c.is_alphabetic()) && self.rng.percent(15);
                let space = if tight { "" } else { " " };
                (level, format!("{left}{space}{word}{space}{right}"))
            }
        };
        if level < needed || self.rng.percent(4) {
            format!("({text})")
        } else {
            text
        }
    }

    /// The comparison read from the other side.
    fn turned(&mut self, claim: &Node) -> String {
        let Node::Op(operator, left, right) = claim else {
            return self.write(claim, 0);
        };
        let turned = match *operator {
            "<" => ">",
            "<=" => ">=",
            ">" => "<",
            ">=" => "<=",
            other => other,
        };
        self.write(&op(turned, (**right).clone(), (**left).clone()), 0)
    }
}

/// The template's own fields, if they can say the whole claim.
fn field_form(draft: &RandomLawBuilder) -> Option<Map<String, Value>> {
    let [(name, _)] = &draft.observables[..] else {
        return None;
    };
    let Node::Op(operator, left, right) = &draft.claim else {
        return None;
    };
    let is =
        |node: &Node, when| matches!(node, Node::Seen(other, w) if other == name && *w == when);
    let mut fields = Map::new();
    match (draft.template, *operator, &**right) {
        ("invariant", "==", _) if is(left, When::Now) && is(right, When::At(0)) => {}
        ("monotone", "<=" | ">=", _) if is(left, When::Next) && is(right, When::Now) => {
            fields.insert("direction".into(), json!(operator));
        }
        ("bound", _, Node::Int(k)) if COMPARISONS.contains(operator) && is(left, When::Now) => {
            fields.insert("bound_value".into(), json!(k));
            fields.insert("bound_op".into(), json!(operator));
        }
        _ => return None,
    }
    Some(fields)
}

fn tree(node: &Node) -> Value {
    match node {
        Node::Int(value) => json!({"const": value}),
        Node::Time => json!({"var": "t"}),
        Node::Length => json!({"obs": "ring_size", "t": {"var": "t"}}),
        Node::Seen(name, when) => {
            let when = match when {
                When::Now => json!({"var": "t"}),
                When::Next => json!({"t_plus_1": true}),
                When::At(k) => json!({"const": k}),
            };
            json!({"obs": name, "t": when})
        }
        Node::Not(inner) => json!({"op": "not", "arg": tree(inner)}),
        Node::Op(operator, left, right) => {
            json!({"op": operator, "lhs": tree(left), "rhs": tree(right)})
        }
    }
}

/// The same arithmetic at another time.
fn moved(node: &Node, to: When) -> Node {
    match node {
        Node::Seen(name, _) => Node::Seen(name.clone(), to),
        Node::Not(inner) => Node::Not(Box::new(moved(inner, to))),
        Node::Op(operator, left, right) => op(operator, moved(left, to), moved(right, to)),
        other => other.clone(),
    }
}

fn size(node: &Node) -> usize {
    match node {
        Node::Not(inner) => 1 + size(inner),
        Node::Op(_, left, right) => 1 + size(left) + size(right),
        _ => 1,
    }
}

fn has(node: &Node, wanted: &impl Fn(&Node) -> bool) -> bool {
    wanted(node)
        || match node {
            Node::Not(inner) => has(inner, wanted),
            Node::Op(_, left, right) => has(left, wanted) || has(right, wanted),
            _ => false,
        }
}

fn has_length(claim: &Node) -> bool {
    has(claim, &|node| matches!(node, Node::Length))
}

fn has_modulo(claim: &Node) -> bool {
    has(claim, &|node| matches!(node, Node::Op("%", ..)))
}

/// Drops the observables that neither the claim nor a kept one names.
fn keep_used(observables: &mut Observables, claim: &Node) {
    observables.retain(|(name, _)| {
        let asked = has(
            claim,
            &|node| matches!(node, Node::Seen(seen, _) if seen == name),
        );
        // `R` stands for `r + x`.
        let through = ["r", "x"].contains(&&**name)
            && has(
                claim,
                &|node| matches!(node, Node::Seen(seen, _) if seen == "R"),
            );
        asked || through
    });
}
