//! `lineage`: prints which message descends from which.

use std::fmt::Write as _;
use std::io::Write as _;

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Results, Session, Table, escape, shortened};
use logosphere_core::Transcript;
use logosphere_core::measures::lineage::{Lineage, LineageSummary};
use logosphere_core::pool::MessageId;
use serde::Serialize;

use crate::folders::MEASURED;
use crate::numbers::{self, number, wrapped};
use crate::recorded::RecordedRun;

/// The number of characters of a text that a terminal shows.
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
    let recorded = RecordedRun::read(&MEASURED.find(&args.run, session)?)?;
    let summary = Lineage::of(&recorded.run).summary(&recorded.run, args.top);
    if args.json {
        let result = LineageResult {
            schema_version: 1,
            summary: &summary,
        };
        return recorded.print_json(&result, session);
    }
    let text_of = |id| line(id, &recorded.run, &session.results);
    let mut text = wrapped(&numbers::lineage(&summary), session.results.width());
    for (title, table) in [
        ("most descendants", top(&summary, &text_of)),
        ("seeds", seeds(&summary, &text_of)),
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

/// Returns the text of a message in one line. A terminal gets its beginning and end.
fn line(id: MessageId, run: &Transcript, out: &Results) -> String {
    let message = usize::try_from(id.0)
        .ok()
        .and_then(|id| run.messages.get(id));
    let text = message.map_or("", |message| &message.text);
    match out.width() {
        Some(_) => shortened(text, SHOWN),
        None => escape(text),
    }
}

fn top(summary: &LineageSummary, text_of: &impl Fn(MessageId) -> String) -> Table {
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
            text_of(spreader.id),
        ]);
    }
    table
}

fn seeds(summary: &LineageSummary, text_of: &impl Fn(MessageId) -> String) -> Table {
    let header = ["seed", "descendants", "of messages", "of window", "text"];
    let mut table = Table::new(header).wrapping("text");
    for seed in summary.seeds.iter().take(MOST_SEEDS) {
        table.row([
            seed.id.to_string(),
            seed.descendants.to_string(),
            number(seed.message_share),
            number(seed.window_share),
            text_of(seed.id),
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
