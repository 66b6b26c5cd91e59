//! A law in one way of writing it, from its normal form.

use popper_harness::law::syntax::Op;
use serde::Serialize;
use serde_json::{Map, Value};

/// What a law says, written the same way for every proposer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wording {
    /// The claim. `[t]` after an observable is the step at which it is read.
    pub claim: String,
    /// How long it is claimed: `T = 60`, `T = 60, H = 8`.
    pub times: String,
    /// The conditions on the start.
    pub given: Vec<String>,
}

impl Wording {
    /// The wording of a normal form. What is not understood is written as the JSON it is.
    pub(super) fn of(normal: &Map<String, Value>) -> Self {
        let empty = Map::new();
        let quantifiers = normal.get("quantifiers").and_then(Value::as_object);
        let times = ["T", "H"].iter().filter_map(|name| {
            let value = quantifiers.unwrap_or(&empty).get(*name)?;
            Some(format!("{name} = {}", text(value)))
        });
        let given = normal.get("preconditions").and_then(Value::as_array);
        Self {
            claim: claim(normal),
            times: times.collect::<Vec<_>>().join(", "),
            given: given.into_iter().flatten().map(condition).collect(),
        }
    }
}

impl Wording {
    /// The claim with its conditions.
    pub(super) fn whole(&self) -> String {
        if self.given.is_empty() {
            return self.claim.clone();
        }
        format!("{}, given {}", self.claim, self.given.join(", "))
    }
}

fn condition(condition: &Value) -> String {
    let side = |key| text(&condition[key]);
    let (left, right) = (spaced(&side("lhs")), spaced(&side("rhs")));
    let (left, op, right) = (open(&left), side("op"), open(&right));
    match mirrored(&op) {
        Some(op) if left.parse::<i64>().is_ok() => format!("{right} {op} {left}"),
        _ => format!("{left} {op} {right}"),
    }
}

/// The comparison with its sides exchanged.
fn mirrored(op: &str) -> Option<&'static str> {
    let op = Op::from_text(op)?;
    op.is_comparison().then(|| op.mirrored().text())
}

/// Whether a comparison reads better from right to left: `x[t] >= 1` for `1 <= x[t]`, `x[t] == x[0]` for `x[0] == x[t]`.
fn backward(left: &Value, right: &Value) -> bool {
    let fixed = |side: &Value| side.get("const").is_some() || side["t"].get("const").is_some();
    fixed(left) && !fixed(right)
}

fn claim(normal: &Map<String, Value>) -> String {
    let field = |key| normal.get(key).map(text);
    if let Some(tree) = normal.get("claim_ast") {
        let waits = normal
            .get("template")
            .is_some_and(|name| name == "eventually");
        match conserved(tree) {
            Some(observable) => format!("conserved: {}", open(&spaced(observable))),
            None if waits => {
                let window = normal.get("quantifiers").map(|all| text(&all["H"]));
                let window = window.unwrap_or_default();
                format!("{} (within {window} steps)", written(tree, 0))
            }
            None => written(tree, 0),
        }
    } else if let Some(transform) = field("transform") {
        format!("{transform} and the steps may change places")
    } else if let (Some(trigger), Some(result)) = (field("trigger_symbol"), field("result_symbol"))
    {
        let around = field("neighbor_pattern").map(|pattern| format!(" in `{pattern}`"));
        let parity = field("required_parity").map(|parity| format!(" at a cell = {parity} mod 2"));
        let op = field("result_op").unwrap_or_default();
        let (around, parity) = (around.unwrap_or_default(), parity.unwrap_or_default());
        format!("after `{trigger}`{around}{parity}: the cell {op} `{result}`")
    } else {
        field("claim").unwrap_or_default()
    }
}

/// A string without its quotes, any other value as JSON.
fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// An observable with room around its operators and without parentheses around the whole.
pub(super) fn spaced(observable: &str) -> String {
    let mut spaced = String::with_capacity(observable.len());
    let (mut quote, mut last) = (None, '(');
    for character in observable.chars() {
        match quote {
            Some(open) if open == character => quote = None,
            None if matches!(character, '\'' | '"') => quote = Some(character),
            _ => {}
        }
        let between = !matches!(last, '(' | ',' | '+' | '-' | '*' | '%');
        if quote.is_none() && between && matches!(character, '+' | '-' | '*' | '%') {
            spaced.extend([' ', character, ' ']);
        } else {
            spaced.push(character);
        }
        last = character;
    }
    spaced
}

/// The text without parentheses that embrace all of it.
fn open(text: &str) -> &str {
    let Some(inner) = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    else {
        return text;
    };
    let mut depth = 0_usize;
    let mut quoted = false;
    for character in inner.chars() {
        match character {
            '\'' | '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return text,
            },
            _ => {}
        }
    }
    inner
}

/// The observable of a claim that it has one value at `t` and at the start.
fn conserved(tree: &Value) -> Option<&str> {
    let (left, right) = (tree.get("lhs")?, tree.get("rhs")?);
    let observable = left.get("obs").and_then(Value::as_str)?;
    let starts = |side: &Value| side["t"]["const"] == 0;
    let runs = |side: &Value| side["t"]["var"] == "t";
    let both = starts(left) && runs(right) || runs(left) && starts(right);
    (tree["op"] == "==" && right["obs"] == left["obs"] && both).then_some(observable)
}

/// How tightly an operator binds.
fn level(op: &str) -> u8 {
    match op {
        "=>" | "->" => 1,
        "or" => 2,
        "and" => 3,
        "==" | "!=" | "<" | "<=" | ">" | ">=" => 4,
        "+" | "-" => 5,
        _ => 6,
    }
}

/// A node of a claim, in parentheses where its operator binds less than `floor`. The reader of the JSON bounds the depth.
fn written(node: &Value, floor: u8) -> String {
    if let Some(observable) = node.get("obs") {
        let time = &node["t"];
        let step = match time.get("const") {
            Some(step) => text(step),
            None if time.get("t_plus_1").is_some() => "t+1".into(),
            None => "t".into(),
        };
        let observable = text(observable);
        // The ring alone decides it, whatever the step.
        if observable == "grid_length" {
            return observable;
        }
        return format!("{}[{step}]", spaced(&observable));
    }
    if let Some(number) = node.get("const") {
        return text(number);
    }
    if node.get("var").is_some() {
        return "t".into();
    }
    let Some(op) = node.get("op").map(text) else {
        return node.to_string();
    };
    if let Some(inner) = node.get("arg") {
        let space = if op == "not" { " " } else { "" };
        return format!("{op}{space}{}", written(inner, 7));
    }
    let own = level(&op);
    let (mut left, mut right) = (&node["lhs"], &node["rhs"]);
    let mut sign = if op == "=>" { "->" } else { &op };
    if let Some(mirrored) = mirrored(&op).filter(|_| backward(left, right)) {
        std::mem::swap(&mut left, &mut right);
        sign = mirrored;
    }
    // Comparisons do not chain, and what stands to the right of `-` keeps its parentheses.
    let left = written(left, if own == 4 { own + 1 } else { own });
    let chains = matches!(op.as_str(), "+" | "*" | "and" | "or");
    let right = written(right, if chains { own } else { own + 1 });
    let whole = format!("{left} {sign} {right}");
    if own < floor {
        format!("({whole})")
    } else {
        whole
    }
}

#[cfg(test)]
mod tests {
    use popper_harness::law::{Extensions, Law};
    use serde_json::{Value, json};

    use super::Wording;

    fn worded(law: Value) -> Wording {
        let law = Law::from_value(law, "$", Extensions::default()).unwrap();
        Wording::of(json!(law.normalize().unwrap()).as_object().unwrap())
    }

    #[test]
    fn a_law_reads_the_same_whoever_wrote_it() {
        let law = |name: &str, claim: &str| {
            json!({
                "law_id": name, "template": "implication_step", "quantifiers": {"T": 60}, "claim": claim, "forbidden": "not so",
                "preconditions": [{"lhs": "grid_length", "op": ">", "rhs": 4}],
                "observables": [{"name": name, "expr": "count('X')"}, {"name": "y", "expr": "count('>') + count('X')"}],
            })
        };
        let one = worded(law(
            "x",
            "x(t) > 0 -> x(t+1) - (y(t) - 1) == 2 * (x(t) + 1)",
        ));
        let other = worded(law(
            "z",
            "0 < z(t) -> (1 + z(t)) * 2 == z(t+1) - (y(t) - 1)",
        ));
        assert_eq!(one, other);
        assert_eq!(
            one.claim,
            "count('X')[t] >= 1 -> 2 * (1 + count('X')[t]) == count('X')[t+1] - ((count('>') + count('X'))[t] - 1)"
        );
        assert_eq!(one.times, "T = 60");
        assert_eq!(one.given, ["grid_length > 4"]);
    }

    #[test]
    fn what_is_conserved_is_said_so() {
        let law = |expr: &str| {
            let law = json!({
                "law_id": "x", "template": "invariant", "quantifiers": {"T": 60}, "claim": "x(t) == x(0)", "forbidden": "not so",
                "observables": [{"name": "x", "expr": expr}],
            });
            worded(law).claim
        };
        assert_eq!(
            law("count('>')+count('X')"),
            "conserved: count('>') + count('X')"
        );
        assert_eq!(
            law("-(count('-') - 2)*(count('+')%3)"),
            "conserved: (count('+') % 3) * -((count('-') - 2))"
        );
        assert_eq!(
            law("count_pattern('>)(')"),
            "conserved: count_pattern('>)(')"
        );
    }

    #[test]
    fn what_is_no_normal_form_is_shown_as_it_is() {
        let shown = |normal: Value| Wording::of(normal.as_object().unwrap());
        let odd = shown(json!({
            "claim_ast": {"op": "=>", "lhs": {"obs": 3, "t": []}, "rhs": {"op": ["<"], "arg": null}},
            "quantifiers": 7, "preconditions": [[], {"lhs": "<b>", "op": 1, "rhs": null}],
        }));
        assert_eq!(odd.claim, "3[t] -> [\"<\"]null");
        assert_eq!(odd.times, "");
        assert_eq!(odd.given, ["null null null", "<b> 1 null"]);
        assert_eq!(shown(json!({})).claim, "");
        assert_eq!(
            shown(json!({"claim": "when x is large"})).claim,
            "when x is large"
        );
        assert_eq!(
            shown(json!({"transform": "mirror_swap"})).claim,
            "mirror_swap and the steps may change places"
        );
    }
}
