//! `lineage`: prints which message descends from which.

use std::fmt::Write as _;
use std::io::Write as _;

use bin_support::{Exit, Failure, Session, shortened};
use logosphere_core::measures::lineage::{Lineage, LineageSummary};

use crate::numbers::{self, columns, number};
use crate::recorded::RecordedRun;
use crate::subject::Subject;

/// The number of characters of a text that a line shows.
const SHOWN: usize = 60;

/// The largest number of seed messages that are listed.
const MOST_SEEDS: usize = 20;

#[derive(Debug, clap::Args)]
pub struct LineageArgs {
    #[command(flatten)]
    pub subject: Subject,
    /// Number of messages with most descendants to show.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(args: &LineageArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recorded = RecordedRun::read(&args.subject.find(session)?)?;
    let summary = Lineage::of(&recorded.run).summary(&recorded.run, args.top);
    if args.json {
        return recorded.print_json(&summary, session);
    }
    let text = numbers::lineage(&summary) + &top(&summary) + &seeds(&summary) + &survival(&summary);
    session.results.write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

fn top(summary: &LineageSummary) -> String {
    if summary.top.is_empty() {
        return String::new();
    }
    let heading = [
        "message",
        "round",
        "descendants",
        "children",
        "rounds readable",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for spreader in &summary.top {
        rows.push(vec![
            spreader.id.to_string(),
            spreader.round.to_string(),
            spreader.descendants.to_string(),
            spreader.children.to_string(),
            spreader.lifetime.to_string(),
        ]);
    }
    let texts = summary.top.iter().map(|spreader| spreader.text.as_str());
    format!("\nmost descendants\n{}", with_texts(&columns(&rows), texts))
}

fn seeds(summary: &LineageSummary) -> String {
    if summary.seeds.is_empty() {
        return String::new();
    }
    let heading = ["seed", "descendants", "of messages", "of the last window"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    let shown = &summary.seeds[..summary.seeds.len().min(MOST_SEEDS)];
    for seed in shown {
        rows.push(vec![
            seed.id.to_string(),
            seed.descendants.to_string(),
            number(seed.message_share),
            number(seed.window_share),
        ]);
    }
    let texts = shown.iter().map(|seed| seed.text.as_str());
    let mut text = format!("\nseeds\n{}", with_texts(&columns(&rows), texts));
    let more = summary.seeds.len() - shown.len();
    if more > 0 {
        let _ = writeln!(text, "and {more} more; --json has all");
    }
    text
}

fn survival(summary: &LineageSummary) -> String {
    if summary.survival.is_empty() {
        return String::new();
    }
    let mut rows = vec![
        ["after rounds", "lines", "ended", "still there"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for step in summary.survival.iter().take(MOST_SEEDS) {
        rows.push(vec![
            step.rounds.to_string(),
            step.at_risk.to_string(),
            step.ended.to_string(),
            number(Some(step.share)),
        ]);
    }
    format!("\nsurvival of lines\n{}", columns(&rows))
}

/// Returns the lines of a table, each but the heading followed by a text.
fn with_texts<'a>(table: &str, texts: impl Iterator<Item = &'a str>) -> String {
    let texts = std::iter::once(None).chain(texts.map(Some));
    let mut all = String::new();
    for (line, text) in table.lines().zip(texts) {
        let text = text.map(|text| format!("  {}", shortened(text, SHOWN)));
        let _ = writeln!(all, "{line}{}", text.unwrap_or_default());
    }
    all
}
