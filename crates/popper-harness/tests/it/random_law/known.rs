//! Laws that are known to be true, laws of one observable, and laws of anything that the grammar allows.

use serde_json::{Map, Value, json};

use super::text::{keep_used, moved};
use super::*;

impl Generator {
    /// Something a physicist would say, most of it true.
    pub(super) fn known(&mut self) -> RandomLawBuilder {
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
    pub(super) fn plain(&mut self) -> RandomLawBuilder {
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
    pub(super) fn wild(&mut self) -> RandomLawBuilder {
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

    pub(super) fn symmetry(&mut self, seed: u64) -> Value {
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
}
