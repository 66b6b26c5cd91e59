use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use pscale_blocks::layer::{DetailLevel, Layer, Suffix, aperture, render_outline};
use pscale_blocks::store::Origins;
use pscale_blocks::{Path, TokenCounter, render_json};

use super::defaults::CoreBlock;
use super::receipt;
use super::system::{MARKS, Part, PromptBlocks, SystemPrompt};

/// The prompt while it is being made: parts, one after another, each under its limit.
pub(super) struct PromptBuilder<'a> {
    blocks: &'a PromptBlocks<'a>,
    tokens: &'a dyn TokenCounter,
    text: String,
    parts: Vec<Part>,
    /// The places outside that the texts so far come from.
    from: Origins,
    /// The tokens that are left for marks.
    marks: usize,
}

impl<'a> PromptBuilder<'a> {
    pub fn new(blocks: &'a PromptBlocks<'a>, tokens: &'a dyn TokenCounter) -> Self {
        Self {
            blocks,
            tokens,
            text: String::new(),
            parts: Vec::new(),
            from: Origins::default(),
            marks: MARKS,
        }
    }

    /// The block as JSON, which shows the format by being it; as an outline if that is too long.
    pub fn whole(&mut self, core: CoreBlock, limit: usize) {
        let block = self.blocks.get(core);
        let text = format!(
            "== block {} (decimal {})\n{}\n",
            core.name(),
            block.decimal(),
            render_json(block)
        );
        let tokens = self.tokens.count(&text);
        if tokens > limit {
            self.outline(core, DetailLevel::Full, limit);
            return;
        }
        // JSON has no place for a mark.
        if let Some(labels) = self.blocks.labels(core) {
            self.from = Origins::union([&self.from].into_iter().chain(labels.nodes().values()));
        }
        self.text.push_str(&text);
        self.parts.push(Part {
            name: core.name().as_str(),
            tokens,
            limit,
            cut: 0,
        });
    }

    /// A layer in which nodes with a label have a mark, as long as there is room for marks. A mark follows `suffix`.
    fn marked(
        &mut self,
        core: CoreBlock,
        suffix: &Suffix<'_>,
        render: impl Fn(&Suffix<'_>) -> Layer,
    ) -> Layer {
        let Some(labels) = self.blocks.labels(core) else {
            return render(suffix);
        };
        let label = |path: &Path| labels.at(path);
        let mark = |path: &Path| label(path).map(Origins::mark).unwrap_or_default();
        let mut layer = render(&|path| suffix(path) + &mark(&path));
        let is_labelled = |path: &&Path| label(path).is_some();
        let with_labels = layer.shown.iter().filter(is_labelled).copied();
        let with_labels: Vec<_> = with_labels.collect();
        let mut with_marks = BTreeSet::new();
        for path in &with_labels {
            let Some(left) = self.marks.checked_sub(self.tokens.count(&mark(path))) else {
                break;
            };
            self.marks = left;
            with_marks.insert(*path);
        }
        if with_marks.len() < with_labels.len() {
            layer = render(&|path| {
                let mut suffix = suffix(path);
                if with_marks.contains(&path) {
                    suffix += &mark(&path);
                }
                suffix
            });
        }
        let shown = layer.shown.iter().filter_map(label);
        self.from = Origins::union([&self.from].into_iter().chain(shown));
        layer
    }

    /// The upper levels of a block.
    pub fn outline(&mut self, core: CoreBlock, depth: DetailLevel, limit: usize) {
        let block = self.blocks.get(core);
        let tokens = self.tokens;
        let layer = self.marked(core, &|_| String::new(), |suffix| {
            render_outline(block, core.name(), depth, limit, tokens, suffix)
        });
        self.text.push_str(&layer.text);
        self.parts.push(Part {
            name: core.name().as_str(),
            tokens: layer.tokens,
            limit,
            cut: layer.cut,
        });
    }

    /// A line of the program's own.
    pub fn line(&mut self, name: &'static str, line: &str, limit: usize) {
        let text = format!("{line}\n");
        self.parts.push(Part {
            name,
            tokens: self.tokens.count(&text),
            limit,
            cut: 0,
        });
        self.text.push_str(&text);
    }

    /// The memory in what `limit` leaves, at most `memory` tokens of it.
    pub fn finish(mut self, memory: usize, limit: usize) -> SystemPrompt {
        let cached = self.tokens.count(&self.text);
        let room = memory.min(limit.saturating_sub(cached));
        let core = CoreBlock::Memory;
        let (block, tokens) = (self.blocks.get(core), self.tokens);
        let receipts = RefCell::new(BTreeMap::new());
        let receipt = |path| {
            let mut receipts = receipts.borrow_mut();
            let receipt = receipts.entry(path);
            receipt
                .or_insert_with(|| receipt::suffix(block, &path, tokens))
                .clone()
        };
        let layer = self.marked(core, &receipt, |suffix| {
            aperture(block, core.name(), room, tokens, suffix)
        });
        self.parts.push(Part {
            name: core.name().as_str(),
            tokens: layer.tokens,
            limit: room,
            cut: layer.cut,
        });
        SystemPrompt {
            cached: self.text,
            memory: layer.text,
            parts: self.parts,
            tokens: cached + layer.tokens,
            limit,
            from: self.from,
        }
    }
}
