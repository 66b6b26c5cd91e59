//! `block undo` and `block redo`: step back and forward through the edits of a block.

use pscale_blocks::BlockName;

use crate::blocks::edit::ensure_revision;
use crate::blocks::step::{self, StepAnswer};
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::flags::RevisionFlags;

#[derive(Debug, clap::Args)]
pub struct StepArgs {
    /// Name of the block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// Number of edits, the last one first.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub count: u32,
    #[command(flatten)]
    pub expect: RevisionFlags,
}

pub fn undo(args: &StepArgs, data: &DataDir) -> Result<StepAnswer, Error> {
    let store = data.for_writing()?;
    // No other process writes between these two steps.
    ensure_revision(&*store, &args.name, args.expect)?;
    step::undo(&args.name, args.count, &*store, &data.stamp_by_person())
}

pub fn redo(args: &StepArgs, data: &DataDir) -> Result<StepAnswer, Error> {
    let store = data.for_writing()?;
    ensure_revision(&*store, &args.name, args.expect)?;
    step::redo(&args.name, args.count, &*store, &data.stamp_by_person())
}
