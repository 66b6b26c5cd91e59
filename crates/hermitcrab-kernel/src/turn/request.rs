//! The next request of the conversation: instructions, tools, and what it takes of the budgets.

use std::sync::Arc;

use llm_client::{Message, ToolSpec};
use pscale_blocks::store::Origins;
use pscale_blocks::{Block, O200k, TokenCounter as _};
use serde::Serialize;

use crate::conversation::ConversationRecord;
use crate::conversation::window::{self, WindowLimits};
use crate::dispatch::TurnContext;
use crate::prompt::{BOOT_MESSAGE, CoreBlock, Part, Phase, PromptBlocks, SystemPrompt};
use crate::table;
use crate::toolbox::read_labels;

/// A request before it is sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PromptPreview {
    /// The kind of the request.
    pub phase: Phase,
    /// Whether the tools are the default ones.
    pub default_tools: bool,
    /// The instructions that the provider may cache.
    pub cached: String,
    /// The instructions that change with the memory.
    pub memory: String,
    /// The tools as they are sent, compact JSON.
    pub tools: String,
    /// The conversation that is shown.
    pub messages: Vec<Message>,
    /// The layers of the instructions.
    pub parts: Vec<Part>,
    /// Tokens by our own count; the provider counts differently.
    pub tokens: PromptTokens,
}

/// Tokens of the parts of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PromptTokens {
    /// The tokenizer.
    pub tokenizer: String,
    /// The provider in whose form the tools are counted, such as `anthropic`.
    pub form: String,
    /// The tokens of both instructions.
    pub system: usize,
    /// The tokens of the tools.
    pub tools: usize,
    /// The conversation that is shown.
    pub messages: usize,
    /// The tokens of the whole request.
    pub total: usize,
}

/// A limit of the specification, and what a request has of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PromptLimit {
    /// The limited part: `system`, `tools` or `all`.
    pub what: &'static str,
    /// The size in tokens.
    pub tokens: usize,
    /// The limit in tokens.
    pub most: usize,
}

impl PromptPreview {
    /// The limits of a request of this phase. The tools have one as long as they are the default ones.
    pub fn limits(&self) -> Vec<PromptLimit> {
        let limit = |what, tokens, most| PromptLimit { what, tokens, most };
        let tokens = &self.tokens;
        let tools = match (self.phase, self.tokens.form.as_str()) {
            (Phase::Boot { .. }, _) => BOOT_TOOLS,
            (Phase::Call, ANTHROPIC) => CALL_TOOLS,
            (Phase::Call, _) => CALL_TOOLS_WRAPPED,
        };
        let mut limits = vec![limit("system", tokens.system, self.phase.limit())];
        if self.default_tools {
            limits.push(limit("tools", tokens.tools, tools));
        }
        limits.push(limit("all", tokens.total, WHOLE));
        limits
    }
}

/// The placeholder for the next words of the person.
const NEXT_WORDS: &str = "[the next message]";
const BOOT_TOOLS: usize = 500;
const CALL_TOOLS: usize = 540;
/// The other forms wrap each tool once more.
const CALL_TOOLS_WRAPPED: usize = 600;
const ANTHROPIC: &str = "anthropic";
const WHOLE: usize = 5_000;

/// The tools of a request of this phase.
pub(super) fn tools_of(context: TurnContext<'_>, phase: Phase) -> Vec<ToolSpec> {
    if phase == Phase::Call {
        context.active_tools()
    } else {
        table::boot_tools()
    }
}

/// The instructions from the current blocks; keystone and constitution are those of the start.
pub(super) fn system(context: TurnContext<'_>, phase: Phase) -> SystemPrompt {
    let load = |core: CoreBlock| -> Option<Arc<Block>> {
        context
            .toolbox
            .store
            .load(core.name())
            .ok()
            .map(|found| found.block)
    };
    let capabilities = load(CoreBlock::Capabilities);
    let memory = load(CoreBlock::Memory);
    let skills = load(CoreBlock::Skills);
    let network = load(CoreBlock::Network);
    let mut labels = context.identity.labels.clone();
    let mut is_unread = context.identity.is_unread;
    for core in [
        CoreBlock::Capabilities,
        CoreBlock::Memory,
        CoreBlock::Skills,
        CoreBlock::Network,
    ] {
        is_unread |= !read_labels(&mut labels, core, &*context.toolbox.store);
    }
    let blocks = PromptBlocks {
        keystone: Some(&context.identity.keystone),
        constitution: Some(&context.identity.constitution),
        capabilities: capabilities.as_deref(),
        memory: memory.as_deref(),
        skills: skills.as_deref(),
        network: network.as_deref(),
        labels: Some(&labels),
    };
    let mut prompt = SystemPrompt::new(phase, &blocks, &O200k);
    if is_unread {
        prompt.from = Origins::union([&prompt.from, &Origins::unknown()]);
    }
    prompt
}

pub(crate) fn preview(
    context: TurnContext<'_>,
    phase: Phase,
    conversation: &ConversationRecord,
) -> PromptPreview {
    let prompt = system(context, phase);
    let tools = context.brain.tools_as_sent(&tools_of(context, phase));
    let info = context.brain.info();
    let form = info.offline.map_or(info.provider, |_| ANTHROPIC.to_owned());
    // What comes next is the current turn; the last one may be too large to be shown again.
    let mut all: Vec<_> = conversation.messages().cloned().collect();
    let current = all.len();
    all.push(Message::user(match phase {
        Phase::Boot { .. } => BOOT_MESSAGE,
        Phase::Call => NEXT_WORDS,
    }));
    let window = window::trim(all, Some(current), WindowLimits::default(), &O200k);
    let mut messages = window.messages;
    if let Some(first) = messages.first_mut().filter(|_| window.notice) {
        let notice = context.history.notice(&*context.toolbox.store);
        first.content[0] = llm_client::Block::text(notice);
    }
    let (of_tools, of_messages) = (O200k.count(&tools), window::tokens(&messages, &O200k));
    PromptPreview {
        phase,
        default_tools: phase != Phase::Call
            || context.faces.state().tools.is_none() && context.toolbox.servers.groups().is_empty(),
        cached: prompt.cached,
        memory: prompt.memory,
        tools,
        messages,
        parts: prompt.parts,
        tokens: PromptTokens {
            tokenizer: O200k.name().to_owned(),
            form,
            system: prompt.tokens,
            tools: of_tools,
            messages: of_messages,
            total: prompt.tokens + of_tools + of_messages,
        },
    }
}
