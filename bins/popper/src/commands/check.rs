//! The command `popper check`.

use std::io::{self, Write as _};
use std::path::PathBuf;

use bin_support::{Exit, Failure, Interrupt, Results, Session, block_on};
use indicatif::ProgressBar;
use llm_client::{Clock as _, SystemClock};
use popper_harness::decide::{Config, Harness, UnknownReason, Verdict};
use popper_harness::law::Law;
use popper_harness::universe::Universe as _;

use crate::config;
use crate::discovery::worker_check;
use crate::error::Error;
use crate::expect::{Difference, Expectations};
use crate::flags::{FleetFlags, ServerFlag, TableFlag, UniverseFlag};
use crate::laws::Laws;
use crate::table::{self, Layout, VerdictTable};
use crate::universe;

/// The fewest laws for which a progress bar is shown.
const MANY: usize = 10;

#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// Files that hold one law or an array of laws; `-` for stdin.
    #[arg(required = true, value_name = "LAWS.json")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub universe: UniverseFlag,
    /// Configuration of the harness: a JSON object, absent fields have their defaults.
    #[arg(long, value_name = "FILE.json")]
    pub config: Option<PathBuf>,
    /// Switch an extension of the claim language on (`local_transition`).
    #[arg(long, value_name = "NAME")]
    pub extension: Vec<String>,
    /// Random seed: the same seed gives the same verdicts [default: from the configuration, else 0].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Largest ring size of which every start is tried, at most 20 [default: from the configuration, else 10].
    #[arg(long, value_name = "N")]
    pub exhaustive_n: Option<usize>,
    /// Print the verdicts in full, as one array.
    #[arg(long)]
    pub json: bool,
    /// Compare the verdicts with expected ones; exit code 4 on a difference.
    ///
    /// Compared are the laws given, in every key that their expectation states; a strength is a floor. A law without an
    /// expectation counts as a difference, an expectation without a law does not. With --json the differences go to stderr.
    /// A law with a schema error ends with 3 whatever the comparison says; a text that does not parse only without --expect.
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    #[command(flatten)]
    pub table: TableFlag,
    /// Address of a `PostgreSQL` database, `postgres://USER@HOST/DATABASE`: its workers decide the laws.
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
    #[command(flatten)]
    pub fleet: FleetFlags,
}

pub fn execute(args: &CheckArgs, session: &mut Session) -> Result<Exit, Failure> {
    let server = ServerFlag::from(args.store.clone()).flagged()?;
    let needs_server = args.fleet.threads.map(|_| "--threads");
    if let Some(flag) = needs_server.or_else(|| args.fleet.for_server_only())
        && server.is_none()
    {
        return Err(Failure::usage(Error::NeedsServer { flag }));
    }
    let harness = harness(args)?;
    let expectations = args.expect.as_deref().map(Expectations::read);
    let expectations = expectations.transpose().map_err(Failure::usage)?;
    let Laws { laws, broken } = Laws::read(&args.files, harness.config().language(), session);
    let layout = Layout::of(&session.results, args.table.verbose);
    let output = Output::new(args.json, layout);
    if laws.is_empty() {
        if args.json {
            output.finish(broken, &mut session.results)?;
        }
        return Err(Failure::usage(Error::NoLaws));
    }

    let mut verdicts = Verdicts {
        bar: (laws.len() >= MANY).then(|| session.progress.bar("laws", laws.len())),
        harness: &harness,
        expectations,
        output,
        differences: Vec::new(),
        finished: 0,
        unread: 0,
    };
    let take = |law: &Law, verdict, session: &mut Session| verdicts.add(law, &verdict, session);
    match &server {
        Some(server) => block_on(worker_check::decide(
            server,
            &args.fleet,
            &harness,
            &laws,
            session,
            take,
        ))??,
        None => decide_all(&harness, &laws, session, take)?,
    }
    let Verdicts {
        output,
        expectations,
        differences,
        finished,
        unread,
        bar,
        ..
    } = verdicts;
    // The results take its line.
    drop(bar);
    output.finish(broken, &mut session.results)?;
    if expectations.is_some() {
        report(&differences, finished, args.json, session)?;
    }
    Ok(if finished < laws.len() {
        let left = laws.len() - finished;
        session.report(&Error::Interrupted { left });
        Exit::Interrupted
    } else if broken + unread > 0 {
        Exit::SomeFailed
    } else if !differences.is_empty() {
        Exit::CheckFailed
    } else {
        Exit::Done
    })
}

/// The harness that the flags describe; a flag wins over the configuration file.
fn harness(args: &CheckArgs) -> Result<Harness, Failure> {
    // The fields of the loop say nothing about a verdict.
    let mut config = match &args.config {
        None => Config::default(),
        Some(path) => config::read(path).map_err(Failure::usage)?.0,
    };
    config.seed = args.seed.unwrap_or(config.seed);
    config.exhaustive_n = args.exhaustive_n.unwrap_or(config.exhaustive_n);
    config.extensions.extend(args.extension.iter().cloned());
    let universe = universe::load(&args.universe.universe).map_err(Failure::usage)?;
    Harness::new(universe, config).map_err(Failure::usage)
}

/// The verdicts so far, as they are printed and compared.
struct Verdicts<'a> {
    harness: &'a Harness,
    expectations: Option<Expectations>,
    output: Output,
    differences: Vec<Difference>,
    finished: usize,
    /// The number of laws with a text that does not parse.
    unread: usize,
    bar: Option<ProgressBar>,
}

impl Verdicts<'_> {
    fn add(&mut self, law: &Law, verdict: &Verdict, session: &mut Session) -> Result<(), Failure> {
        if let Some(expectations) = &self.expectations {
            let alphabet = self.harness.universe().alphabet();
            let differences = expectations.differences(verdict, alphabet);
            self.differences.extend(differences);
        }
        self.output.add(law, verdict, &mut session.results)?;
        // With expectations the comparison alone decides how the program ends.
        if self.expectations.is_none()
            && let Err(ambiguity) = law.resolve()
            && let Some(text) = &ambiguity.unread
        {
            session.report(&Error::unread(law.law_id(), ambiguity, text));
            self.unread += 1;
        }
        self.finished += 1;
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
        Ok(())
    }
}

/// Decides laws one after the other, and hands each verdict on. Ends early at an interrupt.
fn decide_all(
    harness: &Harness,
    laws: &[Law],
    session: &mut Session,
    mut on_verdict: impl FnMut(&Law, Verdict, &mut Session) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let interrupt = Interrupt::on_signals()?;
    for law in laws {
        let Some(verdict) = decide(harness, law, &interrupt) else {
            break;
        };
        on_verdict(law, verdict, session)?;
    }
    Ok(())
}

/// The verdict of a law. `None` if Ctrl-C interrupted its evaluation.
fn decide(harness: &Harness, law: &Law, interrupt: &Interrupt) -> Option<Verdict> {
    if interrupt.is_raised() {
        return None;
    }
    let clock = SystemClock::new();
    let mut verdict = harness.evaluate_with_stop(law, &|| interrupt.is_raised());
    verdict.runtime_ms = clock.elapsed().as_millis() as u64;
    // Only a verdict that a limit ended may be what the interruption made of it.
    let limited = verdict.reason_code == Some(UnknownReason::ResourceLimit);
    (!(limited && interrupt.is_raised())).then_some(verdict)
}

/// The output of verdicts: JSON one by one, or a table at the end.
enum Output {
    Json { empty: bool },
    Table(Box<VerdictTable>),
}

impl Output {
    fn new(json: bool, layout: Layout) -> Self {
        if json {
            Self::Json { empty: true }
        } else {
            Self::Table(Box::new(VerdictTable::new(layout)))
        }
    }

    fn add(&mut self, law: &Law, verdict: &Verdict, out: &mut Results) -> io::Result<()> {
        match self {
            Self::Json { empty } => {
                out.write_all(if *empty { b"[\n" } else { b",\n" })?;
                *empty = false;
                serde_json::to_writer(out, verdict).map_err(io::Error::from)
            }
            Self::Table(report) => {
                report.add(verdict, law.claim());
                Ok(())
            }
        }
    }

    fn finish(&self, broken: usize, out: &mut Results) -> io::Result<()> {
        match self {
            Self::Json { empty: true } => writeln!(out, "[]"),
            Self::Json { empty: false } => writeln!(out, "\n]"),
            Self::Table(report) => out.write_all(report.lines(broken).as_bytes()),
        }
    }
}

/// Reports the differences from the expected verdicts: on stderr with `--json`, since stdout is then one array.
fn report(
    differences: &[Difference],
    finished: usize,
    json: bool,
    session: &mut Session,
) -> io::Result<()> {
    if json {
        for difference in differences {
            session.report(difference);
        }
    } else if differences.is_empty() {
        writeln!(session.results, "{finished} as expected")?;
    } else {
        writeln!(
            session.results,
            "\nnot as expected:\n{}",
            table::differences(differences, session.results.is_terminal())
        )?;
    }
    Ok(())
}
