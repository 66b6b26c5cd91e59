//! A run as a JSON document with every row, written page by page: pretty at the top, one line for each row.

use std::io::{self, Write as _};

use bin_support::{Failure, Session};
use popper_discovery::Error;
use popper_discovery::store::{EvaluationRow, LawRow, Query, RowPage, RunRow, Store, TestedLaw};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::database::failure;
use super::export_output::{ExportCounts, ExportOutput, ROWS, TestedLaws};

/// The version of the document's form.
const EXPORT_VERSION: &str = "1.0.0";

/// Iterations, or calls, that are read at once: a row has the summary of an iteration, or a prompt with its reply.
const LARGE_ROWS: u32 = 50;

/// Columns that are kept as text: they are quotations, and the hashes in the same row are of exactly these bytes.
const VERBATIM: [&str; 2] = ["raw_llm_json", "request_json"];

/// Writes the document. The rows are those of the store's transaction.
pub async fn write(
    store: &mut impl Store,
    run: &RunRow,
    output: &mut ExportOutput,
    session: &mut Session,
) -> Result<ExportCounts, Failure> {
    let mut document = Document { output, session };
    document.head(run)?;
    document.iterations(store, run).await?;
    let (laws, first_elsewhere) = document.laws(store, run).await?;
    let attempts = document.evaluations(store, run, first_elsewhere).await?;
    document.calls(store, run).await?;
    Ok(ExportCounts { laws, attempts })
}

/// A document in the making.
struct Document<'a> {
    output: &'a mut ExportOutput,
    session: &'a mut Session,
}

impl Document<'_> {
    fn head(&mut self, run: &RunRow) -> io::Result<()> {
        let mut run = unfold(run);
        let config = run.remove("config").unwrap_or_default();
        let text = self.output.part();
        writeln!(text, "{{")?;
        field(text, "schema_version", &EXPORT_VERSION)?;
        field(text, "run", &run)?;
        field(text, "config", &config)
    }

    async fn iterations(&mut self, store: &mut impl Store, run: &RunRow) -> Result<(), Failure> {
        let mut list = self.begin("iterations")?;
        let mut next = Some(RowPage::first(LARGE_ROWS));
        while let Some(page) = next {
            let rows = store.iteration_page(run.id, page).await.map_err(failure)?;
            for row in &rows {
                self.row(&mut list, &unfold(row))?;
            }
            self.output.end_page(self.session)?;
            next = page.next(&rows, |row| i64::from(row.iteration_index));
        }
        Ok(self.end(true)?)
    }

    /// Returns the number of laws, and the key of the first one that an attempt at another one decided: in another run, or by a proof.
    async fn laws(
        &mut self,
        store: &mut impl Store,
        run: &RunRow,
    ) -> Result<(u64, Option<i64>), Failure> {
        let mut list = self.begin("laws")?;
        let mut tested = TestedLaws::new();
        let mut first_elsewhere = None;
        let mut next = Some(RowPage::first(ROWS));
        while let Some(page) = next {
            let rows = store.law_page(run.id, page).await.map_err(failure)?;
            for row in &rows {
                let finding = tested.get(store, run, row.id).await.map_err(failure)?;
                let made = finding.map(|finding| finding.evaluation);
                if made.as_ref().is_some_and(|made| made.law_id != row.id) {
                    first_elsewhere = first_elsewhere.or(Some(row.id));
                }
                self.row(&mut list, &law(row, made.as_ref()))?;
            }
            self.output.end_page(self.session)?;
            next = page.next(&rows, |row| row.id);
        }
        self.end(true)?;
        Ok((list.rows, first_elsewhere))
    }

    /// Writes the attempts of the run, then those at other laws that decided its laws. Returns their number.
    async fn evaluations(
        &mut self,
        store: &mut impl Store,
        run: &RunRow,
        first_elsewhere: Option<i64>,
    ) -> Result<u64, Failure> {
        let mut list = self.begin("evaluations")?;
        let mut next = Some(RowPage::first(ROWS));
        while let Some(page) = next {
            let query = Query::attempts(run, page.after, page.limit);
            let rows = store.findings(query).await.map_err(failure)?;
            for row in &rows {
                self.row(&mut list, &attempt(row, run).map_err(failure)?)?;
            }
            self.output.end_page(self.session)?;
            next = page.next(&rows, |row| row.evaluation.id);
        }
        next = first_elsewhere.map(|law| RowPage {
            after: law - 1,
            limit: ROWS,
        });
        while let Some(page) = next {
            let rows = store.tested_page(run, page).await.map_err(failure)?;
            for row in rows
                .iter()
                .filter(|row| row.evaluation.law_id != row.law.id)
            {
                self.row(&mut list, &attempt(row, run).map_err(failure)?)?;
            }
            self.output.end_page(self.session)?;
            next = page.next(&rows, |row| row.law.id);
        }
        self.end(true)?;
        Ok(list.rows)
    }

    async fn calls(&mut self, store: &mut impl Store, run: &RunRow) -> Result<(), Failure> {
        let mut list = self.begin("calls")?;
        let mut next = Some(RowPage::first(LARGE_ROWS));
        while let Some(page) = next {
            let rows = store.call_page(run.id, page).await.map_err(failure)?;
            for row in &rows {
                self.row(&mut list, &unfold(row))?;
            }
            self.output.end_page(self.session)?;
            next = page.next(&rows, |row| row.id);
        }
        self.end(false)?;
        Ok(writeln!(self.output.part(), "}}")?)
    }

    fn begin(&mut self, name: &str) -> io::Result<RowList> {
        write!(self.output.part(), "\"{name}\": [")?;
        Ok(RowList { rows: 0 })
    }

    fn row(&mut self, list: &mut RowList, row: &impl Serialize) -> io::Result<()> {
        let text = self.output.part();
        text.extend_from_slice(if list.rows == 0 { b"\n" } else { b",\n" });
        list.rows += 1;
        Ok(serde_json::to_writer(text, row)?)
    }

    /// Ends a list. The last field has no comma after it.
    fn end(&mut self, has_next: bool) -> io::Result<()> {
        writeln!(self.output.part(), "]{}", if has_next { "," } else { "" })
    }
}

/// A list of rows in the document.
struct RowList {
    /// The number of rows so far.
    rows: u64,
}

fn law(law: &LawRow, made: Option<&EvaluationRow>) -> Map<String, Value> {
    let mut row = unfold(law);
    if let Some(made) = made {
        let verdict = json!({
            "status": made.status, "reason_code": made.reason_code,
            "evaluation_id": made.id, "run_id": made.run_id,
        });
        row.insert("verdict".into(), verdict);
    }
    row
}

/// An attempt as its verdict, in the form of `check --json`, with the columns that a verdict lacks.
fn attempt(finding: &TestedLaw, run: &RunRow) -> Result<Map<String, Value>, Error> {
    let mut row = object(&finding.verdict(&run.sim_hash)?);
    let made = &finding.evaluation;
    let columns = json!({
        "id": made.id, "run_id": made.run_id,
        "started_at": made.started_at, "completed_at": made.completed_at,
    });
    row.extend(object(&columns));
    let (name, value) = column("artifacts_json".into(), made.artifacts_json.as_str().into());
    if name == "artifacts" {
        row.insert(name, value);
    }
    row.insert("law_row_id".into(), json!(finding.law.id));
    Ok(row)
}

/// A row as an object in which JSON columns are JSON and lose their `_json`.
fn unfold(row: &impl Serialize) -> Map<String, Value> {
    let columns = object(row).into_iter();
    columns.map(|(name, value)| column(name, value)).collect()
}

/// A column that is JSON as JSON, without its `_json`; others as they are.
fn column(name: String, value: Value) -> (String, Value) {
    let parsed = name
        .strip_suffix("_json")
        .filter(|_| !VERBATIM.contains(&name.as_str()))
        .zip(
            value
                .as_str()
                .and_then(|text| serde_json::from_str(text).ok()),
        );
    match parsed {
        Some((name, value)) => (name.to_owned(), value),
        None => (name, value),
    }
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
