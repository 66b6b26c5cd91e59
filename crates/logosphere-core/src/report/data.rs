//! The data of a page.

use std::io::BufRead;
use std::ops::ControlFlow;

use super::facts::RunFacts;
use super::nulls;
use crate::import::ImportHeader;
use crate::measures::lineage::Lineage;
use crate::measures::nulls::NullProgress;
use crate::measures::{Analysis, AnalysisPlan};
use crate::verify::{ResumeError, Transcript};

/// The facts about the source of a run.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a run has a journal or was imported"
)]
pub enum ReportSource {
    /// The facts of a journal.
    Journal(Box<RunFacts>),
    /// The import that messages come from.
    Import {
        /// The first line of the file.
        header: Box<ImportHeader>,
        /// The names of the authors; the index is the number of the mind.
        authors: Vec<String>,
    },
}

/// The data of a page.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReportData {
    /// The facts about the source.
    pub source: ReportSource,
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

    /// Returns the plan of a page with `null_runs` null runs, as in [`ReportData::read`].
    pub fn plan(null_runs: u32, threads: usize) -> AnalysisPlan<'static> {
        nulls::plan(null_runs, threads)
    }

    /// Computes the measures of a plan for a run that was read before. `on_null_run` is called after each null run with how many
    /// are done; if it breaks, the result is `None`.
    pub fn measured(
        source: ReportSource,
        transcript: Transcript,
        plan: &AnalysisPlan<'_>,
        on_null_run: &mut dyn FnMut(NullProgress) -> ControlFlow<()>,
    ) -> Option<Self> {
        let (analysis, lineage) = Analysis::with_lineage(&transcript, plan, on_null_run)?;
        Some(Self {
            source,
            transcript,
            analysis,
            lineage,
        })
    }

    /// Returns the facts of the journal; `None` for imported messages.
    pub fn facts(&self) -> Option<&RunFacts> {
        match &self.source {
            ReportSource::Journal(facts) => Some(facts),
            ReportSource::Import { .. } => None,
        }
    }

    /// Computes all measures as [`ReportData::read`] does, for a run that was read before.
    pub fn of(facts: RunFacts, transcript: Transcript, null_runs: u32) -> Self {
        let analysis = Analysis::of(&transcript, &nulls::plan(null_runs, 1));
        let lineage = Lineage::of(&transcript);
        Self {
            source: ReportSource::Journal(Box::new(facts)),
            transcript,
            analysis,
            lineage,
        }
    }
}
