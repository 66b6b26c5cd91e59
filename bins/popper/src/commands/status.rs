//! The command `popper status`, which prints the status of a run, also of a running one.

use std::io::Write as _;
use std::num::NonZeroU64;
use std::time::Duration;

use bin_support::{Exit, Failure, Interrupt, Results, Session};
use popper_discovery::status::RunStatus;
use popper_discovery::store::{RunRow, Store as _};
use popper_store::{Access, AnyDatabase};
use serde::Serialize;
use work_queue::{Queue, Status};

use crate::discovery::database::{self, failure};
use crate::discovery::queue_status;
use crate::discovery::run_status::{line, lines, run_status};
use crate::discovery::verdicts::RunVerdicts;
use crate::flags::RunFlag;
use crate::json;
use crate::location::StoreLocation;

/// The characters that clear a terminal, for a text in place of the former one.
const REDRAW: &str = "\x1b[H\x1b[2J\x1b[3J";

#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub run: RunFlag,
    /// Show the status every 2 s, or at another interval, until Ctrl-C: a terminal is redrawn, a file gets a line at each change.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2")]
    pub watch: Option<NonZeroU64>,
    /// Print the status as JSON; with --watch one object a line, at each change.
    #[arg(long)]
    pub json: bool,
}

pub async fn execute(args: &StatusArgs, session: &mut Session) -> Result<Exit, Failure> {
    let location = args.run.location.location(session)?;
    let Some(seconds) = args.watch else {
        let mut source = Source::open(&location).await?;
        let run = database::run(&mut source.store, &args.run.name, session).await?;
        let shown = source.read(&run).await?;
        if args.json {
            json::print(&shown, &mut session.results)?;
        } else {
            let text = source.text(&run, &shown, &session.results).await?;
            write!(session.results, "{text}")?;
        }
        return Ok(Exit::Done);
    };
    let every = Duration::from_secs(seconds.get());
    let interrupt = Interrupt::on_signals()?;
    let mut last = String::new();
    loop {
        tokio::select! {
            shown = show(args, &location, &mut last, session) => shown?,
            () = interrupt.raised() => return Ok(Exit::Interrupted),
        }
        tokio::select! {
            () = tokio::time::sleep(every) => {}
            () = interrupt.raised() => return Ok(Exit::Interrupted),
        }
    }
}

/// Shows the status if it is another one than `last`, or on a terminal. A server that cannot be reached may come back.
async fn show(
    args: &StatusArgs,
    location: &StoreLocation,
    last: &mut String,
    session: &mut Session,
) -> Result<(), Failure> {
    let mut source = match Source::open(location).await {
        Ok(source) => source,
        Err(error) if !last.is_empty() && location.server().is_some() => {
            session.report(error.error());
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let runs = source.store.runs().await.map_err(failure)?;
    let run = database::pick_silently(runs, args.run.name.asked().as_deref())?;
    let shown = source.read(&run).await?;
    let now = shown.line();
    if session.results.is_terminal() && !args.json {
        let text = source.text(&run, &shown, &session.results).await?;
        write!(session.results, "{REDRAW}{text}")?;
    } else if now != *last {
        if args.json {
            json::print_line(&shown, &mut session.results)?;
        } else {
            writeln!(session.results, "{now}")?;
        }
    }
    session.results.flush()?;
    *last = now;
    Ok(())
}

/// The status of a run, and of the queue of its server.
#[derive(Serialize)]
struct StatusReport {
    #[serde(flatten)]
    run: RunStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<Status>,
}

impl StatusReport {
    fn line(&self) -> String {
        let run = line(&self.run);
        match &self.queue {
            Some(queue) => format!("{run}; {}", queue_status::summary(queue)),
            None => run,
        }
    }
}

/// The rows and the queue that a status is read from.
struct Source<'a> {
    location: &'a StoreLocation,
    store: AnyDatabase,
    queue: Option<Queue>,
}

impl<'a> Source<'a> {
    async fn open(location: &'a StoreLocation) -> Result<Self, Failure> {
        let store = database::open(location, Access::Read).await?;
        let queue = match location.server() {
            Some(server) => queue_status::open(server).await?,
            None => None,
        };
        Ok(Self {
            location,
            store,
            queue,
        })
    }

    async fn read(&mut self, run: &RunRow) -> Result<StatusReport, Failure> {
        Ok(StatusReport {
            run: run_status(&mut self.store, run, self.location).await?,
            queue: match &self.queue {
                Some(queue) => Some(queue.status().await?),
                None => None,
            },
        })
    }

    async fn text(
        &mut self,
        run: &RunRow,
        shown: &StatusReport,
        results: &Results,
    ) -> Result<String, Failure> {
        let verdicts = RunVerdicts::read(&mut self.store, run).await;
        let verdicts = verdicts.map_err(failure)?;
        let queue = shown.queue.as_ref().map(queue_status::lines);
        let head = lines(&shown.run) + &queue.unwrap_or_default();
        let (lead, table) = (verdicts.lead(&shown.run), verdicts.text(results));
        Ok(format!("{lead}\n\n{head}\n{table}"))
    }
}
