//! Turn blocks and a conversation window into prompts, and run the tool loop.

mod brain;
mod config;
mod event;
mod fault;
mod host;
#[expect(dead_code, reason = "the kernel is still being built")]
mod keeper;
mod shell;
mod usage;
pub mod window;

pub use brain::{
    Brain, BrainError, BrainInfo, BrainReply, BrainRequest, LlmBrain, OfflineBrain, ScriptBrain,
    ScriptStep, Tier,
};
pub use config::{
    Budgets, DatedPrice, Face, Grant, KernelConfig, ModelSpec, Settings, SettingsError,
    ThinkingMode, WebSettings,
};
pub use event::{Event, EventSink};
pub use fault::Fault;
pub use host::{Host, HostCall, HostError, HostSkills, Mounted, NoHost};
pub use shell::{CompiledShell, Shell, ShellCompiler, ShellError, ShellInfo, StubCompiler};
pub use usage::{Taken, Usage};
