//! The sums and caps of what models take.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use llm_client::{Clock, ModelTable, Usd};
use pscale_blocks::{O200k, TokenCounter as _};
use tokio_util::sync::CancellationToken;

use super::budget;
use super::sums::UsageSums;
use super::usage::{self, FILE, UsageLine};
use crate::brain::MAX_TOKENS;
use crate::config::{Budgets, Usage, timestamp};
use crate::storage::FileStore;
use crate::{
    Brain, BrainError, BrainReply, BrainRequest, Event, EventSink, KernelConfig, KernelError,
    ToolError,
};

#[expect(clippy::needless_pass_by_value, reason = "it is what map gives")]
fn not_packed(error: io::Error) -> String {
    format!("the older lines of {FILE} cannot be packed: {error}")
}

/// The owner of the sums and caps of turn, day and run. Requests to a model are made through it.
pub(crate) struct SpendMeter {
    files: Arc<FileStore>,
    clock: Arc<dyn Clock>,
    pub(super) prices: Arc<ModelTable>,
    pub(super) budgets: Budgets,
    /// The cap of the run.
    pub(super) max_usd: Option<Usd>,
    sums: Mutex<UsageSums>,
    /// Times of the requests that faces made while no person was at them, oldest first.
    face_calls: Mutex<VecDeque<Timestamp>>,
    /// Held by the request outside of the conversation that is under way: each is checked against the sums of those before.
    asking: tokio::sync::Mutex<()>,
}

impl SpendMeter {
    /// Fails if a newer program wrote the record. Nothing is written.
    pub fn refuse_newer(files: &FileStore) -> Result<(), KernelError> {
        usage::refuse_newer(files)
    }

    /// Reads the sums on record, and packs the lines of a long one; with lines for the person about what cannot be read or
    /// packed.
    pub fn open(
        config: &KernelConfig,
        files: Arc<FileStore>,
        clock: Arc<dyn Clock>,
        provider: &str,
    ) -> Result<(Self, Vec<String>), KernelError> {
        let (mut sums, notice) = UsageSums::open(&files, timestamp(&*clock))?;
        let packed = sums.rotate(&files);
        let notices = notice.into_iter().chain(packed.err().map(not_packed));
        let meter = Self {
            files,
            clock,
            prices: Arc::new(config.settings.model_table(provider)),
            budgets: config.settings.budgets,
            max_usd: config.max_usd,
            sums: Mutex::new(sums),
            face_calls: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
        };
        Ok((meter, notices.collect()))
    }

    fn sums(&self) -> MutexGuard<'_, UsageSums> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sums up to now.
    pub fn usage(&self) -> Usage {
        self.sums().usage(timestamp(&*self.clock))
    }

    /// Begins the sums of a new turn.
    pub fn begin_turn(&self) {
        self.sums().begin_turn();
    }

    /// Counts a reply, with the charges of failed attempts before it.
    pub fn record_reply(&self, brain: &dyn Brain, answer: &BrainReply, events: &EventSink) {
        let Some(call) = UsageLine::of(&answer.model, &answer.reply, O200k.name()) else {
            return;
        };
        let charged = call.charged(brain.take_spend());
        self.record(charged.unwrap_or(call), events);
    }

    /// Counts a call of `model`, or of the one that the error names, without an answer, if anything was charged for it.
    pub fn record_failed_call(
        &self,
        brain: &dyn Brain,
        model: &str,
        error: &BrainError,
        events: &EventSink,
    ) {
        let model = match error {
            BrainError::Model { model, .. } => model,
            _ => model,
        };
        if let Some(call) = UsageLine::lost(model, brain.take_spend()) {
            self.record(call, events);
        }
    }

    fn record(&self, call: UsageLine, events: &EventSink) {
        let now = timestamp(&*self.clock);
        let recorded = self.sums().add(&self.files, &call.at(now));
        if let Err(error) = recorded {
            events.notice(format!("{FILE} cannot be written: {error}"));
        }
        let packed = self.sums().rotate(&self.files);
        if let Err(error) = packed {
            events.notice(not_packed(error));
        }
        events.send(Event::Usage(self.usage()));
    }

    /// Writes the lines that could not be written to the record, if it can be written now.
    pub fn settle(&self) -> io::Result<()> {
        self.sums().settle(&self.files)
    }

    /// Counts a request that a face makes while no person is at it.
    ///
    /// # Errors
    /// `too_often`: the limit of one hour is reached.
    pub fn count_face_call(&self) -> Result<(), ToolError> {
        const HOUR: SignedDuration = SignedDuration::from_hours(1);
        let most = self.budgets.face_calls_hour;
        let now = timestamp(&*self.clock);
        let mut made = (self.face_calls.lock()).unwrap_or_else(PoisonError::into_inner);
        made.retain(|at| now.duration_since(*at) < HOUR);
        if made.len() >= most as usize {
            let detail = format!(
                "faces may ask a model {most} times in an hour without the person (budgets.face_calls_hour)"
            );
            return Err(
                ToolError::new("too_often", detail).hint("ask when the person clicks or types")
            );
        }
        made.push_back(now);
        Ok(())
    }

    /// Asks the brain, within the budgets.
    pub async fn complete(
        &self,
        brain: &dyn Brain,
        mut request: BrainRequest,
        events: &EventSink,
        cancel: &CancellationToken,
    ) -> Result<BrainReply, BrainError> {
        let info = brain.info();
        let allowance = budget::allow(self, &info, &request).map_err(BrainError::Budget)?;
        if request.after.is_none() {
            // A brain that does not ask is held to the caps, too.
            let asked = allowance.reply(
                info.asked(&request),
                request.max_tokens.unwrap_or(MAX_TOKENS),
                Usd::ZERO,
            );
            asked.map_err(BrainError::Budget)?;
        }
        request.allowance = allowance;
        brain
            .complete(request, events.clone(), cancel.clone())
            .await
    }

    /// Makes one request outside of the conversation. Its tokens count in the turn and the day.
    pub async fn ask(
        &self,
        brain: &dyn Brain,
        request: BrainRequest,
        words: &EventSink,
        events: &EventSink,
        cancel: &CancellationToken,
    ) -> Result<BrainReply, ToolError> {
        let stopped = || ToolError::new("stopped", "it was stopped");
        let _turn = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(stopped()),
            mine = self.asking.lock() => mine,
        };
        let model = brain.info().asked(&request).to_owned();
        match self.complete(brain, request, words, cancel).await {
            Ok(answer) => {
                self.record_reply(brain, &answer, events);
                Ok(answer)
            }
            Err(error) => {
                self.record_failed_call(brain, &model, &error, events);
                Err(match error {
                    BrainError::Cancelled => stopped(),
                    BrainError::Budget(line) => ToolError::new("budget", line),
                    error => ToolError::new("model", error.plain()),
                })
            }
        }
    }
}
