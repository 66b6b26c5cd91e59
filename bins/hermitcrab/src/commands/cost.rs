//! `cost`: the tokens and dollars of all calls.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session, escape};
use hermitcrab_kernel::UsageRecord;
use serde_json::json;

use crate::answer::print_json;
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::usage::usage_line;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab cost
  hermitcrab cost --by-month
  hermitcrab cost --json";

#[derive(Debug, clap::Args)]
pub struct CostArgs {
    /// Print the cost of each month, UTC, from the archives too.
    #[arg(long)]
    pub by_month: bool,
    /// Print the cost as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Prints the calls, tokens and dollars of this day or of each month, and of all days.
pub fn execute(args: &CostArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let failed = |error| Error::from(error).failure();
    data.ensure_named_exists().map_err(Error::failure)?;
    let mut record = UsageRecord::open(data.path(), data.now()).map_err(failed)?;
    let months = if args.by_month {
        Some(record.by_month().map_err(failed)?)
    } else {
        None
    };
    for notice in record.notices() {
        session.warn(&escape(notice));
    }
    let (day, total) = (record.day(), record.total());
    if args.json {
        let mut document =
            json!({"schema_version": 1, "day": day, "total": total, "by_model": record.by_model()});
        if let Some(months) = months {
            document["by_month"] = json!(months);
        }
        print_json(&document, session)?;
        return Ok(Exit::Done);
    }
    let out = &mut session.results;
    if let Some(months) = months {
        for (month, usage) in months {
            writeln!(out, "{month}  {}", usage_line(&usage))?;
        }
        writeln!(out, "total    {}", usage_line(&total))?;
    } else {
        writeln!(out, "day    {}", usage_line(&day))?;
        writeln!(out, "total  {}", usage_line(&total))?;
    }
    Ok(Exit::Done)
}
