//! A run's directory: the plan, every call, the report, and the lock that keeps a second process out.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use bin_support::{Failure, ModelFlags, Session, write_file};
use llm_client::{LedgerFile, Usd};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use zer0gravity_engine::plan::{Plan, RuleSet};
use zer0gravity_engine::report::{Report, ReportError};
use zer0gravity_engine::store::{CallsFile, JsonlStore, StoreError};

use crate::error::Error;

const SCHEMA_VERSION: u64 = 2;

/// The file of a run's calls.
pub fn calls(folder: &Path) -> PathBuf {
    folder.join("calls.jsonl")
}

/// What a run's directory consists of.
pub fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let parts = [
        "run.json",
        "calls.jsonl",
        "report.json",
        "rescore.json",
        "spend.jsonl",
        "run.lock",
    ];
    parts.into_iter().map(move |part| folder.join(part))
}

/// A run's directory, locked as long as this lives.
pub struct RunDir {
    path: PathBuf,
    record: Record,
    _lock: File,
}

/// `run.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    #[serde(rename = "schema_version")]
    schema_version: u64,
    kind: String,
    engine_version: String,
    /// When the rules were frozen: before the first call.
    frozen_at: String,
    plan_sha256: String,
    /// By encoding.
    rules_sha256: BTreeMap<String, String>,
    /// Where the server is, if a flag said it: `resume` goes there again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base_url: Option<String>,
    /// Lines of a dataset that were left out: a run without them is not whole, however often it is resumed.
    #[serde(default, skip_serializing_if = "is_zero")]
    left_out: usize,
    /// Not a part of the plan: a higher cap continues the same run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caps: Option<Caps>,
    plan: Plan,
}

/// What a run may use, over all its processes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Caps {
    /// Dollars.
    max_usd: f64,
}

impl Caps {
    fn of(usd: Usd) -> Self {
        Self {
            max_usd: usd.0 as f64 / 1e9,
        }
    }
}

/// `rescore.json`: a report by other judges that has not replaced the run's yet.
#[derive(Debug, Serialize, Deserialize)]
pub struct Rescored {
    schema_version: u64,
    /// Every result was judged.
    pub complete: bool,
    /// The run's plan with the other judges.
    pub plan: Plan,
    /// Their report.
    pub report: Report,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Rescored {
    pub fn new(plan: Plan, report: Report, complete: bool) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            complete,
            plan,
            report,
        }
    }
}

impl RunDir {
    /// Begins a run in `path`, or goes on with the same one.
    pub fn begin(
        path: &Path,
        plan: &Plan,
        left_out: usize,
        flags: &ModelFlags,
    ) -> Result<Self, Failure> {
        fs::create_dir_all(path).map_err(|source| Error::Write {
            path: path.to_owned(),
            source,
        })?;
        let lock = lock(path)?;
        if let Some(record) = read(path)? {
            let differences = record.plan.differences(plan);
            if !differences.is_empty() {
                return Err(Failure::usage(Error::AnotherPlan {
                    path: path.to_owned(),
                    differences,
                }));
            }
            let mut directory = Self::of(path, record, lock);
            directory.adopt_rescored()?;
            directory.keep_cap(flags.max_usd)?;
            return Ok(directory);
        }
        if fs::metadata(calls(path)).is_ok_and(|found| found.len() > 0) {
            return Err(Failure::usage(Error::ForeignCalls {
                path: path.to_owned(),
            }));
        }
        let record = Record {
            schema_version: SCHEMA_VERSION,
            kind: "zer0gravity.run".to_owned(),
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            frozen_at: format!("{:.3}", jiff::Timestamp::now()),
            plan_sha256: plan.sha256(),
            rules_sha256: (plan.encodings.iter())
                .map(|encoding| (encoding.id.clone(), encoding.sha256.clone()))
                .collect(),
            base_url: flags.base_url.clone(),
            left_out,
            caps: flags.max_usd.map(Caps::of),
            plan: plan.clone(),
        };
        let directory = Self::of(path, record, lock);
        directory.write_record()?;
        Ok(directory)
    }

    /// The run in `path`.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        if !path.join("run.json").is_file() {
            return Err(Failure::usage(Error::NoRun {
                path: path.to_owned(),
            }));
        }
        let lock = lock(path)?;
        match read(path)? {
            Some(record) => {
                let mut directory = Self::of(path, record, lock);
                directory.adopt_rescored()?;
                Ok(directory)
            }
            None => Err(Failure::usage(Error::NoRun {
                path: path.to_owned(),
            })),
        }
    }

    fn of(path: &Path, record: Record, lock: File) -> Self {
        Self {
            path: path.to_owned(),
            record,
            _lock: lock,
        }
    }

    /// What is to be run.
    pub fn plan(&self) -> &Plan {
        &self.record.plan
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where what is spent is kept.
    pub fn ledger(&self) -> LedgerFile {
        LedgerFile::new(self.path.join("spend.jsonl"))
    }

    /// When the plan was frozen.
    pub fn frozen_at(&self) -> &str {
        &self.record.frozen_at
    }

    /// Lines of a dataset that were left out.
    pub fn left_out(&self) -> usize {
        self.record.left_out
    }

    /// Where the server is, if a flag said it.
    pub fn base_url(&self) -> Option<&str> {
        self.record.base_url.as_deref()
    }

    /// The run's cap in dollars.
    pub fn cap(&self) -> Option<Usd> {
        self.record.cap()
    }

    /// Makes this the run's cap, unless it is.
    pub fn keep_cap(&mut self, cap: Option<Usd>) -> Result<(), Failure> {
        if cap.is_none() || cap == self.cap() {
            return Ok(());
        }
        self.record.caps = cap.map(Caps::of);
        self.write_record()
    }

    /// A rescore that did not come to its end.
    pub fn rescored(&self) -> Result<Option<Rescored>, Failure> {
        read_json(&self.path.join("rescore.json"), "a rescore")
    }

    /// Keeps a rescore; the run's report stays as it is.
    pub fn keep_rescored(&self, rescored: &Rescored) -> Result<(), Failure> {
        write_json(&self.path.join("rescore.json"), rescored)
    }

    /// Puts a complete rescore in the place of the run's report and plan. Killed in between, the next opening does the rest.
    pub fn adopt_rescored(&mut self) -> Result<(), Failure> {
        let Some(rescored) = self.rescored()?.filter(|rescored| rescored.complete) else {
            return Ok(());
        };
        self.write_report(&rescored.report)?;
        self.record.plan_sha256 = rescored.plan.sha256();
        self.record.plan = rescored.plan;
        self.write_record()?;
        let path = self.path.join("rescore.json");
        fs::remove_file(&path).map_err(|source| Error::Write { path, source })?;
        Ok(())
    }

    /// The calls so far; a notice tells of a torn last line.
    pub fn calls(&self, session: &Session) -> Result<JsonlStore, Failure> {
        let path = calls(&self.path);
        let opened = JsonlStore::open(&path).map_err(|error| match error {
            StoreError::SchemaVersion { .. } => Failure::usage(error),
            other => other.into(),
        });
        let (store, torn) = opened?;
        if let Some(torn) = torn {
            session.notice(&format!(
                "{}, line {}: cut off, {} bytes: it was not written to its end",
                bin_support::printable(&path.display().to_string()),
                torn.line,
                torn.bytes
            ));
        }
        Ok(store)
    }

    /// The report, if there is one.
    pub fn report(&self) -> Result<Option<Report>, Failure> {
        let path = self.path.join("report.json");
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::Read { path, source }.into()),
            Ok(text) => {
                let form = |error: ReportError| Error::Form {
                    path,
                    what: "a report",
                    message: error.to_string(),
                };
                Ok(Some(Report::read(&text).map_err(form)?))
            }
        }
    }

    /// The calls so far, as a report names them.
    pub fn calls_file(&self) -> Result<CallsFile, Failure> {
        let path = calls(&self.path);
        let read = CallsFile::read(&path);
        Ok(read.map_err(|source| Error::Read { path, source })?)
    }

    /// Writes the report.
    pub fn write_report(&self, report: &Report) -> Result<(), Failure> {
        write_json(&self.path.join("report.json"), report)
    }

    fn write_record(&self) -> Result<(), Failure> {
        write_json(&self.path.join("run.json"), &self.record)
    }
}

impl Record {
    fn cap(&self) -> Option<Usd> {
        Usd::from_dollars(self.caps?.max_usd)
    }
}

/// Refuses a report in `folder` that was made of other calls than those that are there now.
pub fn check_calls(folder: &Path, report: &Report) -> Result<(), Failure> {
    let path = calls(folder);
    let held = report.calls_file.as_ref().map(|calls| calls.holds(&path));
    match held.transpose() {
        Ok(None | Some(true)) => Ok(()),
        Ok(Some(false)) => Err(Error::CallsChanged {
            path,
            run: folder.to_owned(),
        }
        .into()),
        Err(source) => Err(Error::Read { path, source }.into()),
    }
}

/// The cap of the run in `path`; none if there is no run yet, or none that can be read.
pub fn cap(path: &Path) -> Option<Usd> {
    read(path).ok()??.cap()
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    write_file(path, |file| {
        serde_json::to_writer_pretty(&mut *file, value)?;
        file.write_all(b"\n")
    })?;
    Ok(())
}

/// Held until it is dropped, or the process ends in whatever way.
fn lock(path: &Path) -> Result<File, Failure> {
    let name = path.join("run.lock");
    let failed = |source| Error::Write {
        path: name.clone(),
        source,
    };
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&name)
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::usage(Error::InUse {
            path: path.to_owned(),
        })),
        Err(TryLockError::Error(source)) => Err(failed(source).into()),
    }
}

/// `run.json`, if there is one.
fn read(path: &Path) -> Result<Option<Record>, Failure> {
    let path = path.join("run.json");
    let Some(record): Option<Record> = read_json(&path, "a run")? else {
        return Ok(None);
    };
    if record.caps.is_some() && record.cap().is_none() {
        return Err(Failure::usage(Error::Form {
            path,
            what: "a run",
            message: "caps.maxUsd is no amount of dollars".to_owned(),
        }));
    }
    // Rules and texts of a run are frozen: results are about them.
    let own = |encoding: &RuleSet| RuleSet::new("", None, encoding.rules.as_str()).sha256;
    let frozen = record.plan.sha256() == record.plan_sha256
        && (record.plan.encodings.iter()).all(|encoding| encoding.sha256 == own(encoding));
    if frozen {
        Ok(Some(record))
    } else {
        Err(Failure::usage(Error::Thawed { path }))
    }
}

/// A JSON file of ours, if there is one.
fn read_json<T: DeserializeOwned>(path: &Path, what: &'static str) -> Result<Option<T>, Failure> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::Read {
            path: path.to_owned(),
            source,
        }
        .into()),
        Ok(bytes) => Ok(Some(parse(path, what, &bytes)?)),
    }
}

/// A JSON file of ours, whose version is looked at first.
fn parse<T: DeserializeOwned>(path: &Path, what: &'static str, bytes: &[u8]) -> Result<T, Failure> {
    #[derive(Deserialize)]
    struct Version {
        schema_version: u64,
    }
    let bad = |error: serde_json::Error| {
        Failure::usage(Error::Form {
            path: path.to_owned(),
            what,
            message: error.to_string(),
        })
    };
    let version: Version = serde_json::from_slice(bytes).map_err(bad)?;
    if !(1..=SCHEMA_VERSION).contains(&version.schema_version) {
        return Err(Failure::usage(Error::SchemaVersion {
            path: path.to_owned(),
            found: version.schema_version,
        }));
    }
    serde_json::from_slice(bytes).map_err(bad)
}
