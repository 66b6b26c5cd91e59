//! Turn blocks and a conversation window into prompts, and run the tool loop.

mod brain;
mod config;
mod event;
mod fault;
mod files;
mod host;
#[expect(dead_code, reason = "the kernel is still being built")]
mod keeper;
mod kv;
mod shell;
mod usage;
mod web;

pub use brain::{
    Brain, BrainError, BrainInfo, BrainReply, BrainRequest, ScriptBrain, ScriptStep, Tier,
};
pub use config::{
    Budgets, DatedPrice, Face, Grant, KernelConfig, ModelSpec, Settings, ThinkingMode, WebSettings,
};
pub use event::{Event, EventSink};
pub use fault::Fault;
pub use files::{Entry, Files, Listing, OpenRoot, Piece};
pub use host::{Host, HostCall, HostError, HostSkills, Mounted, NoHost};
pub use kv::{Kv, KvKey};
pub use shell::{CompiledShell, Shell, ShellCompiler, ShellError, ShellInfo, StubCompiler};
pub use usage::{Taken, Usage};
pub use web::{Found, Hit, Page, Resolve, SystemResolver, Web, WebPolicy};
