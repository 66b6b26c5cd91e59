//! `watch`: shows a run, a sweep or a fork while another process works on it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bin_support::page::RunPhase;
use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Interrupt, Results, Session, block_on, nearest};
use jiff::SignedDuration;
use logosphere_core::experiment::Experiment;

use crate::error::Error;
use crate::folders;
use crate::run_view::{Frame, RunView};
use crate::setup::failure;
use crate::study_folder::StudyFolder;
use crate::study_view::StudyView;

/// The columns of a line in a file or a pipe.
const COLUMNS: usize = 200;

/// The time after which a frame of many runs is drawn, before all of them were read.
const READING: Duration = Duration::from_millis(200);

/// The range of the time between two frames.
const LEAST: Duration = Duration::from_millis(50);
const MOST: Duration = Duration::from_hours(1);

#[derive(Debug, clap::Args)]
pub struct WatchArgs {
    /// Run, sweep or fork: its folder or its name [default: newest run]
    ///
    /// A name is that of a folder in experiments/, with or without its date, else in sweeps/ or forks/.
    #[arg(value_name = "RUN")]
    pub run: Option<PathBuf>,
    /// Print the run as it is now, and end.
    #[arg(long)]
    pub once: bool,
    /// Time between two looks at the run, 50ms to 1h.
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = interval)]
    pub interval: Duration,
}

fn interval(text: &str) -> Result<Duration, String> {
    let read = text.parse::<SignedDuration>().ok();
    let read = read.and_then(|time| Duration::try_from(time).ok());
    read.filter(|time| (LEAST..=MOST).contains(time))
        .ok_or_else(|| "expected a time from 50ms to 1h, such as 500ms or 2s".to_owned())
}

pub fn execute(args: &WatchArgs, session: &mut Session) -> Result<Exit, Failure> {
    let path = find(args.run.as_deref(), session)?;
    if let Some(folder) = StudyFolder::at(&path) {
        let mut view = StudyView::new(folder)?;
        return follow(args, session, |columns| view.frame(columns, Some(READING)));
    }
    let experiment = Experiment::open(&path).map_err(failure)?;
    let mut view = RunView::new(experiment)?;
    follow(args, session, |columns| view.frame(columns))
}

/// Returns the run that the argument names, else the sweep or the fork.
fn find(given: Option<&Path>, session: &Session) -> Result<PathBuf, Failure> {
    let run = folders::recorded(&RunArg::from(given.map(Path::to_owned)), session);
    let Some(given) = given else { return run };
    run.or_else(|failure| {
        let Some(bin_support::Error::NoSuchRun { near, .. }) = failure.error().downcast_ref()
        else {
            return Err(failure);
        };
        if let Some(path) = StudyFolder::named(given) {
            return Ok(path);
        }
        let names = StudyFolder::names();
        let word = given.to_string_lossy();
        let mut near = near.clone();
        near.extend(
            nearest(&word, names.iter().map(String::as_str))
                .into_iter()
                .map(str::to_owned),
        );
        let given = given.to_owned();
        Err(Failure::usage(Error::NothingToWatch { given, near }))
    })
}

/// Draws each frame in place of the last one until the run ends; without a terminal, or with `--once`, one frame is printed.
fn follow(
    args: &WatchArgs,
    session: &mut Session,
    mut next: impl FnMut(usize) -> Result<Frame, Failure>,
) -> Result<Exit, Failure> {
    let drawn = session.progress.lines();
    let Some(_) = session
        .results
        .width()
        .filter(|_| !args.once && !drawn.is_hidden())
    else {
        let columns = session.results.width().unwrap_or(COLUMNS);
        let mut frame = next(columns)?;
        while !frame.is_whole {
            frame = next(columns)?;
        }
        print(&frame, &mut session.results)?;
        return Ok(Exit::Done);
    };
    let interrupt = Interrupt::on_signals()?;
    let (last, exit) = block_on(async {
        loop {
            let frame = next(session.results.width().unwrap_or(COLUMNS))?;
            match frame.phase {
                RunPhase::Running => {}
                RunPhase::Finished => return Ok::<_, Failure>((frame, Exit::Done)),
                RunPhase::Stopped(_) => return Ok((frame, Exit::SomeFailed)),
            }
            drawn.set_message(frame.lines.join("\n"));
            drawn.tick();
            let wait = if frame.is_whole {
                args.interval
            } else {
                Duration::ZERO
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = interrupt.raised() => return Ok((frame, Exit::Interrupted)),
            }
        }
    })??;
    // The last frame stays on the screen.
    drop(drawn);
    print(&last, &mut session.results)?;
    if let RunPhase::Stopped(line) = &last.phase {
        session.warn(line);
    }
    Ok(exit)
}

fn print(frame: &Frame, out: &mut Results) -> Result<(), Failure> {
    for line in &frame.lines {
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}
