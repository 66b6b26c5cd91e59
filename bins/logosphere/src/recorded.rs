//! A recorded run with the facts of its journal.

use std::fs;
use std::io::{BufRead as _, Read as _, Write as _};
use std::path::Path;

use bin_support::{Exit, Failure, Session};
use logosphere_core::format::sha256_hex;
use logosphere_core::journal::is_legacy;
use logosphere_core::report::RunFacts;
use logosphere_core::{ExperimentStart, Transcript};
use serde::Serialize;

use crate::error::Error;
use crate::journal_file;

/// The largest size of the first line of an old journal in bytes.
const MOST_OF_A_START: u64 = 1 << 16;

/// A run with the origin that its journal records.
pub struct RecordedRun {
    pub run: Transcript,
    origin: RunOrigin,
    /// The id of the run, and the chain of the last line of its journal; `None` for an old journal.
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
    /// A run of the Python program of 2026-01-02.
    Old { legacy: bool, init_sha256: String },
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

/// Returns whether a journal is one of the Python program of 2026-01-02.
pub fn is_old(given: &Path) -> Result<bool, Failure> {
    let mut first = Vec::new();
    (journal_file::open(given)?
        .take(MOST_OF_A_START)
        .read_until(b'\n', &mut first))
    .map_err(|source| {
        Failure::usage(Error::Read {
            path: journal_file::path(given),
            source,
        })
    })?;
    Ok(is_legacy(&String::from_utf8_lossy(&first)))
}

impl RecordedRun {
    /// Reads a journal, or that of an experiment's directory.
    pub fn read(given: &Path) -> Result<Self, Failure> {
        if is_old(given)? {
            return Self::read_legacy(given);
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

    /// Reads an old journal, whose seed messages are in the `init.md` of its experiment.
    fn read_legacy(given: &Path) -> Result<Self, Failure> {
        let path = journal_file::path(given);
        let experiment = path
            .parent()
            .and_then(Path::parent)
            .unwrap_or(Path::new("."));
        let init_path = experiment.join("init.md");
        let init = fs::read_to_string(&init_path).map_err(|source| {
            let path = init_path;
            Failure::usage(Error::Read { path, source })
        })?;
        let run = Transcript::read_legacy(journal_file::open(given)?, &init)
            .map_err(|source| Failure::usage(Error::OldJournal { path, source }))?;
        let init_sha256 = sha256_hex(&init);
        Ok(Self {
            run,
            head: None,
            origin: RunOrigin::Old {
                legacy: true,
                init_sha256,
            },
        })
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
        serde_json::to_writer_pretty(&mut session.results, &result)?;
        writeln!(session.results)?;
        Ok(Exit::Done)
    }
}
