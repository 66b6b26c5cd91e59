//! `null-model`: compares a run with a null model.

use std::io::Write as _;

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Session};
use logosphere_core::measures::nulls::{DEFAULT_RUNS, Null, NullPlan, compare};

use crate::chance::{self, ComparisonJson};
use crate::folders::MEASURED;
use crate::measuring;
use crate::numbers::wrapped;
use crate::recorded::RecordedRun;

#[derive(Debug, clap::Args)]
#[command(mut_arg("seed", |flag| flag.visible_alias("null-seed")))]
pub struct NullModelArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// Null model: `descent` for the choice of texts, `shuffle` for the effect of reading.
    #[arg(long, value_name = "KIND", default_value = "descent")]
    pub kind: Null,
    /// Number of null runs, at least 199.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_RUNS, value_parser = clap::value_parser!(u32).range(199..))]
    pub runs: u32,
    #[command(flatten)]
    pub seed: bin_support::SeedFlag,
    /// Show further tests and bands.
    #[arg(long)]
    pub all: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(args: &NullModelArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recorded = RecordedRun::read(&MEASURED.find(&args.run, session)?)?;
    let plan = NullPlan {
        kind: args.kind,
        runs: args.runs,
        seed: args.seed.seed,
        threads: measuring::threads(),
    };
    let compared = compare(&recorded.run, &plan, &mut measuring::null_runs(session)?);
    let Some(compared) = compared else {
        return Ok(Exit::Interrupted);
    };
    if args.json {
        return recorded.print_json(&ComparisonJson::from(&compared), session);
    }
    let mut text = String::new();
    if let Some(verdict) = &compared.verdict {
        text.push_str(&wrapped(&verdict.sentence, session.results.width()));
        text.push('\n');
    }
    text.push_str(&chance::tables(&compared, args.all, &session.results));
    session.results.write_all(text.as_bytes())?;
    chance::tell(&compared, session);
    Ok(Exit::Done)
}
