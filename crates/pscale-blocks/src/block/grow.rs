use serde::{Deserialize, Serialize};

use super::{Block, Change, Grown, Inverse, MAX_DECIMAL, Node, NodeLine, checked};
use crate::path::MAX_DEPTH;
use crate::{BlockError, Path};

/// The summary of nine entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "a text and its kind")]
pub struct Summary {
    /// The way the summary was found.
    pub kind: SummaryKind,
    /// The text.
    pub text: String,
}

/// The way a summary was found. It is kept in the log, not in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SummaryKind {
    /// The whole is the sum of its parts.
    #[default]
    Summary,
    /// The parts show a pattern that none of them contains.
    Emergence,
}

/// The result of appending an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a text is written, or a summary is asked for"
)]
pub enum Appended {
    /// The entry is in the block.
    Written {
        /// The place of the entry.
        path: Path,
        /// All that was done, a summary and a growth included.
        change: Change,
    },
    /// Nine are full: they must be summarised first. The entry is **not** in.
    NeedsSummary {
        /// The node that the summary is for.
        at: Path,
        /// The summary lets the block grow.
        grows: bool,
        /// The nine texts to read.
        entries: Vec<NodeLine>,
        /// The summary that was given is stored, and a second one is needed.
        change: Option<Change>,
    },
}

impl Block {
    /// Puts a level above the entries: the head's children move to its child 1, which gets `summary` as its text. The
    /// head stays where it is and keeps its text, and every other node keeps its pscale.
    ///
    /// # Errors
    /// The head has no children, the block has several top-level digits, blank summary, or a limit.
    pub fn grow(&mut self, summary: &Summary) -> Result<Change, BlockError> {
        let text = checked(&summary.text)?.to_owned();
        let head = self.found(&self.head())?;
        if self.decimal > 0 && self.tree.children.len() > 1 {
            return Err(BlockError::ManyRoots);
        }
        if head.is_leaf() {
            return Err(BlockError::NothingToGrow);
        }
        // The head of a block with decimal 0 goes one level down, too.
        let added = 1 + usize::from(self.decimal == 0);
        if self.tree.height() + added > MAX_DEPTH
            || usize::from(self.decimal) + added > usize::from(MAX_DECIMAL)
        {
            return Err(BlockError::TooDeep);
        }
        self.checking(|block| {
            let before = block.decimal;
            let from = block.head();
            let digits = block.node(&from).into_iter();
            let digits = digits
                .flat_map(|head| head.children.keys().copied())
                .collect();
            block.regrow(Some(text));
            block.size = block.tree.size();
            let path = block.head();
            let to = path.child(1)?;
            Ok(Change {
                path,
                created: Vec::new(),
                grown: Some(Grown { from, to, digits }),
                summary: Some(to),
                inverse: Inverse::shrink(before),
            })
        })
    }

    /// Grows, with all checks made by the caller.
    pub(super) fn regrow(&mut self, summary: Option<String>) {
        if self.decimal == 0 {
            let tree = std::mem::take(&mut self.tree);
            self.tree.children.insert(0, tree);
            self.decimal = 1;
        }
        let Some(mut entry) = self.tree.children.first_entry() else {
            return;
        };
        let head = entry.get_mut();
        let mut old = std::mem::take(head);
        head.text = std::mem::replace(&mut old.text, summary);
        head.children.insert(1, old);
        self.decimal += 1;
    }

    /// Takes a growth back, to the decimal before it; answers the summary.
    pub(super) fn shrink(&mut self, decimal: u8) -> Option<String> {
        let mut entry = self.tree.children.first_entry()?;
        let head = entry.get_mut();
        let mut old = head.children.remove(&1)?;
        let summary = std::mem::replace(&mut old.text, head.text.take());
        *head = old;
        if decimal == 0 {
            self.tree = entry.remove();
        }
        self.decimal = decimal;
        summary
    }

    /// Adds an entry at the next place, at pscale -1. Nine entries make a group; a full group needs a summary before the
    /// next one begins, and a full block grows. One call uses at most one summary.
    ///
    /// # Errors
    /// Blank text or summary, a limit, or several top-level digits where the block would have to grow.
    pub fn append(&mut self, text: &str, summary: Option<Summary>) -> Result<Appended, BlockError> {
        checked(text)?;
        if let Some(summary) = &summary {
            checked(&summary.text)?;
        }
        let mut done: Option<Change> = None;
        match self.place_entry(text, summary, &mut done) {
            Ok(appended) => Ok(appended),
            Err(error) => {
                if let Some(done) = done {
                    self.revert(&done.inverse);
                }
                Err(error)
            }
        }
    }

    fn place_entry(
        &mut self,
        text: &str,
        mut summary: Option<Summary>,
        done: &mut Option<Change>,
    ) -> Result<Appended, BlockError> {
        loop {
            let change = match self.next_place()? {
                AppendSlot::Free(path) => {
                    let change = self.checking(|block| Ok(block.set(path, text)))?;
                    return Ok(Appended::Written {
                        path,
                        change: change.following(done.take()),
                    });
                }
                AppendSlot::Full { at, grows } => match summary.take() {
                    None => {
                        return Ok(Appended::NeedsSummary {
                            at,
                            grows,
                            entries: self.entries(&at),
                            change: done.take(),
                        });
                    }
                    Some(summary) if grows => self.grow(&summary)?,
                    Some(summary) => self.checking(|block| {
                        let mut change = block.set(at, &summary.text);
                        change.summary = Some(at);
                        Ok(change)
                    })?,
                },
            };
            *done = Some(change);
        }
    }

    /// The place of the next entry, or the node that needs a summary first.
    fn next_place(&self) -> Result<AppendSlot, BlockError> {
        let head = self.head();
        let entry_depth = usize::from(self.decimal) + 1;
        let mut group = head;
        while group.depth() + 1 < entry_depth {
            let node = self.node(&group);
            group = group.child(node.and_then(Node::highest).unwrap_or(1))?;
        }
        let free_below = |path: &Path| match self.node(path) {
            Some(node) => node.next_free(),
            None => Some(1),
        };
        let mut full = group;
        loop {
            if let Some(digit) = free_below(&full) {
                let mut path = full.child(digit)?;
                while path.depth() < entry_depth {
                    path = path.child(1)?;
                }
                return Ok(AppendSlot::Free(path));
            }
            let Some(above) = full.parent().filter(|_| full != head) else {
                return Ok(AppendSlot::Full {
                    at: head,
                    grows: true,
                });
            };
            let has_text = self.node(&full).is_some_and(|node| node.text.is_some());
            if !has_text {
                return Ok(AppendSlot::Full {
                    at: full,
                    grows: false,
                });
            }
            full = above;
        }
    }

    /// The entries 1 to 9 of a node.
    fn entries(&self, at: &Path) -> Vec<NodeLine> {
        let below = self
            .node(at)
            .into_iter()
            .flat_map(|node| node.children.range(1..=9));
        below
            .filter_map(|(digit, node)| {
                let path = at.child(*digit).ok()?;
                Some(NodeLine {
                    path,
                    pscale: self.pscale(&path),
                    text: node.text.clone(),
                })
            })
            .collect()
    }
}

enum AppendSlot {
    Free(Path),
    Full { at: Path, grows: bool },
}

impl Change {
    /// Both changes as one: first `earlier`, then this one.
    fn following(self, earlier: Option<Self>) -> Self {
        match earlier {
            None => self,
            Some(earlier) => Self {
                grown: self.grown.or(earlier.grown),
                summary: self.summary.or(earlier.summary),
                inverse: earlier.inverse.after(self.inverse),
                ..self
            },
        }
    }
}
