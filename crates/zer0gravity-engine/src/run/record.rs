//! The JSON files of a run directory.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use durable::Disk;
use llm_types::Usd;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{DirectoryError, RunNotes};
use crate::plan::{EncodingSystem, Plan};
use crate::report::RunReport;

/// The version of `run.json` and `rescore.json`.
const SCHEMA_VERSION: u64 = 2;

/// The content of `run.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunRecord {
    #[serde(rename = "schema_version")]
    schema_version: u64,
    kind: String,
    engine_version: String,
    /// The time at which the rules were frozen: before the first call.
    pub(super) frozen_at: String,
    plan_sha256: String,
    /// The hashes of the rules by encoding.
    rules_sha256: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) base_url: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) left_out: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sealed: Option<String>,
    /// The caps, which are not a part of the plan: a higher cap continues the same run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caps: Option<Caps>,
    pub(super) plan: Plan,
}

/// The limits of a run, over all its processes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Caps {
    /// The cap in US dollars.
    max_usd: f64,
}

/// `rescore.json`: a report by other judges that has not replaced the run's yet.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RescoreRecord {
    schema_version: u64,
    /// Every result was judged.
    pub(super) complete: bool,
    /// The run's plan with the other judges.
    pub(super) plan: Plan,
    /// The report of the new judges.
    pub(super) report: RunReport,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl RunRecord {
    /// Makes the record that freezes `plan`.
    pub(super) fn new(plan: Plan, notes: RunNotes, frozen_at: String) -> Self {
        let mut record = Self {
            schema_version: SCHEMA_VERSION,
            kind: "zer0gravity.run".to_owned(),
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            frozen_at,
            plan_sha256: plan.sha256(),
            rules_sha256: (plan.encodings.iter())
                .map(|encoding| (encoding.id.clone(), encoding.sha256.clone()))
                .collect(),
            base_url: notes.base_url,
            left_out: notes.left_out,
            sealed: notes.sealed,
            caps: None,
            plan,
        };
        record.set_cap(notes.cap);
        record
    }

    /// Reads `run.json`, if there is one, and refuses a plan that is not the one that was frozen.
    pub(super) fn read(directory: &Path) -> Result<Option<Self>, DirectoryError> {
        let path = directory.join("run.json");
        let Some(record): Option<Self> = read(&path, "a run")? else {
            return Ok(None);
        };
        if record.caps.is_some() && record.cap().is_none() {
            return Err(DirectoryError::Form {
                path,
                what: "a run",
                message: "caps.maxUsd is not an amount in US dollars".to_owned(),
            });
        }
        // Rules and texts of a run are frozen: results are about them.
        let own = |encoding: &EncodingSystem| {
            EncodingSystem::new("", None, encoding.rules.as_str()).sha256
        };
        let frozen = record.plan.sha256() == record.plan_sha256
            && (record.plan.encodings.iter()).all(|encoding| encoding.sha256 == own(encoding));
        if frozen {
            Ok(Some(record))
        } else {
            Err(DirectoryError::Thawed { path })
        }
    }

    pub(super) fn cap(&self) -> Option<Usd> {
        Usd::from_dollars(self.caps?.max_usd)
    }

    pub(super) fn set_cap(&mut self, cap: Option<Usd>) {
        self.caps = cap.map(|usd| Caps {
            max_usd: usd.0 as f64 / 1e9,
        });
    }

    /// Puts another plan in the place of the frozen one.
    pub(super) fn set_plan(&mut self, plan: Plan) {
        self.plan_sha256 = plan.sha256();
        self.plan = plan;
    }
}

impl RescoreRecord {
    pub(super) fn new(plan: Plan, report: RunReport, complete: bool) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            complete,
            plan,
            report,
        }
    }
}

/// Reads the report of a run, if there is one.
pub(super) fn read_report(directory: &Path) -> Result<Option<RunReport>, DirectoryError> {
    let path = directory.join("report.json");
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(DirectoryError::Read { path, source }),
        Ok(text) => RunReport::read(&text)
            .map(Some)
            .map_err(|source| DirectoryError::Report { path, source }),
    }
}

/// Writes a JSON file as a whole or not at all.
pub(super) fn write(path: &Path, value: &impl Serialize) -> Result<(), DirectoryError> {
    let put = || {
        let staged = Disk::default().stage(path)?;
        let mut file = BufWriter::new(staged.file());
        serde_json::to_writer_pretty(&mut file, value)?;
        file.write_all(b"\n")?;
        file.into_inner()?;
        staged.keep()
    };
    put().map_err(|source| DirectoryError::Write {
        path: path.to_owned(),
        source,
    })
}

/// Reads a JSON file, if there is one; its version is looked at first.
pub(super) fn read<T: DeserializeOwned>(
    path: &Path,
    what: &'static str,
) -> Result<Option<T>, DirectoryError> {
    #[derive(Deserialize)]
    struct FileVersion {
        schema_version: u64,
    }
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|source| DirectoryError::Read {
            path: path.to_owned(),
            source,
        })?,
    };
    let bad = |error: serde_json::Error| DirectoryError::Form {
        path: path.to_owned(),
        what,
        message: error.to_string(),
    };
    let FileVersion { schema_version } = serde_json::from_slice(&bytes).map_err(bad)?;
    if !(1..=SCHEMA_VERSION).contains(&schema_version) {
        return Err(DirectoryError::SchemaVersion {
            path: path.to_owned(),
            found: schema_version,
        });
    }
    serde_json::from_slice(&bytes).map(Some).map_err(bad)
}
