//! The command `popper export`, which writes a run as one document, or as one row a law.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use bin_support::{Exit, Failure, OutputTarget, Session};
use popper_discovery::Error;
use popper_discovery::store::{
    CallRow, Iteration, LawFilter, LawRow, LawStatus, Pick, Query, RunRow, Store, TestedLaw,
};
use popper_harness::decide::Verdict;
use popper_store::Access;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::discovery::csv::csv;
use crate::discovery::database::{self, failure};
use crate::flags::RunFlag;
use crate::input;

/// The version of the document's form.
const EXPORT_VERSION: &str = "1.0.0";

/// Attempts that are read from the database at once.
const PAGE: u32 = 1000;

/// Columns that are kept as text: they are quotations, and the hashes in the same row are of exactly these bytes.
const VERBATIM: [&str; 2] = ["raw_llm_json", "request_json"];

#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    #[command(flatten)]
    pub run: RunFlag,
    /// Format: `json` has every row, `csv` one row a law [default: json, or csv for a file .csv].
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// File to write, as a whole or not at all; - for stdout [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One document with every row of the run.
    Json,
    /// One row a law.
    Csv,
}

/// The rows of a run.
struct Export {
    run: RunRow,
    iterations: Vec<Iteration>,
    laws: Vec<LawRow>,
    /// The attempts that decided the laws, in any run, by the laws' keys.
    findings: BTreeMap<i64, TestedLaw>,
    /// The attempts that the run made, and those of other runs that count for its laws.
    evaluations: Vec<TestedLaw>,
    calls: Vec<CallRow>,
}

pub async fn execute(args: &ExportArgs, session: &mut Session) -> Result<Exit, Failure> {
    let location = args.run.location.location(session)?;
    let target = args.output.as_ref().unwrap_or(&OutputTarget::Stdout);
    location.refuse_target(target)?;
    let mut store = database::open(&location, Access::Read).await?;
    let run = database::run(&mut store, &args.run.name, session).await?;
    let export = Export::read(&mut store, run).await.map_err(failure)?;
    // All of it is understood before the first byte is written.
    let is_sheet = |path: &Path| path.extension().is_some_and(|ending| ending == "csv");
    let by_name = match target.file() {
        Some(path) if is_sheet(path) => Format::Csv,
        _ => Format::Json,
    };
    let text = match args.format.unwrap_or(by_name) {
        Format::Json => export.json().map_err(failure)?,
        Format::Csv => csv(&export.laws, &export.findings, &export.run.sim_hash)?,
    };
    let output = target.begin(location.file())?;
    output.finish(session, |out| out.write_all(&text))?;
    if let Some(path) = target.file() {
        let (laws, attempts) = (export.laws.len(), export.evaluations.len());
        let path = input::name(path);
        session.status(&format!("{laws} laws and {attempts} attempts in {path}"));
    }
    Ok(Exit::Done)
}

impl Export {
    async fn read(store: &mut impl Store, run: RunRow) -> Result<Self, Error> {
        let statuses = [
            LawStatus::Proposed,
            LawStatus::RejectedSchema,
            LawStatus::Queued,
            LawStatus::Tested,
        ];
        let findings = store.findings(Query::all(&run)).await?;
        let mut evaluations = Vec::new();
        let mut after = 0;
        loop {
            let page = store.findings(Query::attempts(&run, after, PAGE)).await?;
            let Some(last) = page.last() else {
                break;
            };
            after = last.evaluation.id;
            evaluations.extend(page);
        }
        let elsewhere = |finding: &&TestedLaw| finding.evaluation.run_id != run.id;
        evaluations.extend(findings.iter().filter(elsewhere).cloned());
        Ok(Self {
            iterations: store.iterations(run.id, Pick::All).await?,
            laws: store.laws(run.id, LawFilter::statuses(&statuses)).await?,
            findings: findings
                .into_iter()
                .map(|finding| (finding.law.id, finding))
                .collect(),
            evaluations,
            calls: store.calls(run.id, None).await?,
            run,
        })
    }

    /// The document: pretty at the top, one line for each row.
    fn json(&self) -> Result<Vec<u8>, Error> {
        let mut run = unfold(&self.run);
        let config = run.remove("config").unwrap_or_default();
        let evaluations: Result<Vec<Value>, Error> = self
            .evaluations
            .iter()
            .map(|finding| evaluation(finding, &self.run.sim_hash))
            .collect();
        let evaluations = evaluations?;
        let write = |text: &mut Vec<u8>| -> io::Result<()> {
            writeln!(text, "{{")?;
            field(text, "schema_version", &EXPORT_VERSION)?;
            field(text, "run", &run)?;
            field(text, "config", &config)?;
            rows(text, "iterations", self.iterations.iter().map(unfold))?;
            rows(text, "laws", self.laws.iter().map(|law| self.law(law)))?;
            rows(text, "evaluations", evaluations.iter())?;
            rows(text, "calls", self.calls.iter().map(unfold))?;
            // The last field has no comma after it.
            text.truncate(text.trim_ascii_end().len() - 1);
            writeln!(text, "\n}}")
        };
        let mut text = Vec::new();
        // Writing to memory cannot fail, and every row is JSON already.
        let _ = write(&mut text);
        Ok(text)
    }

    fn law(&self, law: &LawRow) -> Map<String, Value> {
        let mut row = unfold(law);
        if let Some(finding) = self.findings.get(&law.id) {
            let made = &finding.evaluation;
            let verdict = json!({
                "status": made.status, "reason_code": made.reason_code,
                "evaluation_id": made.id, "run_id": made.run_id,
            });
            row.insert("verdict".into(), verdict);
        }
        row
    }
}

/// An attempt as its verdict, in the form of `check --json`, with the columns that a verdict lacks.
fn evaluation(finding: &TestedLaw, sim_hash: &str) -> Result<Value, Error> {
    let verdict: Verdict = finding.verdict(sim_hash)?;
    let mut row = object(&verdict);
    let columns = unfold(&finding.evaluation);
    for key in ["id", "run_id", "started_at", "completed_at", "artifacts"] {
        if let Some(value) = columns.get(key) {
            row.insert(key.to_owned(), value.clone());
        }
    }
    row.insert("law_row_id".into(), json!(finding.law.id));
    Ok(Value::Object(row))
}

/// A row as an object in which JSON columns are JSON and lose their `_json`.
fn unfold(row: &impl Serialize) -> Map<String, Value> {
    let mut unfolded = Map::new();
    for (key, value) in object(row) {
        let parsed = key
            .strip_suffix("_json")
            .filter(|_| !VERBATIM.contains(&key.as_str()))
            .zip(
                value
                    .as_str()
                    .and_then(|text| serde_json::from_str(text).ok()),
            );
        match parsed {
            Some((name, value)) => unfolded.insert(name.to_owned(), value),
            None => unfolded.insert(key, value),
        };
    }
    unfolded
}

fn object(row: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(row) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn field(text: &mut Vec<u8>, name: &str, value: &impl Serialize) -> io::Result<()> {
    write!(text, "\"{name}\": ")?;
    serde_json::to_writer(&mut *text, value)?;
    writeln!(text, ",")
}

fn rows<T: Serialize>(
    text: &mut Vec<u8>,
    name: &str,
    rows: impl Iterator<Item = T>,
) -> io::Result<()> {
    write!(text, "\"{name}\": [")?;
    for (index, row) in rows.enumerate() {
        text.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
        serde_json::to_writer(&mut *text, &row)?;
    }
    writeln!(text, "],")
}
