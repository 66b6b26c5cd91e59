mod blocking;
mod boot;
mod builder;
mod default_blocks;
mod face_requests;
mod owners;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use llm_client::{Message, Redactor};
use pscale_blocks::store::Origins;
use pscale_blocks::{BlockName, BlockStore, EditAuthor, Path as BlockPath};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::config::{Usage, timestamp};
use crate::conversation::{
    self, Author, ConversationRecord, DisplayedMessage, DisplayedPage, Trace, Utterance,
};
use crate::dispatch::{ToolCaller, TurnFacts, author};
use crate::faces::FaceManager;
use crate::prompt::Phase;
use crate::spending::SpendMeter;
use crate::storage::FileStore;
use crate::table::ToolResult;
use crate::toolbox::ReviewQueue;
use crate::turn::{self, check_input};
use crate::{
    Brain, BrainInfo, EventSink, KernelError, PromptPreview, ToolError, TurnReport, spending,
};
use boot::Boot;
use owners::Owners;

pub use blocking::may_block;
pub use boot::{BootReport, SafeFace};
pub use builder::KernelBuilder;
pub use default_blocks::{begin_conversation, install_default_blocks, keystone_of};

/// A hermitcrab: blocks, a conversation, and a brain that reads both and calls tools. Cheap to clone; clones are one.
#[derive(Clone)]
pub struct Kernel {
    owners: Arc<Owners>,
    /// Whether it works for a face without a person.
    unprompted: bool,
    /// The revision of the face that it works for. `None`: the person.
    face: Option<u64>,
}

impl Kernel {
    /// Begins a kernel on a store, with a brain that answers.
    pub fn builder(store: Arc<dyn BlockStore>, brain: Arc<dyn Brain>) -> KernelBuilder {
        KernelBuilder::new(store, brain)
    }

    /// Fails if a newer program wrote the conversation or the costs in a data directory, whose archives this one must then leave
    /// alone. Nothing is written.
    ///
    /// # Errors
    /// [`KernelError::Newer`]; or a file cannot be read.
    pub fn refuse_newer_records(data: &Path) -> Result<(), KernelError> {
        let files = FileStore::new(Some(data), false, &Redactor::default());
        SpendMeter::refuse_newer(&files)?;
        ConversationRecord::open(Arc::new(files)).map(drop)
    }

    /// Boots: restores a kept face, or asks the model for one.
    ///
    /// # Errors
    /// The record cannot be written. A model that does not answer is reported, not an error.
    pub async fn boot(
        &self,
        events: EventSink,
        cancel: CancellationToken,
    ) -> Result<BootReport, KernelError> {
        let boot = async {
            let mut record = self.owners.record.lock().await;
            let notices = self.owners.notices.clone();
            Boot::new(
                self.owners.context(),
                &mut record,
                notices,
                &events,
                &cancel,
            )
            .run()
            .await
        };
        may_block(boot).await
    }

    /// Whether a boot would restore a kept face that needs React.
    pub fn restores_with_react(&self) -> bool {
        let faces = &self.owners.faces;
        let kept = (faces.good(&[])).filter(|_| !self.owners.config.fresh);
        kept.and_then(|rev| faces.compile_kept(rev).ok())
            .is_some_and(|shell| !shell.compiled.needs.is_empty())
    }

    /// The same kernel for a face that works while the person is absent: each request outside of the conversation counts by
    /// [`Kernel::count_unprompted`].
    #[must_use]
    pub fn unprompted(&self) -> Self {
        Self {
            unprompted: true,
            ..self.clone()
        }
    }

    /// The same kernel for a face with this revision: what it writes and asks for may come from it, and from where its source
    /// comes from.
    #[must_use]
    pub fn of_face(&self, rev: u64) -> Self {
        Self {
            face: Some(rev),
            ..self.clone()
        }
    }

    /// The places outside that requests may come from.
    fn origins(&self) -> Origins {
        let of_face = |rev| self.owners.faces.origins_of_acts(rev);
        self.face.map(of_face).unwrap_or_default()
    }

    /// Counts a request that a face makes while the person is absent, priced or not.
    ///
    /// # Errors
    /// `too_often`: the last hour had `budgets.face_calls_hour` such requests.
    pub fn count_unprompted(&self) -> Result<(), ToolError> {
        self.owners.spending.count_face_call()
    }

    /// Runs a turn on the words of the person. Those that a person says by a click in a face may come from the face, which chose
    /// them: see [`Kernel::of_face`].
    ///
    /// # Errors
    /// There is no answer, or the record cannot be written.
    pub async fn turn(
        &self,
        input: String,
        events: EventSink,
        cancel: CancellationToken,
    ) -> Result<TurnReport, KernelError> {
        self.say(Author::Person, input, &events, &cancel).await
    }

    /// Runs a turn on the words of a face while the person is absent; the model reads who says it ([`Author::says`]).
    ///
    /// # Errors
    /// There is no answer, or the record cannot be written.
    pub async fn turn_of_face(
        &self,
        rev: u64,
        input: String,
        events: EventSink,
        cancel: CancellationToken,
    ) -> Result<TurnReport, KernelError> {
        self.say(Author::Face(rev), input, &events, &cancel).await
    }

    async fn say(
        &self,
        by: Author,
        input: String,
        events: &EventSink,
        cancel: &CancellationToken,
    ) -> Result<TurnReport, KernelError> {
        let turn = async {
            check_input(&input)?;
            let mut record = self.owners.record.lock().await;
            let context = self.owners.context();
            let from = match by {
                Author::Face(rev) => context.faces.origins_of_acts(rev),
                _ => self.origins(),
            };
            turn::say(context, &mut record, (by, from), input, events, cancel).await
        };
        may_block(turn).await
    }

    /// The next request, part by part.
    pub async fn prompt(&self, phase: Phase) -> PromptPreview {
        let preview = async {
            let record = self.owners.record.lock().await;
            turn::preview(self.owners.context(), phase, &record)
        };
        may_block(preview).await
    }

    /// Begins a new window: every message moves to the block `history`, and the next request sends none of them. So a text from
    /// outside that was in the window makes no later edit wait. False if the messages cannot move; then they stay, and a notice has
    /// the reason.
    ///
    /// Only the person decides this. Neither a tool nor a face can.
    pub async fn begin_window(&self, events: EventSink) -> bool {
        let begin = async {
            let mut record = self.owners.record.lock().await;
            let context = self.owners.context();
            let store = &*context.toolbox.store;
            record.begin_window(context.history, store, self.now(), &events)
        };
        may_block(begin).await
    }

    /// Runs a tool outside of a turn: for a face, or for the person. A failure is an answer, too.
    pub async fn call_tool(
        &self,
        name: &str,
        input: Value,
        by: EditAuthor,
        events: EventSink,
        cancel: CancellationToken,
    ) -> ToolResult {
        let mut facts = TurnFacts::default();
        facts.unprompted = self.unprompted;
        facts.from = self.origins();
        let mut caller = ToolCaller {
            by: author(&by),
            provenance: by,
            boot: false,
            facts: &mut facts,
            events: &events,
            cancel: &cancel,
        };
        may_block(self.owners.context().run_tool(name, input, &mut caller)).await
    }

    async fn call_for_person(&self, name: &str, input: Value) -> ToolResult {
        let (events, cancel) = (EventSink::none(), CancellationToken::new());
        self.call_tool(name, input, EditAuthor::Person, events, cancel)
            .await
    }

    /// Compiles a shell of the person and shows it.
    pub async fn recompile(&self, jsx: &str) -> ToolResult {
        let input = serde_json::json!({ "jsx": jsx });
        self.call_for_person("recompile", input).await
    }

    /// Shows a kept shell again.
    pub async fn use_shell(&self, rev: u64) -> ToolResult {
        let input = serde_json::json!({ "rev": rev });
        self.call_for_person("shell_use", input).await
    }

    /// The time by this kernel's clock.
    pub fn now(&self) -> Timestamp {
        timestamp(&*self.owners.clock)
    }

    /// The usage so far.
    pub fn usage(&self) -> Usage {
        self.owners.spending.usage()
    }

    /// The identity of the brain.
    pub fn brain(&self) -> BrainInfo {
        self.owners.brain.info()
    }

    /// Lines for the person about the start: installed blocks, repairs, backups.
    pub fn notices(&self) -> &[String] {
        &self.owners.notices
    }

    /// The names of the tools of the next call.
    pub fn tools(&self) -> Vec<String> {
        self.owners.context().active_names()
    }

    /// Whether a turn or a boot is under way.
    pub fn is_busy(&self) -> bool {
        self.owners.record.try_lock().is_err()
    }

    /// Ends the other programs, and writes messages to the record that could not be written before. Call it before the last clone
    /// is dropped.
    ///
    /// # Errors
    /// The messages are only in memory, and are lost when the kernel is dropped.
    pub async fn settle(&self) -> Result<(), KernelError> {
        self.owners.toolbox.servers.end();
        let settle = async {
            let mut record = self.owners.record.lock().await;
            let settled = record.settle();
            settled.map_err(KernelError::file(conversation::FILE))?;
            let settled = self.owners.spending.settle();
            settled.map_err(KernelError::file(spending::FILE))
        };
        may_block(settle).await
    }

    /// The conversation that is still in view, oldest first.
    pub async fn messages(&self) -> Vec<Message> {
        let record = self.owners.record.lock().await;
        record.messages().cloned().collect()
    }

    /// Every message of the record with its author, oldest first. All archives are opened.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn record(&self) -> Result<Vec<Utterance>, KernelError> {
        conversation::all(&self.owners.files).map_err(KernelError::file(conversation::FILE))
    }

    /// The words of the person, of faces and of the model, oldest first: without calls of tools, their results, and what the
    /// kernel says in between. What the model says in one turn is one text.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn said(&self) -> Result<Vec<DisplayedMessage>, KernelError> {
        Ok(self.said_before(None, usize::MAX)?.messages)
    }

    /// The newest `limit` texts of [`Kernel::said`], or those before [`DisplayedPage::before`] of the page after them. Only the
    /// archives that have them are opened.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn said_before(
        &self,
        before: Option<u64>,
        limit: usize,
    ) -> Result<DisplayedPage, KernelError> {
        let page = conversation::displayed(&self.owners.files, before, limit);
        page.map_err(KernelError::file(conversation::FILE))
    }

    /// The kept shells, and the state of the face.
    pub fn faces(&self) -> &FaceManager {
        &self.owners.faces
    }

    /// The edits that wait for the person.
    pub fn review(&self) -> &ReviewQueue {
        &self.owners.toolbox.review
    }

    /// The origin of a node's text: see [`Trace`].
    ///
    /// # Errors
    /// There is no such text, or the log or the record cannot be read.
    pub fn trace(&self, name: &BlockName, path: &BlockPath) -> Result<Trace, ToolError> {
        let store = &*self.owners.toolbox.store;
        Trace::read(&self.owners.files, store, name, path)
    }

    /// The blocks.
    pub fn store(&self) -> Arc<dyn BlockStore> {
        self.owners.toolbox.store.clone()
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({})", self.brain().model)
    }
}
