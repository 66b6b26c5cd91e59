//! The bytes of normal forms: what was stored before is found again.

use std::fmt::Write as _;

use popper_harness::law::{Expr, Extensions, Law, NormalLaw, Notation};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::fixtures::all_laws;
use crate::random_law::random_law;

/// sha256 over the fingerprints, one a line.
fn sealed(fingerprints: &[String]) -> String {
    let digest = Sha256::digest(fingerprints.join("\n"));
    digest.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

/// The digests were taken on 23 November 2026, before normal forms had a type.
#[test]
fn fingerprints_are_what_they_were() {
    let fixtures: Vec<String> = all_laws().iter().map(Law::fingerprint).collect();
    let generated: Vec<String> = (0..10_000_u64)
        .into_par_iter()
        .map(|seed| {
            let law = Law::from_value(random_law(seed), "$", Extensions::default()).unwrap();
            law.fingerprint()
        })
        .collect();
    assert_eq!(
        [sealed(&fixtures), sealed(&generated)],
        [
            "815c6b973fcfcad7d8cbd6e851769866b07236f063b43856ab303d3354d86b83",
            "b871c477f2fa808c82f0c64a033b357824832912a7bde4e1ca6f5ac20aebe73c"
        ]
    );
}

#[test]
fn a_normal_form_is_closed() {
    (0..2_000_u64).into_par_iter().for_each(|seed| {
        let law = Law::from_value(random_law(seed), "$", Extensions::default()).unwrap();
        let mut normal = law.normal().clone();
        assert_eq!(normal.fingerprint(), law.fingerprint());
        let again = normal.to_law("again");
        assert_eq!(again.normal(), &normal, "seed {seed}");
        // The law and its source are one, so that its counterexample replays.
        let source = Law::from_value(again.source().clone(), "$", Extensions::default()).unwrap();
        normal.tests.clear();
        assert_eq!(source.normal(), &normal, "seed {seed}");
        let text = serde_json::to_string(&normal).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(text, value.to_string(), "the keys are in order");
        assert_eq!(serde_json::from_str::<NormalLaw>(&text).unwrap(), normal);
    });
}

#[test]
fn a_claim_is_written_in_the_language() {
    let law = |claim: &str| {
        let law = serde_json::json!({
            "law_id": "a", "template": "implication_step", "quantifiers": {"T": 9}, "claim": claim, "forbidden": "not so",
            "observables": [{"name": "x", "expr": "count('X')"}, {"name": "y", "expr": "count('>') - 1"}],
        });
        let law = Law::from_value(law, "$", Extensions::default()).unwrap();
        law.normal().clone()
    };
    for (claim, written) in [
        (
            "x(t) > 0 -> x(t+1) == 0",
            "1 <= count('X')(t) -> 0 == count('X')(t+1)",
        ),
        (
            "not (x(t) == 2*(3 - y(0))) -> y(t+1)*(-1) == t",
            "not (2 * (3 - (count('>')-1)(0)) == count('X')(t)) -> (-1) * (count('>')-1)(t+1) == t",
        ),
    ] {
        assert_eq!(law(claim).to_string(), written);
    }
}

#[test]
fn a_tree_has_one_printer_with_three_notations() {
    let text = "not (x(t) + (y(0) + 1) > -(z(t+1))) -> grid_length * (2 - x(t)) == 0 and x(t) < 1";
    let tree: Expr = text.parse().unwrap();
    let [grammar, parentheses, brackets] =
        [Notation::Grammar, Notation::Parentheses, Notation::Brackets]
            .map(|notation| tree.text(notation, &str::to_owned));
    assert_eq!(grammar, text);
    assert_eq!(
        parentheses,
        "not ((x(t) + (y(0) + 1)) > -z(t+1)) -> (((grid_length * (2 - x(t))) == 0) and (x(t) < 1))"
    );
    assert_eq!(
        brackets,
        "not (x[t] + y[0] + 1 > -z[t+1]) -> grid_length * (2 - x[t]) == 0 and x[t] < 1"
    );
    // The texts that a proposer reads are in the language too.
    assert_eq!(parentheses.parse(), Ok(tree));
}
