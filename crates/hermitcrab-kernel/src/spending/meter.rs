//! The sums and caps of what models take.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use llm_client::{Clock, ModelTable, Usd};
use pscale_blocks::{O200k, TokenCounter as _};
use tokio::sync::MutexGuard as QueueGuard;
use tokio_util::sync::CancellationToken;

use super::budget;
use super::sums::UsageSums;
use super::usage::{self, FILE, UsageLine};
use crate::brain::MAX_TOKENS;
use crate::config::{Budgets, Usage, timestamp};
use crate::storage::FileStore;
use crate::{
    Brain, BrainError, BrainReply, BrainRequest, ErrorKind, Event, EventSink, KernelConfig,
    KernelError, ToolError,
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
            return Err(ToolError::new(ErrorKind::TooOften, detail)
                .hint("ask when the person clicks or types"));
        }
        made.push_back(now);
        Ok(())
    }

    /// Makes one request, within the budgets, and counts what it took with the charges of failed attempts. Without an answer the
    /// model that the error names is charged. `words` get the text as it arrives.
    pub async fn ask(
        &self,
        brain: &dyn Brain,
        request: BrainRequest,
        words: &EventSink,
        events: &EventSink,
        cancel: &CancellationToken,
    ) -> Result<BrainReply, BrainError> {
        let model = brain.info().asked(&request).to_owned();
        let answer = self.complete(brain, request, words, cancel).await;
        let spend = brain.take_spend();
        let call = match &answer {
            Ok(answer) => UsageLine::of(&answer.model, &answer.reply, O200k.name())
                .map(|call| call.charged(spend).unwrap_or(call)),
            Err(BrainError::Model { model, .. }) => UsageLine::lost(model, spend),
            Err(_) => UsageLine::lost(&model, spend),
        };
        if let Some(call) = call {
            self.record(call, events);
        }
        answer
    }

    async fn complete(
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
        let answer = brain.complete(request, events.clone(), cancel.clone());
        answer.await.map_err(|error| match error {
            // A server may repeat what it was sent. Errors of a client have no key.
            BrainError::Other(what) => BrainError::Other(self.files.gates().told(&what)),
            error => error,
        })
    }

    /// Waits until no other request outside of the conversation is under way.
    pub async fn queue(
        &self,
        cancel: &CancellationToken,
    ) -> Result<QueueGuard<'_, ()>, BrainError> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(BrainError::Cancelled),
            mine = self.asking.lock() => Ok(mine),
        }
    }
}
