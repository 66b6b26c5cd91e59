//! `block log`: shows the edits of a block, or of all.

use pscale_blocks::BlockName;

use crate::blocks::log::{LogAnswer, log};
use crate::data_dir::DataDir;
use crate::error::Error;

#[derive(Debug, clap::Args)]
pub struct LogArgs {
    /// Name of the block [default: all blocks].
    #[arg(value_name = "BLOCK")]
    pub name: Option<BlockName>,
    /// Number of the last edits of each block that are shown [default: all edits].
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

pub fn execute(args: &LogArgs, data: &DataDir) -> Result<LogAnswer, Error> {
    log(args.name.as_ref(), args.limit, &*data.for_reading()?)
}
