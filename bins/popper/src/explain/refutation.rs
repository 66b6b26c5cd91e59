//! A counterexample in words, with the run that it begins.

use popper_harness::counterexample::{
    Counterexample, broken_comparison, read_start, rederive, violation_from,
};
use popper_harness::law::syntax::{Op, Time};
use popper_harness::law::{Claim, Extensions, Law, Program, Term};
use popper_harness::universe::{Symbol, Tabulated};
use serde_json::Value;

use super::lines::wrapped;
use super::proof;
use super::run::RunTable;

/// The name of the law of a counterexample.
pub fn name(found: &Counterexample) -> &str {
    let name = found.config.law.get("law_id").and_then(Value::as_str);
    name.unwrap_or("a law without a name")
}

/// Returns the claim, the refutation in one sentence, and the run around it, in lines of at most `width` columns.
///
/// # Errors
/// The counterexample does not hold, or takes too long to be derived again.
pub fn text(found: &Counterexample, width: usize) -> Result<String, String> {
    rederive(found).map_err(|error| format!("the counterexample does not hold: {error}"))?;
    let failed = |error: &dyn std::error::Error| error.to_string();
    let universe = Tabulated::from_value(&found.config.universe).map_err(|error| failed(&error))?;
    let mut language = Extensions::default();
    language.local_transition = found.config.local_transition;
    let law = Law::from_value(found.config.law.clone(), "law", language);
    let law = law.map_err(|error| failed(&error))?;
    let program = Program::compile(&law, &universe).map_err(|error| failed(&error))?;
    let start = read_start(&found.initial_state, &universe).map_err(|error| failed(&error))?;
    let subject = Subject {
        law: &law,
        program: &program,
        universe: &universe,
        start: &start,
    };
    let mut paragraphs = vec![format!("{}: FAIL", law.law_id())];
    paragraphs.extend(subject.claim());
    paragraphs.push(subject.sentence(found));
    let rank = if found.minimal {
        "; no smaller start refutes it"
    } else {
        ""
    };
    paragraphs.push(format!("ring of N = {}{rank}", found.config.n));
    let run = subject.run(found.t_fail.saturating_add(1), Some(found.t_fail));
    Ok(wrapped(&paragraphs, width) + "\n" + &run.text(width))
}

/// Returns the text about the run of a law from a start: its refutation, or that it has none there.
///
/// # Errors
/// The law cannot be run from this start.
pub fn from_start(
    law: &Law,
    universe: &Tabulated,
    start: &str,
    width: usize,
) -> Result<String, String> {
    let found = violation_from(law, universe, start).map_err(|error| error.to_string())?;
    if let Some(found) = found {
        return text(&found, width);
    }
    let program = Program::compile(law, universe).map_err(|error| error.to_string())?;
    let start = read_start(start, universe).map_err(|error| error.to_string())?;
    let subject = Subject {
        law,
        program: &program,
        universe,
        start: &start,
    };
    let (cells, horizon) = (start.len(), program.horizon);
    let mut paragraphs = vec![format!("{}: not refuted from this start", law.law_id())];
    paragraphs.extend(subject.claim());
    paragraphs.push(format!(
        "The claim holds at every t to {horizon} of this run, on a ring of N = {cells}; `check` tries other starts."
    ));
    let run = subject.run(horizon.min(RunTable::WHOLE), None);
    Ok(wrapped(&paragraphs, width) + "\n" + &run.text(width))
}

/// A law in a universe, and a start.
struct Subject<'a> {
    law: &'a Law,
    program: &'a Program,
    universe: &'a Tabulated,
    start: &'a [Symbol],
}

impl Subject<'_> {
    /// The claim, and what its names mean.
    fn claim(&self) -> Vec<String> {
        let claim = match self.law.claim().trim() {
            "" => proof::claim(self.law.normal()),
            text => Some(format!("claim: {text}")),
        };
        let claim = claim.unwrap_or_else(|| format!("claim: {}", self.law.template().name()));
        let named = self.program.named.iter();
        let meanings =
            named.filter(|(_, observable)| self.program.observables.contains(observable));
        let meanings = meanings.filter_map(|(name, _)| {
            let meaning = self.meaning(name)?;
            (meaning != name).then(|| format!("  {name} is {meaning}"))
        });
        let conditions = self.law.preconditions().iter();
        let conditions = conditions.map(|when| {
            format!(
                "  from starts with {} {} {}",
                when.lhs,
                when.op.text(),
                when.rhs
            )
        });
        std::iter::once(claim)
            .chain(meanings)
            .chain(conditions)
            .collect()
    }

    /// The expression of an observable of the law, as it was given.
    fn meaning(&self, name: &str) -> Option<&str> {
        let declared = self.law.source().get("observables")?.as_array()?;
        let found = declared
            .iter()
            .find(|it| it.get("name").and_then(Value::as_str) == Some(name))?;
        found.get("expr")?.as_str()
    }

    /// The refutation in one sentence.
    fn sentence(&self, found: &Counterexample) -> String {
        let (t, witness) = (found.t_fail, &found.witness);
        let (left, right) = (&witness.left, &witness.right);
        match &self.program.claim {
            Claim::Commutes(_) => {
                format!(
                    "t = {t}: the transform before the steps gives {left}, after the steps {right}"
                )
            }
            Claim::Local { .. } => {
                let not = if witness.op == "!=" { "not " } else { "" };
                let left = left.replace(": ", " is ");
                format!("t = {t}: {left} one step later, the claim needs {not}{right}")
            }
            claim => {
                let Some((side, op, _)) =
                    broken_comparison(self.program, self.universe, self.start, t)
                else {
                    return format!("t = {t}: {left} {} {right} does not hold", witness.op);
                };
                let needed = match op {
                    Op::Eq => right.clone(),
                    Op::Ne => format!("any other value than {right}"),
                    op => format!("{} {right}", op.text()),
                };
                let within = match claim {
                    Claim::Eventually { window, .. } => format!(" within {window} steps"),
                    _ => String::new(),
                };
                format!(
                    "t = {t}: {} is {left}, the claim needs {needed}{within}",
                    self.side(side)
                )
            }
        }
    }

    /// One side of a comparison: an expression alone where it can, else with the names of the claim.
    fn side(&self, term: &Term) -> String {
        match term {
            Term::Obs(index, time) => {
                let name = self.name(*index);
                let meaning = self.meaning(name).unwrap_or(name);
                match time {
                    Time::Now => meaning.to_owned(),
                    Time::Next => format!("{meaning} at t + 1"),
                    Time::At(step) => format!("{meaning} at t = {step}"),
                    _ => name.to_owned(),
                }
            }
            term => self.term(term),
        }
    }

    fn term(&self, term: &Term) -> String {
        match term {
            Term::Int(number) => number.to_string(),
            Term::Step => "t".to_owned(),
            Term::Obs(index, time) => {
                let time = match time {
                    Time::Now => "t".to_owned(),
                    Time::Next => "t+1".to_owned(),
                    Time::At(step) => step.to_string(),
                    _ => "?".to_owned(),
                };
                format!("{}({time})", self.name(*index))
            }
            Term::Neg(inner) => format!("-{}", self.factor(inner)),
            Term::Bin(op, left, right) => {
                format!("{} {} {}", self.factor(left), op.text(), self.factor(right))
            }
            _ => "a number".to_owned(),
        }
    }

    fn factor(&self, term: &Term) -> String {
        match term {
            Term::Bin(..) => format!("({})", self.term(term)),
            term => self.term(term),
        }
    }

    fn name(&self, index: usize) -> &str {
        let observable = self.program.observables.get(index);
        let named = self.program.named.iter();
        let mut named = named.filter(|(_, one)| Some(one) == observable);
        named.next().map_or("the observable", |(name, _)| name)
    }

    /// The run to a step, with the observables that the claim names.
    fn run(&self, last: u64, failing: Option<u64>) -> RunTable<'_> {
        let named = self.program.named.iter();
        let columns = named.filter(|(_, one)| self.program.observables.contains(one));
        RunTable {
            universe: self.universe,
            start: self.start,
            last,
            failing,
            columns: columns.map(|(name, one)| (name.as_str(), one)).collect(),
        }
    }
}
