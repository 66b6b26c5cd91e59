//! `report`: a run as one page for a browser.

use std::io::Write as _;

use bin_support::{Exit, Failure, OutputFile, Session, printable};
use logosphere_core::nulls::MIN_RUNS;
use logosphere_core::report::{ReportData, page};

use crate::cli;
use crate::journal::{open, path};

pub fn execute(args: &cli::Report, session: &mut Session) -> Result<Exit, Failure> {
    let journal = path(&args.experiment);
    let out = args.out.clone().unwrap_or_else(|| {
        if args.experiment.is_dir() {
            args.experiment.join("report.html")
        } else {
            journal.with_extension("html")
        }
    });
    let input = open(&args.experiment)?;
    let output = OutputFile::begin_beside(&out, [journal])?;
    let data = ReportData::read(input, MIN_RUNS)
        .map_err(|error| Failure::new(Exit::CheckFailed, error))?;
    let html = page(&data).render()?;
    output.finish(|file| file.write_all(html.as_bytes()))?;
    writeln!(session.results, "{}", printable(&out.display().to_string()))?;
    Ok(Exit::Done)
}
