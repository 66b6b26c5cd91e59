//! The whole program in a test: kernel, server, and what a test looks at.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use hermitcrab_face::jsx::OxcCompiler;
use hermitcrab_face::{
    FaceConfig, FaceServer, HostLimits, Keys, NoKeys, ReactSources, Runtime, WebHost,
};
use hermitcrab_kernel::table::ToolResult;
use hermitcrab_kernel::{Brain, EventSink, Kernel, KernelConfig, ScriptBrain, ScriptStep};
use jiff::Timestamp;
use pscale_blocks::{BlockStore, DirStore, EditAuthor, MemStore};
use serde_json::{Value, json};
use test_support::FakeClock;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The frame that is seen.
pub const FACE: &str = "iframe.shown";

/// The safe face, when it is open.
pub const CHAT: &str = ".chat:not([hidden])";

/// A program that serves its face until it is closed.
pub struct Home {
    pub kernel: Kernel,
    /// Opens the first session.
    pub url: String,
    pub addr: SocketAddr,
    store: Weak<dyn BlockStore>,
    cancel: CancellationToken,
    served: JoinHandle<()>,
}

/// The parts of a [`Home`].
pub struct Plan {
    pub config: KernelConfig,
    pub store: Arc<dyn BlockStore>,
    pub keys: Arc<dyn Keys>,
    pub limits: HostLimits,
    pub safe: bool,
    pub runtime: Runtime,
    /// The search for React in a data directory, which the first face does not wait for.
    pub search: Option<(ReactSources, PathBuf)>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            config: KernelConfig::default(),
            store: Arc::new(MemStore::new()),
            keys: Arc::new(NoKeys),
            limits: HostLimits::default(),
            safe: false,
            runtime: Runtime::builtin(),
            search: None,
        }
    }
}

impl Plan {
    /// With blocks and files in a folder.
    pub fn in_dir(dir: &Path) -> Self {
        let mut plan = Self::default();
        plan.config.data = Some(dir.to_owned());
        plan.store = Arc::new(DirStore::open(dir.join("blocks")).unwrap());
        plan
    }

    /// On another runtime than the built-in one.
    pub fn on(mut self, runtime: &Runtime) -> Self {
        self.runtime = runtime.clone();
        self
    }

    pub async fn open(self, brain: Arc<dyn Brain>) -> Home {
        let host = WebHost::new(self.limits);
        let store = Arc::downgrade(&self.store);
        let kernel = Kernel::builder(self.store, brain)
            .config(self.config)
            .compiler(Arc::new(OxcCompiler))
            .host(Arc::new(host.clone()))
            .clock(Arc::new(FakeClock::new()))
            .open()
            .unwrap();
        let mut config = FaceConfig::default();
        config.safe = self.safe;
        config.runtime = self.runtime;
        "0.0.0-test".clone_into(&mut config.version);
        let server = FaceServer::bind(kernel.clone(), host, self.keys, config);
        let server = server.await.unwrap();
        let (url, addr) = (server.url(), server.addr());
        let cancel = CancellationToken::new();
        let end = cancel.clone();
        let search = async move {
            let (sources, data) = self.search?;
            let found = sources.find(&data, Timestamp::UNIX_EPOCH, &|_| {});
            found.await.ok()
        };
        let served = tokio::spawn(async move { server.run(end, search).await });
        Home {
            kernel,
            url,
            addr,
            store,
            cancel,
            served,
        }
    }
}

impl Home {
    /// A home with `jsx` as its first face.
    pub async fn with_face(jsx: &str) -> Self {
        Self::with_script([face(jsx), ScriptStep::text("up")]).await
    }

    /// The same on another runtime.
    pub async fn with_face_on(runtime: &Runtime, jsx: &str) -> Self {
        let steps = [face(jsx), ScriptStep::text("up")];
        let plan = Plan::default().on(runtime);
        plan.open(Arc::new(ScriptBrain::new(steps))).await
    }

    /// With a brain that answers from a list.
    pub async fn with_script(steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        Plan::default()
            .open(Arc::new(ScriptBrain::new(steps)))
            .await
    }

    /// Runs a tool as `by`, outside of a turn.
    pub async fn tool(&self, name: &str, input: Value, by: EditAuthor) -> ToolResult {
        let (events, cancel) = (EventSink::none(), CancellationToken::new());
        self.kernel.call_tool(name, input, by, events, cancel).await
    }

    /// Ends the server and lets go of its folder.
    pub async fn close(self) {
        self.cancel.cancel();
        self.served.await.unwrap();
        drop(self.kernel);
        // Tasks that were cut short let go of it a moment later.
        while self.store.strong_count() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// A reply that writes a face.
pub fn face(jsx: &str) -> ScriptStep {
    ScriptStep::tools(&[("toolu_face", "recompile", json!({ "jsx": jsx }))])
}
