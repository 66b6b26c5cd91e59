use std::path::PathBuf;
use std::sync::Arc;

use llm_client::{SystemClock, Timer};
use pscale_blocks::BlockStore;

use super::Kernel;
use super::default_blocks::prepare;
use super::owners::Owners;
use crate::config::timestamp;
use crate::conversation::{ConversationRecord, HistoryBlocks};
use crate::faces::{FaceManager, Host, NoHost, ShellCompiler};
use crate::spending::SpendMeter;
use crate::storage::{FileStore, KeyGates};
use crate::toolbox::{ServerName, ToolSource, Toolbox};
use crate::{Brain, KernelConfig, KernelError};

/// The parts of a kernel before it is opened; see [`Kernel::builder`].
#[must_use]
pub struct KernelBuilder {
    config: KernelConfig,
    store: Arc<dyn BlockStore>,
    brain: Arc<dyn Brain>,
    compiler: Option<Arc<dyn ShellCompiler>>,
    host: Arc<dyn Host>,
    servers: Vec<(ServerName, Arc<dyn ToolSource>)>,
    clock: Arc<dyn Timer>,
}

impl KernelBuilder {
    pub(super) fn new(store: Arc<dyn BlockStore>, brain: Arc<dyn Brain>) -> Self {
        Self {
            config: KernelConfig::default(),
            store,
            brain,
            compiler: None,
            host: Arc::new(NoHost),
            servers: Vec::new(),
            clock: Arc::new(SystemClock::new()),
        }
    }

    /// Sets the configuration [default: [`KernelConfig::default`]].
    pub fn config(self, config: KernelConfig) -> Self {
        Self { config, ..self }
    }

    /// Sets the folder for conversation, shells, state and usage [default: in memory].
    pub fn data(mut self, folder: impl Into<PathBuf>) -> Self {
        self.config.data = Some(folder.into());
        self
    }

    /// Sets the compiler for shells [default: none, `recompile` answers `unavailable`].
    pub fn compiler(mut self, compiler: Arc<dyn ShellCompiler>) -> Self {
        self.compiler = Some(compiler);
        self
    }

    /// Sets the host that shows shells [default: [`NoHost`]].
    pub fn host(self, host: Arc<dyn Host>) -> Self {
        Self { host, ..self }
    }

    /// Adds another program, whose tools are the group `mcp:NAME` of `set_tools`. It is started at its first use.
    pub fn server(mut self, name: ServerName, source: Arc<dyn ToolSource>) -> Self {
        self.servers.push((name, source));
        self
    }

    /// Sets the clock [default: [`SystemClock`]].
    pub fn clock(self, clock: Arc<dyn Timer>) -> Self {
        Self { clock, ..self }
    }

    /// Opens the kernel: installs missing default blocks, chooses the keystone, and reads the conversation. Calls no model.
    ///
    /// # Errors
    /// The store or the data directory cannot be read or written, or a setting cannot be used.
    pub fn open(self) -> Result<Kernel, KernelError> {
        let Self {
            config,
            brain,
            host,
            servers,
            clock,
            ..
        } = self;
        let now = timestamp(&*clock);
        let (store, redactor) = (self.store, config.redactor.clone());
        store.add_filter(Arc::new(KeyGates(redactor.clone())));
        let writes = !config.read_only;
        if writes {
            // Before anything is written: a file of a newer program refuses the start.
            let files = FileStore::new(config.data.as_deref(), false, &redactor);
            FaceManager::refuse_newer(&files)?;
            SpendMeter::refuse_newer(&files)?;
        }
        let files = FileStore::new(config.data.as_deref(), writes, &redactor);
        let files = Arc::new(files);
        let (mut record, unread) = ConversationRecord::open(files.clone())?;
        files.sweep();
        let mut notices = config.notices.clone();
        notices.extend(unread);
        let prepared = prepare(&*store, now)?;
        notices.extend(prepared.notices);
        let (faces, broken) =
            FaceManager::open(files.clone(), clock.clone(), self.compiler, host.clone())?;
        notices.extend(broken);
        let provider = brain.info().provider;
        let (spending, broken) =
            SpendMeter::open(&config, files.clone(), clock.clone(), &provider)?;
        notices.extend(broken);
        let toolbox = Toolbox::new(&config, store, files.clone(), host, servers, &clock);
        let toolbox = toolbox.map_err(KernelError::Setting)?;
        // A start that is refused has not changed it.
        notices.extend(record.make_current());
        let history = HistoryBlocks::new(config.history_bytes);
        let owners = Owners {
            config,
            brain,
            clock,
            files,
            identity: prepared.identity,
            notices,
            record: tokio::sync::Mutex::new(record),
            history,
            toolbox,
            faces,
            spending,
        };
        Ok(Kernel {
            owners: Arc::new(owners),
            unprompted: false,
            face: None,
        })
    }
}
