//! The command `popper check`.

use std::io::{self, Write as _};
use std::path::PathBuf;

use bin_support::{Exit, Failure, Interrupt, Results, Session, block_on, escape};
use indicatif::ProgressBar;
use llm_client::{Clock as _, SystemClock};
use popper_harness::decide::{Config, Harness, UnknownReason, Verdict};
use popper_harness::law::{Law, Missing, Program, Unfit};
use popper_harness::universe::Universe as _;

use crate::config;
use crate::discovery::worker_check;
use crate::error::Error;
use crate::expect::{Difference, Expectations};
use crate::flags::{FleetFlags, ServerFlag, UniverseFlag};
use crate::laws::Laws;
use crate::stated::Bound;
use crate::table::{self, VerdictTable};
use crate::{trace, universe};

/// The fewest laws for which a progress bar is shown.
const MANY: usize = 10;

#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// Files with one law or an array of laws; - for stdin.
    #[arg(value_name = "LAWS.json|-")]
    pub files: Vec<PathBuf>,
    /// Expression whose value never changes.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub conserved: Vec<String>,
    /// Bound that always holds, such as "count('X') <= 3".
    #[arg(long, value_name = "EXPR OP INT", allow_hyphen_values = true)]
    pub bound: Vec<Bound>,
    #[command(flatten)]
    pub universe: UniverseFlag,
    /// Configuration of the harness: one flat JSON object.
    ///
    /// Absent fields have their defaults.
    #[arg(long, value_name = "FILE.json")]
    pub config: Option<PathBuf>,
    /// Extension of the claim language to switch on (`local_transition`).
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub extension: Vec<String>,
    /// Random seed [default: 0].
    ///
    /// The same seed gives the same verdicts; `random` draws one. The configuration may give another default.
    #[arg(long, value_name = "SEED", value_parser = bin_support::seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Largest ring size of which every start is tried [default: 10].
    ///
    /// At most 20. The configuration may give another default.
    #[arg(long, value_name = "N")]
    pub exhaustive_n: Option<usize>,
    /// States of each counterexample, one row a step.
    #[arg(long, conflicts_with = "json")]
    pub trace: bool,
    /// Print the verdicts in full, as one array.
    #[arg(long)]
    pub json: bool,
    /// Expected verdicts; exit code 4 on a difference.
    ///
    /// Compared are the laws given, in every key that their expectation states; a strength is a floor. A law without an
    /// expectation counts as a difference, an expectation without a law does not. With --json the differences go to stderr.
    /// A law with a schema error ends with 3 whatever the comparison says; a text that does not parse only without --expect.
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    /// Address of a `PostgreSQL` database, `postgres://USER@HOST/DATABASE`: its workers decide the laws.
    #[arg(long, value_name = "URL", hide_short_help = true)]
    pub store: Option<String>,
    #[command(flatten)]
    pub fleet: FleetFlags,
}

pub fn execute(args: &CheckArgs, session: &mut Session) -> Result<Exit, Failure> {
    if args.files.is_empty() && args.conserved.is_empty() && args.bound.is_empty() {
        return Err(Failure::usage(Error::NothingToCheck));
    }
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
    let mut read = Laws::read(&args.files, harness.config().language(), session);
    let in_files = read.laws.len();
    read.add_stated(&args.conserved, &args.bound, session);
    let Laws { laws, broken } = read;
    let output = Output::new(args.json, session.verbosity() > 0);
    if laws.is_empty() {
        if args.json {
            output.finish(broken, &mut session.results)?;
        }
        return Err(Failure::usage(if broken > 0 {
            Error::NoLaws
        } else {
            Error::EmptyFiles
        }));
    }

    let mut verdicts = Verdicts {
        bar: (laws.len() >= MANY).then(|| session.progress.bar("laws", laws.len())),
        harness: &harness,
        expectations,
        output,
        trace: args.trace,
        differences: Vec::new(),
        finished: 0,
        in_files,
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
    trace: bool,
    differences: Vec<Difference>,
    finished: usize,
    /// The number of laws from files, which come before those from flags.
    in_files: usize,
    /// The number of laws with a text that does not parse, or from a flag with a name that does not exist.
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
        self.print(law, verdict, &mut session.results)?;
        // With expectations the comparison alone decides how the program ends.
        if self.expectations.is_none() {
            self.explain(law, session);
        }
        self.finished += 1;
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
        Ok(())
    }

    fn print(&mut self, law: &Law, verdict: &Verdict, out: &mut Results) -> io::Result<()> {
        match &mut self.output {
            Output::Json { empty } => {
                out.write_all(if *empty { b"[\n" } else { b",\n" })?;
                *empty = false;
                serde_json::to_writer(out.untrusted(), verdict).map_err(io::Error::from)
            }
            Output::Table(table) => {
                let found = verdict.counterexample.as_ref().filter(|_| self.trace);
                let universe = self.harness.universe();
                let rows = found.map(|found| trace::rows(found, law.template(), universe));
                table.add(verdict, law.claim(), rows.unwrap_or_default());
                Ok(())
            }
        }
    }

    /// Shows the text of a law that cannot be read, or the name in it that does not exist, and what has such names.
    fn explain(&mut self, law: &Law, session: &Session) {
        let compiled = Program::compile(law, self.harness.universe()).err();
        let ambiguity = match (law.resolve(), &compiled) {
            (Err(ambiguity), _) | (Ok(_), Some(Unfit::Ambiguous(ambiguity))) => ambiguity,
            (Ok(_), Some(Unfit::Missing(missing))) => {
                // A file may ask for what is not known yet; in a flag it is a slip.
                let is_slip = self.finished >= self.in_files;
                let remedy = match missing {
                    Missing::Symbol { .. } => "--universe names another universe",
                    _ if is_slip => "docs/popper-laws.md lists the names",
                    _ => return,
                };
                let law = escape(law.law_id());
                session.warn(&format!("law {law}: {missing}; {remedy}"));
                self.unread += usize::from(is_slip);
                return;
            }
            _ => return,
        };
        if let Some(text) = &ambiguity.unread {
            session.report(&Error::unread(law.law_id(), ambiguity, text));
            self.unread += 1;
        }
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
    Table(VerdictTable),
}

impl Output {
    fn new(json: bool, claims: bool) -> Self {
        if json {
            Self::Json { empty: true }
        } else {
            Self::Table(VerdictTable::new(claims))
        }
    }

    fn finish(&self, broken: usize, out: &mut Results) -> io::Result<()> {
        match self {
            Self::Json { empty: true } => writeln!(out, "[]"),
            Self::Json { empty: false } => writeln!(out, "\n]"),
            Self::Table(table) => {
                let text = table.text(out);
                let unread = match broken {
                    0 => "",
                    _ => "; what could not be read is named on stderr",
                };
                writeln!(out, "{text}{}{unread}", table.summary())
            }
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
        let table = table::differences(differences, &session.results);
        write!(session.results, "\nnot as expected:\n{table}")?;
    }
    Ok(())
}
