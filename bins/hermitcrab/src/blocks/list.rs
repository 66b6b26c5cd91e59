//! The blocks of a store.

use std::io::{self, Write as _};

use bin_support::{Results, Table};
use pscale_blocks::store::BlockInfo;
use pscale_blocks::{BlockName, BlockStore};
use serde::Serialize;

use super::output::line;
use crate::answer::Answer;
use crate::error::Error;

/// The longest head that a terminal shows whole, in characters.
const SHOWN: usize = 60;

/// The blocks of a store.
#[derive(Serialize)]
pub struct ListAnswer {
    /// The blocks in order of their names.
    blocks: Vec<BlockInfo>,
}

pub fn list(store: &dyn BlockStore) -> Result<ListAnswer, Error> {
    Ok(ListAnswer {
        blocks: store.names()?,
    })
}

impl Answer for ListAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        if self.blocks.is_empty() {
            return Ok(());
        }
        let mut table = Table::new(["block", "decimal", "revision", "nodes", "head"]);
        table = table.wrapping("head");
        for block in &self.blocks {
            let head = block.head.as_deref().unwrap_or_default();
            table.row([
                block.name.to_string(),
                block.decimal.to_string(),
                block.rev.to_string(),
                block.nodes.to_string(),
                line(head, SHOWN, out),
            ]);
        }
        let text = table.text(out);
        out.write_all(text.as_bytes())
    }

    fn notices(&self) -> Vec<String> {
        if !self.blocks.is_empty() {
            return Vec::new();
        }
        vec![
            "there are no blocks yet; `hermitcrab block create NAME TEXT` makes one, `hermitcrab import FILE` brings some"
                .to_owned(),
        ]
    }
}

/// Returns the given name, or the names of all blocks.
pub fn chosen(store: &dyn BlockStore, name: Option<&BlockName>) -> Result<Vec<BlockName>, Error> {
    match name {
        Some(name) => Ok(vec![name.clone()]),
        None => Ok(store.names()?.into_iter().map(|info| info.name).collect()),
    }
}
