//! Turn blocks and a conversation window into prompts, and run the tool loop.
//!
//! A language model boots, reads its blocks, writes its own face, and continues in blocks that it can edit. A kernel needs
//! a store of blocks and a brain; a compiler for faces, a host that shows them, and a clock can be set. Here a list of
//! answers takes the place of a model. With a model the brain is an [`LlmBrain`], without one [`OfflineBrain`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use hermitcrab_kernel::{EventSink, Kernel, ScriptBrain, ScriptStep};
//! use pscale_blocks::MemStore;
//! use tokio_util::sync::CancellationToken;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let brain = ScriptBrain::new([ScriptStep::text("I have no memories yet.")]);
//! let kernel = Kernel::builder(Arc::new(MemStore::new()), Arc::new(brain)).open()?;
//! let turn = kernel.turn("Who are you?".to_owned(), EventSink::none(), CancellationToken::new()).await?;
//! assert_eq!(turn.text, "I have no memories yet.");
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! **The one decision.** Only heads are sent with every call; everything else is read by a tool when it is needed. So a turn
//! has about 5,000 tokens however much an instance knows, and every part of that prompt is held to a budget by the code that
//! makes it and by a test.
//!
//! The crate reads no environment, home directory or terminal; the clock is a value. The text of a model or a page is data:
//! a tool's failure is its answer, and no text becomes an instruction of the kernel.
//!
//! Without the features `web` and `files` the crate does not depend on an HTTP client or on a sandbox for files, and their
//! tools answer `unavailable`.
//!
//! Next: [`Kernel`] for its requests, [`Brain`] and [`faces::Host`] for its surroundings, [`KernelConfig`] and
//! [`config::Settings`] for the settings of a person, [`prompt::CoreBlock`] for the default blocks, [`table`] and [`toolbox`] for the
//! tools, [`conversation::window`] for the part of a conversation that a model sees.
//!
//! `DESIGN.md` of the package has the design decisions with their reasons.

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod brain;
pub mod config;
pub mod conversation;
mod dispatch;
mod error;
pub mod faces;
mod kernel;
pub mod prompt;
mod spending;
mod storage;
pub mod table;
pub mod toolbox;
mod turn;

pub use brain::{
    Allowance, Brain, BrainInfo, BrainReply, BrainRequest, LlmBrain, OfflineBrain, ScriptBrain,
    ScriptStep, Tier,
};
pub use config::event::{Event, EventSink};
pub use config::settings::{Face, KernelConfig};
pub use error::{BrainError, ErrorKind, KernelError, ToolError};
pub use kernel::{
    BootReport, Kernel, KernelBuilder, SafeFace, begin_conversation, install_default_blocks,
    keystone_of, may_block,
};
pub use spending::UsageRecord;
// They stand in this crate's own signatures: who embeds it needs no other crate for them.
pub use llm_client::{Clock, Role, SystemClock, Timer};
pub use turn::{MAX_INPUT, PromptLimit, PromptPreview, PromptTokens, TurnReport};
