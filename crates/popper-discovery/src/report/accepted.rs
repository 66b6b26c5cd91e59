//! The accepted laws: their evidence, and the power of the tests.

use popper_harness::decide::{Power, Status};
use popper_harness::proof::{Certificate, Method, Proof};
use report_kit::{Cell, Section, Table};

use super::cells::{ROWS, SHOWN, anchor, badge, claim, evidence, said};
use super::discovery_report::{DiscoveryReport, Judged};

/// The accepted laws one by one; `None` if there are none.
pub(super) fn section(report: &DiscoveryReport) -> Option<Section> {
    let accepted: Vec<&Judged> = (report.laws.iter())
        .filter(|law| law.status == Status::Pass)
        .collect();
    if accepted.is_empty() {
        return None;
    }
    let mut section = Section::new("Accepted laws").anchor("accepted").folded();
    section = section.text("Strongest evidence first. A proof is data that can be checked again; it is in the data of this page.");
    if accepted.len() > SHOWN {
        let note = format!("The first {SHOWN} of {} are shown.", accepted.len());
        section = section.text(note);
    }
    let shown = accepted.into_iter().take(SHOWN);
    Some(shown.fold(section, |section, law| section.section(told(law))))
}

fn told(law: &Judged) -> Section {
    let mut facts = said(law);
    facts.extend([
        ("Evidence", evidence(law)),
        ("Steps watched", Cell::text(&law.evidence.horizon.note)),
        ("Rings", Cell::text(rings(&law.power))),
    ]);
    let mut section = Section::new(claim(law))
        .anchor(anchor(law))
        .folded()
        .facts(facts);
    if let Some(proof) = &law.evidence.proof {
        section = section.text(proved(proof));
    }
    for note in &law.notes {
        section = section.text(note);
    }
    section
}

/// The checks of a proof in words.
fn proved(proof: &Proof) -> String {
    let method = match proof.method {
        Method::RuleCommutes => "The transform commutes with the local rule.",
        Method::Homogeneity => "The rule is the same at every cell, so shifts commute with it.",
        Method::RuleTable => "The local rule does what the law says.",
        Method::WindowGraph => "No cycle of the window graph has the wrong sign.",
        Method::Induction => {
            "No cycle of the window graph has the wrong sign, from the start on and from step to step."
        }
        Method::Regular => "The words that occur in the states of a run leave no way to fail.",
    };
    let facts = match &proof.certificate {
        Certificate::RuleCommutes { neighbourhoods } => {
            format!("Checked on all {neighbourhoods} neighbourhoods.")
        }
        Certificate::Homogeneity {} => "There is nothing to check.".to_owned(),
        Certificate::RuleTable { windows, triggered } => {
            format!("Checked on all {windows} windows, of which {triggered} hold the trigger.")
        }
        Certificate::Refutations(refutations) => format!(
            "Ways in which the claim could fail, each refuted by potentials: {}.",
            refutations.cases.len()
        ),
        Certificate::Regular(regular) => format!(
            "Ways in which the claim could fail, each refuted on the rings of such words: {}.",
            regular.cases.len()
        ),
    };
    format!("Proof: {method} {facts}")
}

/// The most runs of neighbouring ring sizes that are named one by one.
const NAMED_RUNS: usize = 4;

/// Ring sizes in words. A law with a proof is sampled on single sizes.
fn rings(power: &Power) -> String {
    let words = |exhausted: bool, name: &str| {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        let used = power.rings.iter().filter(|ring| ring.used > 0);
        for ring in used.filter(|ring| ring.exhausted == exhausted) {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == ring.n => *last = ring.n,
                _ => runs.push((ring.n, ring.n)),
            }
        }
        if let (Some(first), Some(last)) = (runs.first(), runs.last())
            && runs.len() > NAMED_RUNS
        {
            runs = vec![(first.0, last.1)];
        }
        let text = |&(first, last): &(usize, usize)| match last - first {
            0 => first.to_string(),
            _ => format!("{first} to {last}"),
        };
        let sizes: Vec<String> = runs.iter().map(text).collect();
        (!sizes.is_empty()).then(|| format!("N = {} {name}", sizes.join(", ")))
    };
    let parts = [words(true, "exhausted"), words(false, "sampled")];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn bound(rate: Option<f64>) -> Cell {
    rate.map_or(Cell::Missing, |rate| Cell::number(rate, 5))
}

/// The power of the tests, for every evaluated law.
pub(super) fn power(report: &DiscoveryReport) -> Section {
    let columns = [
        "Law",
        "Verdict",
        "Cases used",
        "Different",
        "Rings",
        "Mutants refuted",
        "Triggers",
        "Collisions",
        "Seam",
        "Worst 95 % bound",
    ];
    let run = report.laws.iter().filter(|law| law.power.attempted > 0);
    let rows = run.map(|law| {
        let power = &law.power;
        let bounds = power
            .rings
            .iter()
            .filter_map(|ring| ring.violation_rate_upper_95);
        let mutation = &power.mutation;
        let mutants = match mutation.total {
            0 => Cell::Missing,
            total => Cell::text(format!("at least {} of {total}", mutation.refuted_at_least)),
        };
        let triggers = match power.triggers {
            0 => Cell::Missing,
            triggers => triggers.into(),
        };
        [
            Cell::text(claim(law)),
            badge(law.status),
            power.used.into(),
            power.distinct.into(),
            Cell::text(rings(power)),
            mutants,
            triggers,
            Cell::number(power.collision_coverage, 2),
            Cell::number(power.wrap_coverage, 2),
            bound(bounds.reduce(f64::max)),
        ]
    });
    Section::new("Test power")
        .anchor("power")
        .folded()
        .text("Mutants are wrong neighbours of a law, tried on the same cases: a test that refutes none of them would not have found a wrong law. Triggers: the number of times that the antecedent held. Collisions and seam: the share of cases that visited a symbol no start may hold, and that had something at the seam of the ring. The bound is the rule of three, on the ring size with the fewest different cases; rings that were exhausted need none.")
        .table(Table::new("Power", columns).rows(rows).limit(ROWS))
}
