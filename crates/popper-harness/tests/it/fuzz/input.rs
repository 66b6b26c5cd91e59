//! Input that breaks readers: broken bytes, random values, deep nesting, soups of words.

use serde_json::{Value, json};

use crate::random_law::Rng;

pub(super) fn broken_bytes(text: &str, other: &str, rng: &mut Rng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..rng.between(1, 6) {
        let at = rng.below(bytes.len().max(1)).min(bytes.len());
        let end = (at + rng.below(12)).min(bytes.len());
        match rng.below(7) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.insert(at, rng.next() as u8),
            3 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            4 => {
                let slice = bytes[at..end].to_vec();
                bytes.splice(at..at, slice);
            }
            5 => {
                let from = rng.below(other.len());
                let slice = &other.as_bytes()[from..(from + 20).min(other.len())];
                bytes.splice(at..end, slice.iter().copied());
            }
            _ => {
                const CHARS: &[u8] = b"{}[]\",:0123456789eE+-.tfn\\u";
                bytes.insert(at, rng.pick(CHARS));
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn random_value(depth: usize, rng: &mut Rng) -> Value {
    match rng.below(if depth == 0 { 7 } else { 9 }) {
        0 => Value::Null,
        1 => json!(rng.percent(50)),
        2 => json!(rng.between(-3, 70)),
        3 => rng
            .pick(&[
                "9223372036854775807",
                "-9223372036854775808",
                "18446744073709551615",
                "1e999",
                "1e3",
                "0.5",
                "-0.0",
            ])
            .parse()
            .unwrap_or(Value::Null),
        4 => json!(1u64 << rng.below(64)),
        5 => json!(soup(&CLAIM, 12, rng)),
        6 => rng
            .pick(&[
                "",
                " ",
                "t",
                "\u{0}",
                "é",
                "🦀",
                "shift_k",
                "shift_",
                "shift_99999999999999999999",
                "==",
                "bound",
                "x",
                "X",
                "...",
            ])
            .into(),
        7 => (0..rng.below(70)).map(|_| random_value(0, rng)).collect(),
        _ => {
            let keys = [
                "const", "var", "t_plus_1", "obs", "t", "op", "lhs", "rhs", "arg", "T", "H",
                "name", "expr",
            ];
            let mut map = serde_json::Map::new();
            for _ in 0..rng.below(5) {
                map.insert(rng.pick(&keys).into(), random_value(depth - 1, rng));
            }
            map.into()
        }
    }
}

/// Puts something else somewhere into a value.
pub(super) fn bend(value: &mut Value, rng: &mut Rng) {
    let children = match value {
        Value::Array(items) => items.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    };
    if children == 0 || rng.percent(15) {
        *value = random_value(3, rng);
        return;
    }
    let at = rng.below(children);
    match value {
        Value::Array(items) if rng.percent(10) => items.push(items[at].clone()),
        Value::Array(items) => bend(&mut items[at], rng),
        Value::Object(map) => {
            let key = map.keys().nth(at).unwrap().clone();
            match rng.below(12) {
                0 => drop(map.remove(&key)),
                1 => drop(map.insert(format!("{key}_"), Value::Null)),
                _ => bend(map.get_mut(&key).unwrap(), rng),
            }
        }
        _ => {}
    }
}

/// The text of a law with a nesting of the given depth in a tree, an array or an expression.
pub(super) fn nested(depth: usize, rng: &mut Rng) -> String {
    let (open, inner, close) = rng.pick(&[
        (r#"{"op":"not","arg":"#, r#"{"const":1}"#, "}"),
        (r#"{"op":"-","arg":"#, r#"{"const":1}"#, "}"),
        (
            r#"{"op":"and","lhs":{"const":1},"rhs":"#,
            r#"{"const":1}"#,
            "}",
        ),
        (
            r#"{"op":"+","rhs":{"var":"t"},"lhs":"#,
            r#"{"const":1}"#,
            "}",
        ),
        ("[", "", "]"),
        (r#"{"a":"#, "1", "}"),
    ]);
    let tree = format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
    let (open, close) = rng.pick(&[
        ("(", ")"),
        ("-", ""),
        ("not ", ""),
        ("f(", ")"),
        ("1+(", ")"),
        ("1 -> ", ""),
        ("1+", ""),
        ("x(", ")"),
    ]);
    let (deep, flat) = (
        format!("{}1{}", open.repeat(depth), close.repeat(depth)),
        "x(t) > 0",
    );
    let (claim, expr, tree) = match rng.below(3) {
        0 => (flat, deep.as_str(), "null"),
        1 => (deep.as_str(), "count('X')", "null"),
        _ => (flat, "count('X')", tree.as_str()),
    };
    let law = format!(
        r#"{{"law_id":"deep","template":"bound","quantifiers":{{"T":3}},"observables":[{{"name":"x","expr":"{expr}"}}],
        "claim":"{claim}","forbidden":"f","claim_ast":{tree}}}"#
    );
    if rng.percent(50) {
        law
    } else {
        format!("[{law}]")
    }
}

pub(super) const CLAIM: [&str; 50] = [
    "x(t)",
    "x(t)",
    "y(t)",
    "x(t+1)",
    "y(t + 1)",
    "x(0)",
    "y(3)",
    "x(99)",
    "t",
    "grid_length",
    "incoming_collisions(t)",
    "0",
    "1",
    "2",
    "3",
    "9223372036854775807",
    "99999999999999999999",
    "+",
    "-",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "->",
    "=>",
    "and",
    "or",
    "not",
    "&&",
    "||",
    "!",
    "(",
    ")",
    ",",
    "=",
    "'X'",
    "'",
    "\"",
    "x",
    "z(t)",
    "x(t-1)",
    "x(t,t)",
    "é",
    "#",
    "\u{0}",
];

pub(super) const EXPR: [&str; 48] = [
    "count('>')",
    "count(\"X\")",
    "count('.')",
    "count('?')",
    "count('')",
    "count('XX')",
    "count(",
    "count()",
    "count_even('<')",
    "count_odd('X')",
    "count_at_parity('>',0)",
    "count_at_parity('>',2)",
    "count_at_parity('>',-1)",
    "count_pattern('>.<')",
    "count_pattern('')",
    "count_pattern('>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>')",
    "leftmost('X')",
    "rightmost('>')",
    "spread('<')",
    "max_gap('.')",
    "adjacent_pairs('>','<')",
    "gap_pairs('>','<',1)",
    "gap_pairs('>','<',9223372036854775807)",
    "gap_pairs('>','<',-1)",
    "grid_length",
    "incoming_collisions",
    "transition_indicator",
    "measured",
    "foo",
    "0",
    "1",
    "7",
    "9223372036854775807",
    "+",
    "+",
    "-",
    "-",
    "*",
    "*",
    "%",
    "%",
    "(",
    ")",
    "/",
    "==",
    "and",
    "not",
    ",",
];

pub(super) fn soup(words: &[&str], most: usize, rng: &mut Rng) -> String {
    (0..rng.below(most + 1))
        .map(|_| rng.pick(words).to_owned() + rng.pick(&["", " "]))
        .collect()
}

/// A soup that is more often well-formed than not: value, operator, value, and so on.
pub(super) fn ordered_soup(words: &[&str], most: usize, rng: &mut Rng) -> String {
    let operator = |word: &&&str| {
        [
            "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "->", "=>", "and", "or",
            "&&", "||",
        ]
        .contains(*word)
    };
    let (operators, values): (Vec<&str>, Vec<&str>) =
        words.iter().copied().partition(|word| operator(&word));
    let values: Vec<&str> = values
        .into_iter()
        .filter(|word| word.len() > 1 || word.chars().all(char::is_alphanumeric))
        .collect();
    let mut text = rng.pick(&values).to_owned();
    for _ in 0..rng.below(most) {
        text = format!("{text} {} {}", rng.pick(&operators), rng.pick(&values));
        if rng.percent(20) {
            text = format!("({text})");
        }
    }
    text
}
