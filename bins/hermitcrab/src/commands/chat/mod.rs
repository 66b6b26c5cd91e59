//! `chat`: a conversation in the terminal or through a pipe. A line is a turn.

mod lines;
mod screen;
mod slash;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use bin_support::model::ModelFlags;
use bin_support::{Exit, Failure, Interrupt, Session, block_on_threads, escape};
use hermitcrab_kernel::faces::NoHost;
use hermitcrab_kernel::{BootReport, Face, Kernel, KernelError, TurnReport};
use tokio_util::sync::CancellationToken;

use crate::data_dir::DataDir;
use crate::error::Error;
use crate::flags::{KernelFlags, MODEL};
use crate::kernel_setup;
use crate::model_setup::ModelSetup;
use crate::usage::counted;
use lines::{Line, Lines};
use screen::Screen;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab chat
  hermitcrab chat --provider offline --fresh";

/// The time that a turn has to stop after SIGTERM or SIGHUP.
const GRACE: Duration = Duration::from_secs(3);

/// The end of the line about a turn that the cap of the process stopped.
const CAP: &str = "(--max-usd)";

#[derive(Debug, Default, clap::Args)]
#[command(mut_arg("max_usd", |arg| arg.help("Cap in dollars for this process")))]
pub struct ChatArgs {
    /// New start of the model, also if there is a conversation to continue.
    #[arg(long)]
    pub fresh: bool,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten, next_help_heading = MODEL)]
    pub model: ModelFlags,
}

/// Wakes the model and talks with it until the person leaves.
pub fn execute(args: &ChatArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let interrupt = Interrupt::on_signals()?;
    interrupt.end_after(GRACE);
    block_on_threads(talk(args, data, session, &interrupt))?
}

async fn talk(
    args: &ChatArgs,
    data: &DataDir,
    session: &mut Session,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let kernel = open(args, data, session)?;
    let exit = converse(&kernel, data, session, interrupt).await;
    kernel
        .settle()
        .await
        .map_err(|error| Error::from(error).failure())?;
    exit
}

/// Opens a kernel to talk with. No other process can write to the data directory while it exists.
fn open(args: &ChatArgs, data: &DataDir, session: &mut Session) -> Result<Kernel, Failure> {
    let setup = ModelSetup::new(&args.model, args.kernel.seed.seed, data, session)?;
    let (brain, redactor) = setup.brain(session)?;
    let mut config = kernel_setup::config(&args.kernel, setup, redactor, data)?;
    config.face = Face::Terminal;
    config.fresh = args.fresh;
    kernel_setup::open_after_takeover(config, data, brain, Arc::new(NoHost))
}

async fn converse(
    kernel: &Kernel,
    data: &DataDir,
    session: &mut Session,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let at_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let mut lines = Lines::open(at_terminal, data);
    let screen = Screen::new(at_terminal, session.verbosity() > 0);

    let mut cancel = cancel_on(interrupt);
    introduce(kernel, data, &screen, session)?;
    let boot = kernel.boot(screen.sink(), cancel.clone());
    let report = boot.await;
    let report = report.map_err(|error| Error::from(error).failure())?;
    greet(kernel, &report, &screen, session)?;

    let mut exit = match report.safe_face {
        Some(_) => Exit::SomeFailed,
        None => Exit::Done,
    };
    let mut stopped = false;
    loop {
        if at_terminal {
            // At a terminal Ctrl-C stops the turn. In a pipe it ends the program.
            interrupt.lower();
        }
        if cancel.is_cancelled() {
            cancel = cancel_on(interrupt);
        }
        let line = tokio::select! {
            biased;
            () = interrupt.raised() => return Ok(Exit::Interrupted),
            line = lines.next(stopped) => line.map_err(Error::failure)?,
        };
        let line = match line {
            Line::Text(line) => line,
            Line::NotText => {
                session.warn("a line is not text in UTF-8 and was left out");
                exit = Exit::SomeFailed;
                continue;
            }
            Line::End => return Ok(exit),
            Line::Interrupted => return Ok(Exit::Interrupted),
        };
        if line.trim().is_empty() {
            continue;
        }
        if let Some(command) = line.trim().strip_prefix('/') {
            match slash::run(command, kernel, data, &screen, session).await? {
                slash::SlashOutcome::Done => {}
                slash::SlashOutcome::Failed => exit = Exit::SomeFailed,
                slash::SlashOutcome::Leave => return Ok(exit),
            }
            continue;
        }
        match turn(kernel, line, &screen, session, &cancel).await? {
            TurnOutcome::Answered => stopped = false,
            TurnOutcome::Failed => {
                stopped = false;
                exit = Exit::SomeFailed;
            }
            TurnOutcome::Stopped if at_terminal => stopped = true,
            TurnOutcome::Capped if at_terminal => exit = Exit::SomeFailed,
            // No further line of a pipe could be answered.
            TurnOutcome::Stopped | TurnOutcome::Capped => return Ok(Exit::Interrupted),
        }
    }
}

/// Prints the notices of the kernel before the model wakes.
fn introduce(
    kernel: &Kernel,
    data: &DataDir,
    screen: &Screen,
    session: &Session,
) -> Result<(), Failure> {
    for notice in kernel_setup::notices(kernel, data)? {
        session.status(&escape(&notice));
    }
    if !kernel.notices().is_empty() {
        screen.gap(session);
    }
    Ok(())
}

fn greet(
    kernel: &Kernel,
    report: &BootReport,
    screen: &Screen,
    session: &mut Session,
) -> Result<(), Failure> {
    let told = kernel.notices();
    for notice in report.notices.iter().filter(|line| !told.contains(line)) {
        session.status(&escape(notice));
    }
    if let Some(face) = &report.safe_face {
        session.warn(&escape(&face.reason));
    } else {
        screen.answer(&report.greeting, None, session)?;
        screen.gap(session);
    }
    let who = match &report.offline {
        Some(label) => format!("offline ({label}): no model is asked"),
        None => report.model.clone(),
    };
    let tools = kernel.tools().len();
    screen.aside(&format!("{who} · {tools} tools · /help"), session);
    Ok(())
}

enum TurnOutcome {
    Answered,
    Failed,
    Stopped,
    /// The cap of the process ended it.
    Capped,
}

async fn turn(
    kernel: &Kernel,
    line: String,
    screen: &Screen,
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<TurnOutcome, Failure> {
    let work = kernel.turn(line, screen.sink(), cancel.clone());
    match work.await {
        Ok(report) => {
            show_answer(&report, screen, session)?;
            let is_capped = |line: &String| line.ends_with(CAP);
            Ok(if cancel.is_cancelled() {
                TurnOutcome::Stopped
            } else if report.stopped.as_ref().is_some_and(is_capped) {
                TurnOutcome::Capped
            } else if report.stopped.is_some() {
                TurnOutcome::Failed
            } else {
                TurnOutcome::Answered
            })
        }
        Err(error @ (KernelError::Brain(_) | KernelError::TooLong { .. })) => {
            screen.end(session)?;
            session.warn(&escape(&error.to_string()));
            Ok(TurnOutcome::Failed)
        }
        Err(error) => Err(Error::from(error).failure()),
    }
}

fn show_answer(report: &TurnReport, screen: &Screen, session: &mut Session) -> Result<(), Failure> {
    screen.answer(&report.text, report.stopped.as_deref(), session)?;
    let usage = report.usage;
    let cost = match usage.unknown {
        0 => usage.usd.to_string(),
        _ if report.offline.is_some() => usage.usd.to_string(),
        _ => "cost unknown".to_owned(),
    };
    screen.aside(
        &format!(
            "{} · {} · {} tokens in, {} out · {}",
            report.model,
            counted(report.rounds.into(), "round"),
            usage.input,
            usage.output,
            cost
        ),
        session,
    );
    Ok(())
}

/// Returns a token that the next signal cancels.
///
/// The thread that waits for signals cancels it, because the tools of a turn may keep every other thread busy.
fn cancel_on(interrupt: &Interrupt) -> CancellationToken {
    let cancel = CancellationToken::new();
    let token = cancel.clone();
    interrupt.then(move || token.cancel());
    cancel
}
