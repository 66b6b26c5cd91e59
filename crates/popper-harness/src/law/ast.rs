//! The reader of a `claim_ast`.

use serde_json::{Map, Value};

use super::error::LawError;
use super::limits::{MAX_NESTING, MAX_NODES, MAX_STEPS, MAX_TEXT};
use super::reader::{LawObject, Problems};
use super::syntax::{Kind, Node, Op, Time};
use crate::json::kind;

/// Reads a claim tree of bounded depth.
///
/// The limit for laws is checked later, on the normal form.
pub(super) fn read_ast(law: &LawObject<'_>, value: &Value) -> Option<Node> {
    let mut nodes = 0;
    read_node(law, value, "claim_ast", 1, &mut nodes)
}

/// Reads a claim tree outside of a law.
pub(super) fn read_alone(value: &Value) -> Result<Node, LawError> {
    let (map, problems) = (Map::new(), Problems::default());
    let law = LawObject {
        path: String::new(),
        map: &map,
        problems: &problems,
    };
    let node = read_ast(&law, value);
    node.ok_or_else(|| LawError {
        problems: problems.into_inner(),
    })
}

/// Returns the path inside `claim_ast` of the node with this number, such as `.lhs.arg`.
pub(super) fn path_of(tree: &Node, number: usize) -> Option<String> {
    if tree.column == number {
        return Some(String::new());
    }
    let below = |key: &str, node: &Node| path_of(node, number).map(|path| format!(".{key}{path}"));
    match &tree.kind {
        Kind::Not(inner) | Kind::Neg(inner) => below("arg", inner),
        Kind::Binary(_, left, right) => below("lhs", left).or_else(|| below("rhs", right)),
        _ => None,
    }
}

fn read_node(
    law: &LawObject<'_>,
    value: &Value,
    path: &str,
    depth: usize,
    nodes: &mut usize,
) -> Option<Node> {
    *nodes += 1;
    let column = *nodes;
    let made = |kind| Node { column, kind };
    if depth > MAX_NESTING {
        return law.wrong("claim_ast", format!("nests deeper than {MAX_NESTING}"));
    }
    if *nodes > MAX_NODES {
        return law.wrong("claim_ast", format!("has more than {MAX_NODES} nodes"));
    }
    let Value::Object(map) = value else {
        return law.wrong(
            path,
            format!("expected a node (an object), found {}", kind(value)),
        );
    };
    let keys: Vec<&str> = map.keys().map(String::as_str).collect();
    let mut child =
        |key: &str| read_node(law, &map[key], &format!("{path}.{key}"), depth + 1, nodes);
    match keys.as_slice() {
        ["const"] => match map["const"].as_i64() {
            Some(number) => Some(made(Kind::Int(number))),
            None => law.wrong(
                &format!("{path}.const"),
                format!("expected an integer, found {}", map["const"]),
            ),
        },
        ["var"] if map["var"] == "t" => Some(made(Kind::Step)),
        ["t_plus_1"] if map["t_plus_1"] == true => {
            Some(Node::binary(Op::Add, made(Kind::Step), made(Kind::Int(1))))
        }
        ["obs", "t"] => {
            let time = read_time(law, &map["t"], &format!("{path}.t"))?;
            match map["obs"].as_str() {
                Some(name) if name.len() <= MAX_TEXT => Some(made(Kind::At(
                    Box::new(made(Kind::Name(name.into()))),
                    time,
                ))),
                _ => law.wrong(&format!("{path}.obs"), "expected the name of an observable"),
            }
        }
        ["arg", "op"] => match map["op"].as_str() {
            Some("not") => Some(made(Kind::Not(Box::new(child("arg")?)))),
            Some("-") => Some(made(Kind::Neg(Box::new(child("arg")?)))),
            _ => law.wrong(&format!("{path}.op"), "expected `not`: only it takes `arg`"),
        },
        ["lhs", "op", "rhs"] => {
            let Some(op) = map["op"].as_str().and_then(Op::from_text) else {
                let message = format!(
                    "{} is not one of + - * / % == != < <= > >= => and or",
                    map["op"]
                );
                return law.wrong(&format!("{path}.op"), message);
            };
            let (left, right) = (child("lhs"), child("rhs"));
            Some(made(Kind::Binary(op, Box::new(left?), Box::new(right?))))
        }
        _ => {
            let message = "expected one of {const} {var: \"t\"} {t_plus_1: true} {obs, t} {op, lhs, rhs} {op: \"not\", arg}";
            law.wrong(path, message)
        }
    }
}

fn read_time(law: &LawObject<'_>, value: &Value, path: &str) -> Option<Time> {
    if value.get("var").is_some_and(|var| var == "t") {
        Some(Time::Now)
    } else if value.get("t_plus_1").is_some_and(|next| next == true) {
        Some(Time::Next)
    } else if let Some(step) = value
        .get("const")
        .and_then(Value::as_u64)
        .filter(|step| *step <= MAX_STEPS)
    {
        Some(Time::At(step))
    } else {
        law.wrong(
            path,
            "expected {var: \"t\"}, {t_plus_1: true} or {const: k} with k >= 0",
        )
    }
}
