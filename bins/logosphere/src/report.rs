//! `report`: a run as one page for a browser.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session};
use logosphere_core::measures::nulls::MIN_RUNS;
use logosphere_core::report::{ReportData, page};

use crate::error::Error;
use crate::recorded::is_old;
use crate::{args, journal};

pub fn execute(args: &args::Report, session: &mut Session) -> Result<Exit, Failure> {
    let given = args.subject.find(session)?;
    let path = journal::path(&given);
    let input = journal::open(&given)?;
    if is_old(&given)? {
        return Err(Failure::usage(Error::OldPage { path }));
    }
    let out = args.out.clone().unwrap_or_else(|| {
        let page = if given.is_dir() {
            given.join("report.html")
        } else {
            path.with_extension("html")
        };
        page.into()
    });
    let output = out.begin(journal::kept(&given))?;
    session.status(&format!(
        "measuring, and making {MIN_RUNS} runs of each null model"
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
