//! The data of a page.

use std::io::BufRead;

use super::facts::RunFacts;
use super::nulls;
use crate::measures::Analysis;
use crate::measures::lineage::Lineage;
use crate::verify::{ResumeError, Transcript};

/// The data of a page.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReportData {
    /// The facts of the journal.
    pub facts: RunFacts,
    /// The messages and calls.
    pub transcript: Transcript,
    /// The measures.
    pub analysis: Analysis,
    /// The descent of messages.
    pub lineage: Lineage,
}

impl ReportData {
    /// Reads a journal and computes all measures.
    ///
    /// `null_runs` is the number of runs of each null model: 0 for none, otherwise at least
    /// [`MIN_RUNS`](crate::measures::nulls::MIN_RUNS).
    ///
    /// # Errors
    /// See [`Transcript::read`].
    pub fn read(journal: impl BufRead, null_runs: u32) -> Result<Self, ResumeError> {
        let (facts, transcript) = RunFacts::read(journal)?;
        Ok(Self::of(facts, transcript, null_runs))
    }

    /// Computes all measures as [`ReportData::read`] does, for a run that was read before.
    pub fn of(facts: RunFacts, transcript: Transcript, null_runs: u32) -> Self {
        Self {
            analysis: nulls::analysed(&transcript, null_runs),
            lineage: Lineage::of(&transcript),
            facts,
            transcript,
        }
    }
}
