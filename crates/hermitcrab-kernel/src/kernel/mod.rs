mod blocking;
mod boot;
mod default_blocks;
mod faces;
mod migration;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::{fmt, io};

use jiff::Timestamp;
use llm_client::{Clock, Message, ModelTable, Usd};
use pscale_blocks::{Block, BlockStore, EditAuthor, O200k, TokenCounter as _};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::brain::MAX_TOKENS;
use crate::conversation::{self, Conversation};
use crate::dispatch::{self, Caller, Facts};
use crate::faces::{Notes, Shells, State};
use crate::prompt::Phase;
use crate::spending::{self, Call, Meter};
use crate::storage::{Keeper, Keyless};
use crate::turn::TurnReport;
use crate::{
    Author, Brain, BrainError, BrainInfo, BrainReply, BrainRequest, Event, EventSink, Files, Host,
    KernelConfig, KernelError, Kv, Said, ShellCompiler, ShellInfo, ToolOutcome, Usage, Utterance,
    Web,
};

pub use blocking::may_block;
pub use boot::{BootReport, SafeFace};
pub use default_blocks::{keystone_of, seed_defaults};
pub use migration::{migrate, plan_migration};

/// A hermitcrab: blocks, a conversation, and a brain that reads both and calls tools. Cheap to clone; clones are one.
#[derive(Clone)]
pub struct Kernel {
    pub(crate) inner: Arc<Inner>,
    /// Its requests are no person's.
    pub(crate) unprompted: bool,
}

/// What all clones of a kernel share.
pub(crate) struct Inner {
    pub config: KernelConfig,
    pub store: Arc<dyn BlockStore>,
    pub brain: Arc<dyn Brain>,
    pub compiler: Arc<dyn ShellCompiler>,
    pub host: Arc<dyn Host>,
    pub clock: Arc<dyn Clock>,
    pub keeper: Keeper,
    pub prices: Arc<ModelTable>,
    pub web: Web,
    pub files: Arc<Files>,
    /// Opened when it is first needed: it reads all that it holds.
    pub kv: OnceLock<Kv>,
    /// Who the model is, as it was at the start: what it changes of itself holds from the next start on.
    pub identity: Identity,
    /// What there is to say of the start.
    pub notices: Vec<String>,
    /// One request beside the conversation at a time: each is held against what those before have taken.
    pub asking: tokio::sync::Mutex<()>,
    /// One turn at a time.
    pub conversation: tokio::sync::Mutex<Conversation>,
    state: Mutex<State>,
    shells: Mutex<Shells>,
    meter: Mutex<Meter>,
    notes: Mutex<Notes>,
    pub unprompted: Mutex<spending::Made>,
}

/// The two blocks that are read once.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub keystone: Block,
    pub constitution: Block,
}

impl Kernel {
    /// Opens a kernel on a store: takes an earlier generation over if there is one, seeds what is missing, chooses the
    /// keystone, and reads what was said before. Asks no model.
    ///
    /// # Errors
    /// The store or the data directory cannot be read or written.
    #[expect(
        clippy::unused_async,
        reason = "the agreed signature: opening a store elsewhere would wait"
    )]
    pub async fn open(
        config: KernelConfig,
        store: Arc<dyn BlockStore>,
        brain: Arc<dyn Brain>,
        compiler: Arc<dyn ShellCompiler>,
        host: Arc<dyn Host>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, KernelError> {
        let now = clock.now();
        let redactor = config.redactor.clone();
        let store: Arc<dyn BlockStore> = Arc::new(Keyless { store, redactor });
        let keeper = Keeper::new(
            config.data.as_deref(),
            !config.glance,
            config.redactor.clone(),
        );
        keeper.sweep();
        let (mut conversation, torn) =
            Conversation::open(&keeper).map_err(KernelError::file(conversation::FILE))?;
        let mut notices: Vec<String> = torn.into_iter().collect();
        let seeded = default_blocks::seed(&config, &*store, now)?;
        notices.extend(seeded.notices);
        conversation
            .take_over(&keeper, now, seeded.conversation)
            .map_err(KernelError::file(conversation::FILE))?;
        let (state, broken) = State::open(&keeper).map_err(KernelError::file("state.json"))?;
        notices.extend(broken);
        let (shells, broken) = Shells::open(&keeper).map_err(KernelError::file("shells.json"))?;
        notices.extend(broken);
        let (meter, broken) =
            Meter::open(&keeper, now).map_err(KernelError::file(spending::FILE))?;
        notices.extend(broken);
        let prices = Arc::new(config.settings.model_table(&brain.info().provider));
        let files = Files::new(config.data.as_deref(), clock.clone());
        for grant in &config.grants {
            files.grant(grant).map_err(KernelError::Setting)?;
        }
        let web = dispatch::web(&config, clock.clone()).map_err(KernelError::Setting)?;
        Ok(Self {
            unprompted: false,
            inner: Arc::new(Inner {
                config,
                web,
                files: Arc::new(files),
                kv: OnceLock::new(),
                store,
                brain,
                compiler,
                host,
                clock,
                keeper,
                prices,
                identity: seeded.identity,
                notices,
                asking: tokio::sync::Mutex::default(),
                conversation: tokio::sync::Mutex::new(conversation),
                state: Mutex::new(state),
                shells: Mutex::new(shells),
                meter: Mutex::new(meter),
                notes: Mutex::default(),
                unprompted: Mutex::default(),
            }),
        })
    }

    /// Wakes the model: a good face that is kept is shown, else the model is asked for one.
    ///
    /// # Errors
    /// What was said cannot be put on record. A model that does not answer is no error: the report says so.
    pub async fn boot(
        &self,
        events: EventSink,
        cancel: CancellationToken,
    ) -> Result<BootReport, KernelError> {
        may_block(self.inner.boot(&events, &cancel)).await
    }

    /// The same kernel for a face that asks while no person is at it: each request beside the conversation counts by
    /// [`Kernel::count_unprompted`].
    #[must_use]
    pub fn unprompted(&self) -> Self {
        Self {
            unprompted: true,
            ..self.clone()
        }
    }

    /// Counts a request to a model that a face makes while no person is at it, priced or not.
    ///
    /// # Errors
    /// `too_often`: the last hour has had `budgets.face_calls_hour` of them.
    pub fn count_unprompted(&self) -> Result<(), crate::Fault> {
        self.inner.unprompted_request()
    }

    /// The person says `input`; answers when the model is done.
    ///
    /// # Errors
    /// No answer, or it cannot be put on record.
    pub async fn turn(
        &self,
        input: String,
        events: EventSink,
        cancel: CancellationToken,
    ) -> Result<TurnReport, KernelError> {
        may_block(self.inner.turn(Author::Person, input, &events, &cancel)).await
    }

    /// The face of revision `rev` says `input` while the person is not at it; the model reads that it does ([`Author::says`]).
    ///
    /// # Errors
    /// No answer, or it cannot be put on record.
    pub async fn turn_of_face(
        &self,
        rev: u64,
        input: String,
        events: EventSink,
        cancel: CancellationToken,
    ) -> Result<TurnReport, KernelError> {
        may_block((self.inner).turn(Author::Face(rev), input, &events, &cancel)).await
    }

    /// What the next request would be, part by part.
    pub async fn prompt(&self, phase: Phase) -> crate::PromptPreview {
        let preview = async {
            let conversation = self.inner.conversation.lock().await;
            self.inner.preview(phase, &conversation)
        };
        may_block(preview).await
    }

    /// Runs a tool outside of a turn: for the person. A failure is an answer, too.
    pub async fn call_tool(&self, name: &str, input: Value, by: EditAuthor) -> ToolOutcome {
        self.call_tool_with(name, input, by, EventSink::none(), CancellationToken::new())
            .await
    }

    /// Runs a tool outside of a turn and tells of it: for a face, or for the person.
    pub async fn call_tool_with(
        &self,
        name: &str,
        input: Value,
        by: EditAuthor,
        events: EventSink,
        cancel: CancellationToken,
    ) -> ToolOutcome {
        let mut facts = Facts::default();
        let mut caller = Caller {
            by: author(&by),
            provenance: by,
            boot: false,
            facts: &mut facts,
            events: &events,
            cancel: &cancel,
        };
        may_block(self.inner.run_tool(name, input, &mut caller)).await
    }

    /// Compiles a shell of the person's and shows it.
    pub async fn recompile(&self, jsx: &str) -> ToolOutcome {
        let input = serde_json::json!({ "jsx": jsx });
        self.call_tool("recompile", input, EditAuthor::Person).await
    }

    /// The shells that are kept, oldest first.
    pub fn shells(&self) -> Vec<ShellInfo> {
        self.inner.shells().list().to_vec()
    }

    /// The source of a kept shell.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn shell_source(&self, rev: u64) -> Result<Option<String>, KernelError> {
        let source = self.inner.shells().source(&self.inner.keeper, rev);
        source.map_err(KernelError::file("shells"))
    }

    /// Goes back to a kept shell.
    pub async fn use_shell(&self, rev: u64) -> ToolOutcome {
        let input = serde_json::json!({ "rev": rev });
        self.call_tool("shell_use", input, EditAuthor::Person).await
    }

    /// The time, as everything of this kernel is stamped with it.
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// What was taken so far.
    pub fn usage(&self) -> Usage {
        self.inner.usage()
    }

    /// Who answers.
    pub fn brain(&self) -> BrainInfo {
        self.inner.brain.info()
    }

    /// What there is to say of the start: what was seeded, repaired or set aside.
    pub fn notices(&self) -> &[String] {
        &self.inner.notices
    }

    /// The tools of the next call, by name.
    pub fn tools(&self) -> Vec<String> {
        self.inner.active_names()
    }

    /// Whether a turn or a boot is under way.
    pub fn is_busy(&self) -> bool {
        self.inner.conversation.try_lock().is_err()
    }

    /// Brings what could not be put on record there, if it can be now. Call it before the last clone goes.
    ///
    /// # Errors
    /// What was said since is in memory only, and lost when the kernel goes.
    pub async fn settle(&self) -> Result<(), KernelError> {
        let settle = async {
            let mut conversation = self.inner.conversation.lock().await;
            conversation.settle(&self.inner.keeper)
        };
        let settled = may_block(settle).await;
        settled.map_err(KernelError::file(conversation::FILE))
    }

    /// The conversation that is still in view, oldest first.
    pub async fn messages(&self) -> Vec<Message> {
        let conversation = self.inner.conversation.lock().await;
        conversation.messages().cloned().collect()
    }

    /// Everything that was ever said, oldest first, with its authors.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn record(&self) -> Result<Vec<Utterance>, KernelError> {
        Conversation::all(&self.inner.keeper).map_err(KernelError::file(conversation::FILE))
    }

    /// The words of the person, of faces and of the model, oldest first: without calls of tools, their results, and what the
    /// kernel says in between. What the model says in one turn is one text.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn said(&self) -> Result<Vec<Said>, KernelError> {
        Ok(conversation::said(self.record()?))
    }

    /// The blocks.
    pub fn store(&self) -> Arc<dyn BlockStore> {
        self.inner.store.clone()
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({})", self.inner.brain.info().model)
    }
}

/// Who edits, in a word.
pub(crate) fn author(by: &EditAuthor) -> String {
    match by {
        EditAuthor::Model { id, .. } => id.clone(),
        EditAuthor::Person => "person".to_owned(),
        EditAuthor::Web { url } => url.clone(),
        EditAuthor::Import { source } => source.clone(),
        EditAuthor::Kernel => "kernel".to_owned(),
    }
}

/// None of these is held over an await.
impl Inner {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn shells(&self) -> MutexGuard<'_, Shells> {
        self.shells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state; it is on the disk, or as before.
    pub fn change_state(&self, change: impl FnOnce(&mut State)) -> io::Result<()> {
        let mut state = self.state();
        let mut new = state.clone();
        change(&mut new);
        new.save(&self.keeper)?;
        *state = new;
        Ok(())
    }

    fn meter(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn usage(&self) -> Usage {
        self.meter().usage(self.clock.now())
    }

    pub fn begin_turn(&self) {
        self.meter().begin_turn();
    }

    /// Counts a reply, with what failed attempts before it were charged.
    pub fn meter_reply(&self, answer: &BrainReply, events: &EventSink) {
        let Some(call) = Call::of(&answer.model, &answer.reply, O200k.name()) else {
            return;
        };
        let charged = call.charged(self.brain.take_spend());
        self.meter_call(charged.unwrap_or(call), events);
    }

    /// Counts a call without an answer, if anything was charged for it.
    pub fn meter_lost(&self, model: &str, events: &EventSink) {
        if let Some(call) = Call::lost(model, self.brain.take_spend()) {
            self.meter_call(call, events);
        }
    }

    fn meter_call(&self, call: Call, events: &EventSink) {
        let now = self.clock.now();
        let recorded = self.meter().add(&self.keeper, &call.at(now));
        if let Err(error) = recorded {
            events.notice(format!("{} cannot be written: {error}", spending::FILE));
        }
        events.send(Event::Usage(self.usage()));
    }

    /// Asks the brain, within the budgets.
    pub async fn complete(
        &self,
        mut request: BrainRequest,
        events: &EventSink,
        cancel: &CancellationToken,
    ) -> Result<BrainReply, BrainError> {
        let allowance = spending::allow(self, &request).map_err(BrainError::Budget)?;
        if request.after.is_none() {
            // A brain that does not ask is held to the caps, too.
            let info = self.brain.info();
            let asked = allowance.reply(
                info.asked(&request),
                request.max_tokens.unwrap_or(MAX_TOKENS),
                Usd::ZERO,
            );
            asked.map_err(BrainError::Budget)?;
        }
        request.allowance = allowance;
        (self.brain)
            .complete(request, events.clone(), cancel.clone())
            .await
    }
}
