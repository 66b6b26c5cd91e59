//! Laws written another way, and laws bent into other laws.
//!
//! A rewriting keeps what a law says, so its fingerprint must stay; a mutation usually does not. Texts are changed by token and by
//! tree, so that nothing depends on how the generator happens to write them.

use popper_harness::law::syntax::{self, Kind, Node, Op};
use serde_json::{Map, Value, json};

use crate::random_law::Rng;

pub fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for at in (1..items.len()).rev() {
        items.swap(at, rng.below(at + 1));
    }
}

// ---- texts --------------------------------------------------------------------------------------

/// Words, numbers, quoted symbols, operators; white space is dropped.
pub fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let begin = at;
        let word = |c: char| c.is_alphanumeric() || c == '_';
        if matches!(chars[at], '\'' | '"') {
            at += 1;
            while at < chars.len() && chars[at] != chars[begin] {
                at += 1;
            }
            at = (at + 1).min(chars.len());
        } else if word(chars[at]) {
            while at < chars.len() && word(chars[at]) {
                at += 1;
            }
        } else {
            let pair: String = chars[at..].iter().take(2).collect();
            let long = ["->", "=>", "<=", ">=", "==", "!=", "&&", "||"].contains(&pair.as_str());
            at += if long { 2 } else { 1 };
        }
        if !chars[begin].is_whitespace() {
            tokens.push(chars[begin..at].iter().collect());
        }
    }
    tokens
}

/// The tokens with white space wherever it may stand, and where it must.
pub fn spaced(tokens: &[String], rng: &mut Rng) -> String {
    let mut text = String::new();
    for (at, token) in tokens.iter().enumerate() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let (last, first) = (text.chars().last(), token.chars().next());
        let apart = last.zip(first).is_some_and(|(last, first)| {
            word(last) && word(first) || "-=<>!&|".contains(last) && "=<>!&|".contains(first)
        });
        if apart || at == 0 || rng.percent(60) {
            text.push_str(rng.pick(&[" ", " ", "  ", "\t", "\n", " \r\n  "]));
        }
        text.push_str(token);
    }
    text.push_str(rng.pick(&["", " ", "\n"]));
    text
}

/// Changes every expression, and the claim where it is one.
fn each_text(law: &mut Value, change: &mut impl FnMut(&str) -> String) {
    let mut at = |value: &mut Value| {
        if let Some(text) = value.as_str()
            && syntax::parse(text).is_ok()
        {
            *value = change(text).into();
        }
    };
    for observable in law["observables"].as_array_mut().into_iter().flatten() {
        // A built-in name that stands for itself must be written as it is.
        if observable["name"] != observable["expr"] {
            at(&mut observable["expr"]);
        }
    }
    for condition in law["preconditions"].as_array_mut().into_iter().flatten() {
        at(&mut condition["lhs"]);
        at(&mut condition["rhs"]);
    }
    if law["template"] != "symmetry_commutation" {
        at(&mut law["claim"]);
    }
}

// ---- rewriting ----------------------------------------------------------------------------------

/// The same law with white space and other quotes in its texts, and `1 + t` for `t + 1`.
pub fn with_spaces(law: &Value, rng: &mut Rng) -> Value {
    let mut law = law.clone();
    each_text(&mut law, &mut |text| {
        let mut tokens = tokens(text);
        for at in 0..tokens.len() {
            if tokens[at].starts_with('\'') && rng.percent(50) {
                tokens[at] = tokens[at].replace('\'', "\"");
            }
            if tokens[at..].starts_with(&["(", "t", "+", "1", ")"].map(String::from))
                && rng.percent(50)
            {
                tokens.swap(at + 1, at + 3);
            }
        }
        spaced(&tokens, rng)
    });
    if law["template"] == "symmetry_commutation"
        && let Some(name) = law["claim"]
            .as_str()
            .and_then(|claim| claim.strip_prefix("commutes("))
    {
        law["claim"] = format!(" commutes ( {}", name.replace(')', "\t) ")).into();
    }
    law
}

/// The same law with other names for its observables.
pub fn renamed(law: &Value, rng: &mut Rng) -> Value {
    const BUILT_IN: [&str; 3] = ["grid_length", "incoming_collisions", "transition_indicator"];
    let mut law = law.clone();
    // A function's name may be an observable's, too.
    let mut fresh = ["count", "größe", "T", "n_1", "_", "spread", "X9", "alpha"];
    shuffle(&mut fresh, rng);
    let names: Vec<(String, String)> = law["observables"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|observable| observable["name"].as_str())
        .filter(|name| !BUILT_IN.contains(name))
        .map(String::from)
        .zip(fresh.map(String::from))
        .collect();
    let new = |old: &str| {
        names
            .iter()
            .find(|(name, _)| name == old)
            .map(|(_, new)| new)
    };
    each_text(&mut law, &mut |text| {
        let mut tokens = tokens(text);
        for token in &mut tokens {
            if let Some(new) = new(token) {
                token.clone_from(new);
            }
        }
        tokens.join(" ")
    });
    for observable in law["observables"].as_array_mut().into_iter().flatten() {
        if let Some(new) = observable["name"].as_str().and_then(new) {
            observable["name"] = json!(new);
        }
    }
    rename_tree(&mut law["claim_ast"], &new);
    law
}

fn rename_tree<'a>(tree: &mut Value, new: &impl Fn(&str) -> Option<&'a String>) {
    let Value::Object(map) = tree else { return };
    if let Some(name) = map.get("obs").and_then(Value::as_str).and_then(new) {
        map.insert("obs".into(), json!(name));
    }
    for child in ["lhs", "rhs", "arg"] {
        if let Some(child) = map.get_mut(child) {
            rename_tree(child, new);
        }
    }
}

/// The same law with its lists in another order and its absent fields written the other way.
pub fn reordered(law: &Value, rng: &mut Rng) -> Value {
    let mut law = law.clone();
    for key in ["observables", "preconditions"] {
        if let Some(items) = law[key].as_array_mut() {
            shuffle(items, rng);
            if key == "preconditions" && !items.is_empty() && rng.percent(20) {
                items.push(items[0].clone());
            }
        }
    }
    for key in [
        "claim_ast",
        "transform",
        "direction",
        "bound_value",
        "novelty_claim",
    ] {
        if law[key].is_null() {
            let map = law.as_object_mut().unwrap();
            map.remove(key);
            if rng.percent(50) {
                map.insert(key.into(), Value::Null);
            }
        }
    }
    law["law_id"] = "another name".into();
    law["forbidden"] = "other words".into();
    law["novelty_claim"] = "nobody said so before".into();
    law["ranking_features"] = json!({"risk": 1});
    law["proposed_tests"] = json!([{"family": "extreme_states", "params": {"grid_lengths": [9]}}]);
    law
}

/// The same law with operands exchanged, comparisons mirrored and aliases taken.
pub fn swapped(law: &Value, rng: &mut Rng) -> Value {
    let mut law = law.clone();
    let whole = law.to_string();
    // Truth values short-circuit: where an operand may have no value, their order is part of the law.
    let logic = !whole.contains(['%', '/']);
    each_text(&mut law, &mut |text| {
        syntax::parse(text).map_or_else(|_| text.into(), |node| written(&node, logic, rng))
    });
    for condition in law["preconditions"].as_array_mut().into_iter().flatten() {
        let op = condition["op"].as_str().and_then(Op::from_text);
        if let Some(op) = op
            && rng.percent(50)
        {
            *condition = json!({"lhs": condition["rhs"], "op": op.mirrored().text(), "rhs": condition["lhs"]});
        }
    }
    if law["claim_ast"].is_object() {
        law["claim_ast"] = swapped_tree(&law["claim_ast"], logic, rng);
        law["claim"] = "the tree counts".into();
    }
    law
}

fn written(node: &Node, logic: bool, rng: &mut Rng) -> String {
    match &node.kind {
        Kind::Int(number) => number.to_string(),
        Kind::Quoted(text) => format!("'{text}'"),
        Kind::Name(name) if name == "transition_indicator" || name == "incoming_collisions" => rng
            .pick(&["transition_indicator", "incoming_collisions"])
            .into(),
        Kind::Name(name) => name.clone(),
        // A time, or the arguments of a function: neither has sides.
        Kind::Call(name, arguments)
            if arguments
                .iter()
                .any(|of| matches!(of.kind, Kind::Binary(..))) =>
        {
            format!("{name}(t + 1)")
        }
        Kind::Call(name, arguments) => {
            let arguments: Vec<String> = arguments
                .iter()
                .map(|argument| written(argument, logic, rng))
                .collect();
            match (name.as_str(), arguments.as_slice()) {
                ("count_even", [of]) if rng.percent(50) => format!("count_at_parity({of}, 0)"),
                ("count_odd", [of]) if rng.percent(50) => format!("count_at_parity({of}, 1)"),
                ("count_at_parity", [of, parity]) if parity == "0" => format!("count_even({of})"),
                ("count_at_parity", [of, parity]) if parity == "1" => format!("count_odd({of})"),
                _ => format!("{name}({})", arguments.join(", ")),
            }
        }
        Kind::Neg(inner) => format!("-({})", written(inner, logic, rng)),
        Kind::Not(inner) => format!("(not ({}))", written(inner, logic, rng)),
        Kind::Binary(op, left, right) => {
            let mut sides = [written(left, logic, rng), written(right, logic, rng)];
            let op = exchange(*op, &mut sides, logic, rng);
            format!("({} {} {})", sides[0], op.text(), sides[1])
        }
        _ => unreachable!("text has no such node"),
    }
}

fn swapped_tree(tree: &Value, logic: bool, rng: &mut Rng) -> Value {
    if tree["t_plus_1"] == true && rng.percent(50) {
        return json!({"op": "+", "lhs": {"const": 1}, "rhs": {"var": "t"}});
    }
    match tree["op"].as_str().and_then(Op::from_text) {
        Some(op) if tree.get("lhs").is_some() => {
            let mut sides = ["lhs", "rhs"].map(|side| swapped_tree(&tree[side], logic, rng));
            let op = exchange(op, &mut sides, logic, rng);
            json!({"op": op.text(), "lhs": sides[0], "rhs": sides[1]})
        }
        _ if tree["op"] == "not" => {
            json!({"op": "not", "arg": swapped_tree(&tree["arg"], logic, rng)})
        }
        _ => tree.clone(),
    }
}

/// Exchanges two operands, now and then, where that says the same.
fn exchange<T>(op: Op, sides: &mut [T; 2], logic: bool, rng: &mut Rng) -> Op {
    let may = op.is_comparison() || op.is_commutative() && (logic || !op.is_logical());
    if may && rng.percent(60) {
        sides.reverse();
        return op.mirrored();
    }
    op
}

/// The law as a text with its keys in any order.
pub fn as_text(value: &Value, rng: &mut Rng) -> String {
    let space = rng.pick(&["", " ", "\n\t"]);
    match value {
        Value::Object(map) => {
            let mut entries: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{space}{}:{space}{}", json!(key), as_text(value, rng)))
                .collect();
            shuffle(&mut entries, rng);
            format!("{{{}{space}}}", entries.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| as_text(item, rng)).collect();
            format!("[{}{space}]", items.join(","))
        }
        other => other.to_string(),
    }
}

// ---- mutation -----------------------------------------------------------------------------------

const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];
const TEMPLATES: [&str; 7] = [
    "invariant",
    "monotone",
    "bound",
    "implication_step",
    "implication_state",
    "eventually",
    "symmetry_commutation",
];
const TRANSFORMS: [&str; 6] = [
    "mirror_swap",
    "mirror_only",
    "swap_only",
    "shift_k",
    "shift_1",
    "shift_-2",
];

/// One change that usually makes another law; it may also make none.
pub fn mutated(law: &Value, rng: &mut Rng) -> Value {
    let mut law = law.clone();
    match rng.below(12) {
        0 => {
            let t = law["quantifiers"]["T"].as_i64().unwrap_or(1);
            law["quantifiers"]["T"] = json!((t + rng.pick(&[-1, 1])).max(1));
        }
        1 => {
            let h = law["quantifiers"]["H"].as_i64().unwrap_or(0);
            law["quantifiers"]["H"] = json!((h + rng.pick(&[-1, 1])).max(0));
        }
        2 => law["direction"] = rng.pick(&["<=", ">="]).into(),
        3 => law["bound_op"] = rng.pick(&COMPARISONS).into(),
        4 => law["bound_value"] = json!(rng.between(-1, 4)),
        5 if law["transform"].is_string() || rng.percent(20) => {
            law["transform"] = rng.pick(&TRANSFORMS).into();
            law["claim"] = "".into();
        }
        6 => mutate_conditions(&mut law, rng),
        7 if rng.percent(30) => law["template"] = rng.pick(&TEMPLATES).into(),
        _ if law["claim_ast"].is_object() && rng.percent(60) => {
            let mut at = rng.below(12);
            mutate_tree(&mut law["claim_ast"], &mut at, rng);
        }
        _ => {
            let mut texts = 0;
            each_text(&mut law, &mut |text| {
                texts += 1;
                text.into()
            });
            let chosen = rng.below(texts.max(1));
            texts = 0;
            each_text(&mut law, &mut |text| {
                texts += 1;
                if texts == chosen + 1 {
                    mutated_text(text, rng)
                } else {
                    text.into()
                }
            });
        }
    }
    law
}

fn mutate_conditions(law: &mut Value, rng: &mut Rng) {
    let Some(conditions) = law["preconditions"].as_array_mut() else {
        return;
    };
    let at = rng.below(conditions.len().max(1));
    match rng.below(3) {
        0 if !conditions.is_empty() => drop(conditions.remove(at)),
        1 if !conditions.is_empty() => conditions[at]["op"] = rng.pick(&COMPARISONS).into(),
        _ => {
            conditions.push(json!({"lhs": "grid_length", "op": rng.pick(&COMPARISONS), "rhs": rng.between(2, 4)}));
        }
    }
}

/// One token exchanged for another of its kind.
pub fn mutated_text(text: &str, rng: &mut Rng) -> String {
    let mut tokens = tokens(text);
    let at = rng.below(tokens.len().max(1));
    let Some(token) = tokens.get_mut(at) else {
        return text.into();
    };
    let families: [&[&str]; 6] = [
        &COMPARISONS,
        &["+", "-", "*"],
        &["and", "or"],
        &["'.'", "'>'", "'<'", "'X'"],
        &[
            "count",
            "count_even",
            "count_odd",
            "leftmost",
            "rightmost",
            "spread",
            "max_gap",
        ],
        &["grid_length", "incoming_collisions", "transition_indicator"],
    ];
    if let Ok(number) = token.parse::<i64>() {
        *token = number.saturating_add(rng.pick(&[-1, 1])).max(0).to_string();
    } else if let Some(family) = families.iter().find(|family| family.contains(&&**token)) {
        *token = rng.pick(family).into();
    }
    tokens.join(" ")
}

fn mutate_tree(tree: &mut Value, at: &mut usize, rng: &mut Rng) {
    let here = *at == 0;
    *at = at.wrapping_sub(1);
    let Value::Object(map) = tree else { return };
    if here {
        *map = changed(map, rng);
        return;
    }
    for child in ["lhs", "rhs", "arg"] {
        if let Some(child) = map.get_mut(child) {
            mutate_tree(child, at, rng);
        }
    }
}

fn changed(map: &Map<String, Value>, rng: &mut Rng) -> Map<String, Value> {
    let mut map = map.clone();
    if let Some(number) = map.get("const").and_then(Value::as_i64) {
        map.insert("const".into(), json!(number + rng.pick(&[-1, 1])));
    } else if map.contains_key("obs") {
        let time = rng.pick(&[r#"{"var":"t"}"#, r#"{"t_plus_1":true}"#, r#"{"const":0}"#]);
        map.insert("t".into(), serde_json::from_str(time).unwrap());
    } else if let Some(op) = map.get("op").and_then(Value::as_str) {
        let families: [&[&str]; 3] = [&COMPARISONS, &["+", "-", "*", "/"], &["and", "or"]];
        if let Some(family) = families.iter().find(|family| family.contains(&op)) {
            map.insert("op".into(), rng.pick(family).into());
        }
    }
    map
}
