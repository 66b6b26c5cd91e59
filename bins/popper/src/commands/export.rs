//! The command `popper export`, which writes a run as one document, or as one row a law.

use std::path::Path;

use bin_support::{Exit, Failure, Interrupt, OutputTarget, Session};
use popper_discovery::store::Store as _;
use popper_store::Access;

use crate::discovery::csv;
use crate::discovery::database::{self, failure};
use crate::discovery::document;
use crate::discovery::export_output::{ExportCounts, ExportOutput};
use crate::flags::RunFlag;
use crate::input;

#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    #[command(flatten)]
    pub run: RunFlag,
    /// Format: `json` has every row, `csv` one row a law [default: json, or csv for a file .csv].
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// File to write, as a whole or not at all; - for stdout [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One document with every row of the run.
    Json,
    /// One row a law.
    Csv,
}

pub async fn execute(args: &ExportArgs, session: &mut Session) -> Result<Exit, Failure> {
    let target = args.output.as_ref().unwrap_or(&OutputTarget::Stdout);
    if target.file().is_none() {
        write(args, target, session).await?;
        return Ok(Exit::Done);
    }
    // A draft of a file must not remain.
    let interrupt = Interrupt::on_signals()?;
    let counts = tokio::select! {
        written = write(args, target, session) => written?,
        () = interrupt.raised() => return Ok(Exit::Interrupted),
    };
    if let Some(path) = target.file() {
        let ExportCounts { laws, attempts } = counts;
        let path = input::name(path);
        session.status(&format!("{laws} laws and {attempts} attempts in {path}"));
    }
    Ok(Exit::Done)
}

/// Writes the run, all of it from one transaction.
async fn write(
    args: &ExportArgs,
    target: &OutputTarget,
    session: &mut Session,
) -> Result<ExportCounts, Failure> {
    let location = args.run.location.location(session)?;
    location.refuse_target(target)?;
    let mut store = database::open(&location, Access::Read).await?;
    let run = database::run(&mut store, &args.run.name, session).await?;
    let is_sheet = |path: &Path| path.extension().is_some_and(|ending| ending == "csv");
    let by_name = match target.file() {
        Some(path) if is_sheet(path) => Format::Csv,
        _ => Format::Json,
    };
    let mut output = ExportOutput::new(target.begin(location.file())?);
    store.begin_reading().await.map_err(failure)?;
    let counts = match args.format.unwrap_or(by_name) {
        Format::Json => document::write(&mut store, &run, &mut output, session).await?,
        Format::Csv => csv::write(&mut store, &run, &mut output, session).await?,
    };
    store.end_reading().await.map_err(failure)?;
    output.finish(session)?;
    Ok(counts)
}
