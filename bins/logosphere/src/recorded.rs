//! A recorded run with the facts of its journal.

use std::path::Path;

use bin_support::{Exit, Failure, Session};
use logosphere_core::import::{ImportHeader, ImportedRun, ReferenceMetrics};
use logosphere_core::report::RunFacts;
use logosphere_core::{ExperimentStart, Transcript};
use serde::Serialize;

use crate::error::Error;
use crate::{foreign, journal_file};

/// A run with the origin that its journal records.
pub struct RecordedRun {
    pub run: Transcript,
    origin: RunOrigin,
    /// The id of the run, and the chain of the last line of its journal; `None` for imported messages.
    head: Option<[String; 2]>,
}

/// The origin of a run, as results show it.
#[derive(Serialize)]
#[serde(untagged)]
enum RunOrigin {
    /// A run of this program.
    New {
        run_id: String,
        run_software: String,
        provider: String,
        offline: bool,
        config_sha256: String,
        system_prompt_sha256: String,
        init_sha256: String,
    },
    /// Messages of other programs, with the first line of their file.
    Imported { imported: Box<ImportHeader> },
}

impl From<ExperimentStart> for RunOrigin {
    fn from(start: ExperimentStart) -> Self {
        Self::New {
            run_id: start.run_id,
            run_software: start.software,
            provider: start.provider,
            offline: start.offline,
            config_sha256: start.effective.config_sha256,
            system_prompt_sha256: start.system_prompt_sha256,
            init_sha256: start.init_sha256,
        }
    }
}

impl RecordedRun {
    /// Reads a journal, that of an experiment's directory, or imported messages.
    pub fn read(given: &Path) -> Result<Self, Failure> {
        if let Some(ImportedRun {
            header, transcript, ..
        }) = foreign::read(given)?
        {
            return Ok(Self {
                run: transcript,
                head: None,
                origin: RunOrigin::Imported {
                    imported: Box::new(header),
                },
            });
        }
        let unreadable = |source| {
            let path = journal_file::path(given);
            Failure::usage(Error::Transcript { path, source })
        };
        let read = RunFacts::read(journal_file::open(given)?);
        let (facts, run) = read.map_err(unreadable)?;
        Ok(Self {
            run,
            head: Some([facts.start.run_id.clone(), facts.chain]),
            origin: facts.start.into(),
        })
    }

    /// Returns the measures of the Python program that were imported with the messages.
    pub fn reference_metrics(&self) -> Option<&ReferenceMetrics> {
        match &self.origin {
            RunOrigin::Imported { imported } => imported.reference_metrics.as_ref(),
            RunOrigin::New { .. } => None,
        }
    }

    /// Prints a result about the run with its origin.
    pub fn print_json(
        &self,
        result: &impl Serialize,
        session: &mut Session,
    ) -> Result<Exit, Failure> {
        #[derive(Serialize)]
        struct ResultOfRun<'a, T> {
            run: &'a RunOrigin,
            #[serde(skip_serializing_if = "Option::is_none")]
            run_id: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            head: Option<&'a str>,
            #[serde(flatten)]
            result: &'a T,
        }
        let run = &self.origin;
        let [run_id, head] = match &self.head {
            Some([run_id, head]) => [Some(run_id.as_str()), Some(head.as_str())],
            None => [None; 2],
        };
        let result = ResultOfRun {
            run,
            run_id,
            head,
            result,
        };
        session.results.json(&result)?;
        Ok(Exit::Done)
    }
}
