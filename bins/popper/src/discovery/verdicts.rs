//! The verdicts of a run: a line about all of them, and the table that `check` prints.

use std::fmt::Write as _;

use bin_support::{Results, escape};
use popper_discovery::Error;
use popper_discovery::status::RunStatus;
use popper_discovery::store::{Query, RunRow, Store};
use popper_harness::decide::{Status, Strength};

use crate::table::VerdictTable;

/// The most laws in the table, the latest ones.
const SHOWN: u32 = 500;

/// The decided laws of a run.
pub struct RunVerdicts {
    table: VerdictTable,
    /// Whether the run has more laws than the table.
    has_more: bool,
    /// The number of laws in the table that hold and are proved.
    proved: u64,
}

impl RunVerdicts {
    /// Reads the latest laws.
    pub async fn read(store: &mut impl Store, run: &RunRow) -> Result<Self, Error> {
        let query = Query::newest(run, None, SHOWN + 1);
        let mut findings = store.findings(query).await?;
        let has_more = findings.len() > SHOWN as usize;
        if has_more {
            findings.remove(0);
        }
        let mut table = VerdictTable::new(true);
        let mut proved = 0;
        for finding in &findings {
            let verdict = finding.verdict(&run.sim_hash)?;
            let is_proved = verdict.evidence.strength == Some(Strength::Proved);
            proved += u64::from(verdict.status == Status::Pass && is_proved);
            table.add(&verdict, &finding.law.claim_text, Vec::new());
        }
        Ok(Self {
            table,
            has_more,
            proved,
        })
    }

    /// Returns the line `run 1 in kinetic_grid_v1: 50 tested, 18 PASS (16 proved), 32 FAIL`.
    pub fn lead(&self, status: &RunStatus) -> String {
        let counts = ["PASS", "FAIL", "UNKNOWN"].map(|verdict| {
            let of_it = status.verdicts.iter().filter(|one| one.verdict == verdict);
            (of_it.map(|one| one.laws).sum::<u64>(), verdict)
        });
        let tested: u64 = counts.iter().map(|(count, _)| count).sum();
        let id = escape(&status.universe_id);
        let mut line = format!("run {} in {id}: {tested} tested", status.run_id);
        for (count, verdict) in counts.into_iter().filter(|(count, _)| *count > 0) {
            // Writing to a string cannot fail.
            let _ = write!(line, ", {count} {verdict}");
            if verdict == "PASS" && self.proved > 0 && !self.has_more {
                let _ = write!(line, " ({} proved)", self.proved);
            }
        }
        line
    }

    /// Returns the table of the decided laws with their claims, or a line if no law is decided.
    pub fn text(&self, results: &Results) -> String {
        if self.table.is_empty() {
            return "no law is decided yet\n".to_owned();
        }
        let mut text = self.table.text(results);
        if self.has_more {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "the latest {SHOWN} laws; `popper export` has them all"
            );
        }
        text
    }
}
