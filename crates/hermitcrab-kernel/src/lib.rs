//! Turn blocks and a conversation window into prompts, and run the tool loop.

mod boot;
mod brain;
mod budget;
mod config;
mod conversation;
mod defaults;
mod error;
mod event;
mod fault;
mod history;
mod host;
mod keeper;
mod kernel;
pub mod keystone;
mod outcome;
mod prompt;
mod request;
mod seed;
mod shell;
mod state;
mod tools;
mod turn;
mod usage;
mod web;
pub mod window;

pub use boot::{BootReport, SafeFace};
pub use brain::{
    Brain, BrainError, BrainInfo, BrainReply, BrainRequest, ScriptBrain, ScriptStep, Tier,
};
pub use config::{
    Budgets, DatedPrice, Face, Grant, KernelConfig, ModelSpec, Settings, SettingsError,
    ThinkingMode, WebSettings,
};
pub use defaults::{CoreBlock, new_memory};
pub use error::KernelError;
pub use event::{Event, EventSink};
pub use fault::Fault;
pub use host::{Host, HostCall, HostError, HostSkills, Mounted, NoHost};
pub use kernel::Kernel;
pub use outcome::ToolOutcome;
pub use prompt::{BOOT_MESSAGE, FIXED_LINE, Part, Phase, PromptBlocks, Running, SystemPrompt};
pub use request::{PromptLimit, PromptPreview, PromptTokens};
pub use seed::{keystone_of, seed_defaults};
pub use shell::{CompiledShell, Shell, ShellCompiler, ShellError, ShellInfo, StubCompiler};
pub use tools::{
    Group, Tool, boot_tools, conversation_tools, near_names, run_block_tool, tool, tool_group,
    tool_groups,
};
pub use turn::TurnReport;
pub use usage::{Taken, Usage};
pub use web::{Found, Hit, Page, Resolve, SystemResolver, Web, WebPolicy};
