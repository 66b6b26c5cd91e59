//! `lineage`: prints which message descends from which.

use std::fmt::Write as _;
use std::io::Write as _;

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Session, Table, shortened};
use logosphere_core::measures::lineage::{Lineage, LineageSummary};
use serde::Serialize;

use crate::folders::RUNS;
use crate::numbers::{self, number, wrapped};
use crate::recorded::RecordedRun;

/// The number of characters of a text that a line shows.
const SHOWN: usize = 60;

/// The largest number of seed messages that are listed.
const MOST_SEEDS: usize = 20;

#[derive(Debug, clap::Args)]
pub struct LineageArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// Number of messages with most descendants to show.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The summary as JSON.
#[derive(Serialize)]
struct LineageResult<'a> {
    schema_version: u32,
    #[serde(flatten)]
    summary: &'a LineageSummary,
}

pub fn execute(args: &LineageArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recorded = RecordedRun::read(&RUNS.find(&args.run, session)?)?;
    let summary = Lineage::of(&recorded.run).summary(&recorded.run, args.top);
    if args.json {
        let result = LineageResult {
            schema_version: 1,
            summary: &summary,
        };
        return recorded.print_json(&result, session);
    }
    let mut text = wrapped(&numbers::lineage(&summary), session.results.width());
    for (title, table) in [
        ("most descendants", top(&summary)),
        ("seeds", seeds(&summary)),
        ("survival of lines", survival(&summary)),
    ] {
        if !table.is_empty() {
            let _ = write!(text, "\n{title}\n{}", table.text(&session.results));
        }
    }
    let more = summary.seeds.len().saturating_sub(MOST_SEEDS);
    if more > 0 {
        let _ = writeln!(text, "and {more} more seeds; --json has all");
    }
    session.results.write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

fn top(summary: &LineageSummary) -> Table {
    let header = [
        "message",
        "round",
        "descendants",
        "children",
        "rounds",
        "text",
    ];
    let mut table = Table::new(header).wrapping("text");
    for spreader in &summary.top {
        table.row([
            spreader.id.to_string(),
            spreader.round.to_string(),
            spreader.descendants.to_string(),
            spreader.children.to_string(),
            spreader.lifetime.to_string(),
            shortened(&spreader.text, SHOWN),
        ]);
    }
    table
}

fn seeds(summary: &LineageSummary) -> Table {
    let header = ["seed", "descendants", "of messages", "of window", "text"];
    let mut table = Table::new(header).wrapping("text");
    for seed in summary.seeds.iter().take(MOST_SEEDS) {
        table.row([
            seed.id.to_string(),
            seed.descendants.to_string(),
            number(seed.message_share),
            number(seed.window_share),
            shortened(&seed.text, SHOWN),
        ]);
    }
    table
}

fn survival(summary: &LineageSummary) -> Table {
    let mut table = Table::new(["after rounds", "lines", "ended", "still there"]);
    for step in summary.survival.iter().take(MOST_SEEDS) {
        table.row([
            step.rounds.to_string(),
            step.at_risk.to_string(),
            step.ended.to_string(),
            number(Some(step.share)),
        ]);
    }
    table
}
