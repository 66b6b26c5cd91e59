//! Mutations of tested laws: weaker forms of refuted ones, stronger forms of surviving ones.

use popper_harness::law::syntax::{Op, Time};
use popper_harness::law::{Expr, Template};

use super::additive::counted;
use super::draft::{LawBody, LawDraft, now};
use super::grammar::{Stream, in_turn};
use super::observations::ObservationMatrix;
use crate::snapshot::{FailureExample, Falsified, Snapshot};

/// The longest window that a refuted `eventually` is given.
const LONGEST_WINDOW: u64 = 64;
/// The longest horizon of a mutated law, in steps.
const LONGEST_HORIZON: u64 = 400;

/// Weaker forms of the refuted laws, the latest first.
pub(super) fn weaker<'a>(snapshot: &'a Snapshot, evidence: &'a ObservationMatrix) -> Stream<'a> {
    let falsified = snapshot.falsified.iter().rev();
    in_turn(
        falsified
            .filter_map(|falsified| {
                let draft = LawDraft::from_normal_form(&falsified.law)?;
                Some(weakened(&draft, falsified, snapshot, evidence))
            })
            .map(|drafts| Box::new(drafts.into_iter()) as Stream<'a>)
            .collect(),
    )
}

fn weakened(
    draft: &LawDraft,
    falsified: &Falsified,
    snapshot: &Snapshot,
    evidence: &ObservationMatrix,
) -> Vec<LawDraft> {
    let specimen = &falsified.counterexample;
    let mut drafts = Vec::new();
    drafts.extend(other_direction(draft));
    drafts.extend(longer_window(draft));
    drafts.extend(extra_antecedents(draft, specimen, snapshot));
    // Conditions on conditions say little about the universe, and a bound by a constant needs another constant.
    if draft.preconditions.is_empty() && bound_of(draft).is_none() {
        drafts.extend(
            conditions(specimen, snapshot)
                .into_iter()
                .map(|condition| LawDraft {
                    preconditions: vec![condition],
                    ..draft.clone()
                }),
        );
    }
    drafts.extend(wider_bound(draft, evidence));
    drafts
}

/// Conditions that the start of a refutation does not meet.
fn conditions(specimen: &FailureExample, snapshot: &Snapshot) -> Vec<[String; 3]> {
    let condition = |lhs: String, op: &str, rhs: usize| [lhs, op.to_owned(), rhs.to_string()];
    let start = &specimen.initial_state;
    let cells = start.chars().count();
    let symbols = snapshot.contract.symbols.iter().skip(1);
    // What can never be there at the start says nothing when it is absent.
    let may_start = |symbol: &&char| !snapshot.contract.initial_forbidden.contains(*symbol);
    let mut conditions: Vec<[String; 3]> = symbols
        .filter(may_start)
        .map(|&symbol| {
            let count = counted(std::iter::once(symbol));
            if start.contains(symbol) {
                condition(count, "==", 0)
            } else {
                condition(count, ">=", 1)
            }
        })
        .collect();
    // Absence first: it is met on every ring.
    conditions.sort_by_key(|[_, op, _]| op != "==");
    conditions.push(condition("grid_length".into(), ">=", cells + 1));
    conditions.push(condition("grid_length % 2".into(), "==", (cells + 1) % 2));
    conditions
}

/// The monotone law in the other direction.
fn other_direction(draft: &LawDraft) -> Option<LawDraft> {
    let Some(Expr::Bin(op @ (Op::Le | Op::Ge), left, right)) = draft.claim() else {
        return None;
    };
    (draft.template == Template::Monotone).then(|| LawDraft {
        said: LawBody::Claim(Expr::Bin(op.mirrored(), left.clone(), right.clone())),
        ..draft.clone()
    })
}

fn longer_window(draft: &LawDraft) -> Option<LawDraft> {
    let h = draft.h?;
    let longer = h.saturating_mul(2).max(1);
    (longer <= LONGEST_WINDOW).then(|| LawDraft {
        h: Some(longer),
        ..draft.clone()
    })
}

/// Implications with one more antecedent, which is false at the step where the refutation fails.
fn extra_antecedents(
    draft: &LawDraft,
    specimen: &FailureExample,
    snapshot: &Snapshot,
) -> Vec<LawDraft> {
    let Some(Expr::Bin(Op::Implies, p, q)) = draft.claim() else {
        return Vec::new();
    };
    let there = specimen
        .excerpt
        .iter()
        .find(|moment| moment.t == specimen.t_fail);
    let Some(there) = there else {
        return Vec::new();
    };
    // One addition is enough: more make the law small.
    if matches!(**p, Expr::Bin(Op::And, ..)) {
        return Vec::new();
    }
    let spoken = p.observables();
    snapshot
        .contract
        .symbols
        .iter()
        .map(|&symbol| (symbol, counted(std::iter::once(symbol))))
        .filter(|(_, count)| !spoken.contains(&count.as_str()))
        .map(|(symbol, count)| {
            let extra = if there.state.contains(symbol) {
                now(&count).op(Op::Eq, 0)
            } else {
                now(&count).op(Op::Ge, 1)
            };
            let claim = (**p).clone().op(Op::And, extra).then((**q).clone());
            LawDraft {
                said: LawBody::Claim(claim),
                ..draft.clone()
            }
        })
        .collect()
}

/// A bound by a constant, moved to the extreme that was seen.
fn wider_bound(draft: &LawDraft, evidence: &ObservationMatrix) -> Option<LawDraft> {
    let (expr, op, _) = bound_of(draft)?;
    let (least, greatest) = evidence.extremes(&expr)?;
    let number = if op == Op::Le { greatest } else { least };
    Some(bounded(draft, &expr, op, number))
}

/// The expression, comparison (`<=` or `>=`) and constant of a bound.
fn bound_of(draft: &LawDraft) -> Option<(String, Op, i64)> {
    let (Template::Bound, Some(Expr::Bin(op @ (Op::Le | Op::Ge), left, right))) =
        (draft.template, draft.claim())
    else {
        return None;
    };
    match (left.as_ref(), right.as_ref()) {
        (Expr::Obs(expr, Time::Now), Expr::Int(number)) => Some((expr.clone(), *op, *number)),
        _ => None,
    }
}

fn bounded(draft: &LawDraft, expr: &str, op: Op, number: i64) -> LawDraft {
    LawDraft {
        said: LawBody::Claim(now(expr).op(op, number)),
        ..draft.clone()
    }
}

/// Stronger forms of the accepted laws, the latest first.
pub(super) fn stronger<'a>(snapshot: &'a Snapshot, evidence: &'a ObservationMatrix) -> Stream<'a> {
    let survivors: Vec<(LawDraft, bool)> = snapshot
        .accepted
        .iter()
        .rev()
        .filter_map(|accepted| {
            let proved = accepted.strength == Some(popper_harness::decide::Strength::Proved);
            Some((LawDraft::from_normal_form(&accepted.law)?, proved))
        })
        .collect();
    let alone: Vec<Stream<'a>> = survivors
        .iter()
        .map(|(draft, proved)| {
            let max_t = snapshot.capabilities.max_t.min(LONGEST_HORIZON);
            let drafts = strengthened(draft, *proved, max_t, evidence);
            Box::new(drafts.into_iter()) as Stream<'a>
        })
        .collect();
    let pairs: Vec<LawDraft> = survivors
        .iter()
        .enumerate()
        .flat_map(|(place, (draft, _))| {
            let others = survivors[place + 1..].iter();
            others.filter_map(|(other, _)| joined(draft, other))
        })
        .collect();
    in_turn(vec![in_turn(alone), Box::new(pairs.into_iter())])
}

fn strengthened(
    draft: &LawDraft,
    proved: bool,
    max_t: u64,
    evidence: &ObservationMatrix,
) -> Vec<LawDraft> {
    let mut drafts = Vec::new();
    for dropped in 0..draft.preconditions.len() {
        let mut fewer = draft.clone();
        fewer.preconditions.remove(dropped);
        drafts.push(fewer);
    }
    if let Some(h) = draft.h {
        // Within no step it would be an implication_state.
        for h in [h / 2, h.saturating_sub(1)].into_iter().filter(|h| *h > 0) {
            drafts.push(LawDraft {
                h: Some(h),
                ..draft.clone()
            });
        }
    }
    if let Some((expr, op, number)) = bound_of(draft) {
        let tighter = if op == Op::Le {
            number.checked_sub(1)
        } else {
            number.checked_add(1)
        };
        let seen = evidence
            .extremes(&expr)
            .map(|(least, greatest)| if op == Op::Le { greatest } else { least });
        let numbers = seen.into_iter().chain(tighter).filter(|seen| match op {
            Op::Le => *seen < number,
            _ => *seen > number,
        });
        drafts.extend(numbers.map(|number| bounded(draft, &expr, op, number)));
    }
    if let Some(Expr::Bin(Op::Implies, p, q)) = draft.claim() {
        let with = |p: Expr, q: Expr| LawDraft {
            said: LawBody::Claim(p.then(q)),
            ..draft.clone()
        };
        if let Expr::Bin(Op::And, left, right) = p.as_ref() {
            drafts.push(with((**left).clone(), (**q).clone()));
            drafts.push(with((**right).clone(), (**q).clone()));
        }
        if let Some((expr, time, number)) = threshold(q) {
            let more = Expr::Obs(expr, time).op(Op::Ge, number.saturating_add(1));
            drafts.push(with((**p).clone(), more));
        }
    }
    if let (Template::Monotone, Some(Expr::Bin(_, left, right))) = (draft.template, draft.claim()) {
        drafts.push(LawDraft {
            said: LawBody::Claim((**left).clone().op(Op::Eq, (**right).clone())),
            ..draft.clone()
        });
    }
    // A proof holds for ever already.
    let longer = draft.t.saturating_mul(3).min(max_t);
    if !proved && longer > draft.t {
        drafts.push(LawDraft {
            t: longer,
            ..draft.clone()
        });
    }
    drafts
}

/// The parts of `x >= k`.
fn threshold(phrase: &Expr) -> Option<(String, Time, i64)> {
    let Expr::Bin(Op::Ge, left, right) = phrase else {
        return None;
    };
    match (left.as_ref(), right.as_ref()) {
        (Expr::Obs(expr, time), Expr::Int(number)) => Some((expr.clone(), *time, *number)),
        _ => None,
    }
}

/// Whether a claim is not a conjunction.
fn is_simple(phrase: &Expr) -> bool {
    !matches!(phrase, Expr::Bin(Op::And, ..))
}

/// Two laws of the same template as one. A conjunction is not joined again: that would only reword it.
fn joined(one: &LawDraft, other: &LawDraft) -> Option<LawDraft> {
    let alike = one.template == other.template
        && one.h == other.h
        && one.preconditions == other.preconditions;
    if !alike {
        return None;
    }
    let said = match (one.template, one.claim()?, other.claim()?) {
        (
            Template::ImplicationStep | Template::ImplicationState,
            Expr::Bin(Op::Implies, p, q),
            Expr::Bin(Op::Implies, same, more),
        ) if p == same && is_simple(q) && is_simple(more) && q != more => (**p)
            .clone()
            .then((**q).clone().op(Op::And, (**more).clone())),
        (Template::Bound, claim, more)
            if claim.observables() == more.observables()
                && is_simple(claim)
                && is_simple(more)
                && claim != more =>
        {
            claim.clone().op(Op::And, more.clone())
        }
        _ => return None,
    };
    Some(LawDraft {
        t: one.t.min(other.t),
        said: LawBody::Claim(said),
        ..one.clone()
    })
}
