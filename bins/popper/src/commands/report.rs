//! The command `popper report`, which writes a run as one page that needs no network.

use std::io::Write as _;
use std::num::NonZeroU64;

use bin_support::{Exit, Failure, OutputTarget, Session, open_in_browser};
use popper_discovery::report::{DiscoveryReport, page};
use popper_store::Access;

use crate::discovery::database::{self, failure};
use crate::discovery::live::{self, LiveRun};
use crate::discovery::page_of;
use crate::discovery::resume_command::ResumeCommand;
use crate::error::Error;
use crate::flags::RunFlag;
use crate::input;

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub run: RunFlag,
    /// File to write, as a whole or not at all; - for stdout [default: popper-run-ID.html next to the database].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
    /// Open the page in the browser.
    #[arg(long)]
    pub open: bool,
    /// Write the page again when the run changes, at most every 5 s or SECONDS, until the run ends.
    ///
    /// The page loads itself again. Exit code 3 if the process that works on the run is gone before its end.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "5")]
    pub watch: Option<NonZeroU64>,
}

pub async fn execute(args: &ReportArgs, session: &mut Session) -> Result<Exit, Failure> {
    let location = args.run.location.location(session)?;
    if args.output == Some(OutputTarget::Stdout) && (args.open || args.watch.is_some()) {
        return Err(Failure::usage(Error::OpenStdout));
    }
    let mut store = database::open(&location, Access::Read).await?;
    let run = database::run(&mut store, &args.run.name, session).await?;
    let target = match &args.output {
        Some(target) => target.clone(),
        None => page_of(run.id, &location).into(),
    };
    location.refuse_target(&target)?;
    if let (Some(every), Some(path)) = (args.watch, target.file()) {
        let live = LiveRun::new(&location, &run, path, every);
        return live.watch(args.open, session).await;
    }
    let report = DiscoveryReport::gather(&mut store, &run)
        .await
        .map_err(failure)?;
    let html = page(&report).render()?;
    if !live::is_complete(&report) {
        let command = ResumeCommand::new("resume", run.id, &location);
        session.warn(&format!("the run is not complete; to continue: {command}"));
    }
    let output = target.begin(location.file())?;
    output.finish(session, |out| out.write_all(html.as_bytes()))?;
    if let Some(path) = target.file() {
        writeln!(session.results, "{}", input::name(path))?;
        if args.open {
            open_in_browser(path, session);
        }
    }
    Ok(Exit::Done)
}
