//! The blocks with which an instance begins.
//!
//! The blocks are files next to this one, in the normal form of the block format, and parts of the program. Every node keeps to a
//! number of tokens (o200k), so that the prompts made of them keep to theirs. `tests/it/default_blocks.rs` holds the list of
//! nodes and checks each text: its length, the tools and props it names, and the places it refers to.

use std::sync::LazyLock;

use pscale_blocks::{Block, BlockName};

/// One of the six blocks that every instance has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the default blocks are six")]
pub enum CoreBlock {
    /// The rules of reading a block.
    Keystone,
    /// The identity: drives, purpose, name, and the rules for a face.
    Constitution,
    /// The tools and props, one by one.
    Capabilities,
    /// The memories.
    Memory,
    /// The instructions for tasks; read when a task needs them.
    Skills,
    /// The ways to reach others.
    Network,
}

/// The block's name, its file, and the [`Block::hash`] of what is in the file, in hex.
type Source = (&'static str, &'static str, &'static str);

const SOURCES: [Source; 6] = [
    (
        "keystone",
        include_str!("keystone.json"),
        "fc136a31c7f62f380754b553cf0f645341ed60cfd960ebe59fc16541fcd92a39",
    ),
    (
        "constitution",
        include_str!("constitution.json"),
        "2af35e9087a84fb18712a865a95587498ada09900305b39b8edee9377bde4e3a",
    ),
    (
        "capabilities",
        include_str!("capabilities.json"),
        "2cfa7f3be460893dfcba040b2bce5c681c303f92d443091827bacbe32a3017b2",
    ),
    (
        "memory",
        include_str!("memory.json"),
        "e29526e564d3688cb82125c297d4e6571a6abc250f0dec6409b3fcc0d4afcac7",
    ),
    (
        "skills",
        include_str!("skills.json"),
        "9b1999d513c5e655306f58dd8bfd9d2d3d0df944dd3fbe1a2f9e9ece1c16f3c4",
    ),
    (
        "network",
        include_str!("network.json"),
        "f364f3e7d2af13a3c4750e49838a5ed7130364ed2842fc9d2f592978696e8013",
    ),
];

/// The keystones that were ever part of a released program, number and hash, oldest first; the last is the embedded one. A
/// stored keystone with one of these hashes was never edited.
pub(crate) const RELEASED_KEYSTONES: &[(u64, &str)] = &[(1, SOURCES[0].2)];

/// The place of the name in the memory's head before the instance has one.
const UNNAMED: &str = "unnamed instance";

/// The longest name in characters: the head is sent with every call.
const LONGEST_NAME: usize = 40;

static BLOCKS: LazyLock<[(BlockName, Block); 6]> = LazyLock::new(|| SOURCES.map(parsed));

#[expect(
    clippy::expect_used,
    reason = "the files are parts of the program, and a test parses each of them"
)]
fn parsed((name, file, _): Source) -> (BlockName, Block) {
    let name = BlockName::new(name).expect("a name");
    (name, Block::parse(file).expect("a block"))
}

impl CoreBlock {
    /// All, in the order in which they are made and read.
    pub const ALL: [Self; 6] = [
        Self::Keystone,
        Self::Constitution,
        Self::Capabilities,
        Self::Memory,
        Self::Skills,
        Self::Network,
    ];

    /// The blocks that say who the model is. An edit of these that a place outside may have asked for waits for the person.
    pub const REVIEWED: [Self; 4] = [
        Self::Keystone,
        Self::Constitution,
        Self::Capabilities,
        Self::Skills,
    ];

    /// The block's name in the store.
    pub fn name(self) -> &'static BlockName {
        &BLOCKS[self as usize].0
    }

    /// The block as the program has it.
    pub fn embedded(self) -> &'static Block {
        &BLOCKS[self as usize].1
    }

    /// The file that is embedded.
    pub fn file(self) -> &'static str {
        SOURCES[self as usize].1
    }

    /// [`Block::hash`] of the embedded block, in hex.
    pub fn sha256(self) -> &'static str {
        SOURCES[self as usize].2
    }
}

/// The memory of a new instance; with the name in its head if there is one already. A name is one line of at most 40
/// characters; more is cut.
pub fn new_memory(name: Option<&str>) -> Block {
    let embedded = CoreBlock::Memory.embedded();
    let words = name
        .unwrap_or_default()
        .split(|letter: char| letter.is_whitespace() || letter.is_control());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let name: String = words.join(" ").chars().take(LONGEST_NAME).collect();
    match embedded.head_text() {
        Some(head) if !name.is_empty() => Block::new(head.replacen(UNNAMED, &name, 1)),
        _ => embedded.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_instance_has_its_name_in_the_memory() {
        assert_eq!(new_memory(None), *CoreBlock::Memory.embedded());
        assert_eq!(new_memory(Some(" \n")), new_memory(None));
        let named = new_memory(Some(
            "Wren\nof  the\u{0} harbour, who has a very long name indeed",
        ));
        let head = named.head_text().unwrap();
        let start = "Memory of Wren of the harbour, who has a very long. Entries";
        assert!(head.starts_with(start), "{head}");
    }

    #[test]
    fn the_order_of_the_files_is_that_of_the_blocks() {
        for block in CoreBlock::ALL {
            let named = format!("{block:?}").to_lowercase();
            assert_eq!(block.name().as_str(), named);
        }
    }
}
