//! What is sent: instructions, tools, and the part of the conversation that is shown.

use llm_client::{Message, ToolSpec};
use pscale_blocks::{Block, O200k, TokenCounter as _};
use serde::Serialize;

use crate::conversation::Conversation;
use crate::conversation::window::{self, WindowLimits};
use crate::kernel::Inner;
use crate::prompt::{BOOT_MESSAGE, CoreBlock, Part, Phase, PromptBlocks, SystemPrompt};
use crate::{BrainRequest, Tier, table};

/// What a request would be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PromptPreview {
    /// Of which request.
    pub phase: Phase,
    /// Nobody chose other tools than those of the start.
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
pub struct PromptTokens {
    /// Who counts.
    pub tokenizer: String,
    /// The provider in whose form the tools are counted, such as `anthropic`.
    pub form: String,
    /// Both instructions.
    pub system: usize,
    /// The tools.
    pub tools: usize,
    /// The conversation that is shown.
    pub messages: usize,
    /// All of it.
    pub total: usize,
}

/// A limit of the specification, and what a request has of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromptLimit {
    /// What is limited.
    pub what: &'static str,
    /// Tokens.
    pub tokens: usize,
    /// The most.
    pub most: usize,
}

impl PromptPreview {
    /// What is limited in a request of this phase. The tools are, as long as nobody chose others.
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

/// Stands for what the person will say.
const NEXT_WORDS: &str = "[the next message]";
const BOOT_TOOLS: usize = 500;
const CALL_TOOLS: usize = 540;
/// The other forms wrap each tool once more.
const CALL_TOOLS_WRAPPED: usize = 600;
const ANTHROPIC: &str = "anthropic";
const WHOLE: usize = 5_000;

impl Inner {
    /// The names of the tools that a request of this phase offers.
    pub(crate) fn offered(&self, phase: Phase) -> Vec<String> {
        if phase == Phase::Call {
            return self.active_names();
        }
        let boot = table::boot_tools();
        boot.iter()
            .filter_map(table::name_of)
            .map(str::to_owned)
            .collect()
    }

    fn tools_of(&self, phase: Phase) -> Vec<ToolSpec> {
        if phase == Phase::Call {
            self.active_tools()
        } else {
            table::boot_tools()
        }
    }

    /// The instructions as the blocks stand now; keystone and constitution as they stood at the start.
    fn system(&self, phase: Phase) -> SystemPrompt {
        let load = |core: CoreBlock| -> Option<Block> {
            self.store.load(core.name()).ok().map(|found| found.block)
        };
        let capabilities = load(CoreBlock::Capabilities);
        let memory = load(CoreBlock::Memory);
        let skills = load(CoreBlock::Skills);
        let network = load(CoreBlock::Network);
        let blocks = PromptBlocks {
            keystone: Some(&self.identity.keystone),
            constitution: Some(&self.identity.constitution),
            capabilities: capabilities.as_ref(),
            memory: memory.as_ref(),
            skills: skills.as_ref(),
            network: network.as_ref(),
        };
        SystemPrompt::new(phase, &blocks, &O200k)
    }

    pub(crate) fn request(
        &self,
        phase: Phase,
        messages: Vec<Message>,
        tools_off: bool,
        after: Option<String>,
    ) -> BrainRequest {
        BrainRequest {
            system: self.system(phase).blocks(),
            tools: self.tools_of(phase),
            tools_off,
            messages,
            tier: Tier::Default,
            model: None,
            thinking_off: false,
            face: self.config.face,
            after,
            ..BrainRequest::default()
        }
    }

    pub(crate) fn preview(&self, phase: Phase, conversation: &Conversation) -> PromptPreview {
        let system = self.system(phase);
        let tools = self.brain.tools_as_sent(&self.tools_of(phase));
        let info = self.brain.info();
        let form = info.offline.map_or(info.provider, |_| ANTHROPIC.to_owned());
        // What comes next is the current turn; the last one may be too large to be shown again.
        let mut all: Vec<_> = conversation.messages().cloned().collect();
        let current = all.len();
        all.push(Message::user(match phase {
            Phase::Boot { .. } => BOOT_MESSAGE,
            Phase::Call => NEXT_WORDS,
        }));
        let window = window::trim(all, Some(current), WindowLimits::default(), &O200k);
        let messages = window.messages;
        let (of_tools, of_messages) = (O200k.count(&tools), window::tokens(&messages, &O200k));
        PromptPreview {
            phase,
            default_tools: phase != Phase::Call || self.state().tools.is_none(),
            cached: system.cached,
            memory: system.memory,
            tools,
            messages,
            parts: system.parts,
            tokens: PromptTokens {
                tokenizer: O200k.name().to_owned(),
                form,
                system: system.tokens,
                tools: of_tools,
                messages: of_messages,
                total: system.tokens + of_tools + of_messages,
            },
        }
    }
}
