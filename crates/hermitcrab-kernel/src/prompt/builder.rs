use std::cell::RefCell;
use std::collections::BTreeMap;

use pscale_blocks::layer::{DetailLevel, aperture, render_outline};
use pscale_blocks::{TokenCounter, render_json};

use super::defaults::CoreBlock;
use super::receipt;
use super::system::{Part, PromptBlocks, SystemPrompt};

/// The prompt while it is being made: parts, one after another, each under its limit.
pub(super) struct PromptBuilder<'a> {
    blocks: &'a PromptBlocks<'a>,
    tokens: &'a dyn TokenCounter,
    text: String,
    parts: Vec<Part>,
}

impl<'a> PromptBuilder<'a> {
    pub fn new(blocks: &'a PromptBlocks<'a>, tokens: &'a dyn TokenCounter) -> Self {
        Self {
            blocks,
            tokens,
            text: String::new(),
            parts: Vec::new(),
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
        self.text.push_str(&text);
        self.parts.push(Part {
            name: core.name().as_str(),
            tokens,
            limit,
            cut: 0,
        });
    }

    /// The upper levels of a block.
    pub fn outline(&mut self, core: CoreBlock, depth: DetailLevel, limit: usize) {
        let block = self.blocks.get(core);
        let layer = render_outline(block, core.name(), depth, limit, self.tokens, &|_| {
            String::new()
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
        let block = self.blocks.get(core);
        let suffixes = RefCell::new(BTreeMap::new());
        let suffix = |path| {
            let mut suffixes = suffixes.borrow_mut();
            let suffix = suffixes.entry(path);
            suffix
                .or_insert_with(|| receipt::suffix(block, &path, self.tokens))
                .clone()
        };
        let layer = aperture(block, core.name(), room, self.tokens, &suffix);
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
        }
    }
}
