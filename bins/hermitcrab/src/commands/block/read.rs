//! `block read`: shows a node and its surroundings.

use pscale_blocks::BlockName;

use crate::address::Address;
use crate::blocks::read::{ReadAnswer, View, read};
use crate::data_dir::DataDir;
use crate::error::Error;

#[derive(Debug, clap::Args)]
pub struct ReadArgs {
    /// Name of the block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// Path of the node, such as 0.3.1 [default: the whole tree; with --view node or spindle, the head].
    #[arg(value_name = "PATH")]
    pub at: Option<Address>,
    /// Nodes that are shown [default: node; without PATH, subtree].
    #[arg(long, value_enum, value_name = "VIEW")]
    pub view: Option<View>,
    /// Show long texts whole on a terminal, too.
    #[arg(long)]
    pub full: bool,
}

pub fn execute(args: &ReadArgs, data: &DataDir) -> Result<ReadAnswer, Error> {
    let store = data.for_reading()?;
    read(&args.name, args.at.as_ref(), args.view, args.full, &*store)
}
