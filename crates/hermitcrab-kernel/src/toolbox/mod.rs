//! The things that tools work on: blocks, files, the web, the key-value store, other programs.

pub(crate) mod blocks;
#[cfg(feature = "files")]
mod file_tools;
#[cfg(feature = "files")]
mod files;
mod kv;
mod node_texts;
mod review;
mod run;
mod server_texts;
mod servers;
#[cfg(feature = "web")]
mod web;
#[cfg(feature = "web")]
mod web_tools;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use llm_client::{Redactor, Timer};
use pscale_blocks::BlockStore;

use crate::faces::Host;
use crate::storage::FileStore;
use crate::{KernelConfig, ToolError};

pub use blocks::run_block_tool;
#[cfg(feature = "files")]
pub use files::{Entry, FileChunk, Files, GrantedFolder, Listing};
pub use kv::{Kv, KvKey};
pub(crate) use node_texts::{NodeTexts, read_labels};
pub(crate) use review::ReviewGate;
pub use review::{QueuedEdit, ReviewOp, ReviewQueue, WaitingEdits};
pub(crate) use run::PagesRead;
pub use servers::{OfferedTools, ServerName, ServerTool, ToolSource, tool_name};
pub(crate) use servers::{Server, Servers};
#[cfg(feature = "web")]
pub use web::{Found, Hit, Page, Resolve, SystemResolver, Web};

/// The owner of the things that tools work on: the block store, the web, granted folders, the key-value store, the host, other
/// programs.
pub(crate) struct Toolbox {
    pub store: Arc<dyn BlockStore>,
    pub servers: Servers,
    /// The edits that wait for the person.
    pub review: ReviewQueue,
    host: Arc<dyn Host>,
    #[cfg(feature = "web")]
    web: Web,
    #[cfg(feature = "files")]
    files: Arc<Files>,
    /// Opened at its first use, because it reads everything in the store.
    kv: OnceLock<Kv>,
    /// The folder of the key-value store; `None`: in memory.
    data: Option<PathBuf>,
    redactor: Redactor,
}

impl Toolbox {
    /// Opens the folders and the web as the person allows them.
    #[cfg_attr(
        not(any(feature = "files", feature = "web")),
        expect(unused_variables, reason = "only files and web need the clock")
    )]
    pub fn new(
        config: &KernelConfig,
        store: Arc<dyn BlockStore>,
        files: Arc<FileStore>,
        host: Arc<dyn Host>,
        sources: Vec<(ServerName, Arc<dyn ToolSource>)>,
        clock: &Arc<dyn Timer>,
    ) -> Result<Self, ToolError> {
        #[cfg(not(feature = "files"))]
        if !config.grants.is_empty() {
            let detail = "this kernel is built without the feature files: no folder can be granted";
            return Err(ToolError::new(crate::ErrorKind::Unavailable, detail));
        }
        Ok(Self {
            store,
            servers: Servers::new(sources),
            review: ReviewQueue::new(files),
            host,
            #[cfg(feature = "web")]
            web: web_tools::open(config, clock.clone())?,
            #[cfg(feature = "files")]
            files: Arc::new(file_tools::open(config, clock.clone())?),
            kv: OnceLock::new(),
            data: config.data.clone().filter(|_| !config.read_only),
            redactor: config.redactor.clone(),
        })
    }
}
