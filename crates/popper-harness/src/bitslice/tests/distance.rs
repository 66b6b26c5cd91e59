//! Distances against their definition, one state at a time.

use super::super::*;
use super::{TestStream, batches, compile, law, universes};
use crate::law::evaluate::{Case, Trajectory, admitted, holds, integer, observe, step_of};
use crate::law::syntax::{Op, Time};
use crate::law::{Claim, Formula, Program};
use crate::universe::{Symbol, Tabulated};

type Reader<'a> = &'a mut dyn FnMut(usize, Time) -> Result<i64, crate::law::evaluate::EvalError>;

fn gap(op: Op, left: i64, right: i64) -> u32 {
    let (left, right) = (i128::from(left), i128::from(right));
    let gap = match op {
        Op::Eq => (left - right).abs(),
        Op::Ne => i128::from(left == right),
        Op::Lt => (left - right + 1).max(0),
        Op::Le => (left - right).max(0),
        Op::Gt => (right - left + 1).max(0),
        _ => (right - left).max(0),
    };
    gap.min(i128::from(FAR)) as u32
}

fn opposite(op: Op) -> Op {
    match op {
        Op::Eq => Op::Ne,
        Op::Ne => Op::Eq,
        Op::Lt => Op::Ge,
        Op::Ge => Op::Lt,
        Op::Le => Op::Gt,
        _ => Op::Le,
    }
}

fn far(formula: &Formula, wanted: bool, t: u64, read: Reader<'_>) -> u32 {
    let all = |a: u32, b: u32| (a + b).min(FAR);
    match formula {
        Formula::Cmp(op, left, right) => match (integer(left, t, read), integer(right, t, read)) {
            (Ok(left), Ok(right)) => gap(if wanted { *op } else { opposite(*op) }, left, right),
            _ => FAR,
        },
        Formula::Not(inner) => far(inner, !wanted, t, read),
        Formula::And(left, right) => {
            let (left, right) = (far(left, wanted, t, read), far(right, wanted, t, read));
            if wanted {
                all(left, right)
            } else {
                left.min(right)
            }
        }
        Formula::Or(left, right) => {
            let (left, right) = (far(left, wanted, t, read), far(right, wanted, t, read));
            if wanted {
                left.min(right)
            } else {
                all(left, right)
            }
        }
        Formula::Implies(left, right) => {
            let (left, right) = (far(left, !wanted, t, read), far(right, wanted, t, read));
            if wanted {
                left.min(right)
            } else {
                all(left, right)
            }
        }
    }
}

/// The distance of one start and that of its antecedent.
fn reference(
    program: &Program,
    universe: &Tabulated,
    start: &[Symbol],
    horizon: Horizon,
) -> (u32, u32) {
    if admitted(&program.preconditions, start, universe) != Ok(true) {
        let sum: u32 = program
            .preconditions
            .iter()
            .map(|condition| {
                let side = |side| observe(side, start, universe);
                match (side(&condition.left), side(&condition.right)) {
                    (Ok(left), Ok(right)) => gap(condition.op, left, right),
                    _ => FAR,
                }
            })
            .sum();
        let far = NOT_ADMITTED + sum.min(FAR);
        return (far, far);
    }
    let mut run = Trajectory::new(universe, start);
    let mut value =
        |index: usize, step| observe(&program.observables[index], run.state(step), universe);
    let (mut best, mut best_antecedent) = (FAR, FAR);
    match &program.claim {
        Claim::Always {
            antecedent,
            consequent,
            steps,
        } => {
            let last = if *steps {
                horizon.t.saturating_sub(1)
            } else {
                horizon.t
            };
            for t in 0..=last {
                let mut read = |index: usize, time| value(index, step_of(time, t));
                let asked = antecedent
                    .as_ref()
                    .is_none_or(|p| holds(p, t, &mut read) == Ok(true));
                let violated = asked && holds(consequent, t, &mut read) == Ok(false);
                let away = antecedent
                    .as_ref()
                    .map_or(0, |p| far(p, true, t, &mut read));
                let sum = (away + far(consequent, false, t, &mut read)).min(FAR);
                best = best.min(if violated { 0 } else { sum.max(1) });
                best_antecedent = best_antecedent.min(away);
            }
        }
        Claim::Eventually {
            antecedent,
            consequent,
            ..
        } => {
            for t0 in 0..=horizon.t {
                let window: Vec<_> = (t0..=t0 + horizon.window)
                    .map(|t| {
                        holds(consequent, t, &mut |index, time| {
                            value(index, step_of(time, t))
                        })
                    })
                    .collect();
                let mut read = |index: usize, time| value(index, step_of(time, t0));
                let violated = holds(antecedent, t0, &mut read) == Ok(true)
                    && window.iter().all(|value| *value == Ok(false));
                let away = far(antecedent, true, t0, &mut read);
                let held = window.iter().filter(|value| **value == Ok(true)).count() as u32;
                let sum = (away + held).min(FAR);
                best = best.min(if violated { 0 } else { sum.max(1) });
                best_antecedent = best_antecedent.min(away);
            }
        }
        Claim::Commutes(_) | Claim::Local { .. } => {
            let case = Case::new(program, universe, start, horizon);
            best = u32::from(case.violation.is_none());
            let local = matches!(program.claim, Claim::Local { .. });
            best_antecedent = u32::from(local && case.triggers == 0);
        }
    }
    (best, best_antecedent)
}

#[test]
fn distances_are_those_of_the_definition() {
    let mut draw = TestStream::new(5);
    let mut scratch = Scratch::default();
    let mut zeros = 0;
    for universe in universes() {
        let circuit = Circuit::new(universe.rule());
        let symmetry = serde_json::json!({"template": "symmetry_commutation",
            "quantifiers": {"T": 3}, "transform": "shift_2"});
        let horizon = Horizon { t: 3, window: 0 };
        let mut laws = vec![(symmetry, horizon)];
        laws.extend((0..20).map(|_| law(&mut draw, &universe)));
        for (law, horizon) in laws {
            let program = compile(&law, &universe);
            for batch in batches(&universe, &mut draw, 1) {
                let plan =
                    BitProgram::new(&program, &circuit, &universe, batch.n, horizon).unwrap();
                let total = plan.distance(&batch, &mut scratch);
                let antecedent = plan.antecedent_distance(&batch, &mut scratch);
                let outcome = plan.run(&batch, &mut scratch);
                for lane in 0..LANES {
                    let expected = if batch.live.get(lane) {
                        reference(&program, &universe, &batch.get(lane), horizon)
                    } else {
                        (u32::MAX, u32::MAX)
                    };
                    assert_eq!(
                        (total[lane], antecedent[lane]),
                        expected,
                        "{law} {horizon:?}"
                    );
                    assert_eq!(total[lane] == 0, outcome.violated.get(lane));
                    zeros += u32::from(total[lane] == 0);
                }
            }
        }
    }
    assert!(zeros > 1000, "{zeros}");
}
