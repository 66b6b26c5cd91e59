//! Steps back and forward through the edits of a block.

use std::io::{self, Write as _};

use bin_support::Results;
use pscale_blocks::{BlockName, BlockStore, NodeDiff, Stamp};
use serde::Serialize;

use super::output::{SHOWN, differences};
use crate::answer::Answer;
use crate::error::Error;

/// The edits that were undone or redone.
#[derive(Serialize)]
pub struct StepAnswer {
    name: BlockName,
    /// The revision of the block after these steps.
    rev: u64,
    /// The number of edits that were undone. The block may have fewer than the person asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    undone: Option<u32>,
    /// The number of edits that were redone. There may be fewer than the person asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    redone: Option<u32>,
    /// The texts that changed, in order of their paths.
    changed: Vec<NodeDiff>,
    #[serde(skip)]
    asked: u32,
}

impl StepAnswer {
    /// Returns an answer without any step.
    fn new(name: &BlockName, count: u32, rev: u64) -> Self {
        Self {
            name: name.clone(),
            rev,
            undone: None,
            redone: None,
            changed: Vec::new(),
            asked: count,
        }
    }

    /// Returns the number of edits and a word for the direction.
    fn edits(&self) -> (u32, &'static str) {
        match self.redone {
            Some(edits) => (edits, "made again"),
            None => (self.undone.unwrap_or_default(), "taken back"),
        }
    }
}

pub fn undo(
    name: &BlockName,
    count: u32,
    store: &dyn BlockStore,
    stamp: &Stamp,
) -> Result<StepAnswer, Error> {
    let before = store.load(name)?.block;
    let edited = store.undo(name, count, stamp)?;
    Ok(StepAnswer {
        undone: Some(edited.steps),
        changed: before.diff(&store.load(name)?.block),
        ..StepAnswer::new(name, count, edited.rev)
    })
}

pub fn redo(
    name: &BlockName,
    count: u32,
    store: &dyn BlockStore,
    stamp: &Stamp,
) -> Result<StepAnswer, Error> {
    let before = store.load(name)?.block;
    let edited = store.redo(name, count, stamp)?;
    Ok(StepAnswer {
        redone: Some(edited.steps),
        changed: before.diff(&store.load(name)?.block),
        ..StepAnswer::new(name, count, edited.rev)
    })
}

impl Answer for StepAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        let (edits, done) = self.edits();
        let noun = if edits == 1 { "edit" } else { "edits" };
        writeln!(
            out,
            "{}: {edits} {noun} {done}, revision {}",
            self.name, self.rev
        )?;
        differences(&self.changed, SHOWN, out)
    }

    fn notices(&self) -> Vec<String> {
        let (edits, done) = self.edits();
        let fewer = edits < self.asked;
        fewer
            .then(|| format!("no more than {edits} could be {done}"))
            .into_iter()
            .collect()
    }
}
