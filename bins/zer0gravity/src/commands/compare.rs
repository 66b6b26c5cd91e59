//! `zer0gravity compare`: shows the differences of two runs, and checks a limit.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Output, Results, Session, Table, escape};
use zer0gravity_engine::dataset::CaseFormat;
use zer0gravity_engine::report::{Changes, Comparison, Difference, Limits, probability};

use crate::calibrated::{self, CalibrationFlags};
use crate::error::Error;
use crate::filter::EncodingFilter;
use crate::flags::points;
use crate::source::Source;
use crate::{output, run_dir};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity compare matrix
  zer0gravity compare matrix-2 runs/twice --max-drop 5";

#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// Earlier run: its folder or its name in experiments/, a report, or the output of `run`.
    ///
    /// A name that means NEW means the newest run of this name before it.
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// Later run, named in the same way [default: newest].
    #[arg(value_name = "NEW")]
    pub new: Option<PathBuf>,
    /// Exit with code 4 if an encoding's mean total is significantly lower by more than POINTS, or a text is no longer scored.
    #[arg(long, value_name = "POINTS", value_parser = points, allow_negative_numbers = true)]
    pub max_drop: Option<f64>,
    /// Exit with code 4 on every drop beyond --max-drop, significant or not.
    #[arg(long, requires = "max_drop")]
    pub strict: bool,
    /// Print the comparison as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub only: EncodingFilter,
    /// Compare runs that different judges, or judges with different prompts, have scored.
    #[arg(long)]
    pub allow_changed_judge: bool,
    #[command(flatten)]
    pub calibration: CalibrationFlags,
}

pub fn execute(args: &CompareArgs, session: &mut Session) -> Result<Exit, Failure> {
    let new = Source::find(&RunArg::from(args.new.clone()), session)?;
    let old = Source::before(&args.old, &new)?;
    let [old_name, new_name] = [&old, &new].map(|run| run_dir::shell_word(run.path()));
    if old.is_same(&new) {
        let (old, new) = (old.path().to_owned(), new.path().to_owned());
        return Err(Failure::usage(Error::SameRun { old, new }));
    }
    session.status(&format!("old: {old_name}, new: {new_name}"));
    let texts = [&old, &new].map(|one| one.path().to_owned());
    if texts.iter().all(|path| is_text(path)) {
        return Err(Failure::usage(Error::RulesCompared { files: texts }));
    }
    let only = &args.only;
    let read = |source| args.calibration.read(source, only, session);
    let (old, new) = (read(&old)?, read(&new)?);
    for (name, report) in [("old: ", &old), ("new: ", &new)] {
        calibrated::tell(report, name, session);
    }
    let limits = Limits::from(args.max_drop)
        .allowing_changed_judge(args.allow_changed_judge)
        .strict(args.strict);
    let comparison = zer0gravity_engine::report::compare(&old, &new, limits);
    if args.json {
        output::json(Output::Stdout, &comparison, session)?;
    } else {
        let text = text(&comparison, &session.results);
        session.results.write_all(text.as_bytes())?;
    }
    for told in comparison.reasons.iter().chain(&comparison.not_significant) {
        session.warn(&escape(told));
    }
    Ok(if comparison.holds {
        Exit::Done
    } else {
        Exit::CheckFailed
    })
}

/// Whether a file is a text, such as rules, and not a file of results.
fn is_text(path: &Path) -> bool {
    path.is_file() && CaseFormat::of(&path.to_string_lossy()) == Some(CaseFormat::Text)
}

/// A line for each encoding, a table, and what else is not the same.
fn text(comparison: &Comparison, results: &Results) -> String {
    let mut text = String::new();
    for encoding in &comparison.per_encoding {
        let line = if comparison.changes.rules.contains(&encoding.id) {
            format!("not comparable: rules of {:?} differ", escape(&encoding.id))
        } else {
            sentence(encoding)
        };
        let _ = writeln!(text, "{line}");
    }
    for own in &comparison.own_scores {
        let points =
            |points: Option<f64>| points.map_or_else(|| "-".to_owned(), |p| format!("{p:.2}"));
        let change = own.mean_difference.unwrap_or_default();
        let p = own
            .p
            .map_or_else(String::new, |p| format!(", {}", probability(p)));
        let (id, old, new) = (escape(&own.id), points(own.old), points(own.new));
        let _ = writeln!(text, "measure {id}: {old} → {new} ({change:+.2}{p})");
    }
    if comparison.per_encoding.is_empty() {
        text += "the runs have no scored pair of encoding system and text in common\n";
    } else {
        let head = ["encoding", "texts", "old", "new", "difference"];
        let mut table = Table::new(head).wrapping("encoding");
        for encoding in &comparison.per_encoding {
            table.row(row(encoding));
        }
        let _ = write!(text, "\n{}", table.text(results));
    }
    for (count, what) in [
        (comparison.newly_failed.len(), "newly failed"),
        (comparison.recovered.len(), "failed before and scored now"),
        (comparison.missing.len(), "scored before and missing now"),
        (comparison.added.len(), "not in the old run"),
    ] {
        if count > 0 {
            let _ = writeln!(text, "{what}: {count}");
        }
    }
    for change in changes(&comparison.changes) {
        let _ = writeln!(text, "changed: {}", escape(&change));
    }
    text
}

/// Writes a line such as `a: 60.2 → 58.9 (-1.3, one-sided p = 0.27): no significant change`.
fn sentence(encoding: &Difference) -> String {
    let points = |points: Option<f64>| points.map_or_else(|| "-".to_owned(), |p| format!("{p:.1}"));
    let change = encoding.mean_difference.unwrap_or_default();
    let (sure, verdict) = match encoding.drop_p {
        _ if change >= 0.0 => (String::new(), "no drop"),
        None => (String::new(), "one text is too few to test the drop"),
        Some(p) if encoding.is_significant_drop() => (chance(p), "significant drop"),
        Some(p) => (chance(p), "no significant change"),
    };
    format!(
        "{}: {} → {} ({change:+.1}{sure}): {verdict}",
        escape(&encoding.id),
        points(encoding.old),
        points(encoding.new),
    )
}

/// Writes the p of a drop with two digits that say something; the test is one-sided, and the interval of the table has two sides.
fn chance(p: f64) -> String {
    if p < 0.1 {
        format!(", one-sided {}", probability(p))
    } else {
        format!(", one-sided p = {p:.2}")
    }
}

fn row(encoding: &Difference) -> [String; 5] {
    let points = |points: Option<f64>| points.map_or_else(|| "-".to_owned(), |p| format!("{p:.1}"));
    let interval = encoding.ci95.map_or_else(String::new, |interval| {
        format!(" [{:.1}, {:.1}]", interval.low, interval.high)
    });
    let change = encoding.mean_difference.unwrap_or_default();
    [
        escape(&encoding.id),
        encoding.pairs.to_string(),
        points(encoding.old),
        points(encoding.new),
        format!("{change:+.1}{interval}"),
    ]
}

/// Prints each reason for a difference other than the encoding systems.
fn changes(changes: &Changes) -> Vec<String> {
    let rules = changes.rules.iter().map(|id| format!("rules of {id:?}"));
    let texts = changes.texts.iter().map(|id| format!("text of {id:?}"));
    let judges = changes.judges.iter();
    let versions = changes.engine_versions.iter();
    (changes.settings.iter().cloned())
        .chain(rules)
        .chain(texts)
        .chain(judges.map(|[old, new]| format!("judge {old} -> {new}")))
        .chain(versions.map(|[old, new]| format!("version of zer0gravity {old} -> {new}")))
        .collect()
}
