use pscale_blocks::store::LogRange;
use pscale_blocks::{BlockName, BlockStore, EditAuthor, Op, Stamp, StoreError};

use crate::plan::Plan;

/// The result of applying a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a migration is done, was done, or is refused"
)]
pub enum Migrated {
    /// The blocks of the plan are in the store.
    Done {
        /// The blocks that are written now; the others were there from a run that was interrupted.
        written: Vec<BlockName>,
    },
    /// The blocks were there before, and nothing was done.
    Already,
    /// The store is used, and nothing was done.
    InUse {
        /// Blocks that are neither defaults as they were seeded nor of this plan.
        blocks: Vec<BlockName>,
    },
}

/// Returns the result that [`apply`] would have, and writes nothing.
///
/// # Errors
/// The store cannot be read.
pub fn check(plan: &Plan, store: &dyn BlockStore) -> Result<Migrated, StoreError> {
    let mut in_use = Vec::new();
    let mut present = Vec::new();
    for info in store.names()? {
        let name = info.name;
        let kept = store.load(&name)?;
        if plan.blocks.get(&name) == Some(&*kept.block) {
            present.push(name);
        } else if !is_seeded(&name, store)? {
            in_use.push(name);
        }
    }
    if !in_use.is_empty() {
        return Ok(Migrated::InUse { blocks: in_use });
    }
    let missing = plan.blocks.keys().filter(|name| !present.contains(name));
    let written: Vec<_> = missing.cloned().collect();
    if written.is_empty() {
        return Ok(Migrated::Already);
    }
    Ok(Migrated::Done { written })
}

/// Puts a plan into a store that no one has used: its only blocks are seeded defaults.
///
/// # Errors
/// The store cannot be read or written. The same call continues where this one stopped.
pub fn apply(plan: &Plan, store: &dyn BlockStore, stamp: &Stamp) -> Result<Migrated, StoreError> {
    let migrated = check(plan, store)?;
    let Migrated::Done { written } = &migrated else {
        return Ok(migrated);
    };
    for name in written {
        let block = &plan.blocks[name];
        match store.load(name) {
            Ok(seeded) => {
                let block = block.clone();
                store.edit(name, Some(seeded.rev), &Op::Replace { block }, stamp)?;
            }
            Err(StoreError::NoBlock { .. }) => {
                store.create(name, block, stamp)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(migrated)
}

/// Whether the program itself made the block, and no one edited it.
fn is_seeded(name: &BlockName, store: &dyn BlockStore) -> Result<bool, StoreError> {
    let log = store.log(name, LogRange::newest(2))?;
    Ok(log.len() == 1 && log[0].by == EditAuthor::Kernel)
}
