//! The score of laws: the harness decides each, and exact algebra says which conserved sums and symmetries they name.

use std::collections::BTreeSet;

use popper_harness::conserved::span;
use popper_harness::decide::{
    Config, EVALUATION_SEMANTICS, Harness, Status, Strength, UnknownReason, Verdict,
};
use popper_harness::law::syntax::{Op, Time};
use popper_harness::law::{
    Arith, Claim, Formula, Law, Observable, Program, Symmetry, Template, Term,
};
use popper_harness::universe::{Tabulated, Transform, Universe as _};

use super::score::{FoundCount, LawResult, LawScore};
use crate::enumerative::{eliminate, primitive};

/// The widest window of the conserved sums that recall is about, in cells: that of `popper conserved`.
const WIDTH: usize = 2;

/// Returns the configuration of the harness that decides the laws of an episode. Its budgets are counts, so the verdicts are the same on any
/// machine.
pub fn law_config() -> Config {
    Config::default()
        .exhaustive_n(8)
        .minimal_n(8)
        .exhaustive_budget(10_000_000_000)
        .sampled_budget(2_000_000_000)
        .ladder(vec![9, 10, 11, 12, 13, 16, 17, 24, 33, 64])
        .generations(8)
        .proposed_cases(512)
}

/// Scores the laws of an episode.
pub(super) fn score(universe: &Tabulated, laws: &[Law]) -> LawScore {
    let config = law_config();
    let mut score = LawScore {
        stated: laws.len() as u64,
        decided_by: EVALUATION_SEMANTICS.to_owned(),
        harness_config_hash: config.hash(),
        ..LawScore::default()
    };
    // The configuration and the universe are valid, so there is a harness.
    if let Some(harness) = (!laws.is_empty()).then(|| Harness::new(universe.clone(), config).ok()) {
        let mut known = BTreeSet::new();
        for law in laws {
            let verdict = harness.as_ref().map(|harness| harness.evaluate(law));
            let result = result(law, verdict.as_ref(), &mut known);
            *counter(&mut score, &result.result) += 1;
            score.results.push(result);
        }
    }
    let programs: Vec<Program> = laws
        .iter()
        .filter(|law| law.preconditions().is_empty())
        .filter_map(|law| Program::compile(law, universe).ok())
        .collect();
    score.additive = additive(universe, &programs);
    score.transforms = transforms(universe, &programs);
    score
}

fn counter<'a>(score: &'a mut LawScore, result: &str) -> &'a mut u64 {
    match result {
        "proved" => &mut score.proved,
        "exhaustive" => &mut score.exhaustive,
        "sampled" => &mut score.sampled,
        "false" => &mut score.false_laws,
        "tautology" => &mut score.tautologies,
        "repeated" => &mut score.repeated,
        _ => &mut score.undecided,
    }
}

/// Returns the result of a law. `known` has the results so far, with the laws apart from their horizons.
fn result(
    law: &Law,
    verdict: Option<&Verdict>,
    known: &mut BTreeSet<(&'static str, String)>,
) -> LawResult {
    let reason = verdict.and_then(|verdict| verdict.reason_code);
    let result = match verdict.map(|verdict| verdict.status) {
        Some(Status::Fail) => "false",
        // Every universe commutes with the shifts.
        Some(Status::Pass) if is_shift(law) => "tautology",
        Some(Status::Pass) => match verdict.and_then(|verdict| verdict.evidence.strength) {
            Some(Strength::Proved) => "proved",
            Some(Strength::Exhaustive) => "exhaustive",
            _ => "sampled",
        },
        _ if reason == Some(UnknownReason::TautologicalClaim) => "tautology",
        _ => "undecided",
    };
    let mut normal = law.normal().clone();
    normal.horizon = 1;
    let is_new = known.insert((result, normal.fingerprint()));
    LawResult {
        law_id: law.law_id().to_owned(),
        result: if is_new { result } else { "repeated" }.to_owned(),
        reason: reason
            .filter(|_| result == "undecided")
            .and_then(|reason| serde_json::to_value(reason).ok())
            .and_then(|reason| reason.as_str().map(str::to_owned)),
    }
}

fn is_shift(law: &Law) -> bool {
    use popper_harness::law::Statement;

    let claim = law.resolve().map(|resolved| &resolved.claim);
    matches!(claim, Ok(Statement::Commutes(name)) if name.starts_with("shift_"))
}

/// Counts the independent conserved sums among the laws, apart from the number of cells, which every universe conserves.
///
/// Membership in the space is exact, so neither the verdict nor the horizon of a law matters.
fn additive(universe: &Tabulated, programs: &[Program]) -> FoundCount {
    let Ok(space) = span(universe, WIDTH) else {
        return FoundCount::default();
    };
    let vectors = programs.iter().filter_map(|program| {
        let coordinates = space.coordinates(&conserved_sum(program)?)?;
        let proper = coordinates.iter().skip(1);
        Some(proper.map(|&entry| i128::from(entry)).collect())
    });
    FoundCount {
        found: rank(vectors),
        of: space.dimension as u64 - 1,
    }
}

/// Returns the quantity of which a law says that it stays as it was at the start.
fn conserved_sum(program: &Program) -> Option<Observable> {
    let Claim::Always {
        antecedent: None,
        consequent: Formula::Cmp(Op::Eq, left, right),
        ..
    } = &program.claim
    else {
        return None;
    };
    if program.template != Template::Invariant {
        return None;
    }
    let read = |term, time| observable(term, time, &program.observables);
    let same = |now, first| {
        let sum = read(now, Time::Now)?;
        (Some(&sum) == read(first, Time::At(0)).as_ref()).then_some(sum)
    };
    same(left, right).or_else(|| same(right, left))
}

/// Returns a term of a claim as an observable, if all of it is about one time.
fn observable(term: &Term, time: Time, observables: &[Observable]) -> Option<Observable> {
    let read = |term: &Term| observable(term, time, observables).map(Box::new);
    match term {
        Term::Int(number) => Some(Observable::Int(*number)),
        Term::Obs(index, at) if *at == time => observables.get(*index).cloned(),
        Term::Neg(inner) => Some(Observable::Neg(read(inner)?)),
        Term::Bin(op, left, right) => {
            let arith = match op {
                Op::Add => Arith::Add,
                Op::Sub => Arith::Sub,
                Op::Mul => Arith::Mul,
                _ => return None,
            };
            Some(Observable::Bin(arith, read(left)?, read(right)?))
        }
        _ => None,
    }
}

/// Returns the rank of vectors. A vector whose elimination needs more than 128 bits is left out.
fn rank(vectors: impl Iterator<Item = Vec<i128>>) -> u64 {
    let mut rows: Vec<(usize, Vec<i128>)> = Vec::new();
    for vector in vectors {
        let reduced = rows
            .iter()
            .try_fold(primitive(vector), |row, (lead, other)| {
                eliminate(&row, other, *lead)
            });
        if let Some(row) = reduced
            && let Some(lead) = row.iter().position(|&entry| entry != 0)
        {
            rows.push((lead, row));
        }
    }
    rows.len() as u64
}

/// Counts the transforms that commute with the rule, and those of them that a law names.
fn transforms(universe: &Tabulated, programs: &[Program]) -> FoundCount {
    let named: BTreeSet<&str> = programs
        .iter()
        .filter_map(|program| match &program.claim {
            Claim::Commutes(Symmetry::Named(transform)) => Some(transform.name()),
            _ => None,
        })
        .collect();
    let all = universe.transforms().iter();
    let commuting: Vec<&Transform> = all.filter(|one| commutes(universe, one)).collect();
    let is_found = |transform: &&&Transform| named.contains(transform.name());
    FoundCount {
        found: commuting.iter().filter(is_found).count() as u64,
        of: commuting.len() as u64,
    }
}

/// Whether the next symbol of the image of a window is the image of its next symbol, for every window.
fn commutes(universe: &Tabulated, transform: &Transform) -> bool {
    let rule = universe.rule();
    rule.windows().all(|(window, next)| {
        transform.apply(&[next])[..] == [rule.next(&transform.apply(&window))]
    })
}
