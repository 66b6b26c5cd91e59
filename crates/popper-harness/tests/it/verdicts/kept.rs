//! The answers of version 1 stay, though fewer cases are run; its verdicts are still read.

use popper_harness::counterexample::rederive;
use popper_harness::decide::{Strength, Verdict};
use popper_harness::proof::verify_proof;
use serde_json::json;

use super::{R, X, answer, decide, law};
use crate::fixtures::{all_laws, fixture, harness};

/// The name of a fixture law, its answer, the least strength of the evidence, and the counterexample with its t.
type Kept = (&'static str, &'static str, &'static str, &'static str, u64);

/// The verdicts of version 1, which tried every stage on every law.
const KEPT: [Kept; 34] = [
    ("right_components_conserved", "PASS", "proved", "", 0),
    ("left_components_conserved", "PASS", "proved", "", 0),
    ("particles_conserved", "PASS", "proved", "", 0),
    ("momentum_conserved", "PASS", "proved", "", 0),
    (
        "empties_minus_collisions_conserved",
        "PASS",
        "proved",
        "",
        0,
    ),
    ("mirror_swap_commutes", "PASS", "proved", "", 0),
    ("shift_3_commutes", "PASS", "proved", "", 0),
    ("every_shift_commutes", "PASS", "proved", "", 0),
    ("incoming_becomes_collision", "PASS", "proved", "", 0),
    ("incoming_counts_next_collisions", "PASS", "proved", "", 0),
    ("collisions_at_most_half", "PASS", "proved", "", 0),
    ("collision_leaves_room", "PASS", "proved", "", 0),
    (
        "empties_minus_collisions_never_grow",
        "PASS",
        "proved",
        "",
        0,
    ),
    ("odd_ring_pair_meets", "PASS", "exhaustive", "", 0),
    ("huge_horizon", "PASS", "proved", "", 0),
    ("collisions_conserved", "FAIL", "", ".>.<", 1),
    ("occupied_cells_conserved", "FAIL", "", ".>.<", 1),
    ("mirror_only_commutes", "FAIL", "", "..>", 1),
    ("swap_only_commutes", "FAIL", "", "..>", 1),
    ("collisions_never_drop", "FAIL", "", ".<>", 1),
    ("at_most_one_collision", "FAIL", "", ">><<", 1),
    (
        "at_most_twelve_collisions",
        "FAIL",
        "",
        ".<>><<>><<>><<>><<>><<>><<>",
        1,
    ),
    ("both_kinds_always_meet", "FAIL", "", "><", 0),
    ("collision_clears_at_once", "FAIL", "", ">><", 1),
    ("proposer_hides_large_rings", "FAIL", "", ".<>><<>><<>", 1),
    (
        "needs_collision_events",
        "UNKNOWN missing_observable",
        "",
        "",
        0,
    ),
    (
        "undeclared_missing_observable",
        "UNKNOWN missing_observable",
        "",
        "",
        0,
    ),
    (
        "needs_two_dimensions",
        "UNKNOWN missing_transform",
        "",
        "",
        0,
    ),
    ("claim_does_not_parse", "UNKNOWN ambiguous_claim", "", "", 0),
    (
        "impossible_precondition",
        "UNKNOWN unmet_preconditions",
        "",
        "",
        0,
    ),
    (
        "count_is_not_negative",
        "UNKNOWN tautological_claim",
        "proved",
        "",
        0,
    ),
    ("p_implies_p", "UNKNOWN tautological_claim", "proved", "", 0),
    (
        "antecedent_never_holds",
        "UNKNOWN vacuous_pass",
        "proved",
        "",
        0,
    ),
    (
        "divides_by_zero",
        "UNKNOWN evaluation_error",
        "exhaustive",
        "",
        0,
    ),
];

#[test]
fn every_fixture_law_keeps_its_answer_of_version_1() {
    let (harness, laws) = (harness(), all_laws());
    assert_eq!(laws.len(), KEPT.len());
    for (law, (id, expected, strength, state, t_fail)) in laws.iter().zip(KEPT) {
        let verdict = harness.evaluate(law);
        assert_eq!((law.law_id(), answer(&verdict).as_str()), (id, expected));
        let least = serde_json::from_value(json!(strength)).ok();
        assert!(verdict.evidence.strength >= least, "{id}: {strength}");
        let example = verdict.counterexample.as_ref();
        let found = example.map_or(("", 0), |found| (&found.initial_state, found.t_fail));
        assert_eq!(found, (state, t_fail), "{id}");
    }
}

#[test]
fn a_verdict_of_version_1_is_read() {
    let old: Vec<Verdict> = serde_json::from_str(&fixture("verdicts_1.json")).unwrap();
    let facts = |verdict: &Verdict| {
        let mutation = &verdict.power.mutation;
        (
            mutation.refuted_at_least,
            mutation.total,
            verdict.power.used,
        )
    };
    assert_eq!(old[0].schema_version, "1.0.0");
    assert_eq!(facts(&old[0]), (6, 8, 47_913));
    for (old, law) in old.iter().zip([
        "momentum_conserved",
        "at_most_twelve_collisions",
        "odd_ring_pair_meets",
    ]) {
        assert_eq!(old.law_id, law);
        if let Some(proof) = &old.evidence.proof {
            verify_proof(proof).unwrap();
        }
        if let Some(example) = &old.counterexample {
            rederive(example).unwrap();
        }
        let again: Verdict = serde_json::from_str(&serde_json::to_string(old).unwrap()).unwrap();
        assert_eq!(again, *old, "written as now, and read again");
    }
}

/// The ring sizes that were tried.
fn sizes(verdict: &Verdict) -> Vec<usize> {
    verdict.power.rings.iter().map(|ring| ring.n).collect()
}

#[test]
fn a_proof_leaves_few_cases_to_run() {
    let few = vec![1, 2, 3, 4, 5, 6, 9, 33];
    let proved = decide("invariant", &[R], "r(t) == r(0)");
    assert_eq!(
        (answer(&proved).as_str(), sizes(&proved)),
        ("PASS", few.clone())
    );
    // It is proved, too, that the antecedent never holds.
    let never = decide(
        "implication_state",
        &[("over", "2*count('X') - grid_length"), X],
        "over(t) > 0 -> x(t) == 0",
    );
    assert_eq!(
        (answer(&never).as_str(), sizes(&never)),
        ("UNKNOWN vacuous_pass", few.clone())
    );
    let trivial = decide("bound", &[X], "x(t) >= 0");
    assert_eq!(
        (answer(&trivial).as_str(), sizes(&trivial)),
        ("UNKNOWN tautological_claim", few)
    );
}

#[test]
fn where_few_cases_do_not_suffice_every_stage_runs() {
    // The law admits one ring, which is not on the ladder.
    let only = json!({"preconditions": [{"lhs": "grid_length", "op": "==", "rhs": 50}]});
    let verdict = harness().evaluate(&law("invariant", &[R], "r(t) == r(0)", &only));
    assert_eq!(answer(&verdict), "PASS", "{:?}", verdict.notes);
    assert_eq!(verdict.evidence.strength, Some(Strength::Proved));
    assert_eq!(sizes(&verdict), [50]);
}
