//! The export of a run to formats that other programs read.
//!
//! | | graphml | dot | csv | jsonl | svg |
//! |---|---|---|---|---|---|
//! | lineage | yes | yes | a row per message | a line per message | a picture |
//! | exposure | yes | yes | a row per edge | a line per edge | |
//! | messages | | | yes | yes | |
//! | metrics | | | a row per value | a line per value | |
//!
//! Edges lead from a message that was read or copied to the message that was written after it, from a lower to a higher id.
//! Texts of minds are escaped in every format, so that other programs read them as text only.
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
#[cfg(feature = "report")]
pub(crate) mod picture;
mod row;
mod table;

use std::io::Write;

use crate::measures::lineage::Lineage;
use crate::verify::Transcript;
use graph::Graph;
pub use kind::{ExportError, ExportFormat, ExportKind, UnknownExport};

/// Writes a run, and returns the number of its rows or edges. Cells of a CSV file that a spreadsheet would read as formulas get an apostrophe unless `raw_csv`.
///
/// # Errors
/// [`ExportError::NoSuchForm`], before anything is written, and [`ExportError::Write`].
pub fn export(
    run: &Transcript,
    kind: ExportKind,
    format: ExportFormat,
    raw_csv: bool,
    mut out: impl Write,
) -> Result<usize, ExportError> {
    if !kind.formats().contains(&format) {
        return Err(ExportError::NoSuchForm { kind, format });
    }
    let lineage = || Lineage::of(run);
    let graph = || match kind {
        ExportKind::Lineage => Graph::of_lineage(&lineage()),
        _ => Graph::of_exposure(run),
    };
    let count = match format {
        ExportFormat::Graphml => {
            let graph = graph();
            graphml::write(run, kind, &graph, &mut out)?;
            graph.edges.len()
        }
        ExportFormat::Dot => {
            let graph = graph();
            dot::write(run, kind, &graph, &mut out)?;
            graph.edges.len()
        }
        #[cfg(feature = "report")]
        ExportFormat::Svg => picture::write(run, &lineage(), &mut out)?,
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
            rows.rows.len()
        }
    };
    out.flush()?;
    Ok(count)
}
