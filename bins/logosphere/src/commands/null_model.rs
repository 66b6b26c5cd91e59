//! `null-model`: compares a run with a null model.

use std::io::Write as _;

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Session, Table};
use logosphere_core::measures::metrics::Window;
use logosphere_core::measures::nulls::Null;
use logosphere_core::measures::{Analysis, AnalysisPlan, Measured, NullFacts};
use serde::Serialize;

use crate::folders::RUNS;
use crate::measuring;
use crate::numbers::{band, heading, number, wrapped};
use crate::recorded::RecordedRun;

/// The result of the comparison.
#[derive(Serialize)]
struct Compared<'a> {
    schema_version: u32,
    software: &'a str,
    window: Window,
    null: Option<&'a NullFacts>,
    metrics: Vec<&'a Measured>,
}

#[derive(Debug, clap::Args)]
pub struct NullModelArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// The null model.
    #[arg(long, value_enum, value_name = "KIND", default_value = "random-copy")]
    pub kind: Null,
    /// Number of runs of the null model, at least 200.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(200..))]
    pub runs: u32,
    /// Novelty rate of random-copy, 0 to 1 or `auto`, that of the run.
    #[arg(long, value_name = "MU", default_value = "auto", value_parser = innovation)]
    pub mu: Innovation,
    #[command(flatten)]
    pub seed: bin_support::SeedFlag,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The novelty rate of a null model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Innovation {
    /// The novelty rate of the run.
    Auto,
    /// A given probability.
    Share(f64),
}

fn innovation(text: &str) -> Result<Innovation, String> {
    if text == "auto" {
        return Ok(Innovation::Auto);
    }
    let share = text.parse().ok().filter(|mu| (0.0..=1.0).contains(mu));
    share
        .map(Innovation::Share)
        .ok_or_else(|| "it is `auto`, or a number from 0 to 1".to_owned())
}

pub fn execute(args: &NullModelArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recorded = RecordedRun::read(&RUNS.find(&args.run, session)?)?;
    let mu = match args.mu {
        Innovation::Auto => None,
        Innovation::Share(mu) => Some(mu),
    };
    let mut plan = AnalysisPlan::default();
    plan.null = Some(args.kind.with_mu(mu));
    plan.null_runs = args.runs;
    plan.null_seed = args.seed.seed;
    plan.threads = measuring::threads();
    let analysis = Analysis::watched(&recorded.run, &plan, &mut measuring::null_runs(session));
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
    let header = ["metric", "run", "null median", "95 % of null", "p"];
    let mut table = Table::new(header).wrapping("metric");
    let null = args.kind;
    let moved: Vec<_> = (compared.metrics.into_iter())
        .filter(|measured| null.moves(measured.name))
        .collect();
    let tested = moved.iter().filter(|measured| measured.null.is_some());
    session.status(&format!(
        "p values: {}, not corrected for their number",
        tested.count()
    ));
    for measured in moved {
        let mut row = vec![measured.name.to_string(), number(measured.mean)];
        row.extend(band(measured.null));
        table.row(row);
    }
    let mut text = format!(
        "{}\n{}",
        heading(&analysis, analysis.null.as_ref()),
        table.text(&session.results)
    );
    if let Some(caveat) = analysis.caveat() {
        text.push_str(&wrapped(&caveat, session.results.width()));
    }
    session.results.write_all(text.as_bytes())?;
    Ok(Exit::Done)
}
