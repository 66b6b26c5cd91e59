//! The data of a page.

use std::io::BufRead;

use super::facts::RunFacts;
use super::nulls;
use crate::measures::lineage::Lineage;
use crate::measures::{Analysis, AnalysisPlan, NullProgress};
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
        Self::watched(journal, null_runs, 1, &mut |_| {})
    }

    /// Reads a journal as [`ReportData::read`] does, on this number of threads, and tells `on_null_run` after each run of a null model
    /// how many are done.
    ///
    /// # Errors
    /// See [`Transcript::read`].
    pub fn watched(
        journal: impl BufRead,
        null_runs: u32,
        threads: usize,
        on_null_run: &mut dyn FnMut(NullProgress),
    ) -> Result<Self, ResumeError> {
        let (facts, transcript) = RunFacts::read(journal)?;
        let plan = nulls::plan(null_runs, threads);
        Ok(Self::planned(facts, transcript, &plan, on_null_run))
    }

    /// Computes all measures as [`ReportData::read`] does, for a run that was read before.
    pub fn of(facts: RunFacts, transcript: Transcript, null_runs: u32) -> Self {
        Self::planned(facts, transcript, &nulls::plan(null_runs, 1), &mut |_| {})
    }

    fn planned(
        facts: RunFacts,
        transcript: Transcript,
        plan: &AnalysisPlan,
        on_null_run: &mut dyn FnMut(NullProgress),
    ) -> Self {
        let (analysis, lineage) = Analysis::with_lineage(&transcript, plan, on_null_run);
        Self {
            facts,
            transcript,
            analysis,
            lineage,
        }
    }
}
