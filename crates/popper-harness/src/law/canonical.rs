//! The canonical form of expressions and claims.

use super::expr::Expr;
use super::limits::{MAX_RING, MAX_STEPS};
use super::syntax::{Kind, Node, Op, Time};
use crate::json::hash::json;

/// Returns a claim as a canonical `claim_ast`.
pub(super) fn formula(node: &Node) -> Expr {
    let node = bare(node);
    match &node.kind {
        Kind::Int(number) => Expr::Int(*number),
        Kind::Step => Expr::Step,
        // An observable of the ring alone has the same value at all times. `t+1` stays, because it limits t.
        Kind::At(inner, Time::Now) if is_static(inner) => Expr::Obs(text(inner), Time::At(0)),
        Kind::At(inner, time) => Expr::Obs(text(inner), *time),
        Kind::Not(inner) => Expr::Not(Box::new(formula(inner))),
        Kind::Neg(inner) => {
            let inner = formula(inner);
            match inner {
                Expr::Int(number) if number != i64::MIN => Expr::Int(-number),
                inner => Expr::Neg(Box::new(inner)),
            }
        }
        Kind::Binary(op, left, right) => {
            let (op, left, right) = turned(*op, left, right);
            if op.is_commutative() && !op.is_comparison() && (op.is_logical() || sortable(op, node))
            {
                let mut operands = Vec::new();
                chain(op, node, &mut |operand| operands.push(formula(operand)));
                if sortable(op, node) {
                    operands.sort_by_cached_key(json);
                }
                return joined(op, &operands);
            }
            let mut sides = [formula(left), formula(right)];
            if op.is_commutative() {
                sides.sort_by_cached_key(json);
            }
            let [left, right] = sides;
            // Between integers, `x < 3` is `x <= 2`.
            if op == Op::Lt && !divides(node) {
                match (&left, &right) {
                    (_, &Expr::Int(number)) if number != i64::MIN => {
                        return left.op(Op::Le, number - 1);
                    }
                    (&Expr::Int(number), _) if number != i64::MAX => {
                        return Expr::Int(number + 1).op(Op::Le, right);
                    }
                    _ => {}
                }
            }
            left.op(op, right)
        }
        // A claim that was read has a time at every observable.
        Kind::Quoted(_) | Kind::Name(_) | Kind::Call(..) => Expr::Obs(text(node), Time::At(0)),
    }
}

/// Returns the node without pairs of `not` and of minus signs.
///
/// A pair of minus signs stays where a value could be the least integer, whose negative has no value.
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

/// Joins the operands of a chain into a balanced tree, so that a long chain does not exceed the depth limit.
fn joined(op: Op, operands: &[Expr]) -> Expr {
    if let [single] = operands {
        return single.clone();
    }
    let (left, right) = operands.split_at(operands.len() / 2);
    joined(op, left).op(op, joined(op, right))
}

/// Turns `>` and `>=` into `<` and `<=`.
pub(super) fn turned<'a>(op: Op, left: &'a Node, right: &'a Node) -> (Op, &'a Node, &'a Node) {
    if matches!(op, Op::Gt | Op::Ge) {
        (op.mirrored(), right, left)
    } else {
        (op, left, right)
    }
}

/// Whether the operands of a whole chain may be sorted without changing its value.
///
/// The order matters where an operand may have no value: truth values short-circuit, and a sum may overflow 64 bits in one
/// order and not in another.
fn sortable(op: Op, node: &Node) -> bool {
    match op {
        Op::Add | Op::Mul => magnitude(node) <= i128::from(i64::MAX),
        Op::And | Op::Or => !fallible(node),
        _ => false,
    }
}

/// Returns a bound on every part of an expression, in any order of its chains, on rings that a law can ask for.
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

/// Visits the operands of a chain of one associative operator.
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

/// Returns an observable's canonical text: aliases replaced, operands of `+` and `*` sorted, parentheses everywhere.
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
            // The two sides of one operator may be exchanged even if the operands of the whole chain may not.
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
