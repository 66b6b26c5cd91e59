//! The page of a run, written to a file.

use std::io::Write as _;
use std::path::Path;

use bin_support::{Exit, Failure, OutputTarget, Session};
use logosphere_core::measures::nulls::MIN_RUNS;
use logosphere_core::report::{ReportData, page};

use crate::error::Error;
use crate::journal_file;
use crate::recorded::is_old;

/// Writes the page of a journal to `out`, by default to the experiment's `report.html`.
pub fn write(
    given: &Path,
    out: Option<&OutputTarget>,
    session: &mut Session,
) -> Result<Exit, Failure> {
    let path = journal_file::path(given);
    let input = journal_file::open(given)?;
    if is_old(given)? {
        return Err(Failure::usage(Error::OldPage { path }));
    }
    let out = out.cloned().unwrap_or_else(|| {
        let page = if given.is_dir() {
            given.join("report.html")
        } else {
            path.with_extension("html")
        };
        page.into()
    });
    let output = out.begin(journal_file::kept(given))?;
    session.status(&format!(
        "measuring, with {MIN_RUNS} runs of each null model"
    ));
    let data = ReportData::read(input, MIN_RUNS)
        .map_err(|source| Failure::usage(Error::Transcript { path, source }))?;
    let html = page(&data).render()?;
    output.finish(session, |out| out.write_all(html.as_bytes()))?;
    if out.file().is_some() {
        writeln!(session.results, "{out}")?;
    }
    Ok(Exit::Done)
}
