//! The recall of a run.

use popper_discovery::recall::Recall;
use popper_discovery::store::{Query, Store as _};
use popper_discovery::{MemoryStore, RunSelector};
use popper_harness::conserved::span;
use popper_harness::universe::{KineticGrid, Tabulated, Universe};
use serde_json::{Value, json};

use crate::run::{batch, harness_for, invariant, run_with};
use crate::scripted::fixture_laws;

async fn recall(universe: impl Universe, width: usize, laws: Vec<Value>) -> Recall {
    let harness = harness_for(universe);
    let universe = harness.universe().clone();
    let batches = vec![batch(laws)];
    let (mut store, run) = run_with(
        harness,
        MemoryStore::default(),
        batches,
        RunSelector::Latest,
    )
    .await;
    let findings = store.findings(Query::all(&run)).await.unwrap();
    Recall::measure(&span(&universe, width).unwrap(), &universe, &findings).unwrap()
}

fn found(recall: &Recall) -> Vec<(&str, bool)> {
    let quantities = recall.quantities.iter();
    quantities
        .map(|sought| (sought.expr.as_str(), sought.found))
        .collect()
}

#[tokio::test]
async fn the_fixture_laws_find_both_numbers_of_movers() {
    let one = recall(KineticGrid, 1, fixture_laws()).await;
    assert_eq!((one.dimension, one.found), (2, 2));
    assert_eq!(
        found(&one),
        [
            ("count('>') + count('X')", true),
            ("count('<') + count('X')", true)
        ]
    );
    let new = one.inside.iter().filter(|stated| stated.new).count();
    assert_eq!(new, 2);
    let two = recall(KineticGrid, 2, fixture_laws()).await;
    assert_eq!((two.dimension, two.found), (4, 2));
    assert_eq!(two.inside, one.inside);
    // Every law is either inside or outside.
    let beyond = two.other_laws();
    let tested = two.inside.len() as u64 + beyond.pass + beyond.fail + beyond.unknown;
    assert_eq!(tested, 33);
    assert!(two.outside["symmetry_commutation"].pass >= 3);
}

#[tokio::test]
async fn a_combination_is_found_and_its_parts_are_not() {
    let sum = invariant("sum", "count('>') + count('<') + 2*count('X')");
    let one = recall(KineticGrid, 1, vec![sum.clone()]).await;
    assert_eq!(
        (one.found, one.quantities.iter().filter(|q| q.found).count()),
        (1, 0)
    );
    let both = vec![
        sum,
        invariant("difference", "3 * (count('<') - count('>'))"),
    ];
    let one = recall(KineticGrid, 1, both).await;
    assert_eq!(one.found, 2);
    assert!(one.quantities.iter().all(|sought| sought.found));
}

#[tokio::test]
async fn only_what_holds_everywhere_and_says_something_counts() {
    let movers = "count('>') + count('X')";
    let given = |lhs: &str, op: &str| {
        let mut law = invariant(lhs, movers);
        law["preconditions"] = json!([{"lhs": lhs, "op": op, "rhs": 4}]);
        law
    };
    // A law for all rings from some size on says the same as one for all rings.
    let large = recall(KineticGrid, 1, vec![given("grid_length", ">=")]).await;
    assert_eq!(large.found, 1);
    let laws = vec![
        given("grid_length", "<"),
        given("grid_length", "=="),
        given("count('>')", ">="),
        invariant("trivial", "grid_length * 2 + 1"),
        invariant("false", "count('X')"),
        invariant(
            "no_sum",
            "(count('>') + count('X')) * (count('<') + count('X'))",
        ),
        invariant("remainder", "(count('>') + count('X')) % 2"),
    ];
    let one = recall(KineticGrid, 1, laws).await;
    assert_eq!((one.found, one.inside.len()), (0, 0));
    assert!(one.quantities.iter().all(|sought| !sought.found));
}

#[tokio::test]
async fn the_same_quantity_in_other_clothes() {
    let law = |claim: &str| {
        json!({
            "law_id": claim, "template": "invariant", "quantifiers": {"T": 40},
            "observables": [
                {"name": "r", "expr": "count('>') + count('X')"}, {"name": "l", "expr": "count('<') + count('X')"},
            ],
            "claim": claim, "forbidden": "a step that changes it",
        })
    };
    for (claim, found) in [
        ("r(t) - r(0) == 0", 1),
        ("r(t+1) == r(t)", 1),
        ("2 * r(t) + 3 == r(0) + r(0) + 3", 1),
        ("r(t) - l(t) == r(0) - l(0)", 1),
        ("r(t) + grid_length == r(0) + grid_length", 1),
        // True, but about one step, or about a product of counts.
        ("r(3) == r(0)", 0),
        ("r(t) * l(t) == r(0) * l(0)", 0),
        ("r(t) == r(0) or l(t) == 1", 0),
    ] {
        let one = recall(KineticGrid, 1, vec![law(claim)]).await;
        assert_eq!(one.found, found, "{claim}");
    }
}

#[tokio::test]
async fn wider_quantities_need_wider_windows() {
    let pairs =
        "count_pattern('>>') + count_pattern('>X') + count_pattern('X>') + count_pattern('XX')";
    let laws = vec![invariant("pairs", pairs)];
    let one = recall(KineticGrid, 1, laws.clone()).await;
    assert_eq!((one.found, one.outside["invariant"].pass), (0, 1));
    let two = recall(KineticGrid, 2, laws).await;
    assert_eq!((two.found, two.dimension), (1, 4));
}

#[tokio::test]
async fn a_universe_without_any_has_nothing_to_find() {
    let path = format!(
        "{}/../../fixtures/popper/universes/elementary_30.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(path).unwrap();
    let rule = Tabulated::from_json(&text).unwrap();
    let none = recall(rule, 1, vec![invariant("ones", "count('#')")]).await;
    assert_eq!((none.dimension, none.found), (0, 0));
    assert_eq!(none.outside["invariant"].fail, 1);
}
