//! Null runs do not depend on threads, nor on how many there are.

use std::ops::ControlFlow;

use logosphere_core::measures::nulls::{DescentModel, Null, NullComparison, NullPlan, compare};

use crate::population;

fn compared(kind: Null, runs: u32, threads: usize) -> (NullComparison, Vec<u32>) {
    let settings = population::settings("mutator:p=0.1", 4, 15, 20, 3);
    let run = population::run(&settings, &population::built_in());
    let plan = NullPlan {
        kind,
        runs,
        seed: 5,
        threads,
    };
    let mut told = Vec::new();
    let mut on_run = |now: logosphere_core::measures::nulls::NullProgress| {
        assert_eq!(now.total, runs);
        told.push(now.done);
        ControlFlow::Continue(())
    };
    (compare(&run, &plan, &mut on_run).unwrap(), told)
}

#[test]
fn n8_the_result_is_the_same_on_any_number_of_threads() {
    for kind in [Null::Descent, Null::Shuffle] {
        let (alone, told) = compared(kind, 250, 1);
        assert_eq!(told, (1..=250).collect::<Vec<_>>());
        let (many, told) = compared(kind, 250, 16);
        assert_eq!(told, (1..=250).collect::<Vec<_>>());
        let bytes = |found: &NullComparison| serde_json::to_string(found).unwrap();
        assert_eq!(bytes(&alone), bytes(&many));
        assert_eq!(alone, many);
        assert!(!alone.tests.is_empty());
    }
}

#[test]
fn n8_more_runs_begin_with_the_same_runs() {
    let settings = population::settings("mutator:p=0.1", 4, 15, 20, 3);
    let run = population::run(&settings, &population::built_in());
    let model = DescentModel::new(&run, 5);
    // A run depends on its number and the seed alone.
    for index in [0, 1, 198] {
        let texts = model.null_texts(index);
        assert_eq!(texts, DescentModel::new(&run, 5).null_texts(index));
        assert_ne!(texts, model.null_texts(index + 1));
        assert_ne!(texts, DescentModel::new(&run, 6).null_texts(index));
    }
    // So the p of 199 and of 999 runs are of the same first 199: the counts can only grow.
    let choice = model.choice().largest_z();
    let at_least = |runs: u32| {
        (0..runs)
            .filter(|index| model.null_choice(*index).largest_z() >= choice)
            .count()
    };
    for runs in [199, 999] {
        let (found, _) = compared(Null::Descent, runs, 2);
        let p = found.test("choice").unwrap().p.unwrap();
        let expected = (1 + at_least(runs)) as f64 / f64::from(runs + 1);
        assert!((p - expected).abs() < 1e-12, "{runs}: {p} {expected}");
    }
}

#[test]
fn a_comparison_that_is_stopped_has_no_result() {
    let settings = population::settings("mutator:p=0.1", 4, 15, 20, 3);
    let run = population::run(&settings, &population::built_in());
    let mut done = 0;
    let stopped = compare(&run, &NullPlan::default(), &mut |_| {
        done += 1;
        if done == 7 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert_eq!(stopped, None);
    assert!(done < 100, "{done}");
}
