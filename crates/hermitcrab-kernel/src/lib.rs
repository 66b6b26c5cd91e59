//! Turn blocks and a conversation window into prompts, and run the tool loop.

mod brain;
mod config;
mod defaults;
mod event;
mod fault;
mod host;
#[expect(dead_code, reason = "the kernel is still being built")]
mod keeper;
pub mod keystone;
mod prompt;
mod shell;
mod tools;
mod usage;

pub use brain::{
    Brain, BrainError, BrainInfo, BrainReply, BrainRequest, ScriptBrain, ScriptStep, Tier,
};
pub use config::{
    Budgets, DatedPrice, Face, Grant, KernelConfig, ModelSpec, Settings, ThinkingMode, WebSettings,
};
pub use defaults::{CoreBlock, new_memory};
pub use event::{Event, EventSink};
pub use fault::Fault;
pub use host::{Host, HostCall, HostError, HostSkills, Mounted, NoHost};
pub use prompt::{BOOT_MESSAGE, FIXED_LINE, Part, Phase, PromptBlocks, Running, SystemPrompt};
pub use shell::{CompiledShell, Shell, ShellCompiler, ShellError, ShellInfo, StubCompiler};
pub use tools::{
    Group, Tool, boot_tools, conversation_tools, near_names, tool, tool_group, tool_groups,
};
pub use usage::{Taken, Usage};
