//! The command `popper status`, which prints the status of a run, also of a running one.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session};
use popper_store::Access;

use crate::discovery::database::{self, failure};
use crate::discovery::run_status::{lines, run_status};
use crate::discovery::verdicts;
use crate::flags::{RunFlag, TableFlag};
use crate::table::Layout;

#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub run: RunFlag,
    /// Print the status as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub table: TableFlag,
}

pub async fn execute(args: &StatusArgs, session: &mut Session) -> Result<Exit, Failure> {
    let mut store = database::open(&args.run.database.db, Access::Read).await?;
    let run = database::run(&mut store, args.run.run_id).await?;
    let status = run_status(&mut store, &run, &args.run.database.db).await?;
    let layout = Layout::of(&session.results, args.table.verbose);
    let out = &mut session.results;
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &status)?;
        writeln!(out)?;
    } else {
        let table = verdicts::lines(&mut store, &run, layout).await;
        let table = table.map_err(failure)?;
        write!(out, "{}\n{table}", lines(&status))?;
    }
    Ok(Exit::Done)
}
