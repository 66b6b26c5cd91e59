//! `null`: a run among many in which nothing is selected.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session};
use logosphere_core::measures::metrics::Window;
use logosphere_core::measures::{Analysis, AnalysisPlan, Measured, NullFacts};
use serde::Serialize;

use crate::analyze::{band, columns, heading, number};
use crate::args::{self, Innovation};
use crate::recorded::RecordedRun;

/// What a null model says about a run.
#[derive(Serialize)]
struct Compared<'a> {
    schema_version: u32,
    software: &'a str,
    window: Window,
    null: Option<&'a NullFacts>,
    metrics: Vec<&'a Measured>,
}

pub fn execute(args: &args::Null, session: &mut Session) -> Result<Exit, Failure> {
    let recorded = RecordedRun::read(&args.subject.find(session)?)?;
    let mu = match args.mu {
        Innovation::Auto => None,
        Innovation::Share(mu) => Some(mu),
    };
    let mut plan = AnalysisPlan::default();
    plan.null = Some(args.kind.with_mu(mu));
    plan.null_runs = args.runs;
    plan.null_seed = args.seed.seed;
    let analysis = Analysis::of(&recorded.run, &plan);
    let compared = Compared {
        schema_version: analysis.schema_version,
        software: &analysis.software,
        window: analysis.window,
        null: analysis.null.as_ref(),
        metrics: (analysis.metrics.iter())
            .filter(|measured| measured.name.is_of_texts())
            .collect(),
    };
    if args.json {
        return recorded.print_json(&compared, session);
    }
    let columns_of = ["metric", "run", "null median", "95 % of null", "p"];
    let mut rows = vec![columns_of.map(str::to_owned).to_vec()];
    let null = args.kind;
    let moved: Vec<_> = (compared.metrics.into_iter())
        .filter(|measured| null.moves(measured.name))
        .collect();
    let tested = moved.iter().filter(|measured| measured.null.is_some());
    session.status(&format!(
        "{} p values, not corrected for their number",
        tested.count()
    ));
    for measured in moved {
        let mut row = vec![measured.name.to_string(), number(measured.mean)];
        row.extend(band(measured.null));
        rows.push(row);
    }
    let text = format!("{}\n{}", heading(&analysis), columns(&rows));
    session.results.write_all(text.as_bytes())?;
    Ok(Exit::Done)
}
