//! A score for people.

use std::io::Write as _;

use bin_support::{Failure, Session, Table, escape};
use popper_discovery::lab::{FoundCount, LabScore};

/// Prints a score: as JSON on one line, or as a table. `-v` adds the result of each law.
pub fn print(score: &LabScore, json: bool, session: &mut Session) -> Result<(), Failure> {
    if json {
        writeln!(session.results.untrusted(), "{}", score.line())?;
        return Ok(());
    }
    let end = if score.is_ended { "ended" } else { "not ended" };
    let (tier, cells) = (score.tier.name(), &score.cells);
    let (experiments, rejected) = (score.experiments, score.rejected_lines);
    let mut times = Table::new(["t", "right", "abstained", "chance"]);
    for at in &score.predictions {
        let share = |count| percent(count, at.cells);
        let (right, abstained) = (share(at.right), share(at.abstained));
        times.row([at.t.to_string(), right, abstained, share(at.chance)]);
    }
    let laws = &score.laws;
    let counts = [
        (laws.proved, "proved"),
        (laws.exhaustive, "exhaustive"),
        (laws.sampled, "sampled"),
        (laws.false_laws, "false"),
        (laws.tautologies, "tautological"),
        (laws.undecided, "undecided"),
        (laws.repeated, "repeated"),
    ];
    let counts: Vec<String> = (counts.iter())
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    let counts = if counts.is_empty() {
        String::new()
    } else {
        format!(": {}", counts.join(", "))
    };
    let times = times.text(&session.results);
    let is_verbose = session.verbosity() > 0;
    let out = &mut session.results;
    writeln!(out, "tier        {tier}, {end}")?;
    writeln!(
        out,
        "cells       {} of {} in {experiments} experiments, {rejected} lines rejected",
        cells.spent, cells.budget
    )?;
    writeln!(out, "laws        {} stated{counts}", laws.stated)?;
    writeln!(out, "sums        {}", found(laws.additive))?;
    writeln!(out, "transforms  {}\n", found(laws.transforms))?;
    write!(out, "{times}")?;
    if is_verbose && !laws.results.is_empty() {
        let mut results = Table::new(["law", "result", "reason"]);
        for law in &laws.results {
            let reason = law.reason.clone().unwrap_or_default();
            results.row([escape(&law.law_id), law.result.clone(), reason]);
        }
        let results = results.text(out);
        write!(out, "\n{results}")?;
    }
    Ok(())
}

fn found(count: FoundCount) -> String {
    format!("{} of {} found", count.found, count.of)
}

/// A share in per cent, rounded down: only all of them are 100 %.
fn percent(count: u64, of: u64) -> String {
    let tenths = count * 1000 / of.max(1);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_are_a_hundred_per_cent() {
        let shares = [(0, 3), (1, 3), (2111, 2112), (2112, 2112), (0, 0)];
        let shown = shares.map(|(count, of)| percent(count, of));
        assert_eq!(shown, ["0.0 %", "33.3 %", "99.9 %", "100.0 %", "0.0 %"]);
    }
}
