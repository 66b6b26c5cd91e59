//! A kernel with everything around it that a test wants to look at.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use hermitcrab_kernel::faces::{Host, HostCall, HostError, HostSkills, Mounted, Shell, ShellError};
use hermitcrab_kernel::table::ToolResult;
use hermitcrab_kernel::toolbox::{ServerName, ToolSource};
use hermitcrab_kernel::{
    BootReport, Brain, Event, EventSink, Face, Kernel, KernelConfig, KernelError, ScriptBrain,
    ScriptStep, TurnReport,
};
use llm_client::{BlockKind, Message};
use pscale_blocks::{BlockName, BlockStore, EditAuthor, MemStore, Path as BlockPath};
use serde_json::Value;
use test_support::FakeClock;
use tokio_util::sync::CancellationToken;

use crate::stub::StubCompiler;

/// A shell that compiles.
pub const SHELL: &str = "function App() { return <p>hello</p>; }";
/// A shell with a fault in its second line.
pub const BROKEN: &str = "function App() {\n  return (<p>hello</p>];\n}";

/// The outcome of a shell that fails on the page.
pub fn crash() -> Mounted {
    Mounted::Failed(ShellError {
        kind: "render".to_owned(),
        message: "x is not a function".to_owned(),
        line: Some(3),
        column: Some(7),
        source_line: None,
        truncated: false,
    })
}

/// A reply that writes a face.
pub fn face(id: &str) -> ScriptStep {
    call(id, "recompile", serde_json::json!({ "jsx": SHELL }))
}

/// A reply that calls one tool.
pub fn call(id: &str, name: &str, input: Value) -> ScriptStep {
    ScriptStep::tools(&[(id, name, input)])
}

/// The texts of a message's results, and which of them are errors.
pub fn results(message: &Message) -> Vec<(String, bool)> {
    let blocks = message.content.iter();
    blocks
        .filter_map(|block| match &block.kind {
            BlockKind::ToolResult {
                content, is_error, ..
            } => {
                let texts = content.iter().filter_map(llm_client::Block::as_text);
                Some((texts.collect(), *is_error))
            }
            _ => None,
        })
        .collect()
}

/// A kernel, and what a test looks at.
pub struct Place {
    pub kernel: Kernel,
    pub store: Arc<dyn BlockStore>,
    pub host: Arc<FakePage>,
    pub clock: FakeClock,
    pub events: Arc<Mutex<Vec<Event>>>,
}

/// The parts of a [`Place`] before it is made.
pub struct Setting {
    pub config: KernelConfig,
    pub store: Arc<dyn BlockStore>,
    pub host: Arc<FakePage>,
    pub clock: FakeClock,
    pub servers: Vec<(ServerName, Arc<dyn ToolSource>)>,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            config: {
                let mut config = KernelConfig::default();
                config.face = Face::Terminal;
                config
            },
            store: Arc::new(MemStore::new()),
            host: Arc::new(FakePage::default()),
            clock: FakeClock::new(),
            servers: Vec::new(),
        }
    }
}

impl Setting {
    /// With a page that shows every shell.
    pub fn page() -> Self {
        let mut setting = Self::default();
        setting.config.face = Face::Page;
        setting
    }

    /// With the kernel's files in `dir`.
    pub fn in_dir(mut self, dir: &Path) -> Self {
        self.config.data = Some(dir.to_owned());
        self
    }

    /// With the blocks and the kernel's files that another kernel left.
    pub fn after(mut self, place: &Place, dir: &Path) -> Self {
        self.store = place.store.clone();
        self.clock = place.clock.clone();
        self.in_dir(dir)
    }

    pub fn open(self, brain: Arc<dyn Brain>) -> Result<Place, KernelError> {
        let builder = Kernel::builder(self.store.clone(), brain)
            .config(self.config)
            .compiler(Arc::new(StubCompiler))
            .host(self.host.clone())
            .clock(Arc::new(self.clock.clone()));
        let builder = (self.servers.into_iter()).fold(builder, |builder, (name, source)| {
            builder.server(name, source)
        });
        let kernel = builder.open()?;
        Ok(Place {
            kernel,
            store: self.store,
            host: self.host,
            clock: self.clock,
            events: Arc::default(),
        })
    }

    /// With a brain that answers from a list.
    pub fn script(self, steps: impl IntoIterator<Item = ScriptStep>) -> (Place, Arc<ScriptBrain>) {
        let brain = Arc::new(ScriptBrain::new(steps));
        (self.open(brain.clone()).unwrap(), brain)
    }
}

impl Place {
    /// The shells that the page was given, by revision.
    pub fn shown(&self) -> Vec<u64> {
        let shown = self.host.shown.lock().unwrap();
        shown.iter().map(|shell| shell.rev).collect()
    }

    pub fn sink(&self) -> EventSink {
        let events = self.events.clone();
        EventSink::new(move |event| events.lock().unwrap().push(event))
    }

    pub async fn boot(&self) -> BootReport {
        let boot = self.kernel.boot(self.sink(), CancellationToken::new());
        boot.await.unwrap()
    }

    pub async fn say(&self, text: &str) -> TurnReport {
        self.try_say(text).await.unwrap()
    }

    pub async fn try_say(&self, text: &str) -> Result<TurnReport, KernelError> {
        let turn = (self.kernel).turn(text.to_owned(), self.sink(), CancellationToken::new());
        turn.await
    }

    pub async fn tool(&self, name: &str, input: Value) -> ToolResult {
        let (events, cancel) = (EventSink::none(), CancellationToken::new());
        (self
            .kernel
            .call_tool(name, input, EditAuthor::Person, events, cancel))
        .await
    }

    /// The text of a node.
    pub fn text(&self, block: &str, path: &str) -> Option<String> {
        let name = BlockName::new(block).unwrap();
        let found = self.store.load(&name).unwrap();
        let path: BlockPath = path.parse().unwrap();
        found.block.text(&path).ok().flatten().map(str::to_owned)
    }

    /// The lines for the person so far.
    pub fn notices(&self) -> Vec<String> {
        let events = self.events.lock().unwrap();
        let notices = events.iter().filter_map(|event| match event {
            Event::Notice { text } => Some(text.clone()),
            _ => None,
        });
        notices.collect()
    }
}

/// A page that shows each shell, and remembers it.
#[derive(Default)]
pub struct FakePage {
    pub shown: Mutex<Vec<Shell>>,
    /// The outcomes of the next shells; then they mount.
    pub mounts: Mutex<VecDeque<Mounted>>,
    pub skills: Mutex<HostSkills>,
    pub asked: Mutex<Vec<HostCall>>,
}

#[async_trait]
impl Host for FakePage {
    fn offers(&self) -> HostSkills {
        self.skills.lock().unwrap().clone()
    }

    async fn ask(&self, call: HostCall) -> Result<Value, HostError> {
        self.asked.lock().unwrap().push(call);
        Ok(Value::from("done"))
    }

    async fn show(&self, shell: Shell, _: CancellationToken) -> Mounted {
        self.shown.lock().unwrap().push(shell);
        self.mounts
            .lock()
            .unwrap()
            .pop_front()
            .unwrap_or(Mounted::Yes)
    }
}
