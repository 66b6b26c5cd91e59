//! `block mv`: moves a node.

use pscale_blocks::{BlockName, Op};

use crate::address::Address;
use crate::blocks::edit::{EditAction, EditAnswer, edit};
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::flags::RevisionFlags;

#[derive(Debug, clap::Args)]
pub struct MvArgs {
    /// Name of the block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// Path of the node.
    #[arg(value_name = "FROM")]
    pub from: Address,
    /// Free path to which the node moves.
    #[arg(value_name = "TO")]
    pub to: Address,
    #[command(flatten)]
    pub expect: RevisionFlags,
}

pub fn execute(args: &MvArgs, data: &DataDir) -> Result<EditAnswer, Error> {
    let op = Op::Relocate {
        from: args.from.path,
        to: args.to.path,
    };
    let edited = edit(data, &args.name, args.expect, &op)?;
    let notes: Vec<_> = [&args.from, &args.to]
        .into_iter()
        .filter_map(Address::note)
        .collect();
    Ok(EditAnswer {
        from: Some(args.from.path),
        note: (!notes.is_empty()).then(|| notes.join(", ")),
        ..EditAnswer::of_edit(&args.name, EditAction::Moved, &edited).at(&args.to)
    })
}
