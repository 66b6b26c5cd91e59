use std::collections::BTreeMap;

use pscale_blocks::{Block, BlockName, Path};
use serde::Serialize;

use crate::conversation::PastMessage;
use crate::export::{Export, MEMORIES, number};
use crate::pack::{self, Item};
use crate::{identity, memory};

/// The blocks and texts that every new instance has.
#[expect(clippy::exhaustive_structs, reason = "the caller gives every default")]
pub struct Defaults<'a> {
    /// The blocks by name, as they are seeded.
    pub blocks: &'a BTreeMap<BlockName, Block>,
    /// The head text of `memory` for an instance of this name, if it is known.
    pub memory_head: &'a dyn Fn(Option<&str>) -> String,
    /// The head text of `stash`.
    pub stash_head: &'a str,
}

/// The blocks and messages that an export leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// The blocks to write: `memory`, `stash`, `constitution`, and those that the export had. Other defaults are seeded as
    /// ever.
    pub blocks: BTreeMap<BlockName, Block>,
    /// The last messages.
    pub conversation: Vec<PastMessage>,
    /// The instance's name, if it had one.
    pub instance_name: Option<String>,
    /// The numbers of what was found.
    pub counts: Counts,
    /// Names of keys and files that are not taken over.
    pub never_imported: Vec<String>,
}

/// Numbers of what was found in an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// Numbered memories that are entries.
    pub memory_entries: usize,
    /// Numbered memories that sum others up.
    pub memory_summaries: usize,
    /// Numbered memories beyond the first of a number. They are in the stash.
    pub duplicate_numbers: usize,
    /// Entries of the stash.
    pub stash_items: usize,
    /// Files without text. They are nowhere.
    pub empty_files: usize,
    /// Keys of providers that were in texts.
    pub keys_redacted: u32,
    /// Messages of the conversation.
    pub conversation_messages: usize,
    /// There was a conversation, and it was not a list of messages.
    pub conversation_unreadable: bool,
}

const CANDIDATE: &str = "/memories/ui-source.jsx";

/// The files that have a number, by it.
#[derive(Default)]
struct Numbered<'a> {
    memories: BTreeMap<u32, Vec<&'a str>>,
    stash: BTreeMap<u32, Vec<&'a str>>,
    free: Vec<&'a str>,
}

impl Export {
    /// Returns the blocks and messages that this export leads to.
    pub fn plan(&self, defaults: &Defaults<'_>) -> Plan {
        let mut plan = Plan {
            blocks: self.blocks.clone(),
            conversation: self.conversation.clone(),
            instance_name: None,
            counts: Counts {
                empty_files: self.empty_files,
                keys_redacted: self.keys_removed,
                conversation_messages: self.conversation.len(),
                conversation_unreadable: self.conversation_unreadable,
                ..Counts::default()
            },
            never_imported: self.left.clone(),
        };
        let mut numbered = self.numbered();
        if let Some(identity) = identity::find(&self.files) {
            let whole = &self.files[identity.path];
            if let Some(block) = constitution(&plan, defaults, identity.lines, whole) {
                numbered.free.retain(|path| *path != identity.path);
                plan.add("constitution", block);
            }
            plan.instance_name = Some(identity.name);
        }

        let mut duplicates = Vec::new();
        let head = (defaults.memory_head)(plan.instance_name.as_deref());
        let homeless = self.plan_memory(&mut plan, &head, &numbered.memories, &mut duplicates);
        let mut items = Vec::new();
        for paths in numbered.stash.values() {
            items.extend(paths.iter().map(|path| self.item(path)));
        }
        plan.counts.duplicate_numbers = duplicates.len();
        let others = homeless.into_iter().chain(duplicates).chain(numbered.free);
        items.extend(others.map(|path| self.item(path)));
        items.extend(self.database.iter().map(|(key, text)| Item {
            name: shortened(&format!("indexeddb:{key}")),
            text: text.clone(),
        }));
        plan.counts.stash_items = items.len();
        let (blocks, lost) = pack::pack(defaults.stash_head, &items);
        plan.never_imported.extend(lost);
        for block in blocks {
            plan.add("stash", block);
        }
        plan
    }

    /// The first file of each number becomes an entry or a summary. Answers those that have no place.
    fn plan_memory<'a>(
        &'a self,
        plan: &mut Plan,
        head: &str,
        memories: &BTreeMap<u32, Vec<&'a str>>,
        duplicates: &mut Vec<&'a str>,
    ) -> Vec<&'a str> {
        let mut entries = Vec::new();
        for (number, paths) in memories {
            let (first, others) = paths.split_at(1);
            duplicates.extend(others);
            entries.extend(
                first
                    .iter()
                    .map(|path| (*number, *path, &*self.files[*path])),
            );
        }
        let (block, homeless) = memory::numbered(head, &entries);
        for (number, path, _) in &entries {
            if homeless.contains(path) {
                continue;
            }
            if memory::is_summary(*number) {
                plan.counts.memory_summaries += 1;
            } else {
                plan.counts.memory_entries += 1;
            }
        }
        // The export may have a memory of a later version, and then these are a further one.
        if !entries.is_empty() || !plan.has("memory") {
            plan.add("memory", block);
        }
        homeless
    }

    fn numbered(&self) -> Numbered<'_> {
        let mut numbered = Numbered::default();
        for path in self.files.keys() {
            match number(path) {
                Some(('M', number)) => numbered.memories.entry(number).or_default().push(path),
                Some((_, number)) => numbered.stash.entry(number).or_default().push(path),
                None => numbered.free.push(path),
            }
        }
        for paths in numbered
            .memories
            .values_mut()
            .chain(numbered.stash.values_mut())
        {
            paths.sort_by_key(|path| (extension_rank(path), *path));
        }
        numbered
    }

    fn item(&self, path: &str) -> Item {
        let name = shortened(path.strip_prefix(MEMORIES).unwrap_or(path));
        let note = if path == CANDIDATE {
            " (candidate shell, not run)"
        } else {
            ""
        };
        Item {
            name: name + note,
            text: self.files[path].clone(),
        }
    }
}

impl Plan {
    fn has(&self, name: &str) -> bool {
        self.blocks.keys().any(|own| own.as_str() == name)
    }

    /// Adds a block, under a further name if there is one of this name.
    fn add(&mut self, name: &str, block: Block) {
        let names =
            std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name}-{number}")));
        let free = names
            .filter_map(|name| BlockName::new(&name).ok())
            .find(|name| !self.blocks.contains_key(name));
        if let Some(name) = free {
            self.blocks.insert(name, block);
        }
    }
}

/// The default constitution with the instance's name in it. None if there is no such block, or the export has its own.
fn constitution(plan: &Plan, defaults: &Defaults<'_>, lines: &str, whole: &str) -> Option<Block> {
    let name = BlockName::new("constitution").ok()?;
    let mut block = defaults.blocks.get(&name)?.clone();
    if plan.blocks.contains_key(&name) {
        return None;
    }
    let at = |last| Path::from_digits([0, 5, last]).ok();
    block.write(&at(4)?, lines).ok()?;
    pack::write_long(&mut block, at(5)?, "The whole file, in parts.", whole).ok()?;
    Some(block)
}

/// The order in which files of one number are looked at.
fn extension_rank(path: &str) -> usize {
    let known = [".md", ".txt", ".json"];
    let rank = known.iter().position(|extension| path.ends_with(extension));
    rank.unwrap_or(known.len())
}

/// A path may have any length; a name in a text has at most 1,000 bytes.
fn shortened(name: &str) -> String {
    name[..name.floor_char_boundary(1000)].to_owned()
}
