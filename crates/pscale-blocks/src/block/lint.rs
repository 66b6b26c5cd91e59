use std::fmt;

use serde::Serialize;

use super::{Block, Node};
use crate::Path;

/// The longest text that is not remarked on, in bytes.
const LONG: usize = 2000;
/// The deepest node that is not remarked on.
const DEEP: usize = 12;

/// Something that is allowed and probably not meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Lint {
    /// The node.
    pub path: Path,
    /// The kind of finding.
    #[serde(flatten)]
    pub kind: LintKind,
}

/// The kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "lint", rename_all = "snake_case")]
#[non_exhaustive]
pub enum LintKind {
    /// A top-level digit next to the head: the block does not grow.
    ManyRoots,
    /// The child 0 of the node is alone and so is an entry itself. The place is meant for the summary of the entries.
    EntryAtZero,
    /// Nine entries without a summary.
    Uncompressed,
    /// A text that would be better told in several nodes.
    LongText {
        /// The length of the text in bytes.
        bytes: usize,
    },
    /// A node so far down that its path says little.
    Deep,
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, kind } = self;
        match kind {
            LintKind::ManyRoots => write!(
                f,
                "{path}: a second tree next to the head; the block cannot grow"
            ),
            LintKind::EntryAtZero => write!(
                f,
                "{path}: an entry at digit 0, the place of a summary; entries are at 1 to 9"
            ),
            LintKind::Uncompressed => {
                write!(f, "{path}: nine entries and no text that sums them up")
            }
            LintKind::LongText { bytes } => {
                write!(f, "{path}: a text of {bytes} bytes; split it into nodes")
            }
            LintKind::Deep => write!(f, "{path}: deeper than {DEEP} levels"),
        }
    }
}

impl Block {
    /// The findings: parts that are allowed in this block and probably not meant, in order of the paths.
    pub fn lint(&self) -> Vec<Lint> {
        let mut lints = Vec::new();
        let head = self.head();
        self.tree.walk(Path::root(), &mut |path, node| {
            let mut found = |path, kind| lints.push(Lint { path, kind });
            if path.depth() == 1 && !head.holds(&path) {
                found(path, LintKind::ManyRoots);
            }
            let is_entry = node.highest().is_none();
            if let (Some(0), true, Ok(zero)) =
                (node.children.keys().next(), is_entry, path.child(0))
                && head.holds(&path)
            {
                found(zero, LintKind::EntryAtZero);
            }
            let above_entries = path.depth() <= usize::from(self.decimal) && !path.holds(&head);
            if above_entries && node.text.is_none() && has_nine(node) {
                found(path, LintKind::Uncompressed);
            }
            if let Some(text) = &node.text
                && text.len() > LONG
            {
                found(path, LintKind::LongText { bytes: text.len() });
            }
            // One remark for each deep branch, not for all below it.
            if path.depth() > DEEP {
                found(path, LintKind::Deep);
            }
            path.depth() <= DEEP
        });
        lints.sort_by_key(|lint| lint.path);
        lints
    }
}

fn has_nine(node: &Node) -> bool {
    node.children.range(1..=9).count() == 9
}
