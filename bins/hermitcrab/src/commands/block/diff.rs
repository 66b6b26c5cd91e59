//! `block diff`: compares two blocks, or two revisions of a block.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use bin_support::{Exit, Results};
use pscale_blocks::store::{LogRange, Versioned};
use pscale_blocks::{Block, BlockError, BlockName, BlockStore, MAX_FILE, NodeDiff, StoreError};
use serde::Serialize;

use crate::answer::Answer;
use crate::blocks::output::{SHOWN, differences};
use crate::data_dir::DataDir;
use crate::error::Error;

#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// Name of the block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// Name of the second block, or its file; a file has a dot or a slash in its name.
    #[arg(value_name = "OTHER")]
    pub other: Option<String>,
    /// Earlier revision of the block, to compare with it instead.
    #[arg(long, value_name = "REVISION", conflicts_with = "other")]
    pub since: Option<u64>,
}

/// The differences of two blocks.
#[derive(Serialize)]
pub struct DiffAnswer {
    name: BlockName,
    /// The name or the file of the second block. It is left out for two revisions of one block.
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<String>,
    /// The earlier revision, if two revisions of one block are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<u64>,
    /// The decimals, if they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    decimals: Option<[u8; 2]>,
    /// The texts that differ, in order of their paths.
    nodes: Vec<NodeDiff>,
}

pub fn execute(args: &DiffArgs, data: &DataDir) -> Result<DiffAnswer, Error> {
    let store = data.for_reading()?;
    let stored = store.load(&args.name)?;
    let (before, after) = match (&args.other, args.since) {
        (Some(other), _) => (stored.block, Arc::new(another(other, &*store)?)),
        (None, Some(since)) => {
            let then = at_revision(&args.name, &stored, since, &*store)?;
            (Arc::new(then), stored.block)
        }
        (None, None) => {
            let name = args.name.clone();
            return Err(Error::NoOther { name });
        }
    };
    let decimals = [before.decimal(), after.decimal()];
    Ok(DiffAnswer {
        name: args.name.clone(),
        other: args.other.clone(),
        since: args.since,
        decimals: (decimals[0] != decimals[1]).then_some(decimals),
        nodes: before.diff(&after),
    })
}

/// Returns the block at an earlier revision, by undoing the edits since then.
fn at_revision(
    name: &BlockName,
    stored: &Versioned,
    rev: u64,
    store: &dyn BlockStore,
) -> Result<Block, Error> {
    let unknown = || Error::NoRevision {
        name: name.clone(),
        rev,
        last: stored.rev,
    };
    if rev > stored.rev {
        return Err(unknown());
    }
    let mut block = Block::clone(&stored.block);
    let newer = usize::try_from(stored.rev - rev).unwrap_or(usize::MAX);
    let mut at = stored.rev;
    // Another process may have edited the block since.
    for entry in store.log(name, LogRange::newest(newer).before(stored.rev + 1))? {
        // An entry without an inverse created the block. Before it there is no revision.
        let inverse = entry.inverse.as_ref().filter(|_| entry.rev == at);
        block.revert(inverse.ok_or_else(unknown)?);
        at -= 1;
    }
    if at != rev {
        return Err(unknown());
    }
    Ok(block)
}

/// Returns the second block, from the store or from a file. The name of a block never has a dot or a slash.
fn another(other: &str, store: &dyn BlockStore) -> Result<Block, Error> {
    if !other.contains(['.', '/', '\\']) {
        let name = BlockName::new(other).map_err(StoreError::from)?;
        return Ok(Arc::unwrap_or_clone(store.load(&name)?.block));
    }
    let path = Path::new(other);
    let unreadable = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let mut text = String::new();
    let mut file = File::open(path)
        .map_err(unreadable)?
        .take(MAX_FILE as u64 + 1);
    file.read_to_string(&mut text).map_err(unreadable)?;
    if text.len() > MAX_FILE {
        return Err(Error::from(BlockError::TooLarge {
            what: "file in bytes",
            limit: MAX_FILE,
            size: text.len(),
        }));
    }
    Block::parse(&text).map_err(|error| Error::NoBlock {
        path: path.to_owned(),
        error,
    })
}

impl Answer for DiffAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        if let Some([before, after]) = self.decimals {
            writeln!(out, "- decimal {before}\n+ decimal {after}")?;
        }
        differences(&self.nodes, SHOWN, out)
    }

    fn exit(&self) -> Exit {
        if self.nodes.is_empty() && self.decimals.is_none() {
            Exit::Done
        } else {
            Exit::CheckFailed
        }
    }
}
