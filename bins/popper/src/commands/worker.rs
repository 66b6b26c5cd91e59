//! The command `popper worker`, which decides laws for the runs of a database on a server.

use std::process;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use bin_support::{Exit, Failure, Interrupt, Session, escape};
use clap::builder::RangedU64ValueParser;
use llm_client::SystemClock;
use popper_discovery::queue::EvaluationWork;
use serde_json::json;
use work_queue::{ServeEnd, Work, Worker, WorkerOptions};

use crate::discovery::coordinator::abort_if_stuck;
use crate::error::Error;
use crate::flags::{MOST_THREADS, ServerFlag, TimingFlags, job_limit};

/// The time after which a server that does not answer is named.
const SOON: Duration = Duration::from_secs(2);

#[derive(Debug, clap::Args)]
pub struct WorkerArgs {
    #[command(flatten)]
    pub server: ServerFlag,
    /// Laws to decide at once, each on one thread [default: the number of processors].
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=MOST_THREADS))]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub timing: TimingFlags,
    /// Name that no other running worker has [default: the machine's name and the number of the process].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// End when no law is open, instead of waiting for more.
    #[arg(long)]
    pub drain: bool,
    /// Time after which a job must stop, 1s to 24h [default: 10min].
    #[arg(long, value_name = "TIME", value_parser = job_limit)]
    pub job_limit: Option<Duration>,
    /// Print a summary as JSON at the end.
    #[arg(long)]
    pub json: bool,
}

pub async fn execute(args: &WorkerArgs, session: &mut Session) -> Result<Exit, Failure> {
    let server = args.server.server(session)?;
    let options = args.options();
    let name = options.name.clone();
    let threads = options.threads;
    let interrupt = Interrupt::on_two_signals()?;
    let work = Arc::new(EvaluationWork::new(Arc::new(SystemClock::new())));
    let semantics = work.semantics().to_owned();

    let mut open = std::pin::pin!(Worker::open(&server.address, work, options));
    let opened = tokio::select! {
        opened = &mut open => Some(opened),
        () = tokio::time::sleep(SOON) => {
            session.status(&format!("waiting for {}", server.address));
            tokio::select! {
                opened = open => Some(opened),
                () = interrupt.raised() => None,
            }
        }
    };
    let Some(opened) = opened else {
        return Ok(Exit::Interrupted);
    };
    let worker = opened.map_err(Failure::from)?;

    let open = worker.open_jobs().await.map_err(Failure::from)?;
    if let ([other, ..], 0) = (&open.others[..], open.own) {
        let other = Error::OtherWork {
            needed: escape(other),
            found: semantics.clone(),
        };
        if args.drain {
            return Err(Failure::new(Exit::Failed, other));
        }
        session.report(&other);
    }
    let shown = escape(&name);
    let threads = match threads {
        1 => "1 law".to_owned(),
        some => format!("{some} laws"),
    };
    session.status(&format!(
        "worker {shown} decides {threads} at once for {}",
        server.address
    ));
    session.status(&format!("it computes {semantics}"));

    let stopper = worker.stopper();
    tokio::spawn(async move {
        interrupt.raised().await;
        stopper.stop();
        interrupt.raised_again().await;
        stopper.stop();
    });
    let served = match worker.serve().await {
        Ok(served) => served,
        Err(error) => {
            abort_if_stuck(&error, session);
            return Err(error.into());
        }
    };
    let (reason, exit) = match served.reason {
        ServeEnd::Stopped => ("stopped", Exit::Interrupted),
        ServeEnd::Drained => ("drained", Exit::Done),
    };
    if args.json {
        let summary = json!({"worker": name, "finished": served.finished, "reason": reason});
        crate::json::print_line(&summary, &mut session.results)?;
    } else {
        session.status(&format!(
            "worker {shown}: {reason} after {} jobs",
            served.finished
        ));
    }
    Ok(exit)
}

impl WorkerArgs {
    fn options(&self) -> WorkerOptions {
        let host = bin_support::environment::host_name();
        let name = match &self.name {
            Some(name) => name.clone(),
            None => format!("{host}-{}", process::id()),
        };
        let mut options = WorkerOptions::new(&name);
        options.application = format!("popper worker {name}");
        options.host = host;
        let processors = || available_parallelism().map_or(1, usize::from);
        options.threads = self.threads.unwrap_or_else(processors);
        options.timing = self.timing.timing();
        options.drain = self.drain;
        options.job_limit = self.job_limit.unwrap_or(options.job_limit);
        options
    }
}
