//! The normal form of a law and its fingerprint.
//!
//! Two laws with one fingerprint mean the same. The normal form is itself a law (give it a `law_id` and a `forbidden` text), with
//! observables called by their canonical expression.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::model::{Law, LocalFields, Template};
use super::resolve::{Meaning, Statement};
use super::schema::{MAX_RING, MAX_STEPS};
use super::syntax::{Kind, Node, Op, Time};

impl Law {
    /// The normal form: every field that has a meaning, in one way of writing it.
    pub fn normalized(&self) -> Value {
        let mut form = Map::new();
        form.insert("schema_version".into(), json!("1.0.0"));
        form.insert("template".into(), json!(self.template.name()));
        let mut quantifiers = Map::new();
        quantifiers.insert("T".into(), json!(self.quantifiers.t));
        if let (Template::Eventually, Some(h)) = (self.template, self.quantifiers.h) {
            quantifiers.insert("H".into(), json!(h));
        }
        form.insert("quantifiers".into(), quantifiers.into());
        match self.meaning() {
            Ok(meaning) => insert_meaning(&meaning, &mut form),
            Err(_) => self.insert_texts(&mut form),
        }
        form.insert("direction".into(), json!(self.direction.map(Op::text)));
        form.insert("bound_value".into(), json!(self.bound_value));
        form.insert("bound_op".into(), json!(self.bound_op.map(Op::text)));
        let sorted = |names: &[String]| {
            let mut names = names.to_vec();
            names.sort();
            names.dedup();
            names
        };
        form.insert(
            "capability_requirements".into(),
            json!({
                "missing_observables": sorted(&self.capabilities.missing_observables),
                "missing_transforms": sorted(&self.capabilities.missing_transforms),
                "missing_generators": sorted(&self.capabilities.missing_generators),
            }),
        );
        // `null` means absent, so absent is written one way.
        form.retain(|_, value| !value.is_null());
        Value::Object(form)
    }

    /// Nothing is known of what the law means, so its texts stand for themselves.
    fn insert_texts(&self, form: &mut Map<String, Value>) {
        let fold = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let tree = self.source.get("claim_ast").cloned().unwrap_or(Value::Null);
        form.insert("claim".into(), json!(fold(&self.claim)));
        form.insert("claim_ast".into(), tree);
        form.insert("transform".into(), json!(self.transform));
        if let Some(fields) = &self.local {
            insert_local(fields, form);
        }
        let observables = self.observables.iter();
        let observables = observables.map(|o| json!({"name": o.name, "expr": fold(&o.expr)}));
        form.insert("observables".into(), observables.collect());
        let conditions = self.preconditions.iter();
        let conditions = conditions
            .map(|p| (fold(&p.lhs), p.op.text(), fold(&p.rhs)))
            .collect();
        form.insert("preconditions".into(), written(conditions));
    }

    /// sha256 of the normal form's JSON, 64 hex digits.
    pub fn fingerprint(&self) -> String {
        crate::hash::of(&self.normalized().to_string())
    }
}

fn insert_meaning(meaning: &Meaning, form: &mut Map<String, Value>) {
    let names: BTreeSet<String> = meaning
        .observables
        .iter()
        .map(|(_, node)| text(node))
        .collect();
    let observables = names.iter().map(|expr| json!({"name": expr, "expr": expr}));
    form.insert("observables".into(), observables.collect());
    let conditions = meaning.preconditions.iter();
    let conditions = conditions
        .map(|(op, left, right)| condition(*op, left, right))
        .collect();
    form.insert("preconditions".into(), written(conditions));
    match &meaning.claim {
        Statement::Formula(claim) => {
            form.insert("claim_ast".into(), formula(claim));
        }
        Statement::Commutes(name) => {
            form.insert("transform".into(), json!(name));
        }
        Statement::Local(fields) => insert_local(fields, form),
    }
}

fn insert_local(fields: &LocalFields, form: &mut Map<String, Value>) {
    form.insert("trigger_symbol".into(), json!(fields.trigger));
    form.insert("neighbor_pattern".into(), json!(fields.pattern));
    form.insert("required_parity".into(), json!(fields.parity));
    form.insert("result_op".into(), json!(fields.result_op.text()));
    form.insert("result_symbol".into(), json!(fields.result));
}

/// Preconditions in one order, each once.
fn written(mut conditions: Vec<(String, &'static str, String)>) -> Value {
    conditions.sort();
    conditions.dedup();
    conditions
        .iter()
        .map(|(lhs, op, rhs)| json!({"lhs": lhs, "op": op, "rhs": rhs}))
        .collect()
}

/// A claim as a canonical `claim_ast`.
pub(super) fn formula(node: &Node) -> Value {
    let node = bare(node);
    match &node.kind {
        Kind::Int(number) => json!({"const": number}),
        Kind::Step => json!({"var": "t"}),
        Kind::At(inner, time) => {
            let time = match time {
                // What the ring alone decides is the same at all times; `t+1` still says how far t may go.
                Time::Now if is_static(inner) => json!({"const": 0}),
                Time::Now => json!({"var": "t"}),
                Time::Next => json!({"t_plus_1": true}),
                Time::At(step) => json!({"const": step}),
            };
            json!({"obs": text(inner), "t": time})
        }
        Kind::Not(inner) => json!({"op": "not", "arg": formula(inner)}),
        Kind::Neg(inner) => {
            let inner = formula(inner);
            match inner["const"].as_i64().and_then(i64::checked_neg) {
                Some(number) => json!({"const": number}),
                None => json!({"op": "-", "arg": inner}),
            }
        }
        Kind::Binary(op, left, right) => {
            let (op, left, right) = turned(*op, left, right);
            if op.is_commutative() && !op.is_comparison() && (op.is_logical() || sortable(op, node))
            {
                let mut operands = Vec::new();
                chain(op, node, &mut |operand| operands.push(formula(operand)));
                if sortable(op, node) {
                    operands.sort_by_key(Value::to_string);
                }
                return joined(op, &operands);
            }
            let (mut sides, mut op) = ([formula(left), formula(right)], op);
            if op.is_commutative() {
                sides.sort_by_key(Value::to_string);
            }
            let [lhs, rhs] = &mut sides;
            // Between integers, `x < 3` is `x <= 2`.
            if op == Op::Lt && !divides(node) {
                if let Some(number) = rhs["const"]
                    .as_i64()
                    .and_then(|number| number.checked_sub(1))
                {
                    (*rhs, op) = (json!({"const": number}), Op::Le);
                } else if let Some(number) = lhs["const"]
                    .as_i64()
                    .and_then(|number| number.checked_add(1))
                {
                    (*lhs, op) = (json!({"const": number}), Op::Le);
                }
            }
            json!({"op": op.text(), "lhs": lhs, "rhs": rhs})
        }
        Kind::Quoted(_) | Kind::Name(_) | Kind::Call(..) => json!({"obs": text(node)}),
    }
}

/// The node without pairs of `not` and of minus signs, as far as they change nothing: the negative of the least integer has no value.
fn bare(node: &Node) -> &Node {
    match &node.kind {
        Kind::Not(inner) => match &inner.kind {
            Kind::Not(core) => bare(core),
            _ => node,
        },
        Kind::Neg(inner) => match &inner.kind {
            Kind::Neg(core) if magnitude(core) <= i128::from(i64::MAX) => bare(core),
            _ => node,
        },
        _ => node,
    }
}

/// A chain as a tree of even depth, so that a long one does not nest deeper than a law may.
fn joined(op: Op, operands: &[Value]) -> Value {
    if let [single] = operands {
        return single.clone();
    }
    let (left, right) = operands.split_at(operands.len() / 2);
    json!({"op": op.text(), "lhs": joined(op, left), "rhs": joined(op, right)})
}

/// A precondition in one way of writing it.
fn condition(op: Op, left: &Node, right: &Node) -> (String, &'static str, String) {
    let (op, left, right) = turned(op, left, right);
    let (mut left, mut right) = (text(left), text(right));
    if op.is_commutative() && right < left {
        std::mem::swap(&mut left, &mut right);
    }
    (left, op.text(), right)
}

/// `>` and `>=` turned into `<` and `<=`.
fn turned<'a>(op: Op, left: &'a Node, right: &'a Node) -> (Op, &'a Node, &'a Node) {
    if matches!(op, Op::Gt | Op::Ge) {
        (op.mirrored(), right, left)
    } else {
        (op, left, right)
    }
}

/// Whether the operands of a whole chain may be sorted without changing what it means. Where something may have no value, their
/// order matters: truth values short-circuit, and a sum may leave 64 bits on the way in one order and not in another.
fn sortable(op: Op, node: &Node) -> bool {
    match op {
        Op::Add | Op::Mul => magnitude(node) <= i128::from(i64::MAX),
        Op::And | Op::Or => !fallible(node),
        _ => false,
    }
}

/// What no part of an expression exceeds on a ring that a law can ask for, whatever the order of its chains.
fn magnitude(node: &Node) -> i128 {
    match &node.kind {
        Kind::Int(number) => i128::from(number.unsigned_abs()).max(1),
        Kind::Neg(inner) | Kind::Not(inner) | Kind::At(inner, _) => magnitude(inner),
        Kind::Binary(op, left, right) => {
            let (left, right) = (magnitude(left), magnitude(right));
            match op {
                Op::Mul | Op::Div => left.saturating_mul(right),
                Op::Add | Op::Sub => left.saturating_add(right),
                _ => left.max(right),
            }
        }
        Kind::Step => i128::from(MAX_STEPS),
        Kind::Quoted(_) | Kind::Name(_) | Kind::Call(..) => i128::from(MAX_RING),
    }
}

fn any(node: &Node, test: &impl Fn(&Node) -> bool) -> bool {
    test(node)
        || match &node.kind {
            Kind::Neg(inner) | Kind::Not(inner) | Kind::At(inner, _) => any(inner, test),
            Kind::Binary(_, left, right) => any(left, test) || any(right, test),
            _ => false,
        }
}

fn fallible(node: &Node) -> bool {
    magnitude(node) > i128::from(i64::MAX)
        || any(node, &|node| {
            matches!(node.kind, Kind::Binary(Op::Mod | Op::Div, ..))
        })
}

fn divides(node: &Node) -> bool {
    any(node, &|node| matches!(node.kind, Kind::Binary(Op::Div, ..)))
}

/// Whether an observable does not depend on the state but on the ring alone.
fn is_static(node: &Node) -> bool {
    match &node.kind {
        Kind::Int(_) => true,
        Kind::Name(name) => name == "grid_length",
        Kind::Neg(inner) => is_static(inner),
        Kind::Binary(_, left, right) => is_static(left) && is_static(right),
        _ => false,
    }
}

/// The operands of a chain of one associative operator.
fn chain<'a>(op: Op, node: &'a Node, visit: &mut impl FnMut(&'a Node)) {
    let node = bare(node);
    match &node.kind {
        Kind::Binary(inner, left, right) if *inner == op => {
            chain(op, left, visit);
            chain(op, right, visit);
        }
        _ => visit(node),
    }
}

/// An observable's canonical text: aliases replaced, operands of `+` and `*` sorted, parentheses everywhere.
pub(super) fn text(node: &Node) -> String {
    let node = bare(node);
    match &node.kind {
        Kind::Int(number) => number.to_string(),
        Kind::Quoted(symbols) if symbols.contains('\'') => format!("\"{symbols}\""),
        Kind::Quoted(symbols) => format!("'{symbols}'"),
        Kind::Name(name) if name == "transition_indicator" => "incoming_collisions".into(),
        Kind::Name(name) => name.clone(),
        Kind::Step => "t".into(),
        Kind::Call(name, arguments) => {
            let arguments: Vec<String> = arguments.iter().map(text).collect();
            match (name.as_str(), arguments.as_slice()) {
                ("count_even", [symbol]) => format!("count_at_parity({symbol},0)"),
                ("count_odd", [symbol]) => format!("count_at_parity({symbol},1)"),
                _ => format!("{name}({})", arguments.join(",")),
            }
        }
        Kind::At(inner, _) => text(inner),
        Kind::Neg(inner) => {
            let inner = text(inner);
            match inner.parse::<i64>().ok().and_then(i64::checked_neg) {
                Some(number) => number.to_string(),
                None => format!("-({inner})"),
            }
        }
        Kind::Not(inner) => format!("not ({})", text(inner)),
        Kind::Binary(op @ (Op::Add | Op::Mul), ..) if sortable(*op, node) => {
            let mut operands = Vec::new();
            chain(*op, node, &mut |operand| operands.push(text(operand)));
            operands.sort();
            format!("({})", operands.join(op.text()))
        }
        Kind::Binary(op @ (Op::Add | Op::Mul), left, right) => {
            // The two sides of one operator may change places even where a chain may not be taken apart.
            let (left, right) = (text(left), text(right));
            let (left, right) = if right < left {
                (right, left)
            } else {
                (left, right)
            };
            format!("({left}{}{right})", op.text())
        }
        Kind::Binary(op, left, right) => {
            let (left, right) = (text(left), text(right));
            // `a - b - c` associates to the left without parentheses, so a long one does not nest.
            let open = left
                .strip_prefix('(')
                .and_then(|left| left.strip_suffix(')'));
            match (op, open, &node.kind) {
                (Op::Sub, Some(open), Kind::Binary(_, before, _))
                    if matches!(bare(before).kind, Kind::Binary(Op::Sub, ..)) =>
                {
                    format!("({open}-{right})")
                }
                _ => format!("({left}{}{right})", op.text()),
            }
        }
    }
}
