//! The verdicts of a run as the table that `check` prints.

use std::fmt::Write as _;

use popper_discovery::Error;
use popper_discovery::store::{Query, RunRow, Store};

use crate::table::{Layout, VerdictTable};

/// The most laws in the table, the latest ones.
const SHOWN: u32 = 500;

/// Returns the table of the decided laws, or a line if no law is decided.
pub async fn lines(store: &mut impl Store, run: &RunRow, layout: Layout) -> Result<String, Error> {
    let query = Query::newest(run, None, SHOWN + 1);
    let mut findings = store.findings(query).await?;
    if findings.is_empty() {
        return Ok("no law is decided yet\n".to_owned());
    }
    let more = findings.len() > SHOWN as usize;
    if more {
        findings.remove(0);
    }
    let mut report = VerdictTable::new(layout);
    for finding in &findings {
        report.add(&finding.verdict(&run.sim_hash)?, &finding.law.claim_text);
    }
    let mut text = report.table();
    if more {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "\nthe latest {SHOWN} laws; `popper export` has them all"
        );
    }
    Ok(text)
}
