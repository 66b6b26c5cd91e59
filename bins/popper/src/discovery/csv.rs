//! The laws of a run as rows of a spreadsheet.

use bin_support::{Failure, Session};
use popper_discovery::store::{LawRow, RowPage, RunRow, Store, TestedLaw};
use popper_discovery::{Error, status_text};
use popper_harness::decide::Verdict;

use super::database::failure;
use super::export_output::{ExportCounts, ExportOutput, ROWS, TestedLaws};
use crate::expect::word;

const HEADER: [&str; 21] = [
    "id",
    "law_id",
    "law_fingerprint",
    "template",
    "status",
    "claim",
    "forbidden",
    "verdict",
    "reason_code",
    "strength",
    "scope",
    "complete",
    "seed",
    "evaluation_id",
    "evaluation_run_id",
    "initial_state",
    "n",
    "T",
    "t_fail",
    "minimal",
    "notes",
];

/// Writes one row a law, with the verdict that decided it. The rows are those of the store's transaction.
pub async fn write(
    store: &mut impl Store,
    run: &RunRow,
    output: &mut ExportOutput,
    session: &mut Session,
) -> Result<ExportCounts, Failure> {
    let mut counts = ExportCounts {
        laws: 0,
        attempts: store.tally(run).await.map_err(failure)?.evaluations,
    };
    let mut writer = csv::Writer::from_writer(output.part());
    writer.write_record(HEADER)?;
    writer.flush()?;
    drop(writer);
    let mut tested = TestedLaws::new();
    let mut next = Some(RowPage::first(ROWS));
    while let Some(page) = next {
        let laws = store.law_page(run.id, page).await.map_err(failure)?;
        let mut writer = csv::Writer::from_writer(output.part());
        for law in &laws {
            let finding = tested.get(store, run, law.id).await.map_err(failure)?;
            let finding = finding.as_ref();
            if finding.is_some_and(|finding| finding.evaluation.law_id != law.id) {
                counts.attempts += 1;
            }
            let row = row(law, finding, &run.sim_hash).map_err(failure)?;
            writer.write_record(row.map(guarded))?;
        }
        writer.flush()?;
        drop(writer);
        counts.laws += laws.len() as u64;
        output.end_page(session)?;
        next = page.next(&laws, |law| law.id);
    }
    Ok(counts)
}

fn row(law: &LawRow, finding: Option<&TestedLaw>, sim_hash: &str) -> Result<[String; 21], Error> {
    let verdict: Option<Verdict> = finding
        .map(|finding| finding.verdict(sim_hash))
        .transpose()?;
    let verdict = verdict.as_ref();
    let made = finding.map(|finding| &finding.evaluation);
    let found = verdict.and_then(|verdict| verdict.counterexample.as_ref());
    let notes = match verdict {
        Some(verdict) => verdict.notes.join("\n"),
        None => problems(law)?,
    };
    let strength = verdict.and_then(|verdict| verdict.evidence.strength);
    let number = |number: Option<i64>| number.map(|number| number.to_string());
    Ok([
        Some(law.id.to_string()),
        Some(law.law_id.clone()),
        Some(law.law_fingerprint.clone()),
        Some(law.template.clone()),
        Some(word(&law.status)),
        Some(law.claim_text.clone()),
        Some(law.forbidden_text.clone()),
        made.map(|made| status_text(made.status).to_owned()),
        made.and_then(|made| made.reason_code.clone()),
        strength.as_ref().map(word),
        verdict.map(|verdict| verdict.evidence.scope.clone()),
        verdict.map(|verdict| verdict.evidence.complete.to_string()),
        made.map(|made| made.seed.to_string()),
        number(made.map(|made| made.id)),
        number(made.map(|made| made.run_id)),
        found.map(|found| found.initial_state.clone()),
        found.map(|found| found.config.n.to_string()),
        found.map(|found| found.t.to_string()),
        found.map(|found| found.t_fail.to_string()),
        found.map(|found| found.minimal.to_string()),
        Some(notes),
    ]
    .map(Option::unwrap_or_default))
}

/// The problems of an invalid proposal, one a line.
fn problems(law: &LawRow) -> Result<String, Error> {
    let problems = law.problems()?;
    let lines = problems.iter().map(ToString::to_string);
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// A cell that no spreadsheet takes for a formula: one that begins like a formula gets a `'` in front.
fn guarded(cell: String) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{cell}")
    } else {
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_compute_is_text() {
        for cell in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"] {
            assert_eq!(guarded(cell.to_owned()), format!("'{cell}"));
        }
        for cell in ["", "a = b", "..><", "<script>"] {
            assert_eq!(guarded(cell.to_owned()), cell);
        }
    }
}
