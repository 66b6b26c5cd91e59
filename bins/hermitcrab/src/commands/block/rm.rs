//! `block rm`: removes a node, or a whole block.

use pscale_blocks::{BlockError, BlockName, Op, StoreError};

use crate::address::Address;
use crate::blocks::edit::{EditAction, EditAnswer, edit, ensure_revision};
use crate::data_dir::{DataDir, shell_word};
use crate::error::Error;
use crate::flags::RevisionFlags;

#[derive(Debug, clap::Args)]
pub struct RmArgs {
    /// Name of the block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// Path of the node.
    #[arg(value_name = "PATH")]
    pub at: Option<Address>,
    /// Remove the whole block; its file moves to the folder trash, and the command that restores it is printed.
    #[arg(long, conflicts_with = "at")]
    pub whole: bool,
    #[command(flatten)]
    pub expect: RevisionFlags,
}

pub fn execute(args: &RmArgs, data: &DataDir) -> Result<EditAnswer, Error> {
    let whole_block = || Error::WholeBlock {
        name: args.name.clone(),
    };
    let at = match &args.at {
        None if args.whole => return delete(&args.name, args.expect, data),
        None => return Err(whole_block()),
        Some(at) => at,
    };
    let op = Op::Remove { path: at.path };
    let edited = match edit(data, &args.name, args.expect, &op) {
        Err(Error::Store {
            error: StoreError::Block(error),
        }) if matches!(*error, BlockError::Head { .. }) => return Err(whole_block()),
        edited => edited?,
    };
    Ok(EditAnswer::of_edit(&args.name, EditAction::Removed, &edited).at(at))
}

fn delete(name: &BlockName, expect: RevisionFlags, data: &DataDir) -> Result<EditAnswer, Error> {
    let store = data.for_writing()?;
    // No other process writes between these two steps.
    let rev = ensure_revision(&*store, name, expect)?;
    // Of a block of the person's own a copy is not from outside either.
    let trust = match store.labels(name) {
        Ok(labels) if labels.is_empty() => " --trust",
        _ => "",
    };
    let before = data.trash();
    store.delete(name, &data.stamp_by_person())?;
    let mut trash = data.trash().into_iter();
    let restore = trash.find(|file| !before.contains(file)).map(|file| {
        let (file, flag) = (shell_word(&file), data.flag());
        format!("hermitcrab block import {file} --name {name}{trust}{flag}")
    });
    Ok(EditAnswer {
        restore,
        ..EditAnswer::new(name, rev, EditAction::Deleted)
    })
}
