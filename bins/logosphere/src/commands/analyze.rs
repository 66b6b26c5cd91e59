//! `analyze`: prints the measures of a run as a table or as JSON.

use std::fmt::Write as _;
use std::io::Write as _;

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Results, Session, Table, escape};
use logosphere_core::Round;
use logosphere_core::import::ReferenceMetrics;
use logosphere_core::measures::embedding::{EmbeddedRun, Encoder};
use logosphere_core::measures::metrics::{Interval, Metric, SeedExit, Trend, Volume, Window};
use logosphere_core::measures::nulls::NullPlan;
use logosphere_core::measures::{Analysis, AnalysisPlan, Measured};

use crate::chance;
use crate::embedding::{self, EmbedFlags};
use crate::folders::MEASURED;
use crate::measuring;
use crate::numbers::{self, heading, number, wrapped};
use crate::recorded::RecordedRun;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct AnalyzeArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// Every measure: the flag -v of an earlier release.
    #[arg(long, hide = true)]
    pub all: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    /// Measure without null runs, so without a verdict.
    #[arg(long)]
    pub no_null: bool,
    /// Compare equal numbers of texts of equal lengths only.
    #[arg(long = "match")]
    pub matched: bool,
    /// Window of messages that a value is computed from, `active` or `rounds:R` [default: active].
    #[arg(long, value_name = "WINDOW", value_parser = rounds)]
    pub window: Option<u32>,
    #[command(flatten)]
    pub embed: EmbedFlags,
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
    let given = MEASURED.find(&args.run, session)?;
    let recorded = RecordedRun::read(&given)?;
    let vectors = embedding::of_run(&args.embed, &given, &recorded.run, session)?;
    let threads = measuring::threads();
    let mut plan = AnalysisPlan::default();
    plan.window = window(args.window);
    plan.matched = args.matched;
    plan.threads = threads;
    plan.embeddings = vectors.as_ref();
    plan.null = (!args.no_null).then(|| NullPlan {
        threads,
        ..NullPlan::default()
    });
    let analysis = Analysis::watched(&recorded.run, &plan, &mut measuring::null_runs(session)?);
    let Some(analysis) = analysis else {
        return Ok(Exit::Interrupted);
    };
    if args.matched && analysis.matched.is_none() {
        session.warn("there are not enough texts to match; all texts are used");
    }
    if args.json {
        return recorded.print_json(&analysis, session);
    }
    let width = session.results.width();
    let mut text = String::new();
    if let Some(sentence) = analysis.sentence() {
        text.push_str(&wrapped(&sentence, width));
        text.push('\n');
    }
    let all = args.all || session.verbosity() > 0;
    match &analysis.comparison {
        Some(found) if !found.tests.is_empty() => {
            text.push_str(&chance::tables(found, all, &session.results));
        }
        _ => text.push_str(&short_table(&analysis).text(&session.results)),
    }
    if let Some(run) = &analysis.embedded {
        let _ = write!(text, "\n{}", embedded(run, &session.results));
    }
    if all {
        let mut rest = heading(&analysis);
        rest.push('\n');
        rest.push_str(&table(&analysis).text(&session.results));
        rest.push_str(LEGEND);
        rest.push_str(&volume(&analysis.volume));
        rest.push_str(&seed_exit(analysis.seed_exit));
        rest.push_str(&numbers::lineage(&analysis.lineage));
        if let Some(metrics) = recorded.reference_metrics() {
            rest.push_str(&reference(metrics));
        }
        let _ = write!(text, "\n{rest}");
    } else {
        session.status("all measures: logosphere analyze -v");
    }
    session.results.write_all(text.as_bytes())?;
    if let Some(found) = &analysis.comparison {
        chance::tell(found, session);
    }
    Ok(Exit::Done)
}

/// The measures that are shown without `-v` and without null runs.
const FIRST: [Metric; 4] = [
    Metric::TfidfSimilarity,
    Metric::PairIdentity,
    Metric::Turnover,
    Metric::SeedEcho,
];

const LEGEND: &str = "
rounds: rounds with a value; mean: of these rounds; 95 % interval: of the mean,
by a bootstrap over blocks of rounds; trend: rank correlation with the round, and
its p. Definitions are in --json.

";

/// Returns a row for each of a few measures: in words, with unit and value.
fn short_table(analysis: &Analysis) -> Table {
    let mut table = Table::new(["measure", "unit", "value"]).wrapping("measure");
    for measured in FIRST
        .into_iter()
        .filter_map(|metric| analysis.metric(metric))
    {
        let (unit, shown) = unit(measured);
        table.row([
            measured.name.title().to_owned(),
            unit.to_owned(),
            measured.mean.map_or_else(|| "-".to_owned(), shown),
        ]);
    }
    table
}

/// Returns the unit of a measure and the form of its values.
fn unit(measured: &Measured) -> (&'static str, fn(f64) -> String) {
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    match measured.name {
        Metric::PairIdentity => ("% of pairs", percent),
        Metric::Turnover => ("% of texts", percent),
        _ => ("0 to 1", |number| format!("{number:.3}")),
    }
}

/// Returns the window of this number of rounds; without one, the active pool.
fn window(rounds: Option<u32>) -> Window {
    let rounds = rounds.and_then(std::num::NonZeroU32::new);
    rounds.map_or(Window::Active, Window::Rounds)
}

/// Returns a row for each metric.
fn table(analysis: &Analysis) -> Table {
    let header = ["metric", "rounds", "mean", "95 % interval", "trend", "p"];
    let mut table = Table::new(header).wrapping("metric");
    for measured in &analysis.metrics {
        let mut row = vec![
            measured.name.to_string(),
            measured.n.to_string(),
            number(measured.mean),
            interval(measured.interval),
        ];
        row.extend(trend(measured.trend));
        table.row(row);
    }
    table
}

/// Returns the measures by vectors, under the name of their encoder.
fn embedded(run: &EmbeddedRun, out: &Results) -> String {
    let Encoder {
        name,
        model_answered,
        ..
    } = &run.encoder;
    let model = if name == model_answered {
        String::new()
    } else {
        format!(", answered by {}", escape(model_answered))
    };
    let sha = &run.encoder.sha256[..12];
    let mut text = format!(
        "by the vectors of {}{model} (sha256 {sha}):\n",
        escape(name)
    );
    let mut table = Table::new(["measure", "rounds", "mean", "95 % interval"]).wrapping("measure");
    for measure in &run.measures {
        table.row([
            measure.name.title().to_owned(),
            measure.n.to_string(),
            number(measure.mean),
            interval(measure.interval),
        ]);
    }
    text.push_str(&table.text(out));
    if run.without > 0 {
        let _ = writeln!(text, "{} texts without a vector are left out", run.without);
    }
    text
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

/// Returns the measures of the Python program by quarter of its rounds.
fn reference(metrics: &ReferenceMetrics) -> String {
    let mut text = format!(
        "the Python program, with embeddings, by quarter of {} rounds ({} of a single message left out):\n",
        metrics.rounds.len(),
        metrics.singles
    );
    for (name, series) in [
        ("similarity within a round", &metrics.mean_similarity),
        ("distance from the seeds", &metrics.distance_from_seed),
    ] {
        let quarters = ReferenceMetrics::quarters(series);
        let means = quarters.map_or_else(Vec::new, |means| {
            means.map(|mean| number(Some(mean))).to_vec()
        });
        let _ = writeln!(text, "  {name}  {}", means.join(" "));
    }
    text
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
