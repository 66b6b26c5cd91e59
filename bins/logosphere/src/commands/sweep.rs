//! `sweep`: runs with several settings, each repeated, and the tests of all of them.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process;
use std::thread::available_parallelism;

use bin_support::{Exit, Failure, Session, Table, escape};
use logosphere_core::config::ConfigError;
use logosphere_core::journal::open_journal;
use logosphere_core::measures;
use logosphere_core::measures::embedding::Embeddings;
use logosphere_core::study::UnreadableRun;
use logosphere_core::study::sweep::{
    Cell, CellFindings, SweepFolder, SweepPlan, SweepSummary, page,
};

use crate::embedding::{self, EmbedFlags};
use crate::error::Error;
use crate::flags::ChangeableFlags;
use crate::many_runs::{EndOfRuns, ManyRuns};
use crate::numbers::wrapped;
use crate::population::LEDGER;
use crate::setup::{failure, seeds, shown};
use crate::study_folder::SWEEPS;
use crate::sweep_estimate::SweepEstimate;
use crate::sweeping::{RunOfCell, SweepRuns, settings_of, sweep_failure, without_key};
use crate::{measuring, running, setup};

#[derive(Debug, clap::Args)]
pub struct SweepArgs {
    /// Plan of the runs, a TOML file.
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Folder of the runs [default: sweeps/NAME].
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// Runs at the same time [default: 1 with a model, the processors without].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Cell whose runs are made; again for further ones [default: all].
    #[arg(long, value_name = "KEY")]
    pub only: Vec<String>,
    /// Number of runs of each cell, in place of that of the plan.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: Option<u32>,
    /// Address of the server [default: that of the plan, or of the provider].
    ///
    /// A key is sent to an address of a plan only if it is the provider's own.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Table of prices that overrides the built-in one.
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Make no run, and test those that there are.
    #[arg(long)]
    pub summary: bool,
    /// Print the calls and the cost of all runs, and make none.
    #[arg(long, conflicts_with_all = ["summary", "power"])]
    pub estimate: bool,
    /// Print how many repeats would find a word that makes a text's chance 1 + S times as large with a power of 0.8.
    #[arg(long, value_name = "S", value_parser = weight)]
    pub power: Option<f64>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub embed: EmbedFlags,
}

pub fn execute(args: &SweepArgs, session: &mut Session) -> Result<Exit, Failure> {
    if args.embed.embed.is_some() && !args.summary {
        return Err(Failure::usage(Error::EmbedWithoutSummary));
    }
    let (plan, bytes, init) = read(args)?;
    let cells = chosen(&plan, &args.only)?;
    let path = match &args.output_dir {
        Some(path) => path.clone(),
        None => Path::new(SWEEPS).join(&plan.name),
    };
    for cell in &cells {
        seeds(&plan.init, &init, &settings_of(cell)?, &mut Vec::new())?;
    }
    if args.estimate {
        let estimate = SweepEstimate::of(&plan, &cells, &init, &path, args.prices.as_deref())?;
        return estimate.print(args.json, session);
    }
    let control = running::control()?;
    let folder = SweepFolder::planned(&path);
    let _lock = folder.lock(process::id()).map_err(failure)?;
    folder.take(&plan, &bytes, &init).map_err(sweep_failure)?;
    let mut flags = ChangeableFlags::default();
    flags.model.max_usd = plan.max_usd.and_then(llm_client::Usd::from_dollars);
    flags.model.base_url.clone_from(&args.base_url);
    flags.prices.clone_from(&args.prices);
    let many = ManyRuns::new(flags, control, path.join(LEDGER), Some(without_key()))?;
    let runs = SweepRuns {
        folder: &folder,
        plan: &plan,
        init: &init,
        runs: &many,
    };
    let mut end = EndOfRuns::default();
    if !args.summary {
        let all = cells.iter().flat_map(|cell| {
            (0..plan.repeats).map(|repeat| RunOfCell {
                cell: cell.clone(),
                repeat,
            })
        });
        session.status(&format!("writing to {}", shown(&path)));
        let name = |run: &RunOfCell| shown(&folder.run(&run.cell, run.repeat));
        let open = |run: &RunOfCell| runs.open(run, session);
        end = many.make(all.collect(), jobs(args, &cells), session, name, open)?;
        end.report(session);
    }
    if many.control.cancel.is_cancelled() {
        let command = format!("logosphere sweep {}", shown(&args.plan));
        session.warn(&format!("stopped; continue with: {command}"));
        return Ok(Exit::Interrupted);
    }
    let Some(summary) = summarised(&runs, &args.embed, session)? else {
        return Ok(Exit::Interrupted);
    };
    let json = serde_json::to_vec_pretty(&summary)?;
    let html = page(&summary).render()?;
    for (name, content) in [
        ("summary.json", &json[..]),
        ("summary.csv", summary.csv().as_bytes()),
        ("report.html", html.as_bytes()),
    ] {
        folder.write(name, content).map_err(failure)?;
    }
    if args.json {
        session.results.json(&summary)?;
    } else {
        let text = printed(&summary, args.power, session);
        session.results.write_all(text.as_bytes())?;
    }
    let runs = folder.path().join("cells");
    end.report_unreadable(&summary.unreadable, &runs, "sweep", session);
    if summary.unreadable.is_empty() {
        Ok(end.exit())
    } else {
        Ok(Exit::Failed)
    }
}

/// Reads the plan, its bytes and its seed messages.
fn read(args: &SweepArgs) -> Result<(SweepPlan, Vec<u8>, Vec<u8>), Failure> {
    let bytes = setup::read(&args.plan)?;
    let mut plan = SweepPlan::parse(&bytes).map_err(|source| plan_failure(&args.plan, source))?;
    plan.repeats = args.repeats.unwrap_or(plan.repeats);
    let folder = args.plan.parent().unwrap_or_else(|| Path::new(""));
    let path = folder.join(&plan.init);
    let mut init = Vec::new();
    // A pipe there may have come with the plan.
    let read = open_journal(&path).and_then(|mut file| file.read_to_end(&mut init));
    read.map_err(|source| Failure::usage(Error::Read { path, source }))?;
    Ok((plan, bytes, init))
}

fn plan_failure(path: &Path, source: ConfigError) -> Failure {
    let path = path.to_owned();
    Failure::usage(Error::Plan { path, source })
}

/// Returns the cells with these keys, or all.
fn chosen(plan: &SweepPlan, only: &[String]) -> Result<Vec<Cell>, Failure> {
    let cells = plan.cells();
    if let Some(unknown) = only
        .iter()
        .find(|key| !cells.iter().any(|cell| cell.key == **key))
    {
        let cell = unknown.clone();
        let first = cells
            .first()
            .map_or_else(String::new, |cell| cell.key.clone());
        return Err(Failure::usage(Error::NoCell { cell, first }));
    }
    Ok(cells
        .into_iter()
        .filter(|cell| only.is_empty() || only.contains(&cell.key))
        .collect())
}

fn jobs(args: &SweepArgs, cells: &[Cell]) -> usize {
    let is_offline = cells.iter().all(|cell| cell.layer.is_scripted());
    match args.jobs {
        Some(jobs) => jobs.get(),
        None if is_offline => available_parallelism().map_or(1, usize::from),
        None => 1,
    }
}

/// Returns the vectors of the texts of all runs; `None` if none are asked for.
fn vectors(
    runs: &SweepRuns<'_>,
    embed: &EmbedFlags,
    session: &Session,
) -> Result<Option<Embeddings>, Failure> {
    if embed.embed.is_none() {
        return Ok(None);
    }
    let mut texts = BTreeSet::new();
    for cell in runs.plan.cells() {
        for run in runs.read(&cell)?.0 {
            texts.extend(
                measures::embedding::texts(&run)
                    .into_iter()
                    .map(str::to_owned),
            );
        }
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    embedding::obtain(embed, runs.folder.path(), &texts, session)
}

/// Tests all cells; `None` after a signal.
fn summarised(
    runs: &SweepRuns<'_>,
    embed: &EmbedFlags,
    session: &Session,
) -> Result<Option<SweepSummary>, Failure> {
    let threads = measuring::threads();
    let vectors = vectors(runs, embed, session)?;
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    for cell in runs.plan.cells() {
        let (transcripts, unread) = runs.read(&cell)?;
        unreadable.extend(unread);
        let vectors = vectors.as_ref();
        let on_run = &mut measuring::null_runs(session)?;
        let found_in = CellFindings::of(&transcripts, runs.plan, vectors, threads, on_run);
        let Some(findings) = found_in else {
            return Ok(None);
        };
        found.push((cell, findings));
    }
    let mut summary = SweepSummary::of(runs.plan, &found);
    summary.unreadable = unreadable;
    Ok(Some(summary))
}

/// The result as text: the phase tables, or a row for each cell, then the sentences.
fn printed(summary: &SweepSummary, power: Option<f64>, session: &Session) -> String {
    let mut text = match power {
        None if summary.axes.len() > 1 => phases(summary, session),
        power => rows(summary, power, session),
    };
    for cell in &summary.cells {
        let line = format!("{}: {}", cell.key, escape(&cell.sentence));
        text.push('\n');
        text.push_str(&wrapped(&line, session.results.width()));
    }
    for UnreadableRun { run, reason, .. } in &summary.unreadable {
        let line = format!("{run} cannot be read: {}", escape(reason));
        text.push('\n');
        text.push_str(&wrapped(&line, session.results.width()));
    }
    text
}

/// The verdicts over the first two axes.
fn phases(summary: &SweepSummary, session: &Session) -> String {
    let mut text = String::new();
    for table in summary.phase_tables() {
        let (axis, columns) = &table.columns;
        let header = columns.iter().map(|value| format!("{axis} {value}"));
        let mut shown = Table::new(std::iter::once(table.rows.0.to_owned()).chain(header));
        for (value, cells) in table.rows.1.iter().zip(&table.cells) {
            let cells = cells.iter().map(|cell| cell.phase());
            shown.row(std::iter::once((*value).to_owned()).chain(cells));
        }
        if !table.further.is_empty() {
            text.push_str(&table.further);
            text.push('\n');
        }
        text.push_str(&shown.text(&session.results));
    }
    text
}

/// A row for each cell, with the number of repeats for a power of 0.8.
fn rows(summary: &SweepSummary, power: Option<f64>, session: &Session) -> String {
    let mut columns = summary.axes.clone();
    columns.extend(["runs", "verdict", "similarity", "95 %"].map(str::to_owned));
    columns.extend(power.map(|s| format!("runs for {}", 1.0 + s)));
    let mut table = Table::new(columns);
    let missing = || "-".to_owned();
    for cell in &summary.cells {
        let mut row = cell.values.clone();
        row.push(cell.repeats.to_string());
        row.push(cell.verdict.letter().to_string());
        row.extend(cell.similarity().map_or([missing(), missing()], |effect| {
            let interval = format!("{:.3} to {:.3}", effect.low, effect.high);
            [format!("{:.3}", effect.mean), interval]
        }));
        if let Some(s) = power {
            let tests = cell.tests.as_ref();
            let needed = tests.and_then(|tests| tests.repeats_needed(1.0 + s));
            row.push(needed.map_or_else(missing, |needed| needed.to_string()));
        }
        table.row(row);
    }
    table.text(&session.results)
}

/// Parses a number above 0 by which a weight exceeds 1.
fn weight(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|number: &f64| *number > 0.0 && *number <= 100.0);
    number.ok_or_else(|| "expected a number above 0, up to 100".to_owned())
}
