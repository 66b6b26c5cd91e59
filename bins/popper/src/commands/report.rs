//! The command `popper report`, which writes a run as one page that needs no network.

use bin_support::page::PageFlags;
use bin_support::{Exit, Failure, OutputTarget, Session};
use popper_discovery::report::{DiscoveryReport, page};
use popper_store::Access;

use crate::discovery::database::{self, failure};
use crate::discovery::live::{self, LiveRun};
use crate::discovery::page_of;
use crate::discovery::resume_command::ResumeCommand;
use crate::flags::RunFlag;

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub run: RunFlag,
    /// File to write, as a whole or not at all; - for stdout [default: popper-run-ID.html next to the database].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
    #[command(flatten)]
    pub page: PageFlags,
}

pub async fn execute(args: &ReportArgs, session: &mut Session) -> Result<Exit, Failure> {
    let location = args.run.location.location(session)?;
    args.page.check(args.output.as_ref())?;
    let mut store = database::open(&location, Access::Read).await?;
    let run = database::run(&mut store, &args.run.name, session).await?;
    let target = match &args.output {
        Some(target) => target.clone(),
        None => page_of(run.id, &location).into(),
    };
    location.refuse_target(&target)?;
    if let (Some(every), Some(path)) = (args.page.watch, target.file()) {
        let live = LiveRun::new(&location, &run, every);
        let read = async |last: Option<&_>| live.read_page(last).await;
        return args.page.follow(every, path, session, read).await;
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
        args.page.show(path, session)?;
    }
    Ok(Exit::Done)
}
