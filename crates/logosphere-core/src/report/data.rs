//! The data of a page.

use std::io::BufRead;

use super::facts::RunFacts;
use super::nulls;
use crate::measures::Analysis;
use crate::measures::lineage::Lineage;
use crate::verify::{ResumeError, Transcript};

/// Everything that a page says.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportData {
    /// What the journal says of the run.
    pub facts: RunFacts,
    /// Its messages and calls.
    pub transcript: Transcript,
    /// What is measured on them.
    pub analysis: Analysis,
    /// Who comes from whom.
    pub lineage: Lineage,
}

impl ReportData {
    /// Reads a journal and measures the run, beside `null_runs` runs of each null model: 0 for none, otherwise at least
    /// [`MIN_RUNS`](crate::measures::nulls::MIN_RUNS).
    ///
    /// # Errors
    /// As of [`Transcript::read`].
    pub fn read(journal: impl BufRead, null_runs: u32) -> Result<Self, ResumeError> {
        let (facts, transcript) = RunFacts::read(journal)?;
        Ok(Self::of(facts, transcript, null_runs))
    }

    /// As [`ReportData::read`], for what was read before.
    pub fn of(facts: RunFacts, transcript: Transcript, null_runs: u32) -> Self {
        Self {
            analysis: nulls::analysed(&transcript, null_runs),
            lineage: Lineage::of(&transcript),
            facts,
            transcript,
        }
    }
}
