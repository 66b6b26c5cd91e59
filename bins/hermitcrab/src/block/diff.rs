//! `block diff`.

use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::Path;

use bin_support::{Exit, shortened};
use pscale_blocks::{Block, BlockError, BlockName, BlockStore, MAX_FILE, NodeDiff, StoreError};
use serde::Serialize;

use super::outline::shown;
use crate::answer::Answer;
use crate::cli;
use crate::data_dir::DataDir;
use crate::error::Error;

/// How much of a text is shown, in characters.
const SHOWN: usize = 100;

/// What differs between two blocks.
#[derive(Serialize)]
pub struct Diff {
    name: BlockName,
    /// The other block's name, or its file.
    other: String,
    /// The decimals, if they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    decimals: Option<[u8; 2]>,
    /// The texts that differ, in order of their paths.
    nodes: Vec<NodeDiff>,
}

pub fn diff(args: &cli::Diff, data: &DataDir) -> Result<Diff, Error> {
    let store = data.for_reading()?;
    let before = store.load(&args.name)?.block;
    let after = other(&args.other, &*store)?;
    let decimals = [before.decimal(), after.decimal()];
    Ok(Diff {
        name: args.name.clone(),
        other: args.other.clone(),
        decimals: (decimals[0] != decimals[1]).then_some(decimals),
        nodes: before.diff(&after),
    })
}

/// A block of the store, or of a file. No block's name has a dot or a slash.
fn other(other: &str, store: &dyn BlockStore) -> Result<Block, Error> {
    if !other.contains(['.', '/', '\\']) {
        let name = BlockName::new(other).map_err(StoreError::from)?;
        return Ok(store.load(&name)?.block);
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

impl Answer for Diff {
    fn tell(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some([before, after]) = self.decimals {
            writeln!(out, "- decimal {before}\n+ decimal {after}")?;
        }
        for NodeDiff {
            path,
            before,
            after,
        } in &self.nodes
        {
            for (sign, text) in [('-', before), ('+', after)] {
                if let Some(text) = text {
                    writeln!(out, "{sign} {}  {}", shown(path), shortened(text, SHOWN))?;
                }
            }
        }
        Ok(())
    }

    fn exit(&self) -> Exit {
        if self.nodes.is_empty() && self.decimals.is_none() {
            Exit::Done
        } else {
            Exit::CheckFailed
        }
    }
}
