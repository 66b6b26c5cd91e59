//! The things that tools work on: blocks, files, the web, the key-value store.

pub(crate) mod blocks;
mod files;
mod kv;
mod web;
mod web_and_files;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use llm_client::{Clock, Redactor};
use pscale_blocks::BlockStore;

use crate::{Host, KernelConfig, ToolError, WebPolicy};

pub use blocks::run_block_tool;
pub use files::{Entry, FileChunk, Files, GrantedFolder, Listing};
pub use kv::{Kv, KvKey};
pub use web::{Found, Hit, Page, Resolve, SystemResolver, Web};
pub(crate) use web_and_files::PagesRead;

/// The owner of what tools work on: the block store, the web, granted folders, the key-value store, and the host.
pub(crate) struct Toolbox {
    pub store: Arc<dyn BlockStore>,
    host: Arc<dyn Host>,
    web: Web,
    files: Arc<Files>,
    /// Opened at its first use: it reads everything that it holds.
    kv: OnceLock<Kv>,
    /// The folder of the key-value store; `None`: in memory.
    data: Option<PathBuf>,
    redactor: Redactor,
}

impl Toolbox {
    /// Opens the folders and the web as the person allows them.
    pub fn new(
        config: &KernelConfig,
        store: Arc<dyn BlockStore>,
        host: Arc<dyn Host>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, ToolError> {
        let files = Files::new(config.data.as_deref(), clock.clone());
        for grant in &config.grants {
            files.grant(grant)?;
        }
        let policy = WebPolicy {
            searxng: (config.web.searxng.clone()).or_else(|| config.settings.web.searxng.clone()),
            ..config.web.clone()
        };
        Ok(Self {
            store,
            host,
            web: Web::new(&policy, Arc::new(SystemResolver), clock.clone())?,
            files: Arc::new(files),
            kv: OnceLock::new(),
            data: config.data.clone().filter(|_| !config.read_only),
            redactor: config.redactor.clone(),
        })
    }
}
