//! `analyze`: prints the measures of a run as a table or as JSON.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session};
use logosphere_core::Round;
use logosphere_core::measures::metrics::{Interval, Metric, SeedExit, Trend, Volume, Window};
use logosphere_core::measures::nulls::Null;
use logosphere_core::measures::{Analysis, AnalysisPlan};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

use crate::numbers::{self, band, columns, heading, number};
use crate::recorded::RecordedRun;
use crate::subject::Subject;

#[derive(Debug, clap::Args)]
pub struct AnalyzeArgs {
    #[command(flatten)]
    pub subject: Subject,
    /// Show every measure, by the names of --json and of exports.
    #[arg(long)]
    pub all: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    /// Null model to compare each measure with.
    #[arg(long, value_enum, value_name = "KIND")]
    pub null: Option<Null>,
    /// Compare equal numbers of texts of equal lengths only.
    #[arg(long = "match")]
    pub matched: bool,
    /// Window of messages that a value is computed from, `active` or `rounds:R` [default: active].
    #[arg(long, value_name = "WINDOW", value_parser = rounds)]
    pub window: Option<u32>,
}

/// Parses `active` or `rounds:R`; `active` is 0 rounds.
fn rounds(text: &str) -> Result<u32, String> {
    let rounds = match text {
        "active" => Some(0),
        _ => (text.strip_prefix("rounds:"))
            .and_then(|rounds| rounds.parse().ok())
            .filter(|rounds| *rounds > 0),
    };
    rounds.ok_or_else(|| "it is `active`, or `rounds:R` with R of at least 1".to_owned())
}

pub fn execute(args: &AnalyzeArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recorded = RecordedRun::read(&args.subject.find(session)?)?;
    let mut plan = AnalysisPlan::default();
    plan.window = window(args.window);
    plan.matched = args.matched;
    plan.null = args.null;
    let analysis = Analysis::of(&recorded.run, &plan);
    if args.matched && analysis.matched.is_none() {
        session.warn("there are not enough texts to match; all texts are used");
    }
    if args.json {
        return recorded.print_json(&analysis, session);
    }
    let mut text = String::new();
    if let Some(sentence) = analysis.sentence() {
        text.push_str(&wrapped(&sentence));
        text.push('\n');
    }
    text.push_str(&wrapped(&heading(&analysis)));
    text.push('\n');
    if args.all {
        text.push_str(&table(&analysis));
        text.push_str(LEGEND);
    } else {
        text.push_str(&short_table(&analysis));
    }
    text.push('\n');
    text.push_str(&wrapped(&volume(&analysis.volume)));
    text.push_str(&wrapped(&seed_exit(analysis.seed_exit)));
    text.push_str(&wrapped(&numbers::lineage(&analysis.lineage)));
    session.results.write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

/// The number of columns of a terminal.
const WIDTH: usize = 80;

/// The measures that are shown without `--all`.
const SHORT: [Metric; 8] = [
    Metric::TfidfSimilarity,
    Metric::WithinRoundSimilarity,
    Metric::InputSimilarity,
    Metric::PairIdentity,
    Metric::Turnover,
    Metric::Distinct2,
    Metric::SeedEcho,
    Metric::LostShare,
];

const LEGEND: &str = "
rounds: rounds with a value; mean: of these rounds; 95 % interval: of the mean,
by a bootstrap over blocks of rounds; trend: rank correlation with the round, and
its p. Definitions are in --json.
";

/// Returns a line for each measure in 80 columns: with its trend, or with its null model.
fn short_table(analysis: &Analysis) -> String {
    let with_null = analysis.null.is_some();
    let mut rows = vec![if with_null {
        vec!["measure", "mean", "null median", "95 % of null", "p"]
    } else {
        vec!["measure", "mean", "95 % interval", "trend", "p"]
    }];
    let found: Vec<Vec<String>> = (SHORT.into_iter())
        .filter_map(|metric| analysis.metric(metric))
        .map(|measured| {
            let mut row = vec![measured.name.title().to_owned(), number(measured.mean)];
            if with_null {
                row.extend(band(measured.null));
            } else {
                row.push(interval(measured.interval));
                row.extend(trend(measured.trend));
            }
            row
        })
        .collect();
    let mut rows: Vec<Vec<String>> = (rows.drain(..))
        .map(|row| row.into_iter().map(str::to_owned).collect())
        .collect();
    rows.extend(found);
    columns(&rows)
}

/// Wraps a text at 80 columns; the last line is ended.
fn wrapped(text: &str) -> String {
    let words = Options::new(WIDTH)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .break_words(false);
    textwrap::fill(text.trim_end(), words) + "\n"
}

/// Returns the window of this number of rounds; without one, the active pool.
fn window(rounds: Option<u32>) -> Window {
    let rounds = rounds.and_then(std::num::NonZeroU32::new);
    rounds.map_or(Window::Active, Window::Rounds)
}

/// Returns a line for each metric: mean, interval, trend and its band under the null model.
fn table(analysis: &Analysis) -> String {
    let mut rows = vec![vec![
        "metric",
        "rounds",
        "mean",
        "95 % interval",
        "trend",
        "p",
    ]];
    if analysis.null.is_some() {
        rows[0].extend(["null median", "95 % of null", "p"]);
    }
    let mut rows: Vec<Vec<String>> = (rows.into_iter())
        .map(|row| row.into_iter().map(str::to_owned).collect())
        .collect();
    for measured in &analysis.metrics {
        let mut row = vec![
            measured.name.to_string(),
            measured.n.to_string(),
            number(measured.mean),
            interval(measured.interval),
        ];
        row.extend(trend(measured.trend));
        if analysis.null.is_some() {
            row.extend(band(measured.null));
        }
        rows.push(row);
    }
    columns(&rows)
}

fn interval(interval: Option<Interval>) -> String {
    interval.map_or("-".to_owned(), |interval| {
        format!("{:.4} .. {:.4}", interval.low, interval.high)
    })
}

fn trend(trend: Option<Trend>) -> [String; 2] {
    match trend {
        Some(trend) => [format!("{:+.3}", trend.rho), format!("{:.4}", trend.p)],
        None => ["-".to_owned(), "-".to_owned()],
    }
}

fn volume(volume: &Volume) -> String {
    let reasons: Vec<String> = (volume.by_reason.iter())
        .map(|(reason, calls)| {
            let name = serde_json::to_value(reason).unwrap_or_default();
            format!("{} {calls}", name.as_str().unwrap_or_default())
        })
        .collect();
    let Volume {
        messages,
        seeds,
        invisible,
        silent_rounds,
        ..
    } = volume;
    format!(
        "volume: {messages} messages, {seeds} of them seeds, {invisible} invisible; {silent_rounds} silent rounds; \
         calls: {}\n",
        reasons.join(", ")
    )
}

fn seed_exit(exit: SeedExit) -> String {
    let when = |round: Option<Round>| match round {
        Some(Round(0)) => "before round 1".to_owned(),
        Some(round) => format!("after round {round}"),
        None => "never".to_owned(),
    };
    format!(
        "seeds: {}; the first left {}, half of them {}, all {}\n",
        exit.n,
        when(exit.first),
        when(exit.half_life),
        when(exit.all)
    )
}
