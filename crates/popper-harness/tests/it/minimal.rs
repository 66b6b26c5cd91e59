//! Refutations of generated laws replay, and there is nothing smaller.
//!
//! Up to eight cells brute force says so. Beyond, a counting argument does for bounds on collisions: at time t the cells form
//! gcd(2t, N) cycles of equal length m, and of the m cells of a cycle at most m div 2 can collide.

use popper_harness::counterexample::rederive;
use popper_harness::decide::{Status, Verdict};
use popper_harness::law::{Extensions, Law};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::fixtures::harness;
use crate::oracle::{Oracle, Universe};
use crate::random_law::random_law;

/// The size of the largest rings that brute force searches.
const BRUTE_N: usize = 8;

/// A smaller counterexample than the reported one, or another reason not to believe it.
fn doubt(law: &Value, verdict: &Verdict, grid: &Universe) -> Option<String> {
    let example = verdict.counterexample.as_ref()?;
    if let Err(error) = rederive(example) {
        return Some(format!("no replay: {error}"));
    }
    let oracle = Oracle::new(law, grid).unwrap();
    let case = oracle.case(&example.initial_state);
    if !case.admitted || case.first_violation != Some(example.t_fail as usize) {
        return Some(format!("the oracle sees {case:?}"));
    }
    let n = example.config.n;
    if n <= 14 && !(example.minimal && example.minimized) {
        return Some("not called minimal".into());
    }
    let smallest = oracle.smallest(n.min(BRUTE_N));
    let agrees = match &smallest {
        None => n > BRUTE_N,
        Some(smallest) => {
            n == smallest.n
                && example.initial_state == smallest.state
                && example.t_fail as usize == smallest.t_fail
        }
    };
    (!agrees).then(|| format!("{} against {smallest:?}", example.initial_state))
}

#[test]
fn two_hundred_generated_laws_have_no_smaller_counterexample() {
    let (harness, grid) = (harness(), Universe::kinetic());
    // Seeds that no other test uses; of the refuted ones, those that took more than a cell or two first.
    let mut refuted: Vec<(Value, Verdict)> = (100_000..100_600_u64)
        .into_par_iter()
        .filter_map(|seed| {
            let law = random_law(seed);
            let verdict = harness
                .evaluate(&Law::from_value(law.clone(), "$", Extensions::default()).unwrap());
            (verdict.status == Status::Fail).then_some((law, verdict))
        })
        .collect();
    let size = |verdict: &Verdict| verdict.counterexample.as_ref().unwrap().config.n;
    refuted.sort_by_key(|(_, verdict)| std::cmp::Reverse(size(verdict)));
    assert!(refuted.len() >= 200, "{}", refuted.len());
    refuted.truncate(200);
    let wrong: Vec<String> = refuted
        .par_iter()
        .filter_map(|(law, verdict)| {
            doubt(law, verdict, &grid).map(|what| format!("{what}\n{law}"))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{}\n{}",
        wrong.len(),
        wrong[..wrong.len().min(4)].join("\n\n")
    );
    let large = refuted
        .iter()
        .filter(|(_, verdict)| size(verdict) >= 5)
        .count();
    assert!(large >= 20, "only {large} needed five cells");
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The most collisions that a ring of `n` cells can show at time `t`.
fn most_collisions(n: u64, t: u64) -> u64 {
    let cycles = gcd(2 * t, n);
    cycles * (n / cycles / 2)
}

/// The smallest admitted ring that can show more than `k` collisions up to `horizon`, and when it first can.
fn smallest_ring(k: u64, horizon: u64, admitted: impl Fn(u64) -> bool) -> (u64, u64) {
    (1..)
        .filter(|&n| admitted(n))
        .find_map(|n| {
            (1..=horizon)
                .find(|&t| most_collisions(n, t) > k)
                .map(|t| (n, t))
        })
        .unwrap()
}

#[test]
fn the_counting_argument_is_right_where_brute_force_reaches() {
    let grid = Universe::kinetic();
    for k in 0..4 {
        for horizon in 1..=4 {
            let law = collisions(k, horizon, &Value::Null);
            let found = Oracle::new(&law, &grid).unwrap().smallest(9).unwrap();
            let expected = smallest_ring(k, horizon, |_| true);
            assert_eq!(
                (found.n as u64, found.t_fail as u64),
                expected,
                "k = {k}, T = {horizon}"
            );
            assert_eq!(found.movers as u64, 2 * (k + 1), "each collision takes two");
        }
    }
}

fn collisions(k: u64, horizon: u64, conditions: &Value) -> Value {
    json!({
        "law_id": format!("at_most_{k}"), "template": "bound", "quantifiers": {"T": horizon}, "preconditions": conditions,
        "observables": [{"name": "x", "expr": "count('X')"}], "claim": format!("x(t) <= {k}"), "forbidden": "more of them",
    })
}

#[test]
fn bounds_on_collisions_fail_on_the_smallest_ring_that_can() {
    bounds_on_collisions(&[20]);
}

#[test]
fn bounds_on_collisions_within_few_steps_fail_on_the_smallest_ring_that_can() {
    bounds_on_collisions(&[1, 2, 3]);
}

fn bounds_on_collisions(horizons: &[u64]) {
    let harness = harness();
    let any: fn(u64) -> bool = |_| true;
    let even: fn(u64) -> bool = |n| n % 2 == 0;
    let odd: fn(u64) -> bool = |n| n % 2 == 1;
    let wide: fn(u64) -> bool = |n| n >= 11;
    let rings = [
        (Value::Null, any),
        (
            json!([{"lhs": "grid_length % 2", "op": "==", "rhs": 0}]),
            even,
        ),
        (
            json!([{"lhs": "grid_length % 2", "op": "==", "rhs": 1}]),
            odd,
        ),
        (json!([{"lhs": "grid_length", "op": ">", "rhs": 10}]), wide),
    ];
    let mut larger = Vec::new();
    for k in 0..=12 {
        for (conditions, admitted) in &rings {
            for &horizon in horizons {
                let what = format!("k = {k}, T = {horizon}, {conditions}");
                let law = Law::from_value(
                    collisions(k, horizon, conditions),
                    "$",
                    Extensions::default(),
                )
                .unwrap();
                let verdict = harness.evaluate(&law);
                let (n, t) = smallest_ring(k, horizon, admitted);
                let Some(example) = verdict.counterexample else {
                    larger.push(format!(
                        "{what}: {:?}, but a ring of {n} refutes it",
                        verdict.status
                    ));
                    continue;
                };
                rederive(&example).unwrap();
                if example.config.n as u64 != n {
                    assert!(!example.minimal && example.config.n as u64 > n, "{what}");
                    larger.push(format!("{what}: {} instead of {n}", example.config.n));
                }
                if example.minimal {
                    let movers = example
                        .initial_state
                        .chars()
                        .filter(|&symbol| symbol != '.')
                        .count() as u64;
                    assert_eq!(
                        (movers, example.t_fail),
                        (2 * (k + 1), t),
                        "{what}: {}",
                        example.initial_state
                    );
                }
                assert!(example.minimal || n > 14, "{what}");
            }
        }
    }
    assert!(larger.is_empty(), "{}\n{}", larger.len(), larger.join("\n"));
}
