//! `popper status`: how a run stands, also while it is under way.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session};
use popper_store::Access;

use super::database::{self, failure};
use super::run_status::run_status;
use super::verdicts;
use crate::cli;
use crate::table::Layout;

pub async fn status(args: &cli::Status, session: &mut Session) -> Result<Exit, Failure> {
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
        write!(out, "{}\n{table}", status.lines())?;
    }
    Ok(Exit::Done)
}
