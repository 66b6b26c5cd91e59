//! The status of a run in lines for people.

use std::fmt::Write as _;

use bin_support::{Failure, escape};
use popper_discovery::status::{LastIteration, RunStatus};
use popper_discovery::store::{IterationStatus, LawStatus, RunRow, Store};

use super::cost;
use super::database::failure;
use crate::location::StoreLocation;

/// Returns the status of a run of the database at `location`, with the attempts without a reply in its ledger.
pub async fn run_status(
    store: &mut impl Store,
    run: &RunRow,
    location: &StoreLocation,
) -> Result<RunStatus, Failure> {
    let status = RunStatus::read(store, run).await.map_err(failure)?;
    with_spend(status, location)
}

/// Adds the attempts without a reply in the ledger of a run.
pub fn with_spend(mut status: RunStatus, location: &StoreLocation) -> Result<RunStatus, Failure> {
    let spend = location
        .ledger(status.run_id)
        .spent()
        .map_err(Failure::usage)?;
    status.cost.unsettled = spend.unsettled;
    status.cost.uncertain_nano_usd = spend.uncertain.0;
    Ok(status)
}

/// Returns the status in lines for people.
pub fn lines(status: &RunStatus) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<11}{value}");
    };
    let of = format!("{}, {}", status.universe_id, status.proposer);
    line("run", &format!("{}: {}", status.run_id, escape(&of)));
    line("begun", &status.created_at.to_string());
    line("iterations", &format!("{} completed", status.iterations));
    let last = status.last_iteration.as_ref();
    line("last", &last.map_or_else(|| "none".to_owned(), last_words));
    line("laws", &law_words(status));
    line("verdicts", &verdict_words(status));
    line(
        "attempts",
        &format!("{} made by this run", status.evaluations),
    );
    line("cost", &cost::words(&status.cost));
    text
}

/// Returns the status in one line, which differs when the run continues.
pub fn line(status: &RunStatus) -> String {
    let last = status.last_iteration.as_ref();
    let last = last.map_or_else(|| "no iteration".to_owned(), last_words);
    format!("run {}: {last}; {}", status.run_id, verdict_words(status))
}

/// The laws by status: `60 proposed: 30 tested, 30 waiting`, and those that are shelved.
fn law_words(status: &RunStatus) -> String {
    let count = |kind| status.laws.get(&kind).copied().unwrap_or(0);
    let waiting = count(LawStatus::Proposed) + count(LawStatus::Queued) - status.shelved;
    let parts: Vec<String> = [
        (count(LawStatus::Tested), "tested"),
        (waiting, "waiting"),
        (status.shelved, "shelved"),
        (count(LawStatus::RejectedSchema), "rejected"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    let all = status.laws.values().sum::<u64>();
    if parts.is_empty() {
        format!("{all} proposed")
    } else {
        format!("{all} proposed: {}", parts.join(", "))
    }
}

/// The verdicts: `14 PASS, 20 FAIL, 6 UNKNOWN (4 vacuous_pass, 2 tautological_claim)`.
fn verdict_words(status: &RunStatus) -> String {
    let words = ["PASS", "FAIL", "UNKNOWN"].map(|verdict| {
        let of_it = || status.verdicts.iter().filter(|one| one.verdict == verdict);
        let count: u64 = of_it().map(|one| one.laws).sum();
        let reasons: Vec<String> = of_it()
            .filter_map(|one| Some(format!("{} {}", one.laws, one.reason.as_ref()?)))
            .collect();
        if reasons.is_empty() {
            format!("{count} {verdict}")
        } else {
            format!("{count} {verdict} ({})", escape(&reasons.join(", ")))
        }
    });
    words.join(", ")
}

/// The last iteration: `iteration 3 running, or killed: 2 of 8 laws decided`.
fn last_words(last: &LastIteration) -> String {
    let index = last.iteration_index;
    let progress = match last.selected {
        None => "no laws chosen yet".to_owned(),
        Some(selected) => format!("{} of {selected} laws decided", last.decided),
    };
    match (last.status, last.completed_at) {
        (IterationStatus::Completed, Some(at)) => format!("iteration {index} completed {at}"),
        (IterationStatus::Completed, None) => format!("iteration {index} completed"),
        (IterationStatus::Running, _) => {
            format!("iteration {index} running, or killed: {progress}")
        }
        (IterationStatus::Aborted, _) => format!("iteration {index} aborted: {progress}"),
    }
}
