//! `chat`: the plain face. A line is a turn.

mod command;
mod lines;
mod screen;

use std::io::IsTerminal as _;
use std::time::Duration;

use bin_support::{Exit, Failure, Interrupt, Session, block_on_threads, escape};
use hermitcrab_kernel::{BootReport, Kernel, KernelError, TurnReport};
use tokio_util::sync::CancellationToken;

use crate::cli::Chat;
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::look::counted;
use crate::opened;
use lines::{Line, Lines};
use screen::Screen;

/// How long a turn may take to stop after SIGTERM or SIGHUP.
const GRACE: Duration = Duration::from_secs(3);

/// Wakes the model and talks with it until the person leaves.
pub fn execute(args: &Chat, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let interrupt = Interrupt::on_signals()?;
    interrupt.end_after(GRACE);
    block_on_threads(talk(args, data, session, &interrupt))?
}

async fn talk(
    args: &Chat,
    data: &DataDir,
    session: &mut Session,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let kernel = opened::for_chat(args, data, session)?;
    let exit = converse(&kernel, args.verbose, data, session, interrupt).await;
    kernel
        .settle()
        .await
        .map_err(|error| Error::from(error).failure())?;
    exit
}

async fn converse(
    kernel: &Kernel,
    verbose: bool,
    data: &DataDir,
    session: &mut Session,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let at_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let mut lines = Lines::open(at_terminal, data);
    let screen = Screen::new(at_terminal, session.is_quiet());

    let mut cancel = cancelled_by(interrupt);
    introduce(kernel, data, &screen, session)?;
    let boot = kernel.boot(screen.sink_of_boot(verbose), cancel.clone());
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
            // There Ctrl-C has stopped what was before; a pipe has been stopped as a whole.
            interrupt.lower();
        }
        if cancel.is_cancelled() {
            cancel = cancelled_by(interrupt);
        }
        let line = tokio::select! {
            biased;
            () = interrupt.raised() => return Ok(Exit::Interrupted),
            line = lines.next(stopped) => line.map_err(Error::failure)?,
        };
        let line = match line {
            Line::Said(line) => line,
            Line::NoText => {
                session.warn("a line is no text in UTF-8 and was left out");
                exit = Exit::SomeFailed;
                continue;
            }
            Line::Left => return Ok(exit),
            Line::Interrupted => return Ok(Exit::Interrupted),
        };
        if line.trim().is_empty() {
            continue;
        }
        if let Some(command) = line.trim().strip_prefix('/') {
            match command::run(command, kernel, data, session).await? {
                command::After::Stay => {}
                command::After::Failed => exit = Exit::SomeFailed,
                command::After::Leave => return Ok(exit),
            }
            continue;
        }
        match turn(kernel, line, &screen, session, &cancel).await? {
            Turned::Well => stopped = false,
            Turned::Badly => {
                stopped = false;
                exit = Exit::SomeFailed;
            }
            Turned::Stopped if at_terminal => stopped = true,
            Turned::Stopped => return Ok(Exit::Interrupted),
        }
    }
}

/// Says what there is to say before the model wakes, and where the blocks are once they are made.
fn introduce(
    kernel: &Kernel,
    data: &DataDir,
    screen: &Screen,
    session: &Session,
) -> Result<(), Failure> {
    for notice in opened::notices(kernel, data)? {
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

enum Turned {
    Well,
    Badly,
    Stopped,
}

async fn turn(
    kernel: &Kernel,
    line: String,
    screen: &Screen,
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<Turned, Failure> {
    let work = kernel.turn(line, screen.sink(), cancel.clone());
    match work.await {
        Ok(report) => {
            answered(&report, screen, session)?;
            Ok(if cancel.is_cancelled() {
                Turned::Stopped
            } else if report.stopped.is_some() {
                Turned::Badly
            } else {
                Turned::Well
            })
        }
        Err(error @ (KernelError::Brain(_) | KernelError::TooLong { .. })) => {
            screen.end(session)?;
            session.warn(&escape(&error.to_string()));
            Ok(Turned::Badly)
        }
        Err(error) => Err(Error::from(error).failure()),
    }
}

fn answered(report: &TurnReport, screen: &Screen, session: &mut Session) -> Result<(), Failure> {
    screen.answer(&report.text, report.stopped.as_deref(), session)?;
    let taken = report.usage;
    let cost = match taken.unknown {
        0 => taken.usd.to_string(),
        _ if report.offline.is_some() => taken.usd.to_string(),
        _ => "cost unknown".to_owned(),
    };
    screen.aside(
        &format!(
            "{} · {} · {} tokens in, {} out · {}",
            report.model,
            counted(report.rounds.into(), "round"),
            taken.input,
            taken.output,
            cost
        ),
        session,
    );
    Ok(())
}

/// A token that the next signal cancels. The thread that waits for signals does it: the tools of a turn may keep every other
/// thread busy.
fn cancelled_by(interrupt: &Interrupt) -> CancellationToken {
    let cancel = CancellationToken::new();
    let token = cancel.clone();
    interrupt.then(move || token.cancel());
    cancel
}
