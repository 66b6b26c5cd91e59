//! Random laws over the whole grammar, one for each seed.
//!
//! A law of random parts is refuted on the second ring and tests little. So most laws start from a true law of the grid,
//! which is changed a little, or not at all.

mod known;
mod text;

use serde_json::{Map, Value, json};

use text::size;

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
}
