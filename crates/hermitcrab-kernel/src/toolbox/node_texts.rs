//! The texts of nodes in the answers of block tools: where they come from, and their marks.

use std::sync::Arc;

use pscale_blocks::store::{Labels, Origins};
use pscale_blocks::{BlockName, BlockStore, O200k, Path, StoreError, TokenCounter as _};
use serde_json::Value;

use crate::prompt::{BlockLabels, CoreBlock};
use crate::table::Args;

/// Adds the labels of a block. False if they cannot be read and the block can: then its texts may come from anywhere.
pub(crate) fn read_labels(
    labels: &mut BlockLabels,
    core: CoreBlock,
    store: &dyn BlockStore,
) -> bool {
    match store.labels(core.name()) {
        Ok(found) => {
            labels.insert(core, found);
            true
        }
        // The program's own block is shown in the place of one that cannot be read.
        Err(_) => store.load(core.name()).is_err(),
    }
}

/// Finds the texts of nodes in an answer, collects the origins of those with a label, and appends marks.
pub(crate) struct NodeTexts<'a> {
    store: &'a dyn BlockStore,
    /// The places outside that the texts come from.
    pub from: Origins,
    /// The tokens that are left for marks.
    marks: Option<&'a mut usize>,
}

impl<'a> NodeTexts<'a> {
    pub fn new(store: &'a dyn BlockStore) -> Self {
        Self {
            store,
            from: Origins::default(),
            marks: None,
        }
    }

    /// Appends marks for a model that reads the answer, for at most `tokens`.
    pub fn with_marks(self, tokens: &'a mut usize) -> Self {
        let marks = Some(tokens);
        Self { marks, ..self }
    }

    /// Visits the answer of a tool.
    pub fn visit(&mut self, tool: &str, args: &Args, answer: &mut Value) {
        match tool {
            "block_search" => self.hits(answer.get_mut("hits")),
            "block_list" => self.heads(answer),
            "block_read" => self.read(args, answer),
            _ => self.entries(args, answer),
        }
    }

    /// The labels of a block, if it has some. Where they cannot be read, its texts may come from anywhere.
    fn labels(&mut self, name: &BlockName) -> Option<Arc<Labels>> {
        match self.store.labels(name) {
            Ok(labels) => (!labels.is_empty()).then_some(labels),
            Err(StoreError::NoBlock { .. }) => None,
            Err(_) => {
                self.from = Origins::union([&self.from, &Origins::unknown()]);
                None
            }
        }
    }

    fn text(&mut self, labels: &Labels, path: &Path, text: &mut Value) {
        let Some(label) = labels.at(path).filter(|_| text.is_string()) else {
            return;
        };
        self.from = Origins::union([&self.from, label]);
        let mark = label.mark();
        if let (Some(room), Value::String(text)) = (&mut self.marks, text)
            && let Some(left) = room.checked_sub(O200k.count(&mark))
        {
            **room = left;
            text.push_str(&mark);
        }
    }

    /// The labels of a block, whose name is in the answer: it is a text, too.
    fn named(&mut self, name: &BlockName) -> Option<Arc<Labels>> {
        let labels = self.labels(name)?;
        self.from = Origins::union([&self.from, labels.name()]);
        Some(labels)
    }

    /// The name that an error proposes in the place of one that no block has.
    pub fn proposed(&mut self, args: &Args) {
        if let Ok(name) = args.block("name")
            && let Err(StoreError::NoBlock {
                near: Some(near), ..
            }) = self.store.load(&name)
        {
            self.named(&near);
        }
    }

    /// The hits of a search, each with the name of its block.
    fn hits(&mut self, rows: Option<&mut Value>) {
        for row in rows.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(labels) = name_of(row).and_then(|name| self.named(&name)) {
                self.row(&labels, row);
            }
        }
    }

    /// The heads of a list of blocks.
    fn heads(&mut self, rows: &mut Value) {
        for row in rows.as_array_mut().into_iter().flatten() {
            let Some(name) = name_of(row) else { continue };
            if let Some(labels) = self.named(&name)
                && let Ok(found) = self.store.load(&name)
                && let Some(head) = row.get_mut("head")
            {
                self.text(&labels, &found.block.head(), head);
            }
        }
    }

    /// A part of a block in one of its views.
    fn read(&mut self, args: &Args, answer: &mut Value) {
        let Some(labels) = args.block("name").ok().and_then(|name| self.labels(&name)) else {
            return;
        };
        if let Some(tree) = answer.get_mut("tree") {
            return self.tree(&labels, Path::root(), tree);
        }
        for rows in ["spindle", "subtree"] {
            self.rows(&labels, answer.get_mut(rows));
        }
        let Some(path) = path_of(answer) else { return };
        if let Some(content) = answer.get_mut("content") {
            self.text(&labels, &path, content);
        }
        let children = answer.get_mut("children").and_then(Value::as_object_mut);
        for (digit, child) in children.into_iter().flatten() {
            if let Some(path) = below(&path, digit) {
                self.text(&labels, &path, child);
            }
        }
    }

    /// The entries that an edit shows because they need a summary.
    fn entries(&mut self, args: &Args, answer: &mut Value) {
        let has_rows = answer.get("entries").is_some() || answer.get("lost").is_some();
        if has_rows
            && let Some(labels) = args.block("name").ok().and_then(|name| self.labels(&name))
        {
            self.rows(&labels, answer.get_mut("entries"));
            self.rows(&labels, answer.get_mut("lost"));
        }
    }

    fn rows(&mut self, labels: &Labels, rows: Option<&mut Value>) {
        for row in rows.and_then(Value::as_array_mut).into_iter().flatten() {
            self.row(labels, row);
        }
    }

    fn row(&mut self, labels: &Labels, row: &mut Value) {
        let Some(path) = path_of(row) else { return };
        for key in ["text", "fact"] {
            if let Some(text) = row.get_mut(key) {
                self.text(labels, &path, text);
            }
        }
    }

    /// A tree: an object has the text of its node at `_`.
    fn tree(&mut self, labels: &Labels, path: Path, node: &mut Value) {
        match node {
            Value::Object(node) => {
                for (key, value) in node {
                    if key == "_" {
                        self.text(labels, &path, value);
                    } else if let Some(path) = below(&path, key) {
                        self.tree(labels, path, value);
                    }
                }
            }
            text => self.text(labels, &path, text),
        }
    }
}

fn name_of(row: &Value) -> Option<BlockName> {
    BlockName::new(row["name"].as_str()?).ok()
}

fn path_of(row: &Value) -> Option<Path> {
    row["path"].as_str()?.parse().ok()
}

fn below(path: &Path, digit: &str) -> Option<Path> {
    path.child(digit.parse().ok()?).ok()
}
