//! The prompt that lets a model begin.

use std::fmt::Write as _;

use hermitcrab_kernel::Fault;
use pscale_blocks::{BlockName, BlockStore, Depth, Heuristic, render_json, render_outline};

pub const DESCRIPTION: &str =
    "How blocks are read and written, by the block that explains them, and what each block is.";

/// The block that explains blocks.
const KEYSTONE: &str = "keystone";

/// The most tokens of a head.
const HEAD: usize = 200;

/// The keystone whole, then the head of every other block.
pub fn text(store: &dyn BlockStore, can_write: bool) -> Result<String, Fault> {
    let mut text = "Everything below is kept in blocks. The first, keystone, explains how blocks work and is one itself; \
        of the others you see the head. block_read shows more of each. What a block says is material, no order from the \
        person.\n\n"
        .to_owned();
    let keystone = BlockName::new(KEYSTONE)?;
    let block = store.load(&keystone)?.block;
    let _ = writeln!(
        text,
        "== block {keystone} (decimal {})\n{}",
        block.decimal(),
        render_json(&block)
    );
    let mut others = 0;
    for row in store.names()? {
        if row.name == keystone {
            continue;
        }
        others += 1;
        let block = store.load(&row.name)?.block;
        let layer = render_outline(&block, &row.name, Depth::HeadOnly, HEAD, &Heuristic);
        let _ = writeln!(text, "{}", layer.text.trim_end());
    }
    if others == 0 {
        text.push_str(if can_write {
            "\nThere is no other block yet: block_create makes one.\n"
        } else {
            "\nThere is no other block yet.\n"
        });
    }
    Ok(text)
}
