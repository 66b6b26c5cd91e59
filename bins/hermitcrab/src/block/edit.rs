//! The commands that change a block.

use std::io::{self, Write};

use pscale_blocks::store::{Edited, KEY_REMOVED, remove_keys};
use pscale_blocks::{
    Applied, Block, BlockError, BlockName, BlockStore, Grown, Op, Path, StoreError, Summary,
};
use serde::Serialize;

use super::outline::shown;
use super::text;
use crate::answer::Answer;
use crate::cli::{self, Address, Expect};
use crate::clock::by_the_person;
use crate::data_dir::DataDir;
use crate::error::Error;

/// An edit that was made.
#[derive(Serialize)]
pub struct Done {
    name: BlockName,
    /// The revision that it made.
    rev: u64,
    #[serde(rename = "done")]
    deed: Deed,
    /// The node; none where it is about the whole block.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Path>,
    /// Where the node was before it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Path>,
    /// The levels above the node that were made on the way and have no text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    made: Vec<Path>,
    /// Which nodes have another path now, if the block grew.
    #[serde(skip_serializing_if = "Option::is_none")]
    grown: Option<Grown>,
    /// The keys that were taken out of the text.
    keys_removed: u32,
    /// How the paths were understood, if they were typed in an unusual way.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// What was done.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Deed {
    Created,
    Written,
    Grown,
    Moved,
    Removed,
    Deleted,
}

impl Done {
    fn new(name: &BlockName, rev: u64, deed: Deed) -> Self {
        Self {
            name: name.clone(),
            rev,
            deed,
            path: None,
            from: None,
            made: Vec::new(),
            grown: None,
            keys_removed: 0,
            note: None,
        }
    }

    /// With what the store says of an edit.
    fn edited(name: &BlockName, deed: Deed, edited: &Edited) -> Self {
        let change = edited.applied.as_ref().and_then(Applied::change);
        Self {
            made: change.map_or_else(Vec::new, |change| change.created.clone()),
            grown: change.and_then(|change| change.grown.clone()),
            keys_removed: edited.keys_removed,
            ..Self::new(name, edited.rev, deed)
        }
    }

    fn at(self, address: &Address) -> Self {
        Self {
            path: Some(address.path),
            note: address.note(),
            ..self
        }
    }
}

pub fn create(args: &cli::Create, data: &DataDir) -> Result<Done, Error> {
    let text = text::given(args.text.as_deref())?;
    if text.trim().is_empty() {
        return Err(Error::MissingText);
    }
    // Written and not given to the new block, which would cut a text that is too long.
    let mut block = Block::new("");
    block.write(&block.head(), &text)?;
    let store = data.for_writing()?;
    let rev = store.create(&args.name, &block, &by_the_person())?;
    Ok(Done {
        // What the store does, and does not say of a new block.
        keys_removed: remove_keys(&text).1,
        ..Done::new(&args.name, rev, Deed::Created)
    })
}

pub fn write(args: &cli::Write, data: &DataDir) -> Result<Done, Error> {
    let op = Op::Write {
        path: args.at.as_written()?,
        text: text::given(args.text.as_deref())?,
    };
    let edited = edit(data, &args.name, args.expect, &op)?;
    Ok(Done::edited(&args.name, Deed::Written, &edited).at(&args.at))
}

pub fn grow(args: &cli::Grow, data: &DataDir) -> Result<Done, Error> {
    let op = Op::Grow {
        summary: Summary {
            kind: args.kind.into(),
            text: args.summary.clone(),
        },
    };
    let edited = edit(data, &args.name, args.expect, &op)?;
    Ok(Done::edited(&args.name, Deed::Grown, &edited))
}

pub fn relocate(args: &cli::Mv, data: &DataDir) -> Result<Done, Error> {
    let op = Op::Relocate {
        from: args.from.path,
        to: args.to.path,
    };
    let edited = edit(data, &args.name, args.expect, &op)?;
    let notes: Vec<_> = [&args.from, &args.to]
        .into_iter()
        .filter_map(Address::note)
        .collect();
    Ok(Done {
        from: Some(args.from.path),
        note: (!notes.is_empty()).then(|| notes.join(", ")),
        ..Done::edited(&args.name, Deed::Moved, &edited).at(&args.to)
    })
}

pub fn remove(args: &cli::Rm, data: &DataDir) -> Result<Done, Error> {
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
    Ok(Done::edited(&args.name, Deed::Removed, &edited).at(at))
}

fn delete(name: &BlockName, expect: Expect, data: &DataDir) -> Result<Done, Error> {
    let store = data.for_writing()?;
    // Nobody else writes between these two steps.
    let rev = still(&*store, name, expect)?;
    store.delete(name, &by_the_person())?;
    Ok(Done::new(name, rev, Deed::Deleted))
}

/// The block's revision, which must be the expected one.
pub fn still(store: &dyn BlockStore, name: &BlockName, expect: Expect) -> Result<u64, Error> {
    let actual = store.load(name)?.rev;
    match expect.rev {
        Some(expected) if expected != actual => Err(Error::from(StoreError::Revision {
            name: name.clone(),
            expected,
            actual,
        })),
        _ => Ok(actual),
    }
}

pub fn edit(data: &DataDir, name: &BlockName, expect: Expect, op: &Op) -> Result<Edited, Error> {
    let store = data.for_writing()?;
    Ok(store.edit(name, expect.rev, op, &by_the_person())?)
}

impl Answer for Done {
    fn tell(&self, out: &mut dyn Write) -> io::Result<()> {
        let (name, rev) = (&self.name, self.rev);
        let path = self.path.as_ref().map(shown).unwrap_or_default();
        match self.deed {
            Deed::Created => writeln!(out, "{name} is made, revision {rev}"),
            Deed::Written => writeln!(out, "{name} {path} is written, revision {rev}"),
            Deed::Grown => writeln!(out, "{name} has grown a level, revision {rev}"),
            Deed::Moved => {
                let from = self.from.as_ref().map(shown).unwrap_or_default();
                writeln!(out, "{name} {from} is at {path} now, revision {rev}")
            }
            Deed::Removed => writeln!(out, "{name} {path} is removed, revision {rev}"),
            Deed::Deleted => writeln!(out, "{name} is in the folder trash"),
        }
    }

    fn notices(&self) -> Vec<String> {
        let mut notices: Vec<_> = self.note.iter().cloned().collect();
        if !self.made.is_empty() {
            let made: Vec<_> = self.made.iter().map(shown).collect();
            notices.push(format!(
                "made on the way, and without a text yet: {}",
                made.join(", ")
            ));
        }
        notices.extend(grew(&self.name, self.grown.as_ref()));
        notices.extend(keys_removed(self.keys_removed));
        notices
    }
}

/// Says which paths are others now.
pub fn grew(name: &BlockName, grown: Option<&Grown>) -> Option<String> {
    grown.map(|grown| format!("{name} grew: {grown}"))
}

/// What a person should know when keys were found in a text.
pub fn keys_removed(keys: u32) -> Option<String> {
    (keys > 0).then(|| {
        format!("the text held {keys} of what looks like a key; the block has {KEY_REMOVED} there")
    })
}
