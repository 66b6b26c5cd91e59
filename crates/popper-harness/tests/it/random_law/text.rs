//! The text and the tree of a random law.

use serde_json::{Map, Value, json};

use super::*;

impl Generator {
    pub(super) fn finish(&mut self, seed: u64, mut draft: RandomLawBuilder) -> Value {
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

    pub(super) fn envelope(
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
pub(super) fn moved(node: &Node, to: When) -> Node {
    match node {
        Node::Seen(name, _) => Node::Seen(name.clone(), to),
        Node::Not(inner) => Node::Not(Box::new(moved(inner, to))),
        Node::Op(operator, left, right) => op(operator, moved(left, to), moved(right, to)),
        other => other.clone(),
    }
}

pub(super) fn size(node: &Node) -> usize {
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
pub(super) fn keep_used(observables: &mut Observables, claim: &Node) {
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
