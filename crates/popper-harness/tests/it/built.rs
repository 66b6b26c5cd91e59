//! Laws that are built in Rust are the laws that are read from JSON.

use popper_harness::counterexample::rederive;
use popper_harness::decide::Status;
use popper_harness::law::syntax::{Op, Time};
use popper_harness::law::{Direction, Expr, Extensions, Law, LawBuilder};
use serde_json::{Value, json};

use crate::fixtures::harness;
use crate::random_law::Rng;

fn read(law: Value) -> Law {
    Law::from_value(law, "$", Extensions::default()).unwrap()
}

/// A law as JSON, with observables called as a person would.
fn written(template: &str, exprs: &[&str], more: &[(&str, Value)]) -> Law {
    let names = ["p", "q"];
    let named = names.iter().zip(exprs);
    let observables: Vec<Value> = named
        .map(|(name, expr)| json!({"name": name, "expr": expr}))
        .collect();
    let mut law = json!({
        "law_id": "read", "template": template, "quantifiers": {"T": 20}, "claim": "", "forbidden": "not so",
        "observables": observables,
    });
    for (key, value) in more {
        law[*key] = value.clone();
    }
    read(law)
}

#[test]
fn a_built_law_and_its_json_have_one_fingerprint() {
    let (x, y) = ("count('X')", "count('>')");
    let claim = |text: &str| ("claim", json!(text));
    let eventually = ("quantifiers", json!({"T": 20, "H": 3}));
    let pairs: [(LawBuilder, Law); 7] = [
        (Law::invariant(x), written("invariant", &[x], &[])),
        (
            Law::monotone(x, Direction::Falls),
            written("monotone", &[x], &[("direction", json!("<="))]),
        ),
        (
            Law::bound(x, Op::Lt, 3),
            written(
                "bound",
                &[x],
                &[("bound_op", json!("<")), ("bound_value", json!(3))],
            ),
        ),
        (
            Law::implies_step(
                "count('X') > 0 and not count('>') == 2",
                "count('>') >= count('X')",
            ),
            written(
                "implication_step",
                &[x, y],
                &[claim("p(t) > 0 and not q(t) == 2 -> q(t+1) >= p(t+1)")],
            ),
        ),
        (
            Law::implies_state("count('X') > 0", "count('>') != 1"),
            written(
                "implication_state",
                &[x, y],
                &[claim("p(t) > 0 -> q(t) != 1")],
            ),
        ),
        (
            Law::eventually("count('X') > 0", "count('>') > 0", 3),
            written(
                "eventually",
                &[x, y],
                &[claim("p(t) > 0 -> q(t) > 0"), eventually],
            ),
        ),
        (
            Law::commutes("mirror_swap"),
            written(
                "symmetry_commutation",
                &[],
                &[("transform", json!("mirror_swap"))],
            ),
        ),
    ];
    for (built, written) in pairs {
        let law = built.clone().horizon(20).build().unwrap();
        assert_eq!(law.normal(), written.normal());
        assert_eq!(law.fingerprint(), written.fingerprint());
        assert_eq!(read(law.source().clone()).fingerprint(), law.fingerprint());
        let narrow = built
            .horizon(20)
            .when("grid_length", Op::Ge, 4)
            .named("narrow");
        let narrow = narrow.forbidden("a larger ring").build().unwrap();
        assert_ne!(narrow.fingerprint(), law.fingerprint());
        assert_eq!(
            (narrow.law_id(), narrow.forbidden()),
            ("narrow", "a larger ring")
        );
    }
}

#[test]
fn the_counterexample_of_a_built_law_replays() {
    let laws = [
        Law::invariant("count('X')").horizon(20),
        Law::implies_step("count('X') > 0", "count('X') == 0 and count('>') == 7"),
        Law::eventually("count('>') > 0", "count('X') > 0", 4).when("grid_length", Op::Ge, 2),
    ];
    for law in laws {
        let law = law.build().unwrap();
        let again = law.normal().to_law("again");
        for law in [law, again] {
            let verdict = harness().evaluate(&law);
            assert_eq!(verdict.status, Status::Fail);
            assert!(
                rederive(&verdict.counterexample.unwrap()).is_ok(),
                "{}",
                law.source()
            );
        }
    }
}

#[test]
fn what_cannot_be_built_says_why() {
    let error = |law: LawBuilder| law.build().unwrap_err().to_string();
    assert_eq!(
        error(Law::implies_step("count('X')", "count('X') == 0")),
        "$.claim: column 1: expected a comparison, such as `count('X') > 0`"
    );
    assert!(error(Law::invariant("count('X')").horizon(0)).starts_with("$.quantifiers.T: "));
}

/// A claim, or a number in one, of every shape that the grammar has.
fn expr(rng: &mut Rng, depth: usize, is_claim: bool) -> Expr {
    let logical = [Op::Implies, Op::Or, Op::And];
    let comparisons = [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge];
    let arithmetic = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod];
    let below = depth.saturating_sub(1);
    if is_claim {
        let (op, is_claim) = match rng.below(5) {
            0 if depth > 0 => return Expr::Not(Box::new(expr(rng, below, true))),
            1..=3 if depth > 0 => (rng.pick(&logical), true),
            _ => (rng.pick(&comparisons), false),
        };
        return expr(rng, below, is_claim).op(op, expr(rng, below, is_claim));
    }
    match rng.below(if depth > 0 { 8 } else { 4 }) {
        0 => Expr::Int(rng.next().cast_signed().max(-i64::MAX)),
        1 => Expr::Int(rng.between(-3, 3)),
        2 => Expr::Step,
        3 => {
            let observables = [
                "f",
                "grid_length",
                "count('X')",
                "count_pattern('>)(')",
                "count_at_parity(\"'\",1)",
                "(count('>')+count('X'))",
                "((count('<')-2)%3)",
                "-(count('X'))",
                "-3",
                "7",
            ];
            let times = [Time::Now, Time::Next, Time::At(0), Time::At(17)];
            Expr::Obs(rng.pick(&observables).into(), rng.pick(&times))
        }
        4 => match expr(rng, below, false) {
            // A sign before a number is part of the number.
            Expr::Int(number) => Expr::Int(-number),
            inner => Expr::Neg(Box::new(inner)),
        },
        _ => expr(rng, below, false).op(rng.pick(&arithmetic), expr(rng, below, false)),
    }
}

#[test]
fn an_expression_is_read_as_it_is_displayed() {
    for seed in 0..10_000 {
        let mut rng = Rng::new(seed);
        let is_claim = rng.percent(80);
        let expr = expr(&mut rng, 5, is_claim);
        let text = expr.to_string();
        assert_eq!(text.parse().as_ref(), Ok(&expr), "{text}");
        let json = serde_json::to_string(&expr).unwrap();
        assert_eq!(serde_json::from_str::<Expr>(&json).unwrap(), expr);
    }
}

#[test]
fn a_text_that_is_no_expression_says_why() {
    let error = |text: &str| text.parse::<Expr>().unwrap_err().to_string();
    assert_eq!(
        error("f == 1"),
        "column 1: expected a time after `f`, as in `f(t)`"
    );
    assert_eq!(
        error("(f == 1)(t) == 1"),
        "column 2: `==` has no place in an observable, expected + - * %"
    );
    let tree = serde_json::from_value::<Expr>(json!({"op": "=", "lhs": 1}));
    assert!(tree.unwrap_err().to_string().contains("claim_ast"));
}
