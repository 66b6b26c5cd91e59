//! The text of a law, from its normal form.

use popper_harness::law::syntax::{Op, Time};
use popper_harness::law::{
    Expr, LocalFields, NormalClaim, NormalLaw, Notation, Precondition, unwrapped,
};
use serde::{Deserialize as _, Serialize};
use serde_json::Value;

/// The text of a law, written in the same way for every proposer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Wording {
    /// The claim. `[t]` after an observable is the step at which it is read.
    pub claim: String,
    /// The horizon and the window: `T = 60`, `T = 60, H = 8`.
    pub times: String,
    /// The conditions on the start.
    pub given: Vec<String>,
}

impl Wording {
    /// The text of a normal form. A damaged one is shown as its JSON.
    pub(super) fn of(normal: &Value) -> Self {
        let Ok(law) = NormalLaw::from_value(normal.clone(), "$") else {
            return Self {
                claim: normal.to_string(),
                times: String::new(),
                given: Vec::new(),
            };
        };
        let window = law.window.map(|h| format!(", H = {h}"));
        Self {
            claim: claim(&law),
            times: format!("T = {}{}", law.horizon, window.unwrap_or_default()),
            given: law.preconditions.iter().map(condition).collect(),
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

fn condition(condition: &Precondition) -> String {
    let (left, right) = (spaced(&condition.lhs), spaced(&condition.rhs));
    let (left, right) = (unwrapped(&left), unwrapped(&right));
    if left.parse::<i64>().is_ok() {
        format!("{right} {} {left}", condition.op.mirrored().text())
    } else {
        format!("{left} {} {right}", condition.op.text())
    }
}

fn claim(law: &NormalLaw) -> String {
    match &law.claim {
        NormalClaim::Formula(tree) => formula(tree, law.window),
        NormalClaim::Commutes(transform) => commutes(transform),
        NormalClaim::Local(fields) => local(fields),
        NormalClaim::Unclear {
            claim,
            tree,
            transform,
            local: fields,
        } => match (tree, transform, fields) {
            (Some(tree), ..) => Expr::deserialize(tree)
                .map_or_else(|_| tree.to_string(), |tree| formula(&tree, law.window)),
            (_, Some(transform), _) => commutes(transform),
            (_, _, Some(fields)) => local(fields),
            _ => claim.clone(),
        },
        _ => law.to_string(),
    }
}

fn formula(tree: &Expr, window: Option<u64>) -> String {
    if let Some(observable) = conserved(tree) {
        return format!("conserved: {}", unwrapped(&spaced(observable)));
    }
    let tree = tree.mirrored_where(&|left, right| is_fixed(left) && !is_fixed(right));
    let text = tree.text(Notation::Brackets, &spaced);
    match window {
        Some(h) => format!("{text} (within {h} steps)"),
        None => text,
    }
}

fn commutes(transform: &str) -> String {
    format!("commutes with {transform}")
}

fn local(fields: &LocalFields) -> String {
    let around = fields.pattern.as_ref();
    let around = around.map(|pattern| format!(" in `{pattern}`"));
    let parity = fields.parity;
    let parity = parity.map(|parity| format!(" at a cell = {parity} mod 2"));
    format!(
        "after `{}`{}{}: the cell {} `{}`",
        fields.trigger,
        around.unwrap_or_default(),
        parity.unwrap_or_default(),
        fields.result_op.text(),
        fields.result
    )
}

/// Whether a side of a comparison is the same at all steps, so that it reads better on the right: `x[t] == x[0]`.
fn is_fixed(side: &Expr) -> bool {
    matches!(side, Expr::Int(_) | Expr::Obs(_, Time::At(_)))
}

/// The observable of a claim that it has one value at `t` and at the start.
fn conserved(tree: &Expr) -> Option<&str> {
    let Expr::Bin(Op::Eq, left, right) = tree else {
        return None;
    };
    match (left.as_ref(), right.as_ref()) {
        (Expr::Obs(one, Time::Now), Expr::Obs(other, Time::At(0)))
        | (Expr::Obs(one, Time::At(0)), Expr::Obs(other, Time::Now)) => {
            (one == other).then_some(one)
        }
        _ => None,
    }
}

/// An observable with spaces around its operators.
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

#[cfg(test)]
mod tests {
    use popper_harness::law::{Extensions, Law};
    use serde_json::{Value, json};

    use super::Wording;

    fn worded(law: Value) -> Wording {
        let law = Law::from_value(law, "$", Extensions::default()).unwrap();
        Wording::of(&json!(law.normal()))
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
    fn what_is_no_formula_is_said_in_words() {
        let law = |more: Value| {
            let mut law = json!({
                "law_id": "x", "template": "symmetry_commutation", "quantifiers": {"T": 9}, "claim": "", "forbidden": "not so",
            });
            law.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            worded(law).claim
        };
        assert_eq!(
            law(json!({"transform": "mirror_swap"})),
            "commutes with mirror_swap"
        );
        let vague = json!({"template": "invariant", "claim": "when x  is large"});
        assert_eq!(law(vague), "when x is large");
        let number =
            json!({"op": "+", "lhs": {"obs": "x", "t": {"var": "t"}}, "rhs": {"const": 1}});
        let number = json!({"template": "bound", "claim_ast": number});
        assert_eq!(law(number), "x[t] + 1");
    }

    #[test]
    fn what_is_no_normal_form_is_shown_as_it_is() {
        for odd in [
            json!({
                "claim_ast": {"op": "=>", "lhs": {"obs": 3, "t": []}, "rhs": {"op": ["<"], "arg": null}},
                "quantifiers": 7, "preconditions": [[], {"lhs": "<b>", "op": 1, "rhs": null}],
            }),
            json!({}),
            json!({"claim": "when x is large"}),
        ] {
            let shown = Wording::of(&odd);
            assert_eq!(shown.claim, odd.to_string());
            assert!(shown.times.is_empty() && shown.given.is_empty());
        }
    }
}
