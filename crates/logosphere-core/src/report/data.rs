//! The data of a page.

use std::io::BufRead;
use std::ops::ControlFlow;

use super::facts::RunFacts;
use super::nulls;
use crate::measures::Analysis;
use crate::measures::lineage::Lineage;
use crate::measures::nulls::NullProgress;
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
    /// `null_runs` is the number of null runs: 0 for none, otherwise at least
    /// [`MIN_RUNS`](crate::measures::nulls::MIN_RUNS).
    ///
    /// # Errors
    /// See [`Transcript::read`].
    pub fn read(journal: impl BufRead, null_runs: u32) -> Result<Self, ResumeError> {
        let (facts, transcript) = RunFacts::read(journal)?;
        Ok(Self::of(facts, transcript, null_runs))
    }

    /// Reads a journal as [`ReportData::read`] does, on this number of threads, and tells `on_null_run` after each null run how many
    /// are done. If it breaks, the result is `None`.
    ///
    /// # Errors
    /// See [`Transcript::read`].
    pub fn watched(
        journal: impl BufRead,
        null_runs: u32,
        threads: usize,
        on_null_run: &mut dyn FnMut(NullProgress) -> ControlFlow<()>,
    ) -> Result<Option<Self>, ResumeError> {
        let (facts, transcript) = RunFacts::read(journal)?;
        let plan = nulls::plan(null_runs, threads);
        let found = Analysis::with_lineage(&transcript, &plan, on_null_run);
        Ok(found.map(|(analysis, lineage)| Self {
            facts,
            transcript,
            analysis,
            lineage,
        }))
    }

    /// Computes all measures as [`ReportData::read`] does, for a run that was read before.
    pub fn of(facts: RunFacts, transcript: Transcript, null_runs: u32) -> Self {
        let analysis = Analysis::of(&transcript, &nulls::plan(null_runs, 1));
        let lineage = Lineage::of(&transcript);
        Self {
            facts,
            transcript,
            analysis,
            lineage,
        }
    }
}
