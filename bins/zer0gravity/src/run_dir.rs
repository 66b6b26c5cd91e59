//! Performs and concludes a run that is kept in a directory, for every command.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use bin_support::runs::RunFolders;
use bin_support::{Exit, Failure, Output, Session};
use llm_client::LedgerFile;
use zer0gravity_engine::plan::Config;
use zer0gravity_engine::plan::rubric::Rubric;
use zer0gravity_engine::report::{RunCost, RunReport};
use zer0gravity_engine::run::{ChangedCalls, RunDirectory};
use zer0gravity_engine::{RunEvent, Runner};

use crate::ci::Gate;
use crate::model::ModelChoice;
use crate::summary::{self, Summary};
use crate::{error, experiment, output, ranking};

/// The runs in `experiments/`.
pub const RUNS: RunFolders = RunFolders::new("run.json");

/// Runs what is missing, or everything, and writes the report.
pub fn resume(
    directory: &RunDirectory,
    asked: &ModelChoice,
    changed: ChangedCalls,
    session: &Session,
) -> Result<RunReport, Failure> {
    let calls = asked.keep_in(directory)?;
    let total = directory.plan().items().count();
    let work = async |runner: Runner<'_>, show: &mut dyn FnMut(RunEvent<'_>)| {
        let report = directory.resume(runner, changed, show).await;
        report.map_err(error::directory)
    };
    experiment::watched(asked, total, calls, session, work)
}

/// The output of a command on a run directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutput {
    /// The results were printed before.
    Nothing,
    Ranking,
    Json,
}

impl RunOutput {
    pub fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Ranking }
    }
}

/// Prints the result and gives the exit code; `command` continues the run: `resume`, or `rescore --resume`. `asked` has the models of a
/// run that was worked on.
pub fn conclude(
    command: Continued,
    directory: &RunDirectory,
    report: &RunReport,
    gate: Gate<'_>,
    shown: RunOutput,
    asked: Option<&ModelChoice>,
    session: &mut Session,
) -> Result<Exit, Failure> {
    let place = shell_word(directory.path());
    match shown {
        RunOutput::Nothing => {}
        RunOutput::Json => output::json(Output::Stdout, report, session)?,
        RunOutput::Ranking => {
            let ranking = ranking::text(report, &session.results);
            let is_verbose = session.verbosity() > 0;
            let out = &mut session.results;
            write!(out, "{ranking}")?;
            if is_verbose {
                let summary = Summary::of(directory.plan(), true);
                write!(out, "\n{}", summary.text(&report.results, spent(report)))?;
            } else if let Some(cost) = spent(report).filter(|_| !report.offline) {
                write!(out, "{}", summary::cost(cost))?;
            }
            writeln!(out, "report: zer0gravity report {place}")?;
        }
    }
    let prices = asked.and_then(|asked| asked.prices_file.as_deref());
    let resume = command.line(directory.path(), report.config.as_ref(), prices);
    let ledger = directory.ledger().map_err(error::directory)?;
    let spent = LedgerFile::new(ledger).spent().map_err(Failure::usage)?;
    let batches = asked.and_then(|asked| asked.progress.borrow().clone());
    let stop = experiment::Stop {
        resume: &resume,
        batches: batches.as_deref(),
        cap: directory.cap().map(|cap| (cap, spent.usd)),
    };
    let left_out = directory.left_out();
    let results = &report.results;
    experiment::conclude(results, left_out, gate, Some(stop), session)
}

/// The cost of a run; `None` of a replay, which sends nothing.
pub fn spent(report: &RunReport) -> Option<&RunCost> {
    (!report.replayed).then_some(&report.cost)
}

/// The command that continues an interrupted run.
#[derive(Debug, Clone, Copy)]
pub enum Continued {
    Run,
    Rescore,
}

impl Continued {
    /// The command for a run in `folder`, to be pasted into a shell.
    pub fn line(self, folder: &Path, config: Option<&Config>, prices: Option<&Path>) -> String {
        let rubric = config.and_then(|config| config.rubric.as_ref());
        let programs = rubric.into_iter().flat_map(Rubric::programs).count();
        let allow = if programs > 0 {
            " --allow-programs"
        } else {
            ""
        };
        let prices = prices.map(|file| format!(" --prices {}", shell_word(file)));
        let more = format!("{allow}{}", prices.unwrap_or_default());
        let place = shell_word(folder);
        match self {
            Self::Run => format!("zer0gravity resume {place}{more}"),
            Self::Rescore => format!("zer0gravity rescore {place} --resume{more}"),
        }
    }
}

/// Says where a run is written.
pub fn tell(path: &Path, session: &Session) {
    let path = bin_support::escape(&path.display().to_string());
    session.status(&format!("writing to {path}"));
}

/// Returns a path as a word of a command that can be pasted into a shell.
pub fn shell_word(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-./=:@%+,".contains(char);
    let word = if !path.is_empty() && path.chars().all(is_plain) {
        path
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    };
    bin_support::escape(&word)
}

/// The folder of a run, by its path or name.
pub fn folder(argument: &bin_support::runs::RunArg, session: &Session) -> Result<PathBuf, Failure> {
    RUNS.find(argument, session)
}
