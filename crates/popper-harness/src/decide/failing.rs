//! Descriptions of starts on which an expression has no value.

use super::evaluator::{CompiledUniverse, Violation};
use crate::law::evaluate::{Case, EvalError, Trajectory, admitted, holds, observe, step_of};
use crate::law::syntax::Time;
use crate::law::{Claim, Formula, Law, Program};
use crate::universe::{State, Universe};

/// The number of starts without a value after which only exhaustion continues.
pub const MOST_ERRORS: u64 = 1000;

/// Describes the expression of a law that has no value on a start, with the step and the reason.
pub fn describe(
    compiled: &CompiledUniverse<'_>,
    law: &Law,
    program: &Program,
    failing: &Violation,
) -> Option<String> {
    let start = &failing.start;
    let horizon = compiled.evaluator(program, start.len())?.horizon;
    let (t, error) = Case::new(program, compiled.universe, start, horizon).error?;
    let (t, expression) = if admitted(&program.preconditions, start, compiled.universe).is_err() {
        (0, precondition(compiled, law, program, start)?)
    } else {
        claim(compiled, law, program, start, t)?
    };
    let text = compiled.universe.alphabet().text(start);
    Some(format!(
        "{expression} has no value at t = {t} of the run from `{text}`: {error}"
    ))
}

fn precondition(
    compiled: &CompiledUniverse<'_>,
    law: &Law,
    program: &Program,
    start: &State,
) -> Option<String> {
    let fails = |observable| observe(observable, start, compiled.universe).is_err();
    let index = program
        .preconditions
        .iter()
        .position(|condition| fails(&condition.left) || fails(&condition.right))?;
    let given = &law.preconditions[index];
    let side = if fails(&program.preconditions[index].left) {
        &given.lhs
    } else {
        &given.rhs
    };
    Some(format!("the precondition's `{side}`"))
}

/// Finds the step and the first expression without a value in the claim at `t`.
fn claim(
    compiled: &CompiledUniverse<'_>,
    law: &Law,
    program: &Program,
    start: &State,
    t: u64,
) -> Option<(u64, String)> {
    let mut run = Trajectory::new(compiled.universe, start);
    let mut failed: Option<usize> = None;
    let mut fails = |formula: &Formula, t: u64| {
        let mut read = |index: usize, time: Time| {
            let value = observe(
                &program.observables[index],
                run.state(step_of(time, t)),
                compiled.universe,
            );
            if value.is_err() {
                failed = Some(index);
            }
            value
        };
        let outcome: Result<bool, EvalError> = holds(formula, t, &mut read);
        outcome.is_err()
    };
    let at = match &program.claim {
        Claim::Always {
            antecedent,
            consequent,
            ..
        } => (antecedent
            .as_ref()
            .is_some_and(|antecedent| fails(antecedent, t))
            || fails(consequent, t))
        .then_some(t),
        Claim::Eventually {
            antecedent,
            consequent,
            window,
        } => {
            if fails(antecedent, t) {
                Some(t)
            } else {
                (t..=t.saturating_add(*window)).find(|&later| fails(consequent, later))
            }
        }
        Claim::Commutes(_) | Claim::Local { .. } => None,
    }?;
    let Some(index) = failed else {
        return Some((at, "the claim".into()));
    };
    let observable = &program.observables[index];
    let named = program.named.iter().find(|(_, known)| known == observable);
    let given =
        named.and_then(|(name, _)| law.observables.iter().find(|given| given.name == *name));
    Some((
        at,
        given.map_or_else(
            || "an observable of the claim".into(),
            |given| format!("`{} = {}`", given.name, given.expr),
        ),
    ))
}
