//! `lineage`: prints which message descends from which.

use std::fmt::Write as _;
use std::io::Write as _;
use std::str::FromStr;

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Results, Session, Table, escape, shortened};
use logosphere_core::Transcript;
use logosphere_core::measures::embedding::{Embeddings, Encoder};
use logosphere_core::measures::lineage::{Lineage, LineageSummary, PARENT_RULE, VectorRule};
use logosphere_core::pool::MessageId;
use serde::Serialize;

use crate::embedding::{self, EmbedFlags};
use crate::error::Error;
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
    /// Rule of parents: lcs, or embed:S [default: lcs, or embed:0.85].
    ///
    /// lcs compares the words of a message with those of each text that its mind read, as all tests do. embed:S takes the texts whose
    /// vectors have a cosine of at least S, 0 to 1, by the encoder of --embed; it is for a look at descent and in no test.
    #[arg(long, value_name = "RULE", hide_short_help = true)]
    pub parent_rule: Option<ParentRule>,
    #[command(flatten)]
    pub embed: EmbedFlags,
}

/// A rule by which parents are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParentRule {
    Lcs,
    /// The smallest cosine of a parent.
    Embed(f64),
}

impl FromStr for ParentRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "lcs" {
            return Ok(Self::Lcs);
        }
        let least = text
            .strip_prefix("embed:")
            .and_then(|least| least.parse().ok());
        least
            .filter(|least| (0.0..=1.0).contains(least))
            .map(Self::Embed)
            .ok_or_else(|| {
                "expected lcs, or embed:S with S from 0 to 1, such as embed:0.85".to_owned()
            })
    }
}

/// The smallest cosine of a parent, unless another one is given.
const LEAST_COSINE: f64 = 0.85;

/// The summary as JSON.
#[derive(Serialize)]
struct LineageResult<'a> {
    schema_version: u32,
    parent_rule: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoder: Option<&'a Encoder>,
    #[serde(flatten)]
    summary: &'a LineageSummary,
}

pub fn execute(args: &LineageArgs, session: &mut Session) -> Result<Exit, Failure> {
    let given = MEASURED.find(&args.run, session)?;
    let recorded = RecordedRun::read(&given)?;
    let least = match (args.parent_rule, &args.embed.embed) {
        (Some(ParentRule::Embed(_)), None) => return Err(Failure::usage(Error::NoEncoder)),
        (Some(ParentRule::Lcs), Some(_)) => return Err(Failure::usage(Error::UnusedEncoder)),
        (Some(ParentRule::Embed(least)), _) => least,
        _ => LEAST_COSINE,
    };
    let vectors = embedding::of_run(&args.embed, &given, &recorded.run, session)?;
    let (lineage, rule) = match &vectors {
        Some(vectors) => (
            Lineage::by_vectors(&recorded.run, VectorRule::new(vectors, least)),
            format!("embed:{least}"),
        ),
        None => (Lineage::of(&recorded.run), PARENT_RULE.to_owned()),
    };
    let summary = lineage.summary(&recorded.run, args.top);
    let encoder = vectors.as_ref().map(Embeddings::encoder);
    if args.json {
        let result = LineageResult {
            schema_version: 1,
            parent_rule: &rule,
            encoder,
            summary: &summary,
        };
        return recorded.print_json(&result, session);
    }
    let text_of = |id| line(id, &recorded.run, &session.results);
    let mut text = wrapped(&numbers::lineage(&summary), session.results.width());
    if let Some(encoder) = encoder {
        let name = escape(&encoder.name);
        let line = format!("parents by rule {rule}, vectors of {name}: for a look, in no test");
        text.push_str(&wrapped(&line, session.results.width()));
    }
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
