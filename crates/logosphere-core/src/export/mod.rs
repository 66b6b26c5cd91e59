//! A run in forms that other programs read.
//!
//! | | graphml | dot | csv | jsonl |
//! |---|---|---|---|---|
//! | lineage | yes | yes | a row a message | a line a message |
//! | exposure | yes | yes | a row an edge | a line an edge |
//! | messages | | | yes | yes |
//! | metrics | | | a row a value | a line a value |
//!
//! Edges go from what was read or copied to what came of it: from a lower to a higher id. What minds wrote cannot leave
//! the place where a text belongs, in any of the forms.
//!
//! ```
//! use logosphere_core::Transcript;
//! use logosphere_core::export::{ExportFormat, ExportKind, export};
//!
//! let mut out = Vec::new();
//! export(&Transcript::default(), ExportKind::Lineage, ExportFormat::Dot, false, &mut out)?;
//! assert_eq!(out, b"digraph lineage {\n}\n");
//! let error = export(&Transcript::default(), ExportKind::Metrics, ExportFormat::Dot, false, &mut out).unwrap_err();
//! assert_eq!(error.to_string(), "metrics cannot be written as dot, only as csv, jsonl");
//! # Ok::<(), logosphere_core::export::ExportError>(())
//! ```

mod dot;
mod graph;
mod graphml;
mod kind;
mod row;
mod table;

use std::io::Write;

use crate::measures::lineage::Lineage;
use crate::verify::Transcript;
use graph::Graph;
pub use kind::{ExportError, ExportFormat, ExportKind, UnknownExport};

/// Writes a run. Cells of a CSV that a spreadsheet takes for formulas get an apostrophe unless `raw_csv`.
///
/// # Errors
/// [`ExportError::NoSuchForm`], before anything is written, and [`ExportError::Write`].
pub fn export(
    run: &Transcript,
    kind: ExportKind,
    format: ExportFormat,
    raw_csv: bool,
    mut out: impl Write,
) -> Result<(), ExportError> {
    if !kind.formats().contains(&format) {
        return Err(ExportError::NoSuchForm { kind, format });
    }
    let lineage = || Lineage::of(run);
    let graph = || match kind {
        ExportKind::Lineage => Graph::of_lineage(&lineage()),
        _ => Graph::of_exposure(run),
    };
    match format {
        ExportFormat::Graphml => graphml::write(run, kind, &graph(), &mut out)?,
        ExportFormat::Dot => dot::write(run, kind, &graph(), &mut out)?,
        ExportFormat::Csv | ExportFormat::Jsonl => {
            let rows = match kind {
                ExportKind::Lineage => row::lineage(run, &lineage()),
                ExportKind::Exposure => row::exposure(run),
                ExportKind::Messages => row::messages(run),
                ExportKind::Metrics => row::metrics(run),
            };
            match format {
                ExportFormat::Csv => table::csv(&rows, raw_csv, &mut out)?,
                _ => table::jsonl(&rows, &mut out)?,
            }
        }
    }
    out.flush()?;
    Ok(())
}
