//! Stopping an evaluation at any of its questions (P5, P46).

use std::sync::atomic::{AtomicU64, Ordering};

use popper_harness::counterexample::rederive;
use popper_harness::decide::{Config, Harness, Status, UnknownReason, Verdict};
use popper_harness::law::Law;
use popper_harness::universe::{KineticGrid, Tabulated};
use serde_json::json;

use super::law;
use crate::fixtures::laws;
use crate::random_law::random_universe;

const INSTANTS: u64 = 200;

/// The reason why a verdict is none of those that stopping allows.
fn fault(stopped: &Verdict, whole: &Verdict, told: bool) -> Option<String> {
    let bytes = |verdict: &Verdict| serde_json::to_string(verdict).unwrap();
    match &stopped.counterexample {
        _ if bytes(stopped) == bytes(whole) => None,
        _ if !told => Some("another verdict, though nothing said stop".into()),
        Some(example) => {
            let flags = example.minimal || example.minimized;
            let replayed = rederive(example).err().map(|error| error.to_string());
            replayed.or_else(|| {
                (flags || stopped.status != Status::Fail).then(|| format!("{example:?}"))
            })
        }
        None => (stopped.status != Status::Unknown
            || stopped.reason_code != Some(UnknownReason::ResourceLimit))
        .then(|| format!("{:?} {:?}", stopped.status, stopped.reason_code)),
    }
}

/// Stops an evaluation at its k-th question, for good or for that one question, for each k. Returns how many were not stopped,
/// ended as a FAIL and ended as UNKNOWN.
fn stop_at_each(harness: &Harness, law: &Law) -> [u64; 3] {
    let whole = harness.evaluate(law);
    let mut answers = [0; 3];
    for k in 1..=INSTANTS {
        for good in [true, false] {
            let asked = AtomicU64::new(0);
            let stop = || {
                let now = asked.fetch_add(1, Ordering::Relaxed) + 1;
                now == k || good && now > k
            };
            let stopped = harness.evaluate_with_stop(law, &stop);
            let told = asked.into_inner() >= k;
            if let Some(fault) = fault(&stopped, &whole, told) {
                panic!("{}, k = {k}, {good}: {fault}", law.claim());
            }
            answers[match stopped.status {
                _ if !told => 0,
                Status::Fail => 1,
                _ => 2,
            }] += 1;
        }
    }
    answers
}

fn stop_everywhere(harness: &Harness, law: &Law) {
    let answers = stop_at_each(harness, law);
    assert!(answers[2] > 0, "nothing was stopped: {answers:?}");
}

fn quick() -> Config {
    Config::default()
        .exhaustive_n(8)
        .ladder(vec![9, 10, 11, 12, 16, 27, 28, 40])
        .minimal_n(11)
        .generations(4)
}

fn grid() -> Harness {
    Harness::new(KineticGrid, quick()).unwrap()
}

/// Acceptance 5: each law of the fixtures, stopped at 200 instants.
fn fixtures(file: &str) {
    let mut stopped = 0;
    for law in laws(file) {
        stopped += stop_at_each(&grid(), &law)[1..].iter().sum::<u64>();
    }
    assert!(stopped > INSTANTS, "{stopped}");
}

#[test]
fn every_true_law_of_the_fixtures() {
    fixtures("true");
}

#[test]
fn every_false_law_of_the_fixtures() {
    fixtures("false");
}

#[test]
fn every_undecided_law_of_the_fixtures() {
    fixtures("unknown");
}

#[test]
fn a_proved_law() {
    stop_everywhere(&grid(), &law("invariant", "r(t) == r(0)", &json!({})));
    let symmetry = json!({"transform": "mirror_swap"});
    stop_everywhere(
        &grid(),
        &law("symmetry_commutation", "commutes(mirror_swap)", &symmetry),
    );
}

#[test]
fn a_law_that_is_only_searched() {
    let claim = "x(t) > 0 -> 2*x(t) <= grid_length and x(t+1) <= r(t)";
    stop_everywhere(&grid(), &law("implication_step", claim, &json!({})));
}

#[test]
fn a_law_that_is_refuted_on_a_small_ring() {
    stop_everywhere(&grid(), &law("bound", "x(t) <= 2", &json!({})));
}

#[test]
fn a_law_that_is_refuted_on_a_large_ring() {
    stop_everywhere(&grid(), &law("bound", "x(t) <= 12", &json!({})));
}

#[test]
fn a_law_without_a_period() {
    let universe = Tabulated::from_json(&random_universe(7).to_string()).unwrap();
    let harness = Harness::new(universe, quick()).unwrap();
    let claim = "r(t) > 0 -> x(t) >= 0 or r(t) > x(t)";
    stop_everywhere(&harness, &law("eventually", claim, &json!({})));
}
